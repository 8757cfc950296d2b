"""Claims: a rater takes a row of seats, reads along it seat by seat, or gives a seat up. Conditional updates instead of
locks, so that SQLite and PostgreSQL behave alike; the constraints of `Assignment` and `Rater` are the last word."""

from collections import Counter
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Count, F, Q, QuerySet
from django.utils.translation import gettext_noop

from annotation.models import Assignment, Rater, Seat
from annotation.participation import repeats, versions
from annotation.participation.eligibility import count_groups_read, has_read_most, took_part_before
from annotation.responses import fills


class NoSeat(Exception):
    """There is nothing to claim; the message says why, in words that the rater's page translates."""


def eligible_seats(rater: Rater) -> QuerySet[Seat]:
    """The free seats that this rater may take.

    Never a group that the rater has had before, given-up seats included; only the groups of the invitation if it
    names some. None for a rater who has read as many as one person may, or is excluded by an earlier study.
    """
    if has_read_most(rater) or took_part_before(rater):
        return Seat.objects.none()
    seats = Seat.objects.filter(study=rater.study_id, rater_kind=Rater.Kind.PERSON, is_taken=False)
    seats = seats.exclude(group__in=rater.assignments.exclude(group=None).values("group"))
    groups = list(rater.invitation.groups.values_list("pk", flat=True)) if hasattr(rater, "invitation") else []
    return (seats.filter(group__in=groups) if groups else seats).order_by("group__code", "number")


def claim(rater: Rater) -> Assignment:
    """The rater's open assignment: the one there is, or a new one in the best free seat, or a group once more.

    Raises NoSeat if the study is not open or no seat is left for this rater.
    """
    if not rater.study.is_live:
        raise NoSeat(gettext_noop("This study is not open at the moment."))
    version = versions.find_version(rater)
    while True:
        if assignment := find_open_assignment(rater):
            return assignment
        position = count_groups_read(rater) + 1
        seat = take_row_and_find_seat(rater) or find_seat_elsewhere(rater, position=position)
        first = next(iter(repeats.list_due(rater, has_more=seat is not None)), None)
        seat = first.seat if first else seat
        if seat is None:
            raise NoSeat(_why_no_seat(rater))
        try:
            with transaction.atomic():
                # Somebody may have taken it since we looked: then no row changes, and we look again.
                if first or Seat.objects.filter(pk=seat.pk, is_taken=False).update(is_taken=True):
                    if position + _count_repeats_to_come(rater, first) == rater.study.groups_per_rater:
                        release_row(rater)  # nothing more of it is read
                    return Assignment.objects.create(
                        study=rater.study,
                        rater=rater,
                        rater_kind=rater.kind,
                        seat=seat,
                        group=seat.group,
                        version=version,
                        position=position,
                        repeats=first,
                    )
        except IntegrityError:
            # The same rater claimed in another window at the same moment: the next round finds that assignment. Or the
            # seat counts as free while somebody sits in it: unless it is marked as taken, this goes on for ever.
            live = Q(assignments__status__in=Assignment.LIVE, assignments__repeats=None)
            Seat.objects.filter(live, pk=seat.pk).update(is_taken=True)


def _count_repeats_to_come(rater: Rater, first: Assignment | None) -> int:
    """How many of what is left to the rater are groups that they have read; none once they read one again."""
    return 0 if first else rater.study.n_repeats


def _why_no_seat(rater: Rater) -> str:
    if took_part_before(rater):
        return gettext_noop("You took part in an earlier study whose readers cannot take part in this one.")
    if has_read_most(rater):
        return gettext_noop("You have read as many groups as one person may read in this study.")
    return gettext_noop("Every place is taken at the moment, or you have read everything.")


def take_row_and_find_seat(rater: Rater) -> Seat | None:
    """The next free seat along the rater's row; None if nothing is left in it. A rater without a row holds one from now
    on."""
    row = ensure_row(rater)
    return eligible_seats(rater).filter(row=row).order_by("position").first() if row else None


def ensure_row(rater: Rater) -> int | None:
    """The row along which the rater reads: the one they hold, or one that nobody holds; None if there is none."""
    while rater.row is None:
        row = find_free_row(rater)
        if row is None:
            return None
        try:
            with transaction.atomic():
                Rater.objects.filter(pk=rater.pk, row=None).update(row=row)
        except IntegrityError:
            continue  # somebody else holds it since we looked
        rater.refresh_from_db(fields=["row"])
    return rater.row


def find_free_row(rater: Rater) -> int | None:
    """Of the rows that nobody holds the one with most for this rater to read; two groups at least, or there is no order
    to keep."""
    rows = eligible_seats(rater).exclude(row=None).exclude(row__in=_held_rows(rater.study_id))
    counts = rows.order_by().values_list("row").annotate(n=Count("pk")).filter(n__gt=1)
    best: tuple[int | None, int] = min(counts, key=lambda count: (-count[1], count[0]), default=(None, 0))
    return best[0]


def release_row(rater: Rater) -> None:
    """Release the rater's row, since their work has ended: the next rater continues along it."""
    Rater.objects.filter(pk=rater.pk).update(row=None)
    rater.row = None


def find_seat_elsewhere(rater: Rater, *, position: int) -> Seat | None:
    """A free seat of the least-filled group, in whatever row; of equal groups the one least often read at that
    position; of equal seats one in a row that nobody holds, which nobody waits for."""
    seats = list(eligible_seats(rater).defer("order"))
    n_free = Counter(seat.group_id for seat in seats)
    n_read = _count_readings_at(position, study=rater.study_id)
    held = set(_held_rows(rater.study_id))
    return min(
        seats,
        key=lambda seat: (-n_free[seat.group_id], n_read[seat.group_id], seat.row in held, seat.position or 0),
        default=None,
    )


def _count_readings_at(position: int, *, study: int) -> Counter[int | None]:
    """How many people read each group at that position of theirs, by its id."""
    readings = Assignment.objects.filter(study=study, position=position, status__in=Assignment.LIVE, repeats=None)
    return Counter(readings.values_list("group", flat=True))


def _held_rows(study: int) -> QuerySet[Rater, int | None]:
    return Rater.objects.filter(study=study).exclude(row=None).order_by().values_list("row", flat=True)


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
            status=status, ended_at=at, reading_positions={}
        )
        if has_ended and assignment.seat_id and not assignment.repeats_id:
            Seat.objects.filter(pk=assignment.seat_id).update(is_taken=False)
        if has_ended and status == Assignment.Status.GIVEN_UP:
            fills.record_outcome(assignment, is_submitted=False, stopped_at=stopped_at)
    assignment.refresh_from_db()
    return bool(has_ended)


def n_groups_left(rater: Rater) -> int:
    """How many groups this rater may still read: those with a free seat or, without any, those that come again."""
    n = eligible_seats(rater).aggregate(n=Count(F("group"), distinct=True))["n"] or 0
    return n or len(repeats.list_due(rater, has_more=False))
