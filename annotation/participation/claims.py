"""Claims: a rater takes a row of seats, reads along it seat by seat, or gives a seat up; a seat may be held for them
before. Conditional updates instead of locks, so that SQLite and PostgreSQL behave alike; the constraints of
`Assignment`, `Seat` and `Rater` are the last word."""

from collections import Counter
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Count, F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop

from annotation.models import Assignment, Rater, Seat
from annotation.participation import repeats, versions
from annotation.participation.eligibility import count_groups_read, has_expired, has_read_most, took_part_before
from annotation.responses import fills


class NoSeat(Exception):
    """There is nothing to claim; the message says why, in words that the rater's page translates."""


def eligible_seats(rater: Rater) -> QuerySet[Seat]:
    """The seats that this rater may take: they are free, and held for nobody else.

    Never a group that the rater has had before, given-up seats included; only the groups of the invitation if it
    names some. None for a rater who has read as many as one person may, is excluded by an earlier study, or whose
    invitation has expired.
    """
    if has_read_most(rater) or has_expired(rater) or took_part_before(rater):
        return Seat.objects.none()
    seats = Seat.objects.filter(study=rater.study_id, rater_kind=Rater.Kind.PERSON, is_taken=False)
    seats = seats.filter(Q(held_by=None) | Q(held_by=rater))
    seats = seats.exclude(group__in=rater.assignments.exclude(group=None).values("group"))
    groups = list(rater.invitation.groups.values_list("pk", flat=True)) if hasattr(rater, "invitation") else []
    return (seats.filter(group__in=groups) if groups else seats).order_by("group__code", "number")


def claim(rater: Rater, *, at: datetime | None = None) -> Assignment:
    """The rater's open assignment: the one there is, one that was taken back from them and whose seat is still free, a
    new one in the best free seat, or a group once more.

    Raises NoSeat if the study is not open or no seat is left for this rater.
    """
    at = at or timezone.now()
    if not rater.study.is_live:
        raise NoSeat(gettext_noop("This study is not open at the moment."))
    version = versions.find_version(rater)
    while True:
        if assignment := find_open_assignment(rater) or reopen(rater, at=at):
            return assignment
        position = count_groups_read(rater) + 1
        seat = find_seat(rater, position=position)
        first = next(iter(repeats.list_due(rater, has_more=seat is not None)), None)
        seat = first.seat if first else seat
        if seat is None:
            raise NoSeat(why_no_seat(rater))
        try:
            with transaction.atomic():
                # Somebody may have taken it since we looked: then no row changes, and we look again.
                if first or _take(seat, rater):
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
                        # Going on with something read before fills no seat, so that nobody waits for it.
                        due_at=None if first else find_due_time(rater, at=at),
                    )
        except IntegrityError:
            # The same rater claimed in another window at the same moment: the next round finds that assignment. Or the
            # seat counts as free while somebody sits in it: unless it is marked as taken, this goes on for ever.
            live = Q(assignments__status__in=Assignment.LIVE, assignments__repeats=None)
            Seat.objects.filter(live, pk=seat.pk).update(is_taken=True, held_by=None, held_until=None)


def _count_repeats_to_come(rater: Rater, first: Assignment | None) -> int:
    """How many of what is left to the rater are groups that they have read; none once they read one again."""
    return 0 if first else rater.study.n_repeats


def _take(seat: Seat, rater: Rater) -> bool:
    """Whether the seat was still there for that rater; it is taken now, and held no longer."""
    seats = Seat.objects.filter(Q(held_by=None) | Q(held_by=rater), pk=seat.pk, is_taken=False)
    return bool(seats.update(is_taken=True, held_by=None, held_until=None))


def find_due_time(rater: Rater, *, at: datetime) -> datetime | None:
    """When a group that the rater begins at that moment is taken back; None if the study sets no time."""
    hours = rater.study.hours_per_group
    return at + timedelta(hours=hours) if hours else None


def find_seat(rater: Rater, *, position: int) -> Seat | None:
    """The best free seat for the rater: the one held for them, the next along their row, or one elsewhere."""
    held = eligible_seats(rater).filter(held_by=rater).first()
    return held or take_row_and_find_seat(rater) or find_seat_elsewhere(rater, position=position)


def hold(rater: Rater, *, until: datetime) -> bool:
    """Whether a seat is held for the rater, who has not begun to read, at least until then; False if none is left."""
    # One that somebody sits in is held no longer, and as long as it says so no other can be held.
    Seat.objects.filter(held_by=rater, is_taken=True).update(held_by=None, held_until=None)
    while True:
        held = Seat.objects.filter(held_by=rater, is_taken=False)
        held.filter(held_until__lt=until).update(held_until=until)
        if held.exists():
            return True
        seat = take_row_and_find_seat(rater) or find_seat_elsewhere(rater, position=1)
        if seat is None:
            return False
        try:
            with transaction.atomic():
                free = Seat.objects.filter(pk=seat.pk, is_taken=False, held_by=None)
                if free.update(held_by=rater, held_until=until):
                    return True
        except IntegrityError:
            continue  # the same rater, in another window at the same moment


def release_hold(rater: Rater, *, before: datetime | None = None) -> bool:
    """Release the seat that is held for the rater, with their row; whether there was one.

    before : only if its time was over by then
    """
    held = Seat.objects.filter(held_by=rater)
    held = held.filter(held_until__lte=before) if before else held
    if not held.update(held_by=None, held_until=None):
        return False
    if not find_open_assignment(rater):
        release_row(rater)
    return True


def find_taken_back(rater: Rater) -> Assignment | None:
    """The group that was taken back from the rater because its time was over, if they have begun none since. One
    query."""
    groups = rater.assignments.exclude(seat=None).filter(repeats=None)
    latest = groups.select_related("seat").order_by("-started_at", "-pk").first()
    return latest if latest and latest.taken_back_at else None


def find_returnable(rater: Rater) -> Assignment | None:
    """The same, if its seat is still free, so that the rater can go on with all that they have answered. No query where
    no group is ever taken back."""
    if not rater.study.hours_per_group or has_expired(rater):
        return None
    latest = find_taken_back(rater)
    is_free = latest is not None and latest.seat and not latest.seat.is_taken and latest.seat.held_by_id is None
    return latest if is_free else None


def reopen(rater: Rater, *, at: datetime) -> Assignment | None:
    """The group that was taken back from the rater, theirs again with a new time; None if its seat is gone."""
    assignment = find_returnable(rater)
    if assignment is None:
        return None
    try:
        with transaction.atomic():
            rows = Assignment.objects.filter(pk=assignment.pk, status=Assignment.Status.GIVEN_UP)
            has_changed = rows.exclude(taken_back_at=None).update(
                status=Assignment.Status.OPEN,
                ended_at=None,
                taken_back_at=None,
                due_at=find_due_time(rater, at=at),
            )
            seats = Seat.objects.filter(assignments=assignment, is_taken=False, held_by=None)
            if not (has_changed and seats.update(is_taken=True)):
                raise IntegrityError("somebody was faster")
            fills.forget_outcome(assignment)
    except IntegrityError:
        return find_open_assignment(rater)  # in another window at the same moment, or somebody else has the seat
    assignment.refresh_from_db()
    return assignment


def why_no_seat(rater: Rater) -> str:
    """Why there is nothing for the rater to claim, in words that a page translates."""
    if has_expired(rater):
        return gettext_noop("Your invitation has expired.")
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
    is_taken_back: bool = False,
) -> bool:
    """Open the seat again; the answers stay, outside all results. False if the assignment was no longer open.

    stopped_at : the section of a cloze from which its writer could not go on
    is_taken_back : its time was over, so that the rater may go on with it as long as the seat stays free
    """
    with transaction.atomic():
        rows = Assignment.objects.filter(pk=assignment.pk, status=Assignment.Status.OPEN)
        if is_taken_back:
            rows = rows.filter(due_at=assignment.due_at)  # unless its rater has been given time anew meanwhile
        has_ended = rows.update(
            status=status, ended_at=at, reading_positions={}, taken_back_at=at if is_taken_back else None
        )
        if has_ended and assignment.seat_id and not assignment.repeats_id:
            Seat.objects.filter(pk=assignment.seat_id).update(is_taken=False)
        if has_ended and status == Assignment.Status.GIVEN_UP:
            fills.record_outcome(assignment, is_submitted=False, stopped_at=stopped_at)
    assignment.refresh_from_db()
    return bool(has_ended)


def n_groups_left(rater: Rater) -> int:
    """How many groups this rater may still read: those with a free seat, one that was taken back from them and can be
    gone on with or, without any, those that come again."""
    n = eligible_seats(rater).aggregate(n=Count(F("group"), distinct=True))["n"] or 0
    n += find_returnable(rater) is not None
    return n or len(repeats.list_due(rater, has_more=False))
