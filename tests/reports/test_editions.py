"""A closed study's report stays what it was when figures come to be computed otherwise, until somebody has it anew."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from zipfile import ZipFile

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from reports import computations, results
from reports.figures import all_figures
from reports.models import Computation, Report
from reports.schedules import store_reports
from studies.models import Study
from tests import factories, triggers
from tests.factories import NOON
from tests.reports import given
from tests.reports.test_packages import issued

pytestmark = pytest.mark.django_db
ADDRESS = "/reports/plums/"
FIGURE = "agreement"
SENTENCE = "This report stays as it was computed on"


@pytest.fixture
def study() -> Study:
    made = given.closed_study()
    given.verdicts(made, {"E01": "ynyn", "E02": "yyyy"})
    return made


@pytest.fixture
def upgrade(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Has a figure computed otherwise, as another version of Quire would."""

    def change() -> None:
        figure = all_figures()[FIGURE]
        monkeypatch.setattr(type(figure), "edition", figure.edition + 1)
        monkeypatch.setattr(type(figure), "compute", lambda self, data: self.nothing)

    return change


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(factories.staff("researcher"))
    return client


def read_package(archive: ZipFile) -> Any:
    (name,) = (name for name in archive.namelist() if name.endswith("report.json"))
    return json.loads(archive.read(name))


def test_the_report_of_a_closed_study_stays_and_says_by_which_editions_it_is(
    staff: Client, study: Study, upgrade: Callable[[], None]
) -> None:
    before = results.ensure_report(study, at=NOON, by="ann")
    assert SENTENCE not in staff.get(ADDRESS).content.decode()

    upgrade()

    page = staff.get(ADDRESS).content.decode()
    assert results.ensure_report(study, at=NOON, by="bob").pk == before.pk
    assert SENTENCE in page
    edition = before.editions[FIGURE]
    assert f"edition {edition}, now {edition + 1}" in page
    assert "Compute anew" in page
    assert store_reports([study], at=timezone.now()) == 0, "nor does the night compute another"
    assert Report.objects.get().result == before.result


def test_the_package_and_the_api_say_what_the_page_says(
    staff: Client, study: Study, upgrade: Callable[[], None]
) -> None:
    before = results.ensure_report(study, at=NOON, by="ann")
    upgrade()

    _package, archive = issued(study, with_sources=True, reason="To compare.")

    assert read_package(archive) == before.result
    assert before.result[FIGURE] is not None
    edition = before.editions[FIGURE]
    (readme,) = (archive.read(name).decode() for name in archive.namelist() if name.endswith("README.md"))
    assert f"{FIGURE} {edition} (now {edition + 1})" in readme
    assert staff.get(reverse("api:report", args=["plums"])).json()["fingerprint"] == before.fingerprint


def test_compute_anew_takes_the_figures_of_now_with_and_without_sources(
    staff: Client, study: Study, upgrade: Callable[[], None]
) -> None:
    before = [results.ensure_report(study, at=NOON, by="ann", blind=blind) for blind in (False, True)]
    upgrade()

    response = staff.post(f"{ADDRESS}anew/")

    assert (response.status_code, response["Location"]) == (302, ADDRESS)
    page = staff.get(ADDRESS).content.decode()
    assert SENTENCE not in page
    fresh = [results.find_report(study, blind=blind) for blind in (False, True)]
    assert [report.editions == results.list_editions() for report in fresh if report] == [True, True]
    assert not {report.pk for report in fresh if report} & {report.pk for report in before}
    assert Report.objects.count() == 4, "what was before stays, for whoever compares"


def test_a_worker_that_is_asked_to_compute_anew_does_so(
    staff: Client, study: Study, upgrade: Callable[[], None], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REPORTS_AT_ONCE = False
    monkeypatch.setattr(computations, "_send", lambda row, **_: None)
    before = results.ensure_report(study, at=NOON, by="ann")
    upgrade()

    staff.post(f"{ADDRESS}anew/")

    row = Computation.objects.get()
    meanwhile = staff.get(ADDRESS).content.decode()
    assert "The report is being computed" in meanwhile
    assert SENTENCE not in meanwhile, "it is being computed already"
    fresh = computations.carry_out(row.pk)
    assert fresh is not None
    assert fresh.pk != before.pk
    assert SENTENCE not in staff.get(ADDRESS).content.decode()


def test_a_closed_study_in_which_something_changed_is_computed_anew(study: Study, upgrade: Callable[[], None]) -> None:
    before = results.ensure_report(study, at=NOON, by="ann")
    upgrade()
    with triggers.lifted():
        Study.objects.update(notice="Read this.")
    study.refresh_from_db()

    assert results.ensure_report(study, at=NOON, by="bob").pk != before.pk


def test_a_live_study_goes_with_the_editions_of_now(study: Study, upgrade: Callable[[], None]) -> None:
    with triggers.lifted():
        Study.objects.update(state="live")
    study.refresh_from_db()
    before = results.ensure_report(study, at=NOON, by="ann")
    upgrade()

    assert results.ensure_report(study, at=NOON, by="bob").fingerprint != before.fingerprint


def test_a_report_from_before_a_figure_was_there_is_read_without_it(staff: Client, study: Study) -> None:
    report = results.ensure_report(study, at=NOON - timedelta(days=1), by="ann")
    older = {key: value for key, value in report.result.items() if key != FIGURE} | {"former": {"n": 1}}
    editions = {key: edition for key, edition in report.editions.items() if key != FIGURE} | {"former": 1}
    Report.objects.update(result=older, editions=editions, fingerprint="0" * 64)

    response = staff.get(ADDRESS)

    assert response.status_code == 200
    assert SENTENCE in response.content.decode()
    assert Report.objects.get().result == older, "what is stored stays"


def test_a_report_without_editions_gets_them_where_it_is_of_now(study: Study) -> None:
    report = results.ensure_report(study, at=NOON, by="ann")
    Report.objects.update(inputs="", editions={})

    assert results.find_report(study) == report
    assert Report.objects.get().editions == results.list_editions()
