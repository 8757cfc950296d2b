"""Who sits where: a rater claims a seat or gives it up. Conditional updates instead of locks, so that SQLite
and PostgreSQL behave alike; the constraints of `Assignment` are the last word."""

from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Count, F, Q, QuerySet
from django.utils.translation import gettext_noop

from annotation.models import Assignment, Rater, Seat, Timing
from annotation.responses import fills
from studies import protocol
from studies.models import Step


class NoSeat(Exception):
    """There is nothing to claim; the message says why, in words that the rater's page translates."""


def eligible_seats(rater: Rater) -> QuerySet[Seat]:
    """The free seats that this rater may take, best first: least-filled group, then rank.

    Never a group that the rater has had before, given-up places included; only the groups of the invitation if it
    names some.
    """
    seats = Seat.objects.filter(study=rater.study_id, rater_kind=Rater.Kind.PERSON, is_taken=False)
    seats = seats.exclude(group__in=rater.assignments.exclude(group=None).values("group"))
    groups = list(rater.invitation.groups.values_list("pk", flat=True)) if hasattr(rater, "invitation") else []
    if groups:
        seats = seats.filter(group__in=groups)
    n_taken = Count("group__seats", filter=Q(group__seats__is_taken=True, group__seats__rater_kind=Rater.Kind.PERSON))
    return seats.annotate(n_taken=n_taken).order_by("n_taken", "rank", "group__code", "number")


def claim(rater: Rater) -> Assignment:
    """The rater's open assignment: the one there is, or a new one in the best free seat.

    Raises NoSeat if the study is not open or no seat is left for this rater.
    """
    if not rater.study.is_live:
        raise NoSeat(gettext_noop("This study is not open."))
    version = protocol.current(rater.study)
    while True:
        if assignment := find_open_assignment(rater):
            return assignment
        seat = eligible_seats(rater).first()
        if seat is None:
            raise NoSeat(gettext_noop("Every place is taken at the moment, or you have had all that there is."))
        try:
            with transaction.atomic():
                # Somebody may have taken it since we looked: then no row changes, and we look again.
                if Seat.objects.filter(pk=seat.pk, is_taken=False).update(is_taken=True):
                    return Assignment.objects.create(
                        study=rater.study,
                        rater=rater,
                        rater_kind=rater.kind,
                        seat=seat,
                        group=seat.group,
                        version=version,
                    )
        except IntegrityError:
            # The same rater claimed in another window at the same moment: the next round finds that assignment.
            continue


def find_open_assignment(rater: Rater) -> Assignment | None:
    """The assignment at which the rater is at work; None if there is none."""
    return rater.assignments.filter(status=Assignment.Status.OPEN).exclude(seat=None).first()


def give_up(
    assignment: Assignment,
    *,
    at: datetime,
    status: str = Assignment.Status.GIVEN_UP,
    stopped_at: int | None = None,
) -> bool:
    """Open the seat again; the answers stay, outside all results. False if the assignment was no longer open.

    stopped_at : the section of a cloze from which its writer could not go on
    """
    with transaction.atomic():
        has_ended = Assignment.objects.filter(pk=assignment.pk, status=Assignment.Status.OPEN).update(
            status=status, ended_at=at
        )
        if has_ended and assignment.seat_id:
            Seat.objects.filter(pk=assignment.seat_id).update(is_taken=False)
        if has_ended and status == Assignment.Status.GIVEN_UP:
            fills.record_outcome(assignment, is_submitted=False, stopped_at=stopped_at)
    assignment.refresh_from_db()
    return bool(has_ended)


def ensure_visit(rater: Rater) -> Assignment:
    """The rater's one visit, which holds what is asked once of a rater; made on the first call."""
    visit, _ = Assignment.objects.get_or_create(
        rater=rater,
        seat=None,
        defaults={"study": rater.study, "rater_kind": rater.kind, "version": protocol.current(rater.study)},
    )
    return visit


def remember_place(assignment: Assignment, *, place: str, at: datetime) -> None:
    """Remember where the rater is, to bring them back there."""
    Assignment.objects.filter(pk=assignment.pk, status=Assignment.Status.OPEN).update(place=place, last_active_at=at)


def open_step(assignment: Assignment, step: Step) -> None:
    """Note that a step was opened that locks what came before: it has a timing from then on, of no seconds at first."""
    with transaction.atomic():
        Timing.objects.get_or_create(assignment=assignment, step=step, story=None, section=None)
        earlier = Assignment.objects.filter(pk=assignment.pk, locked_before__lt=step.position)
        earlier.update(locked_before=step.position)


def n_groups_left(rater: Rater) -> int:
    """How many groups still have a free seat for this rater."""
    return eligible_seats(rater).aggregate(n=Count(F("group"), distinct=True))["n"] or 0
