"""Reports that are computed every day at an hour of somebody's clock, and who is written to afterwards.

Beat asks every ten minutes what is due. Whoever moves a schedule on to its next time has it to do, so that two
schedulers, or a message that comes twice, make one report and one mail.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo, available_timezones

from django.core.mail import EmailMessage
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Assignment, Rater
from reports import results
from reports.models import Digest, ReportSchedule
from studies.models import Study

log = logging.getLogger(__name__)

# After closing, late answers of judges and erasures still change results for a while.
RECENT = timedelta(days=30)


def zones() -> list[str]:
    """The names of the time zones that can be chosen."""
    return sorted(name for name in available_timezones() if "/" in name or name == "UTC")


def next_time(hour: int, zone: str, *, after: datetime) -> datetime:
    """When the clocks of the zone next show that hour. An hour that they leave out is the one that follows it; of one
    that they show twice it is the first, so that every day has exactly one."""
    local = ZoneInfo(zone)
    day = after.astimezone(local).date()
    while True:
        at = datetime.combine(day, time(hour), tzinfo=local).astimezone(UTC)
        if at > after:
            return at
        day += timedelta(days=1)


def set_next(schedule: ReportSchedule, *, at: datetime) -> None:
    """Say when the schedule is due next; not saved."""
    schedule.next_at = next_time(schedule.hour, schedule.zone, after=at)


def claim_due(*, at: datetime) -> list[tuple[ReportSchedule, datetime]]:
    """The schedules that are due and that nobody else has to do, each with the time for which it was."""
    claimed = []
    for schedule in ReportSchedule.objects.filter(Q(next_at=None) | Q(next_at__lte=at), is_on=True):
        due_at = schedule.next_at
        following = next_time(schedule.hour, schedule.zone, after=at)
        mine = ReportSchedule.objects.filter(pk=schedule.pk, next_at=due_at, is_on=True).update(next_at=following)
        if mine and due_at is not None:
            claimed.append((schedule, due_at))
    return claimed


def find_studies(schedule: ReportSchedule | None, *, at: datetime) -> list[Study]:
    """The studies of the schedule; without any named, and of no schedule, those live or closed lately."""
    named = list(schedule.studies.order_by("slug")) if schedule else []
    states = Q(state__in=[Study.State.LIVE, Study.State.PAUSED])
    return named or list(
        Study.objects.filter(states | Q(state=Study.State.CLOSED, closed_at__gte=at - RECENT)).order_by("slug")
    )


def store_reports(studies: Iterable[Study], *, at: datetime) -> int:
    """Compute and store the report of each whose inputs changed; how many there were."""
    n_stored = 0
    for study in studies:
        try:
            n_stored += results.ensure_report(study, at=at, by="nightly").made_at == at
        except Exception:
            # One study that cannot be computed must not cost the others their report.
            log.exception("no nightly report of %s", study.slug)
    return n_stored


def recipients(schedule: ReportSchedule) -> list[str]:
    return list(dict.fromkeys(schedule.recipients.split()))


def send_digests(schedule: ReportSchedule, studies: Sequence[Study], *, due_at: datetime, at: datetime) -> int:
    """One mail to each recipient, recorded before it is sent: a second attempt would be a second mail; how many went
    out."""
    n_sent = 0
    for recipient in recipients(schedule):
        digest, is_new = Digest.objects.get_or_create(schedule=schedule, recipient=recipient, due_at=due_at)
        if not is_new:
            continue
        try:
            day = due_at.astimezone(ZoneInfo(schedule.zone)).date()
            subject = _("Quire: how the studies stand, %(day)s") % {"day": day.isoformat()}
            words = [progress_words(study, site=schedule.site) for study in studies]
            EmailMessage(subject, "\n\n".join(words), to=[recipient]).send()
        except OSError as error:  # smtplib's errors are such
            log.warning("digest %s could not be sent (%s)", digest.pk, type(error).__name__)
            digest.problem = type(error).__name__
        else:
            digest.sent_at, n_sent = at, n_sent + 1
        digest.save()
    return n_sent


def progress_words(study: Study, *, site: str) -> str:
    """How far a study is, for whoever reads mail: never what it amounts to, since a mail knows nobody's rights.

    site : the beginning of Quire's own addresses, as https://quire.example.org; "" if nobody knows it
    """
    places = study.seats.filter(rater_kind=Rater.Kind.PERSON).count()
    n = Assignment.objects.first_readings().filter(study=study, status=Assignment.Status.SUBMITTED).count()
    words = ngettext("%(n)s of %(places)s place submitted.", "%(n)s of %(places)s places submitted.", places) % {
        "n": n,
        "places": places,
    }
    where = _("The report: %(path)s") % {"path": f"{site}{reverse('reports:show', args=[study.slug])}"}
    return f"{study.title}\n{study.get_state_display()}. {words}\n{where}"
