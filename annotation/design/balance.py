"""The balance of a study's design, as its designer sees it: stories inside their groups, groups over all that is read.

Page and command say the same sentences, and each only if the seats bear it out.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.utils.translation import gettext, ngettext, pgettext

from annotation.models import Assignment, Rater, Seat
from studies.models import Study

MOST_COLUMNS, N_STRETCHES = 12, 10


@dataclass(frozen=True)
class GroupBalance:
    """One group: its seats, how often each story stands first, second … in it, and how often people read it so.

    positions : for each story by code, the number of seats in which it stands at each position of the group
    n_readings : how many people read the group as their first, second …, by position; planned, or so far
    """

    code: str
    n_seats: int
    n_taken: int
    positions: dict[str, list[int]]
    n_readings: dict[int, int]

    @property
    def extremes(self) -> tuple[int, int]:
        """How often a story stands at a position of the group: the rarest, and the most frequent."""
        counts = [n for row in self.positions.values() for n in row]
        return min(counts, default=0), max(counts, default=0)

    @property
    def is_even(self) -> bool:
        """Whether every story stands at every position equally often, but for one."""
        least, most = self.extremes
        return most - least <= 1


@dataclass(frozen=True)
class Balance:
    """A study's seats and their order.

    rows : the groups of each planned row by code, first to last
    is_planned : whether readings are counted as planned; otherwise those there are so far
    """

    groups: list[GroupBalance]
    rows: list[list[str]]
    is_planned: bool

    @property
    def has_one_group(self) -> bool:
        return len(self.groups) == 1

    @property
    def has_several_stories(self) -> bool:
        """Whether there is an order inside any of the groups."""
        return any(len(group.positions) > 1 for group in self.groups)

    @property
    def is_even_over_groups(self) -> bool:
        """Whether over the rows every group stands in every position equally often, but for one."""
        counts = Counter((code, position) for row in self.rows for position, code in enumerate(row))
        least = min(counts.values(), default=0) if len(counts) == len(self.groups) ** 2 else 0
        return max(counts.values(), default=0) - least <= 1

    @property
    def follows_evenly(self) -> bool:
        """Whether over the rows every group follows every other equally often."""
        counts = Counter(pair for row in self.rows for pair in pairwise(row))
        return len(counts) == len(self.groups) * (len(self.groups) - 1) and len(set(counts.values())) == 1

    @property
    def stretches(self) -> list[range]:
        """The positions from 1, one by one or, if many, in about ten stretches; none if nothing counts them."""
        n = len(self.groups) if self.rows or not self.is_planned else 0
        width = 1 if n <= MOST_COLUMNS else -(-n // N_STRETCHES)
        return [range(first, min(first + width, n + 1)) for first in range(1, n + 1, width)]

    @property
    def columns(self) -> list[str]:
        """What stands above the counts of a line: “1st”, or “1–10”; for a single group its positions."""
        if self.has_one_group:
            return [ordinal(n) for n in range(1, len(self.groups[0].positions) + 1)]
        return [ordinal(s[0]) if len(s) == 1 else f"{s[0]}–{s[-1]}" for s in self.stretches]

    @property
    def lines(self) -> Iterator["Line"]:
        """The one table: the stories of a single group, or all groups."""
        if self.has_one_group:
            (group,) = self.groups
            yield from (Line(code, "", "", counts) for code, counts in group.positions.items())
            return
        stretches = self.stretches
        for group in self.groups:
            least, most = group.extremes
            counts = [
                sum(n for position, n in group.n_readings.items() if position in stretch) for stretch in stretches
            ]
            within = "" if len(group.positions) < 2 else f"{least}" if least == most else f"{least}–{most}"
            yield Line(group.code, f"{group.n_taken}/{group.n_seats}", within, counts)

    @property
    def sentences(self) -> list[str]:
        """What is planned, what of it is balanced and what is not, in plain words."""
        sentences = [self._seats_sentence()] if self.has_one_group else list(self._sentences_over_groups())
        if self.has_several_stories:
            is_even = all(group.is_even for group in self.groups)
            sentences.append(
                gettext("Within its group, every story is at every position equally often, give or take one.")
                if is_even
                else gettext("Within their groups, stories are not at every position equally often.")
            )
        return sentences

    def _seats_sentence(self) -> str:
        (group,) = self.groups
        taken = ngettext(
            "%(code)s: %(n_taken)s of %(n)s place taken.", "%(code)s: %(n_taken)s of %(n)s places taken.", group.n_seats
        )
        return taken % {"code": group.code, "n_taken": group.n_taken, "n": group.n_seats}

    def _sentences_over_groups(self) -> Iterator[str]:
        if not self.rows:
            yield gettext("No order of groups was planned: everyone gets the group with the fewest readers.")
            return
        holds = ngettext(
            "%(n)d row holds all %(groups)d groups. Each new rater takes a free row and reads its groups in order.",
            "%(n)d rows hold all %(groups)d groups each. Each new rater takes a free row and reads its groups in "
            "order.",
            len(self.rows),
        )
        yield holds % {"n": len(self.rows), "groups": len(self.groups)}
        yield (
            gettext("Over the rows, every group is at every position equally often, give or take one.")
            if self.is_even_over_groups
            else gettext("Over the rows, groups are not at every position equally often.")
        )
        if self.follows_evenly:
            yield gettext("Every group follows every other equally often.")
        yield gettext(
            "This is true of rows that are read to the end. Someone who reads only a part, or arrives when every "
            "row is taken, gets the group with the fewest readers; among equals, the one read least often at "
            "that position."
        )


@dataclass(frozen=True)
class Line:
    """A line of the table: a group, or a story of a single group.

    taken : seats that are taken of all; empty for a story
    within : how often a story stands at a position of the group, from the rarest to the most frequent; empty if there
        is only one
    counts : one for each column
    """

    code: str
    taken: str
    within: str
    counts: Sequence[int]


def ordinal(n: int) -> str:
    """1 as “1st”, in the language of the interface."""
    suffixes = {1: pgettext("ordinal", "st"), 2: pgettext("ordinal", "nd"), 3: pgettext("ordinal", "rd")}
    other = pgettext("ordinal", "th")
    return f"{n}{other if n % 100 in (11, 12, 13) else suffixes.get(n % 10, other)}"


def load_balance(study: Study) -> Balance:
    """The balance of the seats of the study's people; no groups if nothing is planned. Two queries."""
    seats = Seat.objects.filter(study=study, rater_kind=Rater.Kind.PERSON).select_related("group")
    seats_by_group: dict[str, list[Seat]] = defaultdict(list)
    for seat in seats.order_by("group__code", "number"):
        seats_by_group[seat.group.code].append(seat)
    rows: dict[int, dict[int, str]] = defaultdict(dict)
    for code, group_seats in seats_by_group.items():
        for seat in group_seats:
            if seat.row and seat.position:
                rows[seat.row][seat.position] = code
    readings = _readings(study)
    planned = [(code, position) for row in rows.values() for position, code in row.items()]
    n_readings: dict[str, dict[int, int]] = defaultdict(dict)
    for (code, position), n in Counter(readings or planned).items():
        n_readings[code][position] = n
    groups = [
        GroupBalance(
            code=code,
            n_seats=len(group_seats),
            n_taken=sum(seat.is_taken for seat in group_seats),
            positions=count_positions(seat.order for seat in group_seats),
            n_readings=n_readings[code],
        )
        for code, group_seats in seats_by_group.items()
    ]
    ordered = [[row[position] for position in sorted(row)] for _, row in sorted(rows.items())]
    return Balance(groups, ordered, is_planned=not readings)


def _readings(study: Study) -> list[tuple[str, int]]:
    """The group and its position for every group that somebody reads or has submitted. One query."""
    live = Assignment.objects.filter(study=study, status__in=Assignment.LIVE, repeats=None).exclude(position=None)
    return [(code, position) for code, position in live.values_list("group__code", "position") if position]


def count_positions(orders: Iterable[list[str]]) -> dict[str, list[int]]:
    """How often each story stands at each position, by code."""
    orders = list(orders)
    counts = Counter((code, position) for order in orders for position, code in enumerate(order))
    codes = sorted({code for order in orders for code in order})
    return {code: [counts[code, position] for position in range(len(codes))] for code in codes}
