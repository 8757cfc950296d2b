"""How much raters, stories and the rest vary, and means of sources with the interval for other raters, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.figures.base import Figure, Interval, Listing, Reason, Row
from reports.figures.mean_intervals import outcome_intervals
from reports.lazy import variance_components
from reports.numbers import decimal
from reports.numbers import interval as between
from reports.reasons import to_english
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable


@dataclass(frozen=True, kw_only=True)
class SourceMean:
    """The mean over a source's stories. interval : for the same raters; wide : for other raters, too"""

    source: str
    value: float
    n_stories: int
    interval: Interval
    wide: Interval


@dataclass(frozen=True, kw_only=True)
class OutcomeComponents:
    """Variances of one outcome, in its squared units, over the stories of all sources; or why there are none.

    at_zero : which were not estimated above 0 and are set to it
    """

    key: str
    kind: str
    title: str
    is_percent: bool
    is_part: bool
    rater: float | None = None
    story: float | None = None
    residual: float | None = None
    at_zero: tuple[str, ...] = ()
    n_raters: int = 0
    n_stories: int = 0
    n_ratings: int = 0
    why: Reason | None = None
    sources: tuple[SourceMean, ...]

    @property
    def places(self) -> int:
        """How many decimals its numbers are written with."""
        return 1 if self.is_percent else 2

    @property
    def parts(self) -> list[tuple[str, float, float, bool]]:
        """Of each component its name, its standard deviation, its share in percent, and whether it is set to 0."""
        variances = {"rater": self.rater or 0.0, "story": self.story or 0.0, "residual": self.residual or 0.0}
        total = sum(variances.values()) or 1.0
        return [(name, v**0.5, 100 * v / total, name in self.at_zero) for name, v in variances.items()]

    @property
    def cells(self) -> list[tuple[float, float, bool]]:
        return [part[1:] for part in self.parts]


class VarianceComponents(Figure[Listing[OutcomeComponents]]):
    key = "variance_components"
    title = gettext_lazy("What varies: raters, stories, the rest")
    position = 53
    result = Listing[OutcomeComponents]
    tables = ("variance-components", "means-for-other-raters")
    edition = 5
    is_shown_sealed = False
    nothing = Listing[OutcomeComponents]()

    def compute(self, dataset: Dataset) -> Listing[OutcomeComponents]:
        return Listing(tuple(_of_outcome(dataset, table) for table in dataset.outcomes))

    def rows(self, result: Listing[OutcomeComponents]) -> dict[str, Iterator[Row]]:
        return {"variance-components": _component_rows(result), "means-for-other-raters": _mean_rows(result)}

    def lines(self, result: Listing[OutcomeComponents]) -> Iterator[str]:
        yield "\nWhat varies: standard deviations of raters, stories and the rest"
        for row in result.rows:
            if row.why:
                yield f"  {row.title or 'all tests'}: {to_english(row.why)}"
            else:
                parts = ", ".join(f"{name} {decimal(sd, row.places)}" for name, sd, _share, _zero in row.parts)
                yield f"  {row.title or 'all tests'}: {parts}"
            for mean in row.sources:
                wide = f"for other raters, too, {between(mean.wide, row.places)}"
                ends = f"95 % {between(mean.interval, row.places)}, {wide}"
                yield f"    {mean.source[:32]:<32} {decimal(mean.value, row.places)}, {ends}"

    def context(self, result: Listing[OutcomeComponents]) -> dict[str, Any]:
        whole = [row for row in result.rows if not row.is_part]
        names = {"rater": _("raters"), "story": _("stories"), "residual": _("the rest")}
        at_zero = [name for key, name in names.items() if any(key in row.at_zero for row in result.rows)]
        parts = [row for row in result.rows if row not in whole]
        return {"whole": whole, "parts": parts, "at_zero": get_text_list(at_zero, _("and"))}


def _of_outcome(dataset: Dataset, table: OutcomeTable) -> OutcomeComponents:
    outcome = table.outcome
    names = [name for name, _kind in dataset.sources]
    means = [_mean(dataset, table, name) for name in names]
    without = OutcomeComponents(
        key=outcome.key,
        kind=outcome.kind,
        title=outcome.title,
        is_percent=outcome.is_percent,
        is_part=outcome.is_part,
        sources=tuple(mean for mean in means if mean is not None),
    )
    try:
        components = variance_components.components(table.ratings)
    except Incomputable as error:
        return replace(without, why=Reason.of(error))
    return replace(
        without,
        rater=components.rater,
        story=components.story,
        residual=components.residual,
        at_zero=components.at_zero,
        n_raters=components.n_raters,
        n_stories=components.n_clusters,
        n_ratings=components.n_ratings,
    )


def _mean(dataset: Dataset, table: OutcomeTable, source: str) -> SourceMean | None:
    """The mean of a source over its stories, with both intervals; None if it has no story with a value."""
    units = table.of_source(source)
    if not units.any():
        return None
    ends, wide = outcome_intervals(dataset, table, units)
    return SourceMean(
        source=source,
        value=float(table.values[units].mean()),
        n_stories=table.n_stories(units),
        interval=ends,
        wide=wide,
    )


def _component_rows(result: Listing[OutcomeComponents]) -> Iterator[Row]:
    for row in result.rows:
        yield {
            "outcome": row.key,
            "kind": row.kind,
            "title": row.title,
            "rater_variance": row.rater,
            "story_variance": row.story,
            "residual_variance": row.residual,
            "n_raters": row.n_raters,
            "n_stories": row.n_stories,
            "n_ratings": row.n_ratings,
            "set_to_zero": ", ".join(row.at_zero),
            "note": to_english(row.why) if row.why else "",
        }


def _mean_rows(result: Listing[OutcomeComponents]) -> Iterator[Row]:
    for row in result.rows:
        for mean in row.sources:
            notes = [to_english(ends.why) if ends.why else ends.note or "" for ends in (mean.interval, mean.wide)]
            yield {
                "outcome": row.key,
                "title": row.title,
                "source": mean.source,
                "mean": mean.value,
                "low": mean.interval.low,
                "high": mean.interval.high,
                "low_other_raters": mean.wide.low,
                "high_other_raters": mean.wide.high,
                "n_stories": mean.n_stories,
                "note": "; ".join(filter(None, notes)),
            }
