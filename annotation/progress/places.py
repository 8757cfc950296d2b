"""Where a rater is in an assignment: the page and the paragraph to come back to, and what has been opened that locks
what came before."""

from datetime import datetime

from django.db import transaction

from annotation.models import Assignment, Timing
from studies.models import Step


def remember_page(assignment: Assignment, *, page: str, at: datetime) -> None:
    """Remember where the rater is, to bring them back there."""
    Assignment.objects.filter(pk=assignment.pk, status=Assignment.Status.OPEN).update(last_page=page, last_active_at=at)


def remember_position(assignment: Assignment, letter: str, *, paragraph: int, offset: int) -> None:
    """Remember where in that story the rater is: paragraph, from 1, and thousandths of it.

    No lock is taken and nothing else is written, so that no save waits for it; of two devices at once the last one is
    right.
    """
    positions = assignment.reading_positions | {letter: [paragraph, offset]}
    still_open = Assignment.objects.filter(pk=assignment.pk, status=Assignment.Status.OPEN)
    still_open.update(reading_positions=positions)


def open_step(assignment: Assignment, step: Step) -> None:
    """Note that a step was opened that locks what came before: it has a timing from then on, of no seconds at first."""
    with transaction.atomic():
        Timing.objects.get_or_create(assignment=assignment, step=step, story=None, section=None)
        earlier = Assignment.objects.filter(pk=assignment.pk, locked_before__lt=step.position)
        earlier.update(locked_before=step.position)
