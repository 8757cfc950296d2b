"""Reports of every day: due by somebody's clock, made once, told by mail once and without a word of results."""

import smtplib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from reports import schedules, tasks
from reports.models import Digest, Report, ReportSchedule
from studies.models import Source, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.replay import replayed
from tests.reports import given
from tests.threads import at_once

pytestmark = pytest.mark.django_db
ADDRESS = "/reports/-schedule/"


@pytest.fixture(autouse=True)
def _none_yet(db: None) -> None:
    ReportSchedule.objects.all().delete()


@pytest.fixture
@replayed
def study() -> Study:
    made = given.closed_study()
    given.verdicts(made, {"E01": "ynyn", "E02": "yyyy"})
    Study.objects.update(closed_at=timezone.now())
    return made


def due(**more: Any) -> ReportSchedule:
    return ReportSchedule.objects.create(next_at=timezone.now() - timedelta(minutes=5), **more)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("2026-03-28T12:00", "2026-03-29T01:00"),  # 2:00 does not exist on the 29th: clocks go on to 3:00, 1:00 UTC
        ("2026-03-29T01:00", "2026-03-30T00:00"),
        ("2026-10-24T12:00", "2026-10-25T00:00"),  # 2:00 comes twice on the 25th: the first, in summer time
        ("2026-10-25T00:00", "2026-10-26T01:00"),  # and not the second, an hour later
    ],
)
def test_every_day_has_the_hour_once_also_when_clocks_change(after: str, expected: str) -> None:
    begin, end = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (after, expected))

    assert schedules.next_time(2, "Europe/Berlin", after=begin) == end


def test_what_is_due_is_made_once_and_moves_to_the_next_day(study: Study) -> None:
    row = due(hour=4, zone="Asia/Tokyo")

    assert (tasks.scheduled(), tasks.scheduled(), Report.objects.count()) == (1, 0, 1)

    row.refresh_from_db()
    assert row.next_at is not None
    assert row.next_at > timezone.now()
    assert row.next_at.astimezone(UTC).hour == 19


def test_what_is_off_or_not_due_is_left_alone(study: Study) -> None:
    due(is_on=False)
    later = ReportSchedule.objects.create(next_at=timezone.now() + timedelta(hours=1))
    fresh = ReportSchedule.objects.create()

    assert (tasks.scheduled(), Report.objects.count()) == (0, 0)

    later.refresh_from_db()
    fresh.refresh_from_db()
    assert fresh.next_at is not None, "it is due from its next hour on"


def test_a_schedule_with_studies_computes_those_alone(study: Study) -> None:
    factories.study("live")
    due().studies.set([study])

    assert tasks.scheduled() == 1
    assert Report.objects.get().study == study


def test_each_recipient_gets_one_mail_without_results(study: Study) -> None:
    with triggers.lifted():
        Source.objects.filter(name="Source 1").update(name="Canary")
    factories.study("live")
    row = due(recipients="ann@example.org\nbob@example.org\nann@example.org", site="https://quire.example.org")
    due_at = row.next_at = datetime(2026, 11, 2, 17, tzinfo=UTC)
    row.zone = "Pacific/Auckland"  # where it is six in the morning of the third
    row.save()

    tasks.scheduled()
    again = schedules.send_digests(row, [study], due_at=due_at, at=timezone.now())

    assert ([message.to for message in mail.outbox], again) == ([["ann@example.org"], ["bob@example.org"]], 0)
    assert mail.outbox[0].subject.endswith(", 2026-11-03")
    body = str(mail.outbox[0].body)
    assert "Closed. 4 of 4 places submitted." in body
    assert "https://quire.example.org/reports/live/" in body
    assert "Canary" not in body
    assert Digest.objects.exclude(sent_at=None).count() == 2


def test_a_mail_that_fails_is_recorded_and_not_tried_twice(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(message: object) -> None:
        assert Digest.objects.filter(recipient="ann@example.org").exists(), "recorded before it is sent"
        raise smtplib.SMTPServerDisconnected

    monkeypatch.setattr(schedules.EmailMessage, "send", fails)
    row = due(recipients="ann@example.org")

    tasks.scheduled()
    assert row.next_at is not None
    assert schedules.send_digests(row, [study], due_at=row.next_at, at=NOON) == 0

    digest = Digest.objects.get()
    assert (digest.problem, digest.sent_at) == ("SMTPServerDisconnected", None)


def posted(name: str, **more: Any) -> dict[str, Any]:
    given_fields = {"hour": "4", "zone": "America/Sao_Paulo", "recipients": "", "is_on": "on"} | more
    return {"schedule": name} | {f"{name}-{field}": value for field, value in given_fields.items()}


def test_an_administrator_says_when_and_others_are_refused(client: Client, study: Study) -> None:
    client.force_login(factories.staff("researcher"))
    assert client.get(ADDRESS).status_code == 403
    client.force_login(factories.staff("administrator"))

    wrong = client.post(ADDRESS, posted("new", recipients="nobody"))
    assert (wrong.status_code, ReportSchedule.objects.count()) == (400, 0)
    assert "nobody is no e-mail address." in wrong.content.decode()

    made = client.post(ADDRESS, posted("new", recipients="a@example.org, b@example.org", studies=[study.pk]))
    row = ReportSchedule.objects.get()
    assert (made.status_code, row.hour, row.zone) == (302, 4, "America/Sao_Paulo")
    assert row.site == "http://testserver", "mails lead to where it was saved"
    assert row.recipients.split() == ["a@example.org", "b@example.org"]
    assert list(row.studies.all()) == [study]
    assert row.next_at is not None
    assert row.next_at.hour == 7  # three hours behind all year
    page = client.get(ADDRESS).content.decode()
    assert "Every day at 4:00, America/Sao_Paulo" in page
    assert study.title in page
    assert f'href="{ADDRESS}"' in client.get("/admin/records/").content.decode()

    client.post(ADDRESS, posted(str(row.pk), is_on=""))
    row.refresh_from_db()
    assert not row.is_on
    client.post(ADDRESS, {"schedule": str(row.pk), "delete": "1"})
    assert ReportSchedule.objects.count() == 0
    assert client.post(ADDRESS, {"schedule": "77"}).status_code == 404


@pytest.mark.usefixtures("committed")
@pytest.mark.django_db(transaction=True)
def test_two_schedulers_make_one_report_and_one_mail() -> None:
    made = given.closed_study()
    given.verdicts(made, {"E01": "ynyn", "E02": "yyyy"})
    Study.objects.update(closed_at=timezone.now())
    due(recipients="ann@example.org")

    outcomes = at_once(*[tasks.scheduled] * 3)

    assert sorted(map(str, outcomes)) == ["0", "0", "1"]
    assert (Report.objects.count(), Digest.objects.count(), len(mail.outbox)) == (1, 1, 1)
