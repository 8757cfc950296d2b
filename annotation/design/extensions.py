"""More or fewer seats a group after the launch: added where they keep the balance, taken away where nobody ever sat."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from django.db.models import Max
from django.utils.translation import gettext as _

from annotation.design import seats as designs
from annotation.models import Assignment, Rater, Seat
from studies.models import Study

if TYPE_CHECKING:
    import numpy as np

Order = tuple[int, ...]


class NotReducible(ValueError):
    """Fewer seats are free than would have to go; the message names the groups."""


def set_seats_per_group(study: Study, k: int) -> None:
    """Give every group of the study k seats for people. Raises NotReducible. Inside a transaction.

    Seats that are there stay as they are, so that nobody's order changes.
    """
    # Locked, so that a claim at this moment waits, and finds it there or gone.
    seats = list(designs.of_people(study).select_for_update().order_by("group__code", "number"))
    seats_by_group: dict[int, list[Seat]] = defaultdict(list)
    for seat in seats:
        seats_by_group[seat.group_id].append(seat)
    n_before = max(map(len, seats_by_group.values()), default=0)
    if k > n_before:
        Seat.objects.bulk_create(draw_further_seats(study, seats, n=k - n_before))
    elif k < n_before:
        _take_away(study, seats_by_group, k)


def list_groups_in_use(study: Study, k: int) -> list[str]:
    """The groups, by code, in which more than k seats have had somebody in them. One query."""
    used = designs.of_people(study).filter(assignments__isnull=False).order_by().values_list("pk", "group__code")
    counts = Counter(code for _pk, code in used.distinct())
    return sorted(code for code, n in counts.items() if n > k)


def _take_away(study: Study, seats_by_group: dict[int, list[Seat]], k: int) -> None:
    if codes := list_groups_in_use(study, k):
        raise NotReducible(explain_in_use(codes, k))
    # A seat that was given up has its answers behind it, so it stays as well.
    ever_used = set(
        Assignment.objects.filter(study=study, rater_kind=Rater.Kind.PERSON, seat__isnull=False).values_list(
            "seat_id", flat=True
        )
    )
    held = set(study.raters.exclude(row=None).values_list("row", flat=True))
    gone: list[int] = []
    for seats in seats_by_group.values():
        free = [seat for seat in seats if seat.pk not in ever_used]
        # Rows that nobody reads along go first, the last ones before the others.
        free.sort(key=lambda seat: (seat.row in held, -(seat.row or 0), -seat.number))
        gone += [seat.pk for seat in free[: len(seats) - k]]
    Seat.objects.filter(pk__in=gone).delete()


def explain_in_use(codes: list[str], k: int) -> str:
    sentence = _("more than %(k)d people have begun or read: %(groups)s")
    return sentence % {"k": k, "groups": ", ".join(codes[:10]) + (" …" if len(codes) > 10 else "")}


def draw_further_seats(study: Study, existing: Sequence[Seat], *, n: int) -> list[Seat]:
    """n further seats for each group, not saved: orders and rows that are rarest among those that there are."""
    import numpy as np  # here, so that pages come without it

    groups, codes = designs.read_groups(study)
    index_by_group = {group.pk: index for index, group in enumerate(groups)}
    orders: list[list[Order]] = [[] for _ in groups]
    rows: dict[int, dict[int, int]] = defaultdict(dict)
    for seat in existing:
        index = index_by_group[seat.group_id]
        orders[index].append(tuple(codes[index].index(code) for code in seat.order))
        if seat.row and seat.position:
            rows[seat.row][seat.position] = index
    # From its seed and the number of seats: the same for every caller, and different from earlier draws.
    rng = np.random.default_rng([abs(study.seed), len(existing)])
    sizes = [len(of_group) for of_group in codes]
    further = _draw_orders(sizes, orders, n, policy=study.order_policy, seed=study.seed, rng=rng)
    complete = [tuple(row[p] for p in sorted(row)) for row in rows.values() if len(row) == len(groups)]
    further_rows = _draw_rows(len(groups), complete, n, study=study, sizes=sizes, rng=rng)
    positions = [{index: position for position, index in enumerate(row, start=1)} for row in further_rows]
    last_row = max(rows, default=0)
    last_number = {
        row["group"]: row["last"]
        for row in Seat.objects.filter(study=study, rater_kind=Rater.Kind.PERSON)
        .order_by()
        .values("group")
        .annotate(last=Max("number"))
    }
    return [
        Seat(
            study=study,
            group=group,
            number=last_number.get(group.pk, 0) + number + 1,
            # Moved on from group to group, as when seats are drawn at first.
            row=last_row + (number + index) % n + 1,
            position=positions[(number + index) % n][index],
            order=[codes[index][i] for i in order],
        )
        for index, group in enumerate(groups)
        for number, order in enumerate(further[index])
    ]


def _draw_orders(
    sizes: Sequence[int],
    existing: Sequence[Sequence[Order]],
    n: int,
    *,
    policy: str,
    seed: int,
    rng: "np.random.Generator",
) -> list[list[Order]]:
    """For each group n further orders of its stories."""
    if policy != "balanced":
        return [[tuple(o) for o in group] for group in designs.draw_orders(sizes, n, policy=policy, rng=rng)]
    squares = designs.draw_squares(sizes, seed=seed)
    n_groups: Counter[int] = Counter()
    used_over_groups: Counter[Order] = Counter(order for orders in existing for order in orders)
    further: list[list[Order]] = []
    for size, orders in zip(sizes, existing, strict=True):
        square = [tuple(row) for row in squares[size][n_groups[size] % len(squares[size])]]
        n_groups[size] += 1
        further.append(_rarest(square, Counter(orders), used_over_groups, n))
    return further


def _rarest(square: list[Order], used: Counter[Order], used_over_groups: Counter[Order], n: int) -> list[Order]:
    """n rows of the square, each time the one least used in the group, then over the groups. Counts them as used."""
    chosen = []
    for _n in range(n):
        row = min(square, key=lambda order: (used[order], used_over_groups[order]))
        used[row] += 1
        used_over_groups[row] += 1
        chosen.append(row)
    return chosen


def _draw_rows(
    n_groups: int,
    existing: Sequence[Order],
    n: int,
    *,
    study: Study,
    sizes: Sequence[int],
    rng: "np.random.Generator",
) -> list[Order]:
    """n further rows over the groups: of the study's square those that were not taken, at even distances."""
    if study.order_policy != "balanced" or not existing:
        return [tuple(row) for row in designs.draw_rows(n_groups, n, policy=study.order_policy, rng=rng)]
    names = designs.draw_names(sizes, seed=study.seed)
    used = Counter(filter(None, (_find_shift(row, names) for row in existing)))
    rows: list[Order] = []
    for number in range(len(existing), len(existing) + n):
        # An odd number of groups needs the mirror of the square as well, so that followers balance.
        is_mirrored = n_groups % 2 == 1 and number // n_groups % 2 == 1
        shift = _rarest_shift(used, n_groups, is_mirrored=is_mirrored)
        used[shift, is_mirrored] += 1
        row = tuple(names[x] for x in designs.williams_row(n_groups, shift))
        rows.append(row[::-1] if is_mirrored else row)
    return rows


def _find_shift(row: Order, names: Sequence[int]) -> tuple[int, bool] | None:
    """Which row of the square it is, and whether mirrored; None if of neither."""
    label_by_name = {name: label for label, name in enumerate(names)}
    for is_mirrored in (False, True):
        labels = [label_by_name[name] for name in (row[::-1] if is_mirrored else row)]
        if labels == designs.williams_row(len(names), labels[0]):
            return labels[0], is_mirrored
    return None


def _rarest_shift(used: Counter[tuple[int, bool]], n_groups: int, *, is_mirrored: bool) -> int:
    """Of the shifts that are used least the one farthest from any that is used more."""
    counts = [used[shift, is_mirrored] for shift in range(n_groups)]
    taken = [shift for shift, count in enumerate(counts) if count > min(counts)]
    free = [shift for shift, count in enumerate(counts) if count == min(counts)]
    return max(free, key=lambda shift: (_distance(shift, taken, n_groups), -shift))


def _distance(shift: int, taken: Iterable[int], n_groups: int) -> int:
    return min((min((shift - t) % n_groups, (t - shift) % n_groups) for t in taken), default=0)
