"""The balance of a study's design, as its designer sees it: seats of every group, stories at every position."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import pgettext

from annotation.models import Rater, Seat
from studies.models import Study


@dataclass(frozen=True)
class GroupBalance:
    """One group: its seats, and how often each story stands first, second, …

    positions : for each story by code, the number of seats in which it stands at each position
    """

    code: str
    n_seats: int
    n_taken: int
    positions: dict[str, list[int]]

    @property
    def is_even(self) -> bool:
        """Whether every story stands at every position equally often, but for one."""
        counts = [n for row in self.positions.values() for n in row]
        return max(counts, default=0) - min(counts, default=0) <= 1

    @property
    def ordinals(self) -> list[str]:
        return [ordinal(n) for n in range(1, len(self.positions) + 1)]


def ordinal(n: int) -> str:
    suffixes = {1: pgettext("ordinal", "st"), 2: pgettext("ordinal", "nd"), 3: pgettext("ordinal", "rd")}
    other = pgettext("ordinal", "th")
    return f"{n}{other if n % 100 in (11, 12, 13) else suffixes.get(n % 10, other)}"


def load_groups(study: Study) -> list[GroupBalance]:
    """The balance of every group of the study's people, by code; empty if nothing is planned. One query."""
    seats = Seat.objects.filter(study=study, rater_kind=Rater.Kind.PERSON).select_related("group")
    seats_by_group: dict[str, list[Seat]] = {}
    for seat in seats.order_by("group__code", "number"):
        seats_by_group.setdefault(seat.group.code, []).append(seat)
    return [
        GroupBalance(code, len(rows), sum(seat.is_taken for seat in rows), count_positions(seat.order for seat in rows))
        for code, rows in seats_by_group.items()
    ]


def count_positions(orders: Iterable[list[str]]) -> dict[str, list[int]]:
    """How often each story stands at each position, by code."""
    orders = list(orders)
    counts = Counter((code, position) for order in orders for position, code in enumerate(order))
    codes = sorted({code for order in orders for code in order})
    return {code: [counts[code, position] for position in range(len(codes))] for code in codes}
