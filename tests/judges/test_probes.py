"""What a new provider and a new metric cost: one file each, put into a copy of the tree, is found, shown and refused by
the test of the docs until it has its row."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
NAMES = "test_a_provider_has_a_slug_that_fits_its_column_and_a_title"
PROVIDER = '''
"""A provider of a test."""

from judges.providers.base import Client, Completion, Connection, Provider, Request


class Telegraph(Provider):
    slug = "telegraph"
    title = "By telegraph"

    def connect(self, connection: Connection) -> Client:
        return TelegraphClient()


class TelegraphClient:
    def complete(self, request: Request) -> Completion:
        return Completion('{"answer": "yes", "rationale": "Stop."}', "stop", n_tokens_in=1, n_tokens_out=1, raw="{}")

    def close(self) -> None:
        pass
'''
METRIC = '''
"""A metric of a test."""

from collections.abc import Mapping

from judges.metrics.base import Metric
from studies.documents.instrument import ItemDocument


class Questions(Metric):
    slug = "questions"
    version = "1"
    title = "Questions"
    items = (ItemDocument(key="marks", type="number", question="How many?", settings={"low": 0, "integer": True}),)

    def measure(self, text: str) -> Mapping[str, float]:
        return {"marks": text.count("?")}
'''
# Run in the copy: everything that Quire shows of them, without a line of Quire being told.
TESTS = """
import io

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.urls import reverse

from annotation.models import Response
from judges import catalogue, runs
from judges.models import Endpoint, Judge, Run
from studies.models import Instrument, Provenance, Story
from tests import factories

pytestmark = pytest.mark.django_db


def test_the_provider_is_offered_checked_and_used(admin_client, settings):
    page = admin_client.get(reverse("admin:judges_endpoint_add")).text
    assert '<option value="telegraph">By telegraph</option>' in page
    with pytest.raises(ValidationError, match="there are: openai, stub, telegraph"):
        Endpoint(name="x", adapter="pigeon", base_url="https://api.example.org/v1").full_clean()
    settings.ALLOWED_PRIVATE_ENDPOINTS = ["127.0.0.1:9"]
    endpoint = Endpoint(name="far", adapter="telegraph", base_url="https://127.0.0.1:9/v1", is_allowed=True)
    endpoint.full_clean()
    endpoint.save()
    assert "By telegraph" in admin_client.get(reverse("admin:judges_endpoint_changelist")).text
    judge = Judge.objects.create(slug="far", endpoint=endpoint, model="m", prompt=catalogue.stub_judge().prompt)
    study = factories.study(comparative=False)
    Provenance.objects.update(may_send_out=True)

    run = runs.drain(runs.start(study, judge, by="tests"))

    assert (run.state, runs.counts(run)) == (Run.State.FINISHED, {"ok": 8})


def test_the_metric_is_offered_published_and_run(admin_client):
    assert '<option value="questions">Questions 1</option>' in admin_client.get(reverse("admin:judges_judge_add")).text
    factories.study()
    Story.objects.filter(code="p1s1").update(text="Who? What?")
    out = io.StringIO()

    call_command("run_judges", "plums", "--metric", "questions", stdout=out)

    assert "questions-1 in plums: finished. 4 of 4 stories measured: 4 ok" in out.getvalue()
    assert Instrument.objects.get(slug="metric-questions").status == "published"
    assert Response.objects.get(story__code="p1s1").value == 2
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The tree as it stands, without what is not Quire's own, and with the two files."""
    tree = tmp_path_factory.mktemp("probes") / "quire"
    leave = shutil.ignore_patterns(".*", "var", "__pycache__", "pictures", "gallery", "staticfiles")
    shutil.copytree(ROOT, tree, ignore=leave)
    (tree / "judges/providers/telegraph.py").write_text(PROVIDER)
    (tree / "judges/metrics/questions.py").write_text(METRIC)
    (tree / "tests/judges/test_probed.py").write_text(TESTS)
    yield tree
    shutil.rmtree(tree)


def run_tests(tree: Path, *paths: str) -> subprocess.CompletedProcess[str]:
    # The copy has a database of its own, whatever the tests around it use and however many they are.
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "DATABASE_"))}
    environment = ours | {"QUIRE_VAR": str(tree / "var"), "PYTHONPATH": str(tree)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *paths]
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)


def test_one_file_each_is_found_shown_and_run_and_meets_the_contracts(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The provider of the test answers without a network, so of that contract only what is not about failing.
    names = f"tests/judges/providers/test_contract.py::{NAMES}"

    process = run_tests(copy, "tests/judges/test_probed.py", "tests/judges/metrics/test_contract.py", names)

    assert process.returncode == 0, process.stdout + process.stderr
    with capsys.disabled():
        print("\nfiles of Quire touched: a new provider 1, a new metric 1 (and a row each in docs/judges.md)")


def test_the_test_of_the_docs_refuses_them_until_they_have_their_rows(copy: Path) -> None:
    doc = copy / "docs/judges.md"
    original = doc.read_text()

    refused = run_tests(copy, "tests/docs/test_judges_doc.py")
    doc.write_text(
        original.replace("\n\nA new file defines", "\n| `telegraph` | a wire |\n\nA new file defines").replace(
            "\n\nA metric's items are", "\n| `questions` | 1 | `marks` | question marks |\n\nA metric's items are"
        )
    )
    accepted = run_tests(copy, "tests/docs/test_judges_doc.py")
    doc.write_text(original)

    assert refused.returncode == 1
    assert refused.stdout.count("\nFAILED ") == 2, "one for the provider, one for the metric"
    assert accepted.returncode == 0, accepted.stdout
