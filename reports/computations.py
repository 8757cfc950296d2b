"""Reports that are computed by a worker: asked for by a page, computed once however many ask, taken over from the dead.

Where no worker takes one up, as on a machine on which only the web server runs, a process of its own computes it.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

import kombu.exceptions
from celery import current_app
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from reports import results
from reports.models import Computation, Report
from studies import processes
from studies.models import Study

log = logging.getLogger(__name__)
MAKE_REPORT = "reports.tasks.make_report"
LEASE = timedelta(minutes=3)  # renewed before each figure
PATIENCE = timedelta(seconds=15)  # until another worker, or a process of our own, is told


def obtain_report(study: Study, *, by: str, blind: bool = False) -> Report | Computation:
    """The report of the study as it is now, or what is done to have it: a worker is told, once for all who ask."""
    if settings.REPORTS_AT_ONCE:
        return results.ensure_report(study, at=timezone.now(), by=by, blind=blind)
    at = timezone.now()
    # Whoever looks while it is computed asks every two seconds, and need not have all inputs counted each time.
    computation = Computation.objects.filter(study=study, is_blind=blind).first()
    if computation and computation.leased_until and computation.leased_until > at:
        return computation
    stored = None if computation and computation.is_anew else results.find_report(study, blind=blind)
    return stored or ask(study, by=by, blind=blind, at=at)


def compute_anew(study: Study, *, by: str) -> None:
    """Have a closed study's reports computed by the editions of now, both of them: a package without sources says what
    the page with them says. Nothing where they are so already."""
    at = timezone.now()
    for blind in (False, True):
        report = results.find_report(study, blind=blind)
        if report is None or not results.is_outdated(report):
            continue
        if settings.REPORTS_AT_ONCE:
            results.ensure_report(study, at=at, by=by, blind=blind, anew=True)
        else:
            ask(study, by=by, blind=blind, at=at, anew=True)


def ask(study: Study, *, by: str, at: datetime, blind: bool = False, anew: bool = False) -> Computation:
    """The computation of the study's report, told to a worker unless one is at it or was told a moment ago."""
    with transaction.atomic():
        row, is_new = Computation.objects.get_or_create(
            study=study, is_blind=blind, defaults={"asked_by": by, "queued_at": at, "is_anew": anew}
        )
        if anew and not row.is_anew:
            Computation.objects.filter(pk=row.pk).update(is_anew=True)
        if is_new:
            transaction.on_commit(lambda: _send(row))
            return row
        waiting = Computation.objects.idle(at=at).filter(pk=row.pk, queued_at__lte=at - PATIENCE)
        if waiting.update(queued_at=at):
            transaction.on_commit(lambda: _send(row, is_repeated=True))
    return row


def _send(row: Computation, *, is_repeated: bool = False) -> None:
    try:
        current_app.send_task(MAKE_REPORT, args=[row.pk])
    except (kombu.exceptions.OperationalError, OSError) as error:
        log.warning("report %s could not be queued (%s)", row.pk, type(error).__name__)
    if is_repeated and settings.IS_EMBEDDED:
        # If a worker takes it up after all, whoever is second finds it leased.
        processes.start_command("work_off", MAKE_REPORT, str(row.pk))


def carry_out(pk: int) -> Report | None:
    """Compute what was asked for and store it; None if it is there already or somebody is at it."""
    at = timezone.now()
    if not Computation.objects.idle(at=at).filter(pk=pk).update(leased_until=at + LEASE, problem=""):
        return None
    row = Computation.objects.select_related("study").get(pk=pk)
    try:
        report = results.ensure_report(
            row.study,
            at=at,
            by=row.asked_by,
            blind=row.is_blind,
            anew=row.is_anew,
            progress=lambda done, n: _say_progress(pk, done, n),
        )
    except Exception as error:
        log.exception("no report of %s", row.study.slug)
        Computation.objects.filter(pk=pk).update(leased_until=None, problem=type(error).__name__)
        return None
    Computation.objects.filter(pk=pk).delete()
    return report


def _say_progress(pk: int, n_done: int, n: int) -> None:
    lease = timezone.now() + LEASE
    Computation.objects.filter(pk=pk).update(n_figures_done=n_done, n_figures=n, leased_until=lease)
