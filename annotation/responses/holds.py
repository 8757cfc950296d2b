"""Assignments held open while answers to them are written, and how fast pages may save."""

from collections.abc import Iterable
from datetime import datetime
from math import ceil

from django.db.models import Case, F, FloatField, Q, QuerySet, Value, When
from django.db.models.functions import Greatest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotation.models import Assignment
from annotation.prepared_queries import PreparedQuery, PreparedUpdate

ENDED = gettext_noop("This has been submitted, or its place was released; its answers can no longer be changed.")
TOO_FAST = gettext_noop("Too many saves at once, so this is not saved yet. Please try again in a few seconds.")

# A token bucket for each assignment: BURST saves at once, SAVES_PER_SECOND for good. The fastest that a person does is
# to press keys that answer and go on by turns: at gaps of 60 milliseconds up to 17 saves a second, which the bucket
# bears for eight seconds, longer than a page has questions to press through. Drafts of a device that was offline come
# one after the other, and a page posted as a whole is one save. A program in a loop is slowed down within a second.
SAVES_PER_SECOND = 10
BURST = 60
DEPTH_SECONDS = BURST / SAVES_PER_SECOND


class AssignmentEnded(Exception):
    """Nothing can be recorded here any more; the message says why, in words that the rater's page translates."""


class TooManySaves(Exception):
    """The page saves faster than is taken; the message says so. seconds : after which it may save again"""

    def __init__(self, seconds: int) -> None:
        super().__init__(_(TOO_FAST))
        self.seconds = seconds


def hold(assignment: Assignment) -> list[int]:
    """The stories that are begun in the assignment, which is held open until the end of the transaction: a submission
    that comes meanwhile waits, and its receipt covers this answer. Raises AssignmentEnded if a submission came first.

    SQLite knows no row locks and needs none: a transaction of ours begins with the lock on the whole database.
    """
    row = _HELD.first(pk=assignment.pk)
    if row is None:
        raise AssignmentEnded(ENDED)
    return list(row.begun)


def hold_for_page(assignment: Assignment, *, at: datetime) -> list[int]:
    """The same for a save from a page, which takes one from the bucket: one query too, an update that locks as well.

    Raises TooManySaves if the bucket is empty. A time that lies further ahead than a bucket can reach was stored before
    the clock was set back: the bucket starts again, and nobody waits longer than one takes to fill.
    """
    now = at.timestamp()
    full_until = now + (BURST - 1) / SAVES_PER_SECOND
    farthest = full_until + DEPTH_SECONDS
    begun = _HELD_FOR_PAGE.run(pk=assignment.pk, now=now, full_until=full_until, farthest=farthest)
    if begun is not None:
        return list(begun)
    still_open = Assignment.objects.filter(pk=assignment.pk, status=Assignment.Status.OPEN)
    saves_until = still_open.values_list("saves_until", flat=True).first()
    if saves_until is None:
        raise AssignmentEnded(ENDED)
    raise TooManySaves(max(1, ceil(saves_until - full_until)))


def hold_many(assignments: Iterable[Assignment]) -> dict[int, list[int]]:
    """Of those that are open the stories begun, by assignment. One query."""
    rows = Assignment.objects.filter(pk__in={assignment.pk for assignment in assignments})
    held = rows.filter(status=Assignment.Status.OPEN).order_by("pk").select_for_update(no_key=True)
    return dict(held.values_list("pk", "begun"))


def _open_assignment(*, pk: int) -> QuerySet[Assignment]:
    assignments = Assignment.objects.filter(pk=pk, status=Assignment.Status.OPEN).only("begun")
    return assignments.select_for_update(no_key=True)


def _open_assignment_with_allowance(
    *, pk: int, full_until: float, farthest: float, **_samples: float
) -> QuerySet[Assignment]:
    has_allowance = Q(saves_until__lte=full_until) | Q(saves_until__gt=farthest)
    return Assignment.objects.filter(has_allowance, pk=pk, status=Assignment.Status.OPEN)


def _allowance_used(*, now: float, farthest: float, **_samples: float) -> dict[str, object]:
    this_moment = Value(now, output_field=FloatField())
    used_until = Case(When(saves_until__gt=farthest, then=this_moment), default=Greatest(F("saves_until"), this_moment))
    return {"saves_until": used_until + Value(1 / SAVES_PER_SECOND, output_field=FloatField())}


_HELD = PreparedQuery(_open_assignment, pk=918273645)
_HELD_FOR_PAGE = PreparedUpdate(
    _open_assignment_with_allowance,
    _allowance_used,
    "begun",
    pk=918273645,
    now=918273646.5,
    full_until=918273647.5,
    farthest=918273648.5,
)
