"""What a package brings to compute its report again: `stats/` itself, a reader of tables, and not Django."""

import csv
import json
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

import stats
from reports.export.package import SCRIPTS, list_not_recomputed
from reports.export.recompute.figures import MODULE_BY_FIGURE
from reports.figures import all_figures
from studies.models import Study
from tests.reports import given
from tests.reports.package_run import recompute, run_recompute
from tests.reports.packaged import MAKERS
from tests.reports.packed import Pack
from tests.reports.test_packages import issued
from tests.reports.test_pages import full_study

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def opened(study: Study) -> ZipFile:
    return issued(study, with_sources=True, reason="To compute the numbers again.")[1]


def verdicts_of_two() -> Study:
    study = given.closed_study(n_groups=4)
    given.verdicts(study, {"E01": "yynyynyn", "E02": "ynynyyyn"})
    return study


def test_the_package_brings_the_statistics_as_they_stand_here() -> None:
    archive = opened(given.closed_study())

    sources = {path.name: path.read_bytes() for path in Path(stats.__path__[0]).glob("*.py")}
    assert {name: archive.read(f"stats/{name}") for name in sources} == sources
    assert set(SCRIPTS) <= set(archive.namelist())
    assert not [name for name in SCRIPTS if name.endswith(".py") and b"django" in archive.read(name).lower()]


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_no_number_of_a_study_of_any_kind_comes_out_otherwise(name: str, tmp_path: Path, pack: Pack) -> None:
    answer = recompute(pack(name), tmp_path)

    assert answer["differences"] == []
    computed = {figure for figure, row in answer["figures"].items() if row["n_computed"]}
    assert computed == {figure for figure in answer["figures"] if figure in MODULE_BY_FIGURE}
    if name == "orchard":  # what is no longer in a report is not found either
        assert answer["n_computed"] > 6700
        assert answer["n_intervals"] > 700


def test_django_would_be_noticed(tmp_path: Path) -> None:
    opened(given.closed_study()).extractall(tmp_path / "package")
    reader = tmp_path / "package" / "recompute" / "tables.py"
    reader.write_text("import django\n" + reader.read_text())

    run = run_recompute(tmp_path / "package")

    assert "Django is not to be needed here" in run.stderr
    assert run.returncode == 1


def test_an_answer_that_was_changed_is_found_and_named(tmp_path: Path) -> None:
    opened(verdicts_of_two()).extractall(tmp_path / "package")
    path = tmp_path / "package" / "responses_long.csv"
    with path.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    row = next(row for row in rows if row["item"] == "item-1" and row["analysed"] == "1.0")
    row |= {"value": "no", "analysed": "0.0"}
    with path.open("w", newline="") as lines:
        writer = csv.DictWriter(lines, list(row))
        writer.writeheader()
        writer.writerows(rows)

    run = run_recompute(tmp_path / "package")

    assert run.returncode == 1
    assert "pass_rates/items/tests/item-1/overall.n_yes: 10.0 in the report, 9.0 here" in run.stdout.splitlines()
    assert "agreement/items/tests/item-1/coefficient.value: " in run.stdout


@pytest.mark.parametrize(
    ("place", "label"),
    [
        (("pass_rates", "items", 0, "overall", "value"), "pass_rates/items/tests/item-1/overall.value: "),
        (("variance_components", 0, "sources", 0, "wide", "high"), "/wide.high: "),
    ],
)
def test_a_number_that_is_wrong_is_named(place: tuple[str | int, ...], label: str, tmp_path: Path) -> None:
    opened(verdicts_of_two()).extractall(tmp_path / "package")
    path = tmp_path / "package" / "report.json"
    report = json.loads(path.read_text())
    row: Any = reduce(getitem, place[:-1], report)  # type: ignore[arg-type]
    row[place[-1]] += 1e-6
    path.write_text(json.dumps(report))

    run = run_recompute(tmp_path / "package")

    assert run.returncode == 1
    assert [label in line for line in run.stdout.splitlines()].count(True) == 1


def test_what_is_not_asked_for_is_not_missed(tmp_path: Path) -> None:
    left_out = ["events.csv", "judge_calls.jsonl", "timings.csv"]

    assert recompute(issued(full_study(), left_out=left_out)[1], tmp_path)["differences"] == []


# ── what is not computed again ─────────────────────────────────────────────────────────────────────────────────────


def test_every_part_that_is_computed_again_is_a_figure() -> None:
    assert MODULE_BY_FIGURE.keys() <= all_figures().keys() | {"study", "sources"}


def test_a_figure_that_is_not_computed_again_is_named_by_the_card_and_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As a new figure is, for which nothing need be written here."""
    monkeypatch.delitem(MODULE_BY_FIGURE, "pass_rates")
    archive = opened(verdicts_of_two())
    archive.extractall(tmp_path / "package")
    listed = tmp_path / "package" / "recompute" / "figures.py"
    listed.write_text(listed.read_text().replace('"pass_rates", ', ""))

    lines = run_recompute(tmp_path / "package").stdout.splitlines()

    assert "pass_rates" in list_not_recomputed(json.loads(archive.read("report.json")))
    card = archive.read("README.md").decode().splitlines()
    (of_card,) = [line for line in card if line.startswith("`recompute.py` does not compute")]
    assert "pass_rates" in of_card
    (of_command,) = [line for line in lines if line.startswith("Parts that are not computed again")]
    assert "pass_rates" in of_command
    assert [line for line in lines if line.startswith("pass_rates: 0 of ")]
