"""What a new figure costs: one file, one template, its rows in the docs.."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

FIGURE = '''"""How many answers there are, and nothing else."""

from dataclasses import dataclass

from reports.figures.base import Figure


@dataclass(frozen=True, kw_only=True)
class Probe:
    n: int


class Probes(Figure[Probe]):
    key = "probe"
    title = "Probe of a figure"
    place = 65
    result = Probe
    tables = ("probes",)

    def compute(self, dataset):
        return Probe(n=len(dataset.people))

    def rows(self, result):
        return {"probes": iter([{"n": result.n}])}

    def lines(self, result):
        yield f"Probed answers: {result.n}"
'''
TEMPLATE = """<section id="{{ figure.key }}" aria-labelledby="probe-h">
  <h2 id="probe-h">Probed: {{ result.n }}</h2>
</section>
"""
TEST = '''"""Found by page, document, file and text."""

import io

import pytest
from django.core.management import call_command
from django.test import Client

from reports import results
from tests import factories
from tests.reports import given


@pytest.mark.django_db
def test_the_probe_is_found(client: Client) -> None:
    study = given.closed_study()
    given.verdicts(study, {"E01": "ynyn", "E02": "yyyy"})
    client.force_login(factories.staff("researcher"))
    out = io.StringIO()
    call_command("report", "plums", stdout=out)
    file = b"".join(client.get("/reports/plums/probes.csv").streaming_content).decode()
    page = client.get("/reports/plums/").content.decode()

    assert results.compute(study)["probe"] == {"n": 8}
    assert "Probed: 8" in page and 'href="#probe"' in page
    assert file.split() == ["n", "8"]
    assert "Probed answers: 8" in out.getvalue()
'''
PARTS = (
    "annotation",
    "config",
    "judges",
    "reports",
    "stats",
    "studies",
    "static",
    "templates",
    "tests",
    "docs",
    "locale",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of everything that runs, with the figure and its template in their folders."""
    base = Path(settings.BASE_DIR)
    leave = shutil.ignore_patterns("__pycache__", "node_modules", "*.png")
    for part in PARTS:
        shutil.copytree(base / part, tmp_path / part, ignore=leave)
    for file in ("pyproject.toml", "manage.py"):
        shutil.copy(base / file, tmp_path / file)
    (tmp_path / "reports/figures/probe.py").write_text(FIGURE)
    (tmp_path / "templates/reports/figures/probe.html").write_text(TEMPLATE)
    (tmp_path / "tests/reports/test_the_probe.py").write_text(TEST)
    return tmp_path


def run_tests(tree: Path, *paths: str) -> tuple[bool, str]:
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *paths],
        cwd=tree,
        env={**os.environ, "QUIRE_VAR": str(tree / "var"), "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=False,
    )
    return run.returncode == 0, run.stdout + run.stderr


def test_a_new_figure_is_found_everywhere_and_refused_until_it_is_documented(tree: Path) -> None:
    refused, reason = run_tests(tree, "tests/docs/test_reports_doc.py")
    doc = tree / "docs/reports.md"
    text = doc.read_text()
    for before, row in (
        ("| `preferences.csv` |", "| `probes.csv` | the probe |\n"),
        ("| `preferences` |", "| `probe` | the probe |\n"),
    ):
        text = text.replace(before, row + before)
    doc.write_text(text)

    documented, complaint = run_tests(tree, "tests/docs/test_reports_doc.py", "tests/reports/test_the_probe.py")

    assert not refused
    assert "probe" in reason
    assert documented, complaint
    touched = ["reports/figures/probe.py", "templates/reports/figures/probe.html", "docs/reports.md"]
    sys.stdout.write(f"a new figure touches {len(touched)} files: {', '.join(touched)}\n")
