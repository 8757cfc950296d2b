"""The design: which seats there are, each with its order of stories. Seeded, and decided before anyone arrives."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils.translation import gettext as _

from annotation.models import Rater, Seat
from studies import lifecycle, protocol
from studies.models import StoryGroup, Study

if TYPE_CHECKING:
    import numpy as np


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
    squares = {size: [_shuffle(square, rng) for square in williams_squares(size)] for size in sorted(set(sizes))}
    n_rows_used: Counter[tuple[int, int]] = Counter()
    n_groups: Counter[int] = Counter()
    orders: list[list[list[int]]] = []
    for size in sizes:
        index = n_groups[size] % len(squares[size])
        square, start = squares[size][index], n_rows_used[size, index]
        orders.append([square[(start + n) % size] for n in range(k)])
        n_groups[size] += 1
        n_rows_used[size, index] += k
    return orders


def _shuffle(square: list[list[int]], rng: "np.random.Generator") -> list[list[int]]:
    """The square with its rows and its labels in random order; it stays balanced."""
    names = rng.permutation(len(square))
    return [[int(names[x]) for x in square[row]] for row in rng.permutation(len(square))]


def williams_squares(size: int) -> list[list[list[int]]]:
    """The Latin squares of a Williams design: one if the size is even, the square and its mirror if odd."""
    first, low, high = [], 0, size - 1
    for position in range(size):
        first.append(low if position % 2 == 0 else high)
        low, high = (low + 1, high) if position % 2 == 0 else (low, high - 1)
    square = [[(x + shift) % size for x in first] for shift in range(size)]
    return [square] if size % 2 == 0 else [square, [row[::-1] for row in square]]


@transaction.atomic
def plan(study: Study) -> list[Seat]:
    """All seats of the study's people, k for each group, planned anew if they were planned before. Freezes nothing.

    Raises protocol.NotPlannable with all that stands in the way: once the study is launched, its seats stay.
    """
    # A launch at the same moment waits for this row, or this for the launch.
    locked = Study.objects.select_for_update().get(pk=study.pk)
    if not lifecycle.may_plan(locked) or of_people(study).filter(is_taken=True).exists():
        raise protocol.NotPlannable(_("%(study)s: its seats stay, since it has been launched") % {"study": study.slug})
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
    planned = of_people(study).values_list("group", "number", "rank", "order")
    drawn = [(seat.group_id, seat.number, seat.rank, seat.order) for seat in draw(study)]
    return sorted(planned) == sorted(drawn)


def draw(study: Study) -> list[Seat]:
    """The seats that the study's seed draws, not saved."""
    import numpy as np  # here, so that pages come without it

    rng = np.random.default_rng(study.seed)
    k = study.seats_per_group
    groups = list(study.groups.prefetch_related("stories").order_by("code"))
    codes = [sorted(s.code for s in g.stories.all()) for g in groups]
    orders = draw_orders([len(c) for c in codes], k, policy=study.order_policy, rng=rng)
    seats: list[Seat] = []
    for group, names, rows in zip(groups, codes, orders, strict=True):
        for number, (row, rank) in enumerate(zip(rows, rng.permutation(k), strict=True), start=1):
            seats.append(
                Seat(study=study, group=group, number=number, rank=int(rank) + 1, order=[names[i] for i in row])
            )
    return seats


def add_judge_seat(study: Study, group: StoryGroup, order: list[str], *, kind: str = Rater.Kind.MODEL) -> Seat:
    """A further seat for a judge or a metric; it never counts towards the people's k."""
    last = group.seats.filter(rater_kind=kind).aggregate(last=Max("number"))["last"] or 0
    return Seat.objects.create(
        study=study, group=group, rater_kind=kind, number=last + 1, rank=last + 1, order=order, is_taken=True
    )
