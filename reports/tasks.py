"""Celery tasks: reports that were asked for, those of every night, packages, simulated studies, and pilots."""

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from reports import computations, key_figures, pilots, results, schedules
from reports.export import issues
from reports.models import ExportPackage
from reports.page import fragments
from reports.simulated_studies import jobs as simulations

# Replaced reports of closed studies stay this long for whoever compares.
KEPT = timedelta(days=30)


@shared_task  # type: ignore[untyped-decorator]
def make_report(computation_id: int) -> None:
    """Compute the report that was asked for and render its summary and sections; nothing if it is there already or
    somebody is at it."""
    report = computations.carry_out(computation_id)
    if report is not None:
        fragments.prepare(report, report.study)


@shared_task  # type: ignore[untyped-decorator]
def nightly() -> int:
    """Compute and store the report of each live or recently closed study whose inputs changed; how many there were."""
    now = timezone.now()
    n_stored = schedules.store_reports(schedules.find_studies(None, at=now), at=now)
    key_figures.record_missing()
    return n_stored


@shared_task  # type: ignore[untyped-decorator]
def scheduled() -> int:
    """Compute what is due by the schedules, write to whoever asked for it, and forget what was replaced long ago; how
    many reports were stored."""
    now, n_stored = timezone.now(), 0
    due = schedules.claim_due(at=now)
    for schedule, due_at in due:
        studies = schedules.find_studies(schedule, at=now)
        n_stored += schedules.store_reports(studies, at=now)
        schedules.send_digests(schedule, studies, due_at=due_at, at=now)
    if due:
        results.prune(before=now - KEPT)
        key_figures.record_missing()
    return n_stored


@shared_task  # type: ignore[untyped-decorator]
def make_package(package_id: int) -> None:
    """Make a package and keep its bytes; nothing if it is there already."""
    package = ExportPackage.objects.select_related("study").filter(pk=package_id).first()
    if package is not None:
        issues.make_and_keep(package)


@shared_task  # type: ignore[untyped-decorator]
def simulate_study(job_id: int) -> None:
    """Simulate a study in a copy; nothing if that is done or another worker is at it."""
    simulations.carry_out(job_id)


@shared_task  # type: ignore[untyped-decorator]
def read_pilot(job_id: int) -> None:
    """Read how much the answers of an earlier study vary; nothing if that is done or another worker is at it."""
    pilots.carry_out(job_id)
