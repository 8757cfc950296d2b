"""The design: which seats there are, each with its order of stories and its position in a row of groups.

Seeded, and decided before anyone arrives.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils.translation import gettext as _

from annotation.models import Assignment, Rater, Seat
from studies import lifecycle, protocol
from studies.models import StoryGroup, Study

if TYPE_CHECKING:
    import numpy as np


AT_ONCE = 500  # rows a query
HELD_AFTER_PAUSE = timedelta(hours=24)


def draw_orders(sizes: Sequence[int], k: int, *, policy: str, rng: "np.random.Generator") -> list[list[list[int]]]:
    """For each group, given its number of stories, k orders of 0 … size − 1.

    Balanced: rows of Williams squares. A group takes k rows running of one square, so that within it every story
    stands equally often at every position, but for one; the next group goes on where the last one stopped, so that the
    same holds over the study. Odd sizes need a square and its mirror to balance who follows whom; groups alternate.
    Source: Williams, 1949, "Experimental designs balanced for the estimation of residual effects of treatments".
    """
    if policy == "fixed":
        return [[list(range(size)) for _ in range(k)] for size in sizes]
    if policy == "random":
        return [[[int(x) for x in rng.permutation(size)] for _ in range(k)] for size in sizes]
    squares = _draw_squares(sizes, rng)
    n_rows_used: Counter[tuple[int, int]] = Counter()
    n_groups: Counter[int] = Counter()
    orders: list[list[list[int]]] = []
    for size in sizes:
        if not size:  # a group of a draft whose stories are gone
            orders.append([[] for _ in range(k)])
            continue
        index = n_groups[size] % len(squares[size])
        square, start = squares[size][index], n_rows_used[size, index]
        orders.append([square[(start + n) % size] for n in range(k)])
        n_groups[size] += 1
        n_rows_used[size, index] += k
    return orders


def draw_squares(sizes: Sequence[int], *, seed: int) -> dict[int, list[list[list[int]]]]:
    """The squares from which that seed draws balanced orders, by the number of stories."""
    import numpy as np  # here, so that pages come without it

    return _draw_squares(sizes, np.random.default_rng(seed))


def draw_names(sizes: Sequence[int], *, seed: int) -> list[int]:
    """Which group each label of the square stands for, from which that seed draws balanced rows."""
    import numpy as np  # here, so that pages come without it

    rng = np.random.default_rng(seed)
    _draw_squares(sizes, rng)
    return [int(name) for name in rng.permutation(len(sizes))]


def _draw_squares(sizes: Sequence[int], rng: "np.random.Generator") -> dict[int, list[list[list[int]]]]:
    """Drawn before anything else, so that they do not depend on how many seats there are to be."""
    return {size: [_shuffle(square, rng) for square in williams_squares(size)] for size in sorted(set(sizes))}


def _shuffle(square: list[list[int]], rng: "np.random.Generator") -> list[list[int]]:
    """The square with its rows and its labels in random order; it stays balanced."""
    names = rng.permutation(len(square))
    return [[int(names[x]) for x in square[row]] for row in rng.permutation(len(square))]


def williams_squares(size: int) -> list[list[list[int]]]:
    """The Latin squares of a Williams design: one if the size is even, the square and its mirror if odd."""
    square = [williams_row(size, shift) for shift in range(size)]
    return [square] if size % 2 == 0 else [square, [row[::-1] for row in square]]


def williams_row(size: int, shift: int) -> list[int]:
    """One row of the square: 0, last, 1, last but one …, each moved on by the shift."""
    return [((n // 2 if n % 2 == 0 else size - 1 - n // 2) + shift) % size for n in range(size)]


def draw_rows(n_groups: int, k: int, *, policy: str, rng: "np.random.Generator") -> list[list[int]]:
    """k rows, each with all of 0 … n_groups − 1 in the order in which one person reads the groups.

    Balanced: rows of a Williams square in random order, all different until it is used up; then it begins anew or, for
    an odd number of groups, its mirror follows. In any k rows every group stands equally often at every position, but
    for one; where k is smaller than n_groups, a group's mean position is near the middle. Every group follows every
    other equally often where k is a multiple of n_groups (of 2 · n_groups, if that is odd).
    """
    import numpy as np  # here, so that pages come without it

    if policy == "fixed" or not n_groups:  # a draft may have no stories yet
        return [list(range(n_groups)) for _ in range(k)]
    if policy == "random":
        return [[int(x) for x in rng.permutation(n_groups)] for _ in range(k)]
    names = rng.permutation(n_groups)
    rows: list[list[int]] = []
    while len(rows) < k:
        n = min(n_groups, k - len(rows))
        is_mirrored = n_groups % 2 == 1 and len(rows) // n_groups % 2 == 1
        # At even distances in the square, so that a group's positions are spread over the row also where rows are few.
        shifts = rng.integers(n_groups) + np.arange(n) * n_groups // n
        for shift in rng.permutation(shifts):
            row = [int(names[x]) for x in williams_row(n_groups, int(shift))]
            rows.append(row[::-1] if is_mirrored else row)
    return rows


@transaction.atomic
def plan(study: Study) -> list[Seat]:
    """All seats of the study's people, k for each group, planned again if they were planned before. Freezes nothing.

    Raises protocol.NotPlannable with all that stands in the way: once the study is launched, its seats stay.
    """
    # A launch at the same moment waits for this row, or this for the launch.
    locked = Study.objects.select_for_update().get(pk=study.pk)
    if not lifecycle.may_plan(locked) or of_people(study).filter(is_taken=True).exists():
        raise protocol.NotPlannable(_("%(study)s: its places stay, since it has been launched") % {"study": study.slug})
    findings = protocol.collect_findings(locked, protocol.read_rows(protocol.latest(locked)))
    if errors := protocol.select_errors(findings, protocol.Purpose.PLAN):
        raise protocol.NotPlannable(f"{study.slug}: " + "; ".join(map(str, errors)))
    of_people(study).delete()
    return create(locked)


def create(study: Study) -> list[Seat]:
    """The seats that the study's seed draws, saved for a study that has none."""
    return Seat.objects.bulk_create(draw(study))


def of_people(study: Study) -> QuerySet[Seat]:
    """The seats of the study's people; those of judges are apart."""
    return Seat.objects.filter(study=study, rater_kind=Rater.Kind.PERSON)


def is_as_planned(study: Study) -> bool:
    """Whether the seats are those that planning would make now, of the groups, stories and design as they stand."""
    planned = of_people(study).values_list("group", "number", "row", "position", "order")
    drawn = [(seat.group_id, seat.number, seat.row, seat.position, seat.order) for seat in draw(study)]
    return sorted(planned) == sorted(drawn)


@dataclass(frozen=True)
class DrawnSeat:
    """A seat as it is drawn, before there is a row of it. group, order : indices of groups, and of stories in theirs"""

    group: int
    number: int
    row: int
    position: int
    order: list[int]


def draw(study: Study) -> list[Seat]:
    """The seats that the study's seed draws, not saved."""
    groups, codes = read_groups(study)
    drawn = draw_seats([len(c) for c in codes], study.seats_per_group, policy=study.order_policy, seed=study.seed)
    return [
        Seat(
            study=study,
            group=groups[seat.group],
            number=seat.number,
            row=seat.row,
            position=seat.position,
            order=[codes[seat.group][i] for i in seat.order],
        )
        for seat in drawn
    ]


def read_groups(study: Study) -> tuple[list[StoryGroup], list[list[str]]]:
    """The groups by code, and of each the codes of its stories: the order in which a seed numbers them. Two queries."""
    groups = list(study.groups.order_by("code"))
    codes_by_group = protocol.read_story_codes(study)
    return groups, [codes_by_group.get(group.pk, []) for group in groups]


def draw_seats(sizes: Sequence[int], k: int, *, policy: str, seed: int) -> list[DrawnSeat]:
    """The seats of groups of these sizes, k for each, that the seed draws; group after group."""
    import numpy as np  # here, so that pages come without it

    rng = np.random.default_rng(seed)
    orders = draw_orders(sizes, k, policy=policy, rng=rng)
    rows = draw_rows(len(sizes), k, policy=policy, rng=rng)
    positions = [{index: position for position, index in enumerate(row, start=1)} for row in rows]
    seats: list[DrawnSeat] = []
    for index, readings in enumerate(orders):
        for number, order in enumerate(readings):
            # Shifted from group to group: a rater reading along a row meets different orders of stories.
            row = (number + index) % k
            seats.append(DrawnSeat(index, number + 1, row + 1, positions[row][index], order))
    return seats


def add_judge_seats(
    study: Study, orders: Sequence[tuple[StoryGroup, list[str]]], *, kind: str = Rater.Kind.MODEL
) -> list[Seat]:
    """A further seat for each of these readings of a group, which may stand there several times. Two queries a part.

    It is a judge's or a metric's, and never counts towards the people's k.
    """
    taken = study.seats.filter(rater_kind=kind)
    number_by_group = Counter(dict(taken.order_by().values_list("group").annotate(last=Max("number"))))
    seats = []
    for group, order in orders:
        number_by_group[group.pk] += 1
        number = number_by_group[group.pk]
        seats.append(Seat(study=study, group=group, rater_kind=kind, number=number, order=order, is_taken=True))
    return Seat.objects.bulk_create(seats, batch_size=AT_ONCE)


def restart_hours(study: Study, *, at: datetime) -> int:
    """Give everybody at work the study's hours for a group anew, as after a pause, in which nobody could answer; how
    many people it was. A place that is held for somebody stays so for a day at least."""
    study.seats.filter(held_by__isnull=False, held_until__lt=at + HELD_AFTER_PAUSE).update(
        held_until=at + HELD_AFTER_PAUSE
    )
    if not study.hours_per_group:
        return 0
    at_work = Assignment.objects.filter(study=study, status=Assignment.Status.OPEN).exclude(due_at=None)
    return at_work.update(due_at=at + timedelta(hours=study.hours_per_group))
