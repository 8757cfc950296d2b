"""Where each story stands among those of its study, outcome by outcome, as a stored report with sources has it.

A sealed report has none of these figures, so that neither an order nor a rank can tell a source.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.utils.translation import gettext as _

from reports.figures.base import Listing
from reports.figures.pairs.strengths import StrengthTable
from reports.figures.sources.story_ratings import ItemStories
from reports.figures.sources.tests_passed import TestsPassedResult
from reports.models import Report
from reports.numbers import decimal
from reports.page.marked_strips import MarkedAxis, MarkedStrip, draw_strip
from reports.page.stored_figures import read_stored_figure


@dataclass(frozen=True)
class StoryValue:
    """One story on one outcome. group : "" where it has one value over all its groups

    sd : between its raters; n_raters : how many these are; None where an outcome does not say
    """

    group: str
    story: str
    value: float
    sd: float | None = None
    n_raters: int | None = None


@dataclass(frozen=True)
class RankedOutcome:
    """An outcome on which stories have an order, the highest value first.

    key : names it in addresses
    hint : what its values are
    is_worded : whether the title is in the study's words; else it is in the reader's language
    places : decimals that are shown
    """

    key: str
    title: str
    hint: str
    is_worded: bool
    values: tuple[StoryValue, ...]
    axis: MarkedAxis
    places: int

    @cached_property
    def ordered(self) -> list[float]:
        return sorted(value.value for value in self.values)

    @cached_property
    def values_by_story(self) -> dict[str, list[StoryValue]]:
        values: dict[str, list[StoryValue]] = {}
        for value in self.values:
            values.setdefault(value.story, []).append(value)
        return values

    def stand(self, value: StoryValue) -> StoryStanding:
        """Where that story stands among all of this outcome."""
        ordered = self.ordered
        n_higher = len(ordered) - bisect_right(ordered, value.value)
        n_equal = bisect_right(ordered, value.value) - bisect_left(ordered, value.value)
        return StoryStanding(self, value, n_higher + 1, n_equal - 1)


@dataclass(frozen=True)
class StoryStanding:
    """rank : 1 is the highest; n_beside : other stories with the very same value"""

    outcome: RankedOutcome
    value: StoryValue
    rank: int
    n_beside: int

    @property
    def n(self) -> int:
        return len(self.outcome.values)

    @property
    def shown(self) -> str:
        return decimal(self.value.value, self.outcome.places)

    @property
    def sd(self) -> str:
        return "" if self.value.sd is None else decimal(self.value.sd, self.outcome.places)

    @property
    def ends(self) -> tuple[str, str]:
        """Both ends of its axis in words."""
        return decimal(self.outcome.axis.low, 0), decimal(self.outcome.axis.high, 0)

    @cached_property
    def strip(self) -> MarkedStrip:
        return draw_strip(self.outcome.ordered, self.value.value, self.outcome.axis)


def list_outcomes(report: Report) -> list[RankedOutcome]:
    """The outcomes that the report has story by story: tests, scores, scales, strengths. Raises Undecodable."""
    tests: TestsPassedResult | None = read_stored_figure(report, "tests_passed")
    ratings: Listing[ItemStories] | None = read_stored_figure(report, "story_ratings")
    strengths: Listing[StrengthTable] | None = read_stored_figure(report, "strengths")
    outcomes = [
        *(_of_tests(tests) if tests else ()),
        *(_of_ratings(row) for row in (ratings.rows if ratings else ())),
        *(_of_strengths(row) for row in (strengths.rows if strengths else ()) if row.unit == "stories"),
    ]
    return [outcome for outcome in outcomes if outcome.values]


def _of_tests(result: TestsPassedResult) -> Iterator[RankedOutcome]:
    values = tuple(
        StoryValue(story.group, story.story, story.value, n_raters=story.n_raters)
        for story in result.stories
        if story.value is not None
    )
    yield RankedOutcome(
        key="tests",
        title=_("Tests passed, of %(n)s") % {"n": result.n_items},
        hint=_("mean of its raters’ counts of Yes"),
        is_worded=False,
        values=values,
        axis=MarkedAxis(0, result.n_items),
        places=1,
    )


def _of_ratings(row: ItemStories) -> RankedOutcome:
    values = tuple(
        StoryValue(story.group, story.story, story.mean, sd=story.sd, n_raters=story.n) for story in row.stories
    )
    has_ends = row.lowest is not None and row.highest is not None
    return RankedOutcome(
        key=f"{row.step}.{row.item}",
        title=row.title,
        hint=_("mean of its raters"),
        is_worded=True,
        values=values,
        axis=MarkedAxis.over(row.lowest, row.highest) if has_ends else _axis_of(values),
        places=2,
    )


def _of_strengths(row: StrengthTable) -> RankedOutcome:
    return RankedOutcome(
        key=f"{row.step}.{row.item}",
        title=row.title,
        hint=_("times of 100 that it would be taken beside the average story"),
        is_worded=True,
        values=tuple(StoryValue("", strength.name, strength.percent) for strength in row.strengths),
        axis=MarkedAxis(0, 100),
        places=0,
    )


def _axis_of(values: Sequence[StoryValue]) -> MarkedAxis:
    return MarkedAxis.over(*(value.value for value in values))
