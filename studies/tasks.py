"""Celery tasks: what takes long on the pages of stories."""

from celery import shared_task
from django.utils import timezone

from studies import jobs, typing_jobs
from studies.story_import import examinations, intakes


@shared_task  # type: ignore[untyped-decorator]
def bring_in_stories(import_id: int) -> None:
    """Bring in a long file of stories; nothing if it is in already or another worker holds it."""
    intakes.carry_out(import_id)


@shared_task  # type: ignore[untyped-decorator]
def examine_stories(job_id: int) -> None:
    """Examine a long file of stories; nothing if that is done or another worker is at it."""
    examinations.carry_out(job_id)


@shared_task  # type: ignore[untyped-decorator]
def compare_typing(job_id: int) -> None:
    """Compare the typing of long texts by source; nothing if that is done or another worker is at it."""
    typing_jobs.compare(job_id)


@shared_task  # type: ignore[untyped-decorator]
def normalise_typing(job_id: int) -> None:
    """Make the typing of long texts alike; nothing if that is done or another worker is at it."""
    typing_jobs.normalise(job_id)


@shared_task  # type: ignore[untyped-decorator]
def sweep_jobs() -> int:
    """Tell a worker of long work that was left lying; how much there was."""
    return jobs.sweep(at=timezone.now())
