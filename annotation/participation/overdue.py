"""Places whose time is over, taken back: a group's hours, an invitation's, Prolific's; and holds that have lapsed.

A worker does so every minute, and every arrival that finds no place does so first, so that it also happens without a
worker. All of it are conditional updates: of two who take back at once, one changes no row.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import (
    DateTimeField,
    DurationField,
    Exists,
    ExpressionWrapper,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Value,
)
from django.db.models.functions import Cast

from annotation.models import Assignment, Invitation, ProlificArrival, Seat
from annotation.participation import claims, recruitment, waiting_list
from annotation.participation.recruitment import Ending
from studies.action_log import log_by_system
from studies.models import Study

GROUP_OVER = "place taken back: the time for the group is over"
INVITATION_OVER = "place taken back: the invitation has expired"
PROLIFIC_OVER = "place taken back: Prolific's time is over"
HOLD_OVER = "place held no longer"


def sweep(*, at: datetime) -> int:
    """Take back every overdue place, offer free ones to those who wait, and forget the waiting lists of closed studies;
    how many places became free. One query if there is nothing to do."""
    keys = _find_studies(at=at)
    if not keys:
        return 0
    waiting_list.forget(waiting_list.list_over(at=at))
    return sum(free_overdue(study, at=at) for study in Study.objects.filter(pk__in=keys, state=Study.State.LIVE))


def free_overdue(study: Study, *, at: datetime) -> int:
    """Take back the overdue places of a live study, and offer free ones to those who wait; how many places became free.
    One query if there is nothing to do."""
    if not _find_studies(at=at, study=study):
        return 0
    n_free = sum(_take_back(row, at=at) for row in _list_places(at=at).filter(study=study).select_related("rater"))
    n_free += take_back_arrivals(study, at=at)
    for seat in _list_holds(at=at).filter(study=study).select_related("held_by"):
        if seat.held_by and claims.release_hold(seat.held_by, before=at):
            log_by_system(seat.held_by, HOLD_OVER)
            n_free += 1
    waiting_list.offer(study, at=at)
    return n_free


def _find_studies(*, at: datetime, study: Study | None = None) -> set[int]:
    """The ids of the studies in which something is due; with a study, only whether it is one of them. One query."""
    is_open = Q(study__closes_at=None) | Q(study__closes_at__gt=at)
    is_live = Q(study__state=Study.State.LIVE, study__rehearsal_of=None) & is_open
    rows = [
        part.filter(is_live).order_by().values_list("study", flat=True)
        for part in (_list_places(at=at), _list_arrivals(at=at), _list_holds(at=at), waiting_list.list_due(at=at))
    ]
    rows.append(waiting_list.list_over(at=at).order_by().values_list("study", flat=True))
    first, *others = [part.filter(study=study) if study else part for part in rows]
    return set(first.union(*others))


def _list_places(*, at: datetime) -> QuerySet[Assignment]:
    """The groups at which somebody is at work and whose hours, or their invitation's, are over."""
    is_over = Q(due_at__lte=at) | Q(rater__invitation__expires_at__lte=at)
    return Assignment.objects.first_readings().filter(is_over, status=Assignment.Status.OPEN)


def _list_holds(*, at: datetime) -> QuerySet[Seat]:
    return Seat.objects.filter(held_until__lte=at).exclude(held_by=None)


def _list_arrivals(*, at: datetime) -> QuerySet[ProlificArrival]:
    """Those from Prolific whose time is over and who have neither ended nor submitted all they began."""
    mine = Assignment.objects.filter(rater__invitation=OuterRef("invitation"), seat__isnull=False)
    has_submitted = Exists(mine.filter(status=Assignment.Status.SUBMITTED))
    is_at_work = Exists(mine.filter(status=Assignment.Status.OPEN, repeats=None))
    # Cast, since SQLite multiplies no small integers by durations.
    minutes = Cast("study__prolific__minutes", IntegerField())
    time = ExpressionWrapper(minutes * Value(timedelta(minutes=1)), output_field=DurationField())
    until = ExpressionWrapper(F("session_began_at") + time, output_field=DateTimeField())
    rows = ProlificArrival.objects.filter(outcome="", invitation__revoked_at=None, invitation__isnull=False)
    rows = rows.filter(study__prolific__minutes__isnull=False).alias(until=until).filter(until__lt=at)
    return rows.exclude(has_submitted & ~is_at_work)


def count_arrivals(study: Study, *, at: datetime) -> int:
    """How many people from Prolific hold places though their time is over."""
    return _list_arrivals(at=at).filter(study=study).count()


def take_back_arrivals(study: Study, *, at: datetime) -> int:
    """Free the places of those whose time at Prolific is over; how many people it was."""
    rows = _list_arrivals(at=at).filter(study=study).select_related("invitation__study", "invitation__rater")
    return sum(_end_arrival(arrival, at=at) for arrival in rows.order_by("pk"))


def _end_arrival(arrival: ProlificArrival, *, at: datetime) -> bool:
    """Whether a place became free. Somebody who has submitted one group keeps their part, loses the next one, and is
    given no other."""
    rater = arrival.invitation.rater if arrival.invitation else None
    submitted = Assignment.objects.filter(rater=rater, seat__isnull=False, status=Assignment.Status.SUBMITTED)
    if rater and submitted.exists():
        Invitation.objects.filter(rater=rater).update(expires_at=at)
        assignment = claims.find_open_assignment(rater)
        return assignment is not None and _take_back(assignment, at=at, why=PROLIFIC_OVER)
    try:
        recruitment.end(arrival, Ending.TIMED_OUT, at=at)
    except recruitment.HasCompleted:
        return False  # at this very moment
    if arrival.invitation:
        log_by_system(arrival.invitation, PROLIFIC_OVER)
    return True


@transaction.atomic
def _take_back(assignment: Assignment, *, at: datetime, why: str = "") -> bool:
    """Whether the place was released now; what is answered is kept outside all results, to be gone on with."""
    if not claims.give_up(assignment, at=at, is_taken_back=True):
        return False
    claims.release_row(assignment.rater)
    is_late = assignment.due_at is not None and assignment.due_at <= at
    log_by_system(assignment, why or (GROUP_OVER if is_late else INVITATION_OVER))
    return True
