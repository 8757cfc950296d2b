"""The page from which a study is taken away: what is inside, blind by default, a reason at its field, those made."""

import re

import pytest
from django.test import Client

from judges.laboratory import reference_sets
from reports.export import issues
from reports.models import ExportPackage, PackageDownload
from reports.tasks import make_package
from studies.models import Study
from tests import factories
from tests.reports.test_pages import full_study

pytestmark = pytest.mark.django_db
PAGE = "/reports/plums/exports/"
SOURCES_ONLY = ("fill_vectors.csv", "neighbours.csv", "idea_scores.csv")
ALL = ("responses_wide.csv", "rankings.csv", "authorship.csv", "timings.csv", "events.csv", "judge_calls.jsonl")


@pytest.fixture
def study() -> Study:
    return full_study()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: object) -> list[int]:
    """The packages of which a worker was told."""
    keys: list[int] = []
    monkeypatch.setattr(issues, "queue", lambda package: keys.append(package.pk))
    return keys


def as_role(client: Client, role: str) -> Client:
    client.force_login(factories.staff(role))
    return client


def test_files_are_listed_with_their_rows_and_empty_ones_cannot_be_chosen(client: Client, study: Study) -> None:
    page = as_role(client, "researcher").get(PAGE).content.decode()

    rows = count_in(page)
    assert rows["responses_long.csv"] == "36 rows"
    assert (rows["rankings.csv"], rows["pairs.csv"], rows["judge_calls.jsonl"]) == ("8 rows", "empty", "empty")
    boxes = set(re.findall(r'name="file" value="([\w.]+)"', page))
    assert boxes == {"responses_wide.csv", "rankings.csv", "authorship.csv", "events.csv"}


def test_a_table_that_only_a_package_with_sources_fills_is_not_called_empty(client: Client, study: Study) -> None:
    reference_sets.store(study, "The study’s own stories", by="tests", at=factories.NOON)

    counts = {
        role: count_in(as_role(client, role).get(PAGE).content.decode()) for role in ("researcher", "coordinator")
    }

    assert [counts["researcher"][name] for name in SOURCES_ONLY] == ["empty", "only with sources", "empty"]
    assert [counts["coordinator"][name] for name in SOURCES_ONLY] == ["empty", "empty", "empty"]


def count_in(page: str) -> dict[str, str]:
    """What the page says of each file beside its name."""
    pairs = re.findall(r"<span>([\w.]+)\s*<small>.*?<span class=\"n\">\s*([^<]*?)\s*</span>", page, re.DOTALL)
    return dict(pairs)


def test_a_package_is_asked_for_made_by_the_worker_and_fetched(client: Client, study: Study, sent: list[int]) -> None:
    as_role(client, "researcher")

    answer = client.post(PAGE, {"sources": "blind", "texts": "all", "file": ALL})
    waiting = client.get(PAGE, headers={"HX-Request": "true", "HX-Target": "packages"}).content.decode()
    make_package(sent[0])
    done = client.get(PAGE).content.decode()

    package = ExportPackage.objects.get()
    assert (answer.status_code, package.asked_by, package.with_sources) == (302, "researcher", False)
    assert "hx-get" in waiting
    assert "<h1>" not in waiting
    assert 'hx-trigger="every 2s"' not in done
    address = f"/reports/plums/exports/{package.sha256}.zip"
    assert address in done
    fetched = client.get(address)
    assert len(b"".join(fetched.streaming_content)) == package.n_bytes == int(fetched.headers["Content-Length"])
    assert PackageDownload.objects.get().by == "researcher"


def test_the_page_makes_what_the_command_makes(client: Client, study: Study, sent: list[int]) -> None:
    as_role(client, "researcher").post(PAGE, {"sources": "blind", "texts": "all", "file": ALL})
    make_package(sent[0])
    by_command = issues.ask(study, by="manage.py export")

    issues.make_and_keep(by_command)

    assert by_command.sha256 == ExportPackage.objects.get(pk=sent[0]).sha256


def test_sources_without_a_reason_are_refused_at_the_field(client: Client, study: Study, sent: list[int]) -> None:
    answer = as_role(client, "researcher").post(PAGE, {"sources": "open", "texts": "all", "file": ALL, "reason": " "})

    page = answer.content.decode()
    assert (answer.status_code, sent) == (400, [])
    assert 'href="#id_reason"' in page
    assert "Say why sources are needed." in page
    assert 'aria-describedby="id_reason_helptext id_reason_error"' in page


@pytest.mark.parametrize(("role", "state"), [("coordinator", "closed"), ("researcher", "live")])
def test_whoever_is_blind_is_offered_no_sources_and_gets_none(
    client: Client, study: Study, sent: list[int], role: str, state: str
) -> None:
    Study.objects.filter(pk=study.pk).update(state=state)
    as_role(client, role)

    offered = 'name="sources"' in client.get(PAGE).content.decode()
    client.post(PAGE, {"sources": "open", "reason": "To look.", "texts": "all", "file": ALL})

    assert (offered, ExportPackage.objects.get().with_sources) == (False, False)


def test_a_blind_coordinator_neither_sees_nor_fetches_a_package_with_sources(client: Client, study: Study) -> None:
    package = issues.ask(study, by="somebody", with_sources=True, reason="To compare them.")
    issues.make_and_keep(package)
    as_role(client, "coordinator")

    assert package.sha256[:16] not in client.get(PAGE).content.decode()
    assert client.get(f"/reports/plums/exports/{package.sha256}.zip").status_code == 404
    assert not PackageDownload.objects.exists()


def test_a_designer_sees_no_answers_and_makes_no_package(client: Client, study: Study) -> None:
    as_role(client, "designer")

    assert "Make a package" not in client.get(PAGE).content.decode()
    assert client.post(PAGE, {"texts": "all"}).status_code == 403
