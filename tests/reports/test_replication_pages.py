"""Published beside recomputed as pages: what the command stored, for whoever may see sources."""

import gc
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from reports import replications
from reports.models import Report
from reports.replications.published import read_comparison
from studies.models import Study
from tests import factories
from tests.reports import pds_generated

pytestmark = [
    *(pytest.mark.django_db, pytest.mark.embedded),
    *(pytest.mark.usefixtures("few_shuffles"), pytest.mark.usefixtures("_no_collection")),
]


@pytest.fixture
def _no_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    """statsmodels collects the garbage of the whole process for each table of p-values."""
    monkeypatch.setattr(gc, "collect", lambda *_generation: 0)


@pytest.fixture
def document(tmp_path: Path) -> dict[str, Any]:
    """What the command prints of a small file of ratings at random, once it has stored it."""
    pds_generated.at_random(tmp_path / "human_annotations.csv")
    out = StringIO()
    with pytest.raises(CommandError, match="Not replicated"):
        call_command("replicate", "pds", data=tmp_path, json=True, stdout=out, stderr=StringIO())
    return dict(json.loads(out.getvalue()))


def test_the_command_stores_what_it_prints(document: dict[str, Any]) -> None:
    record = Report.objects.get(kind="release")

    stored = read_comparison(record)

    assert record.result["comparison"] == document
    assert stored is not None
    assert stored.command == "manage.py replicate pds"
    assert sum(len(block.figures) for block in stored.blocks) == len(document["figures"])
    assert (stored.n_met, stored.n_due) == (stored.n_due - len(document["differences"]), stored.n_due)
    assert stored.n_due == sum(f["expected"] is not None and not f["is_of_judge"] for f in document["figures"])
    assert not stored.is_replicated


def test_the_page_shows_each_figure_beside_the_printed_one(client: Client, document: dict[str, Any]) -> None:
    client.force_login(factories.staff("researcher"))

    index = client.get("/reports/replications/").content.decode()
    page = " ".join(client.get("/reports/replications/pds/").content.decode().split())

    assert page.count("<tr>") == len(document["figures"]) + len({figure["key"] for figure in document["figures"]})
    n_stories = next(figure for figure in document["figures"] if figure["key"] == "n_stories")
    assert f'<td class="n">97</td> <td class="n lead-figure">{n_stories["value"]:.0f}</td>' in page
    assert document["differences"][0] in page
    assert "manage.py replicate pds" in page
    assert "unverified" not in (index + page).lower()
    assert "/reports/replications/ttcw/" in index
    assert "Not yet." in index
    assert "have not been brought in" in client.get("/reports/replications/ttcw/").content.decode()


def test_a_printed_number_keeps_its_noughts(document: dict[str, Any]) -> None:
    stored = read_comparison(Report.objects.get(kind="release"))
    assert stored is not None

    means = next(block for block in stored.blocks if block.key == "rating_mean")

    assert {len(figure.published.partition(".")[2]) for figure in means.figures if figure.published} == {2}


@pytest.mark.parametrize(("role", "status"), [("researcher", 200), ("designer", 403), ("coordinator", 403), ("", 403)])
def test_only_whoever_may_see_sources_gets_in(client: Client, role: str, status: int) -> None:
    client.force_login(factories.staff(role))

    answers = [client.get(f"/reports/replications/{rest}").status_code for rest in ("", *addresses())]

    assert answers == [status] * (1 + len(addresses()))
    assert client.get("/reports/replications/nothing/").status_code == (404 if status == 200 else 403)


def addresses() -> list[str]:
    return [f"{name}/" for name in replications.list_names()]


def test_a_study_that_is_not_closed_shows_nothing_computed(client: Client, document: dict[str, Any]) -> None:
    client.force_login(factories.staff("researcher"))
    assert "Published beside recomputed" in client.get("/reports/replications/pds/").content.decode()
    Study.objects.update(state="live", closed_at=None)

    page = client.get("/reports/replications/pds/").content.decode()

    assert "Published beside recomputed" not in page


def test_the_pages_cost_as_many_queries_with_a_comparison_as_without(client: Client, document: dict[str, Any]) -> None:
    client.force_login(factories.staff("researcher"))
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as asked:
            client.get("/reports/replications/")
        counts.append(len(asked))
        Report.objects.all().delete()

    assert counts == [5, 5]


def test_a_replication_that_was_never_run_on_its_release_says_so(client: Client) -> None:
    client.force_login(factories.staff("researcher"))

    index = client.get("/reports/replications/").content.decode()

    assert [name for name in replications.list_names() if not is_run(name)] == ["litbench"]
    assert index.count("Not yet run on the release.") == 1
    for name in replications.list_names():
        page = client.get(f"/reports/replications/{name}/").content.decode()
        assert ("Not yet run on the release" in page) == (not is_run(name))


def is_run(name: str) -> bool:
    return bool(replications.load_spec(name).get("is_run_on_release", True))
