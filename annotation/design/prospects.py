"""What a reading plan comes to before it is saved: places, people, hours, who reads what when, and how even it is."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from django.utils.translation import gettext

from annotation.design.balance import ordinal
from annotation.design.seats import DrawnSeat, draw_seats
from studies.models import Study
from studies.protocol import repeats

MOST_UNEVEN = 0.62  # of a source's readings in one half of what is read: from there on a warning
MOST_DRAWS, MOST_READINGS = 200, 40_000
MOST_PLANNED = 300_000  # readings of a story; more are refused, since a page could not draw them
MOST_PLACES = 6  # of a group that are counted one by one; longer ones by quarters
QUARTERS = 4


@dataclass(frozen=True)
class Texts:
    """The groups of a study with their stories, both by code, and how many words each story has."""

    groups: list[str]
    stories: list[list[str]]
    n_words: Mapping[str, int]

    @property
    def n_stories(self) -> int:
        """Stories that stand in a group."""
        return len({code for codes in self.stories for code in codes})

    @property
    def sizes(self) -> list[int]:
        return [len(codes) for codes in self.stories]


def read_texts(study: Study) -> Texts:
    """The study's groups and stories in the order in which its seed numbers them, without their words. One query."""
    codes_by_group: dict[str, list[str]] = {}
    n_words: dict[str, int] = {}
    rows = study.groups.order_by("code").values_list("code", "stories__code", "stories__n_words")
    for group, story, n in rows:
        codes = codes_by_group.setdefault(group, [])
        if story is not None:
            codes.append(story)
            n_words[story] = n
    return Texts(list(codes_by_group), [sorted(codes) for codes in codes_by_group.values()], n_words)


@dataclass(frozen=True)
class PlanChoices:
    """What decides who reads what. groups_per_rater : None for as many as there are"""

    seats_per_group: int
    groups_per_rater: int | None
    order_policy: str
    seed: int
    groups_per_sitting: int = 1
    n_repeats: int = 0

    @property
    def most_different(self) -> int | None:
        """The most different groups that one person reads; None for as many as there are."""
        return max(self.groups_per_rater - self.n_repeats, 1) if self.groups_per_rater else None


@dataclass(frozen=True)
class Visit:
    """A group as one person reads it. group : its index; stories : their codes in order"""

    group: int
    stories: list[str]
    is_repeat: bool = False


@dataclass(frozen=True)
class PlacesOfSource:
    """How often the stories of a source stand at each place. n_early, n_late : in the two halves of what is read"""

    source: str
    counts: list[int]
    n_early: int
    n_late: int

    @property
    def is_uneven(self) -> bool:
        n = self.n_early + self.n_late
        return n > 0 and max(self.n_early, self.n_late) / n > MOST_UNEVEN


@dataclass(frozen=True)
class Prospect:
    """A drawn plan, with what follows from it.

    minutes_by_group : that somebody reads and answers, of each group
    paths : for each person what they read, group by group, if everybody reads all that they may, one after another
    """

    texts: Texts
    choices: PlanChoices
    minutes_by_group: Sequence[float]
    drawn: list[DrawnSeat]

    @cached_property
    def paths(self) -> list[list[Visit]]:
        most = self.choices.most_different or max(len(self.texts.groups), 1)
        return [self._repeat([self._visit(seat) for seat in path]) for path in deal(self.drawn, most=most)]

    def _repeat(self, path: list[Visit]) -> list[Visit]:
        """The path with the groups that come again, as `participation.repeats` gives them."""
        n_before = repeats.count_groups_before(self.choices) if self.choices.n_repeats else None
        if n_before is None or len(path) < 2:
            return path
        again = [replace(visit, is_repeat=True) for visit in path[:n_before][: self.choices.n_repeats]]
        return [*path[:n_before], *again, *path[n_before:]]

    def _visit(self, seat: DrawnSeat) -> Visit:
        codes = self.texts.stories[seat.group]
        return Visit(seat.group, [codes[i] for i in seat.order])

    @property
    def n_places(self) -> int:
        return len(self.drawn)

    @property
    def n_readings(self) -> int:
        """Groups that are read, those that come again as well."""
        return sum(map(len, self.paths))

    @property
    def n_most_people(self) -> int:
        """If everybody stops after one group."""
        return self.n_places if self.choices.most_different != 1 else len(self.paths)

    def minutes_of(self, path: Sequence[Visit]) -> float:
        """How long one person reads and answers, without what is asked once."""
        return sum(self.minutes_by_group[visit.group] for visit in path)

    @property
    def longest_minutes(self) -> float:
        return max(map(self.minutes_of, self.paths), default=0.0)

    @property
    def total_minutes(self) -> float:
        return sum(map(self.minutes_of, self.paths))

    @cached_property
    def places_by_story(self) -> dict[str, Counter[int]]:
        """For each story how many people meet it as their first, second …, over all that they read."""
        places: dict[str, Counter[int]] = defaultdict(Counter)
        for path in self.paths:
            readings = [(code, visit.is_repeat) for visit in path for code in visit.stories]
            for place, (code, is_repeat) in enumerate(readings, start=1):
                if not is_repeat:
                    places[code][place] += 1
        return places

    @cached_property
    def positions_by_group(self) -> list[Counter[int]]:
        """For each group how many people read it as their first, second …"""
        positions: list[Counter[int]] = [Counter() for _group in self.texts.groups]
        for path in self.paths:
            for position, visit in enumerate(path, start=1):
                positions[visit.group][position] += not visit.is_repeat
        return positions

    @property
    def n_longest(self) -> int:
        """The last place at which anybody meets a story for the first time."""
        return max((max(places) for places in self.places_by_story.values()), default=0)

    @property
    def is_even_inside_groups(self) -> bool:
        """Whether in each group every story stands at every place equally often."""
        counts: dict[int, Counter[tuple[int, int]]] = defaultdict(Counter)
        for seat in self.drawn:
            counts[seat.group].update((place, story) for place, story in enumerate(seat.order))
        sizes = self.texts.sizes
        return all(len(cells) == sizes[group] ** 2 and len(set(cells.values())) == 1 for group, cells in counts.items())

    def count_sources(self, source_by_story: Mapping[str, str]) -> tuple[list[str], list[PlacesOfSource]]:
        """How often each source stands at each place, with the names of the places: inside groups, or by quarters of
        what is read where every group is one story or groups are long."""
        largest = max(self.texts.sizes, default=0)
        by_quarter = largest == 1 or largest > MOST_PLACES
        n_columns = QUARTERS if by_quarter else largest
        counts: dict[str, list[int]] = defaultdict(lambda: [0] * n_columns)
        halves: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for codes in self._sequences(is_path=largest == 1):
            n = len(codes)
            for place, code in enumerate(codes):
                source = source_by_story.get(code, "–")
                counts[source][place * QUARTERS // n if by_quarter else place] += 1
                if place < n // 2 or place >= n - n // 2:  # the middle one of an odd number is neither
                    halves[source][place >= n - n // 2] += 1
        quarter = gettext("Quarter %(n)d")
        names = [quarter % {"n": n} if by_quarter else ordinal(n) for n in range(1, n_columns + 1)]
        return names, [PlacesOfSource(name, counts[name], *halves[name]) for name in sorted(counts)]

    def _sequences(self, *, is_path: bool) -> Iterator[list[str]]:
        for path in self.paths:
            visits = [visit for visit in path if not visit.is_repeat]
            if is_path:
                yield [code for visit in visits for code in visit.stories]
            else:
                yield from (visit.stories for visit in visits)


def look_ahead(texts: Texts, choices: PlanChoices, *, minutes_by_group: Sequence[float] = ()) -> Prospect:
    """The plan that these choices draw. Reads and writes nothing. minutes_by_group : needed for its hours alone"""
    drawn = draw_seats(texts.sizes, choices.seats_per_group, policy=choices.order_policy, seed=choices.seed)
    return Prospect(texts, choices, minutes_by_group, drawn)


def deal(drawn: Sequence[DrawnSeat], *, most: int) -> list[list[DrawnSeat]]:
    """The seats of each person, if people come one after another and each reads so many groups where there are as many:
    along the free row with most left, and then where most seats of a group are free. As `claims.claim` gives them."""
    rows: dict[int, list[DrawnSeat]] = defaultdict(list)
    for drawn_seat in sorted(drawn, key=lambda seat: (seat.row, seat.position)):
        rows[drawn_seat.row].append(drawn_seat)
    n_free = Counter(seat.group for seat in drawn)
    if most >= len(n_free):  # everybody reads a row to its end
        return [seats for _row, seats in sorted(rows.items())]
    n_read: Counter[tuple[int, int]] = Counter()
    paths: list[list[DrawnSeat]] = []
    while rows:
        path: list[DrawnSeat] = []
        row: int | None = None
        while len(path) < most and (seat := _next_seat(rows, row, path, n_free, n_read)):
            if row is None and len(rows[seat.row]) > 1:
                row = seat.row
            seats = rows[seat.row]
            del seats[next(i for i, other in enumerate(seats) if other is seat)]
            if not rows[seat.row]:
                del rows[seat.row]
            n_free[seat.group] -= 1
            n_read[seat.group, len(path) + 1] += 1
            path.append(seat)
        paths.append(path)
    return paths


def _next_seat(
    rows: Mapping[int, Sequence[DrawnSeat]],
    row: int | None,
    path: Sequence[DrawnSeat],
    n_free: Mapping[int, int],
    n_read: Mapping[tuple[int, int], int],
) -> DrawnSeat | None:
    """The seat that somebody who has read that path gets next; None if nothing is left for them."""
    groups = {seat.group for seat in path}
    if row is None:
        begun = [number for number, seats in rows.items() if len(seats) > 1]
        row = min(begun, key=lambda number: (-len(rows[number]), number), default=None)
    for seat in rows.get(row, ()) if row is not None else ():
        if seat.group not in groups:
            return seat
    elsewhere = (seat for seats in rows.values() for seat in seats if seat.group not in groups)
    place = len(path) + 1
    return min(
        elsewhere,
        key=lambda seat: (-n_free[seat.group], n_read[seat.group, place], seat.position, seat.group, seat.number),
        default=None,
    )


def find_even_seed(texts: Texts, choices: PlanChoices, source_by_story: Mapping[str, str]) -> tuple[int, int]:
    """Of up to 200 seeds after that of the choices the one in which sources stand most evenly over places, and how many
    were tried: fewer where there is much to read, one where the order is not drawn."""
    n_readings = max(sum(texts.sizes) * choices.seats_per_group, 1)
    n_draws = max(1, min(MOST_DRAWS, MOST_READINGS // n_readings)) if choices.order_policy != "fixed" else 1
    seeds = [choices.seed + n for n in range(1, n_draws + 1)]
    if n_draws == 1 or not source_by_story:
        return seeds[0], 1
    return min(seeds, key=lambda seed: _unevenness(texts, choices, seed, source_by_story)), n_draws


def _unevenness(texts: Texts, choices: PlanChoices, seed: int, source_by_story: Mapping[str, str]) -> float:
    _names, rows = look_ahead(texts, replace(choices, seed=seed)).count_sources(source_by_story)
    return sum((n - sum(row.counts) / len(row.counts)) ** 2 for row in rows for n in row.counts)
