"""What the page of a reading plan shows: figures, sentences, matrix, paths and sources."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.design.prospects import PlacesOfSource, Prospect, Visit
from annotation.design.reading_plans import Design
from annotation.templatetags.times import describe_minutes
from studies import items
from studies.protocol import Protocol, items_of

MOST_STORIES = 60  # in a matrix story by place; more are drawn by group
MOST_GROUPS, MOST_PATHS, MOST_VISITS = 100, 40, 40
N_STRETCHES, MOST_COLUMNS = 10, 12
LONG = 240  # minutes for one person


@dataclass(frozen=True)
class PlanRemark:
    """kind : "good" or "warning\""""

    kind: str
    text: str


@dataclass(frozen=True)
class ShadedCell:
    n: int
    heat: int


@dataclass(frozen=True)
class MatrixLine:
    """code : of a story, or of a group where there are many stories"""

    code: str
    cells: list[ShadedCell]
    n_readers: int
    mean_place: float


@dataclass(frozen=True)
class MatrixPart:
    """The lines of one group, under its code; of all groups without one."""

    code: str
    lines: list[MatrixLine]


@dataclass(frozen=True)
class PlanMatrix:
    """Story by place over all that one person reads; or group by position, if there are many stories."""

    columns: list[str]
    parts: list[MatrixPart]
    is_by_group: bool
    n_left_out: int = 0

    @property
    def has_many_columns(self) -> bool:
        return len(self.columns) > MOST_COLUMNS

    @property
    def n_columns(self) -> int:
        return len(self.columns) + 3


@dataclass(frozen=True)
class PathLine:
    """What one person reads. visits : of each group the codes, as one text; n_more : groups that are left out"""

    number: int
    visits: list[str]
    n_more: int


def describe_figures(
    prospect: Prospect, design: Design, *, is_estimated: bool, pay: Decimal | None
) -> list[tuple[str, str]]:
    """Places, people, time and pay, each with what it counts. is_estimated : nobody has said how long a group takes"""
    low, high = len(prospect.paths), prospect.n_most_people
    people = number_format(low) if low == high or design == Design.EVERYBODY else f"{low}–{high}"
    what = _("reading and answering, by estimate") if is_estimated else _("reading and answering")
    figures = [
        (number_format(prospect.n_places), _("places to fill, one group each")),
        (people, _("people")),
        (describe_minutes(round(prospect.longest_minutes)), _("at most for one person")),
        (describe_minutes(round(prospect.total_minutes)), _("in all: %(what)s") % {"what": what}),
    ]
    if n_again := prospect.n_readings - prospect.n_places:
        figures.insert(1, (number_format(n_again), _("groups read a second time, which fill no place")))
    if pay:
        total = number_format(pay * prospect.n_readings, use_l10n=True, force_grouping=True)
        figures.append((total, _("pay, %(n)s a group") % {"n": number_format(pay)}))
    return figures


def describe_plan(
    prospect: Prospect, design: Design, sources: Sequence[PlacesOfSource], protocol: Protocol, *, may_draw: bool
) -> list[PlanRemark]:
    """What is good about the plan and what is not."""
    return [
        *_sentences_of_order(prospect),
        *_sentences_of_people(prospect, design),
        *_sentences_of_pairs(design, protocol),
        *(
            _sentence_of_source(row, may_draw=may_draw)
            for row in sources
            if row.is_uneven and prospect.choices.order_policy != "fixed"
        ),
    ]


def _sentences_of_order(prospect: Prospect) -> Iterator[PlanRemark]:
    policy, k = prospect.choices.order_policy, prospect.choices.seats_per_group
    if policy == "fixed":
        yield PlanRemark(
            "warning", _("Everyone reads the stories in the same order, so later stories are read by tired raters.")
        )
    elif policy == "random":
        yield PlanRemark(
            "warning",
            _("Orders are random, so by chance some stories come first more often than others."),
        )
    elif max(prospect.texts.sizes, default=1) > 1:
        if prospect.is_even_inside_groups:
            yield PlanRemark("good", _("Within its group, every story is at every position equally often."))
        elif len(set(prospect.texts.sizes)) == 1:
            size = prospect.texts.sizes[0]
            more = size - k % size
            sentence = ngettext(
                "With %(k)d rater per group, positions cannot be balanced. With %(up)d they can: %(n)d more places.",
                "With %(k)d raters per group, positions cannot be balanced. With %(up)d they can: %(n)d more places.",
                k,
            )
            names = {"k": k, "up": k + more, "n": more * len(prospect.texts.groups)}
            yield PlanRemark("warning", sentence % names)
        else:
            yield PlanRemark("warning", _("Not every story is at every position of its group equally often."))


def _sentences_of_people(prospect: Prospect, design: Design) -> Iterator[PlanRemark]:
    if prospect.choices.seats_per_group == 1:
        sentence = _(
            "With one rater per group, agreement cannot be measured. You need at least two, or three for a majority."
        )
        yield PlanRemark("warning", sentence)
    if design == Design.EVERYBODY and prospect.choices.order_policy != "fixed":
        n, n_orders = len(prospect.paths), len({str(path) for path in prospect.paths})
        if n_orders == n:
            yield PlanRemark("good", _("No two people read the stories in the same order."))
        else:
            yield PlanRemark("warning", _("%(n)d people share %(orders)d orders.") % {"n": n, "orders": n_orders})
    if prospect.longest_minutes > LONG:
        sentence = _("One person would need %(time)s. Above four hours, plan breaks, or fewer groups for one person.")
        yield PlanRemark("warning", sentence % {"time": describe_minutes(round(prospect.longest_minutes))})


def _sentences_of_pairs(design: Design, protocol: Protocol) -> Iterator[PlanRemark]:
    compares = any(items.find_type(item.type).about_stories for step in protocol.ratings for item in items_of(step))
    if design == Design.PAIRS and not compares:
        yield PlanRemark("warning", _("No question compares two stories. Add one that asks for the better of two."))


def _sentence_of_source(row: PlacesOfSource, *, may_draw: bool) -> PlanRemark:
    n = row.n_early + row.n_late
    where = _("the first half") if row.n_early > row.n_late else _("the second half")
    sentence = _("Stories by %(source)s are in %(where)s of what a person reads %(n)d of %(all)d times.")
    text = sentence % {"source": row.source, "where": where, "n": max(row.n_early, row.n_late), "all": n}
    remedy = _("Draw new orders under Details.")
    return PlanRemark("warning", f"{text} {remedy}" if may_draw else text)


def lay_out_matrix(prospect: Prospect) -> PlanMatrix:
    """Story by place; group by position where there are more than 60 stories, the first hundred of them."""
    if prospect.texts.n_stories > MOST_STORIES:
        return _by_group(prospect)
    columns = range(1, prospect.n_longest + 1)
    places = prospect.places_by_story
    most = max((n for counts in places.values() for n in counts.values()), default=1)
    parts = [
        MatrixPart(group, [_line(code, [places[code][c] for c in columns], places[code], most) for code in codes])
        for group, codes in zip(prospect.texts.groups, prospect.texts.stories, strict=True)
    ]
    return PlanMatrix([str(c) for c in columns], parts, is_by_group=False)


def _by_group(prospect: Prospect) -> PlanMatrix:
    n = max(map(len, prospect.paths), default=0)
    width = 1 if n <= MOST_COLUMNS else ceil(n / N_STRETCHES)
    stretches = [range(first, min(first + width, n + 1)) for first in range(1, n + 1, width)]
    rows = list(zip(prospect.texts.groups, prospect.positions_by_group, strict=True))
    counts = [(code, [sum(at[p] for p in s) for s in stretches], at) for code, at in rows[:MOST_GROUPS]]
    most = max((n for _code, row, _at in counts for n in row), default=1)
    names = [str(s[0]) if len(s) == 1 else f"{s[0]}–{s[-1]}" for s in stretches]
    lines = [_line(code, row, at, most) for code, row, at in counts]
    return PlanMatrix(names, [MatrixPart("", lines)], is_by_group=True, n_left_out=max(0, len(rows) - MOST_GROUPS))


def _line(code: str, counts: Sequence[int], places: Mapping[int, int], most: int) -> MatrixLine:
    n = sum(places.values())
    mean = sum(place * times for place, times in places.items()) / n if n else 0.0
    return MatrixLine(code, [ShadedCell(count, _heat(count, most)) for count in counts], n, mean)


def _heat(n: int, most: int) -> int:
    """From 0, nothing, to 4, the most; where nothing is counted more than once, 2."""
    if n == 0 or most <= 1:
        return 2 * min(n, 1)
    return max(1, ceil(n / most * 4))


def list_paths(prospect: Prospect) -> list[PathLine]:
    """What the first forty people read, group by group; of long paths the beginning."""
    by_group = prospect.texts.n_stories > MOST_STORIES
    return [
        PathLine(
            number,
            [_visit_text(visit, prospect, by_group=by_group) for visit in path[:MOST_VISITS]],
            max(0, len(path) - MOST_VISITS),
        )
        for number, path in enumerate(prospect.paths[:MOST_PATHS], start=1)
    ]


def _visit_text(visit: Visit, prospect: Prospect, *, by_group: bool) -> str:
    text = prospect.texts.groups[visit.group] if by_group else " ".join(visit.stories)
    return _("%(group)s again") % {"group": text} if visit.is_repeat else text


def shade_sources(rows: Sequence[PlacesOfSource]) -> list[tuple[str, list[ShadedCell]]]:
    """The counts of each source with their shades, from the rarest to the most frequent."""
    counts = [n for row in rows for n in row.counts]
    low, high = min(counts, default=0), max(counts, default=0)
    return [
        (row.source, [ShadedCell(n, 2 if high == low else 1 + round((n - low) / (high - low) * 3)) for n in row.counts])
        for row in rows
    ]
