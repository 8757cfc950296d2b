"""Reports that a worker computes: asked for once, taken over from the dead, the one before shown meanwhile."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.template.defaultfilters import date
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from reports import computations, results, tasks
from reports.models import Computation, Report
from studies.models import Study
from tests import triggers
from tests.factories import NOON
from tests.replay import replayed
from tests.reports import given
from tests.threads import at_once

pytestmark = pytest.mark.django_db
ADDRESS = "/reports/plums/"


def changed(study: Study, notice: str) -> Study:
    """The study with something else in it that stands in its report."""
    with triggers.lifted():
        Study.objects.filter(pk=study.pk).update(notice=notice)
    study.refresh_from_db()
    return study


@pytest.fixture(autouse=True)
def sent(settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Whom a worker was told of, and none of them computed."""
    settings.REPORTS_AT_ONCE = False
    told: list[int] = []
    monkeypatch.setattr(computations, "_send", lambda row, **_: told.append(row.pk))
    return told


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(User.objects.create_user("ann", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
@replayed
def study() -> Study:
    made = given.closed_study()
    given.verdicts(made, {"E01": "ynyn", "E02": "yyyy"})
    return made


def test_a_page_asks_a_worker_and_says_how_far_it_is(
    staff: Client, study: Study, sent: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        first = staff.get(ADDRESS)
    row = Computation.objects.get()
    assert (first.status_code, first.headers["Retry-After"], sent) == (202, "2", [row.pk])
    assert "it waits for a worker" in first.content.decode()
    assert (row.asked_by, Report.objects.count()) == ("ann", 0)

    Computation.objects.update(n_figures=9, n_figures_done=4, leased_until=timezone.now() + timedelta(minutes=1))
    part = staff.get(ADDRESS, headers={"HX-Request": "true", "HX-Target": "computing"})
    assert "The report is being computed: 4 of 9 figures." in part.content.decode()
    assert "<html" not in part.content.decode()

    Computation.objects.update(leased_until=None)
    tasks.make_report(row.pk)
    done = staff.get(ADDRESS, headers={"HX-Request": "true", "HX-Target": "computing"})
    assert done.headers["HX-Refresh"] == "true"
    page = staff.get(ADDRESS)
    assert (page.status_code, Computation.objects.count(), len(sent)) == (200, 0, 1)
    assert "being computed" not in page.content.decode()


def test_meanwhile_the_report_before_stands_there_with_its_date(staff: Client, study: Study) -> None:
    before = results.ensure_report(study, at=NOON, by="ann")
    changed(study, "Another notice.")

    page = staff.get(ADDRESS).content.decode()
    table = staff.get(f"{ADDRESS}pass-rates.csv")

    assert f"Below stands that of {date(NOON, 'DATETIME_FORMAT')}." in page
    assert f"<code>{before.fingerprint[:8]}</code>" in page
    assert (table.status_code, table.headers["Last-Modified"]) == (200, "Mon, 02 Mar 2026 12:00:00 GMT")


def test_a_report_by_source_is_never_shown_to_the_blind_meanwhile(study: Study) -> None:
    by_source = results.ensure_report(study, at=NOON, by="ann")
    assert results.find_older_report(study) == by_source
    assert results.find_older_report(study, blind=True) is None

    Study.objects.update(state="live")
    study.refresh_from_db()

    assert results.find_older_report(study) is None


def test_a_file_without_any_report_before_it_says_that_it_is_being_computed(staff: Client, study: Study) -> None:
    answer = staff.get(f"{ADDRESS}pass-rates.csv")

    assert (answer.status_code, answer.headers["Retry-After"]) == (202, "2")
    assert "The report is being computed" in answer.content.decode()


def test_the_api_says_how_far_it_is_and_when_to_ask_again(staff: Client, study: Study) -> None:
    answer = staff.get("/api/studies/plums/report/")
    assert (answer.status_code, answer.headers["Retry-After"]) == (202, "2")
    assert answer.json() == {"n_figures": 0, "n_figures_done": 0, "problem": ""}

    computations.carry_out(Computation.objects.get().pk)

    assert staff.get("/api/studies/plums/report/").json()["result"] == results.compute(study)


def test_however_many_ask_one_worker_is_told_until_patience_is_at_an_end(
    study: Study, sent: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        for seconds in (0, 5, 14, 16, 17):
            computations.ask(study, by="ann", at=NOON + timedelta(seconds=seconds))

    assert (len(sent), Computation.objects.count()) == (2, 1)


def test_a_worker_that_died_is_taken_over_from_after_its_lease(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    row = computations.ask(study, by="ann", at=timezone.now())
    Computation.objects.update(leased_until=timezone.now() + timedelta(seconds=60))
    assert computations.carry_out(row.pk) is None
    assert Report.objects.count() == 0

    Computation.objects.update(leased_until=timezone.now() - timedelta(seconds=1))

    assert computations.carry_out(row.pk) == Report.objects.get()


def test_a_report_that_cannot_be_computed_says_so_and_is_tried_again(
    staff: Client, study: Study, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    row, compute = computations.ask(study, by="ann", at=NOON), results.compute

    def fails(*args: object, **more: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(results, "compute", fails)
    assert computations.carry_out(row.pk) is None
    page = staff.get(ADDRESS).content.decode()
    assert "The report could not be computed." in page
    assert "hx-trigger" not in page[page.index('id="computing"') : page.index("could not be computed")]
    assert "no report of plums" in caplog.text

    monkeypatch.setattr(results, "compute", compute)
    assert computations.carry_out(row.pk) == Report.objects.get()


def test_figures_are_counted_while_they_are_computed(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    row, counted = computations.ask(study, by="ann", at=NOON), []
    say = computations._say_progress

    def count(pk: int, done: int, n: int) -> None:
        counted.append((done, n))
        say(pk, done, n)

    monkeypatch.setattr(computations, "_say_progress", count)

    computations.carry_out(row.pk)

    n = counted[0][1]
    assert counted == [(0, n), *((done, n) for done in range(n))]


def test_a_look_at_a_live_study_replaces_the_report_before_unless_it_is_kept(study: Study) -> None:
    Study.objects.update(state="live")
    study.refresh_from_db()
    for n, is_kept in enumerate((False, True, False)):
        changed(study, f"Notice {n}.")
        report = results.ensure_report(study, at=NOON, by="ann")
        Report.objects.filter(pk=report.pk).update(is_kept=is_kept)

    assert [stored.result["study"]["notice"] for stored in Report.objects.order_by("pk")] == ["Notice 1.", "Notice 2."]


def test_old_reports_are_pruned_but_for_the_latest_and_those_that_are_kept(study: Study) -> None:
    made = []
    for n in range(4):
        changed(study, f"Notice {n}.")
        made.append(results.ensure_report(study, at=NOON + timedelta(days=n), by="ann"))
    Report.objects.filter(pk=made[1].pk).update(is_kept=True)
    blind = results.ensure_report(study, at=NOON, by="bob", blind=True)

    n_deleted = results.prune(before=NOON + timedelta(days=30))

    assert n_deleted == 2
    assert set(Report.objects.values_list("pk", flat=True)) == {made[1].pk, made[3].pk, blind.pk}


def test_waiting_costs_the_same_for_every_look(staff: Client, study: Study) -> None:
    def n_queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert staff.get(ADDRESS).status_code == 202
        return len(asked)

    staff.get(ADDRESS)
    assert [n_queries(), n_queries()] == [24, 24]


@pytest.mark.usefixtures("committed")
@pytest.mark.django_db(transaction=True)
def test_two_who_ask_at_once_have_it_computed_once() -> None:
    study = given.closed_study()
    given.verdicts(study, {"E01": "ynyn", "E02": "yyyy"})

    rows = at_once(*[lambda: computations.ask(study, by="ann", at=timezone.now()).pk] * 4)
    (pk,) = set(rows)
    reports = at_once(*[lambda: computations.carry_out(pk)] * 3)

    assert len([report for report in reports if report is not None]) == 1
    assert (Report.objects.count(), Computation.objects.count()) == (1, 0)


@pytest.mark.parametrize(("is_embedded", "n_processes"), [(True, 1), (False, 0)])
def test_an_embedded_site_computes_in_a_process_of_its_own_where_no_worker_comes(
    study: Study, monkeypatch: pytest.MonkeyPatch, settings: Any, is_embedded: bool, n_processes: int
) -> None:
    monkeypatch.undo()
    started: list[tuple[str, ...]] = []
    monkeypatch.setattr(computations.processes, "start_command", lambda *words: started.append(words))
    monkeypatch.setattr(computations.current_app, "send_task", lambda *_args, **_options: None)
    settings.IS_EMBEDDED = is_embedded
    row = computations.ask(study, by="ann", at=NOON)

    computations._send(row)
    assert started == []
    computations._send(row, is_repeated=True)

    assert started == [("work_off", "reports.tasks.make_report", str(row.pk))] * n_processes
