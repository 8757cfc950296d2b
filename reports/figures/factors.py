"""Results by what else is recorded of the stories (size, strategy, tier), alone and within each source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.figures import plots
from reports.figures.base import (
    Figure,
    Interval,
    IntervalEstimate,
    Listing,
    Row,
    note_of,
)
from reports.figures.contrast_rows import ContrastRow, adjust_family, contrast_row
from reports.figures.factor_rows import FactorRow, as_number, factor_cells, factor_fields, levels_by_factor
from reports.figures.mean_intervals import outcome_intervals
from reports.lazy import contrasts, np, variance_components
from reports.numbers import decimal
from reports.numbers import interval as between

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable
    from stats.arrays import BoolArray

MOST_LEVELS = 8
NOT_COMPARED = ("drawn",)  # says how people's stories were chosen, and nothing of how they were written


@dataclass(frozen=True, kw_only=True)
class LevelMean(IntervalEstimate):
    """The mean over the stories of one level; of one source, or of all (""). wide : the interval for other raters"""

    level: str
    source: str
    n_stories: int
    wide: Interval


@dataclass(frozen=True, kw_only=True)
class FactorOutcome(FactorRow):
    """One outcome by one factor.

    means : of every level over all sources, then source by source where a source has several levels
    contrasts : every two levels, p adjusted by Holm over them
    """

    means: tuple[LevelMean, ...]
    contrasts: tuple[ContrastRow, ...]


class Factors(Figure[Listing[FactorOutcome]]):
    key = "factors"
    title = gettext_lazy("By a property of the stories")
    position = 65
    result = Listing[FactorOutcome]
    tables = ("factors", "factor-contrasts")
    edition = 8
    is_shown_sealed = False
    nothing = Listing[FactorOutcome]()

    def compute(self, dataset: Dataset) -> Listing[FactorOutcome]:
        level_by_factor = _levels(dataset)
        pairs = [(factor, table) for factor in level_by_factor for table in dataset.whole_outcomes]
        return Listing(
            tuple(
                _of_factor(dataset, factor, level_by_factor[factor], table) for n, (factor, table) in enumerate(pairs)
            )
        )

    def rows(self, result: Listing[FactorOutcome]) -> dict[str, Iterator[Row]]:
        return {"factors": _mean_rows(result), "factor-contrasts": _contrast_rows(result)}

    def lines(self, result: Listing[FactorOutcome]) -> Iterator[str]:
        for row in result.rows:
            yield f"\nBy {row.factor}: {row.title or 'all tests'} (exploratory)"
            for mean in row.means:
                name = ", ".join(filter(None, [mean.source, mean.level]))
                wide = f"{between(mean.wide, row.places)} for other raters, too"
                ends = f"95 % {between(mean.interval, row.places)} ({wide}); {mean.n_stories} stories"
                yield f"  {name[:40]:<40} {decimal(mean.value, row.places)}, {ends}"

    def context(self, result: Listing[FactorOutcome]) -> dict[str, Any]:
        names = list(dict.fromkeys(row.factor for row in result.rows))
        return {"factors": names, "plots": [plot for name in names for plot in _plots(result, name)]}


def _levels(dataset: Dataset) -> dict[str, dict[str, str]]:
    """Of each factor with two to eight levels the level of each story that has one."""
    return {
        name: levels
        for name, levels in levels_by_factor(dataset).items()
        if name not in NOT_COMPARED and 2 <= len(set(levels.values())) <= MOST_LEVELS
    }


def _order(level: str) -> tuple[bool, float, str]:
    """Numbers first, the least before the others; then words by the alphabet."""
    number = as_number(level)
    return number is None, number or 0.0, level


def _of_factor(dataset: Dataset, factor: str, level_by_story: dict[str, str], table: OutcomeTable) -> FactorOutcome:
    level_of_unit = np.array([level_by_story.get(story, "") for _group, story in table.units])
    has_value = np.isfinite(table.values)
    names = sorted({str(level) for level in level_of_unit[has_value] if level}, key=_order)
    units = {name: (level_of_unit == name) & has_value for name in names}
    means = [_mean(dataset, table, units[name], level=name, source="") for name in names]
    for source, _kind in dataset.sources:
        cells = {name: units[name] & table.of_source(source) for name in names}
        filled = [name for name in names if cells[name].any()]
        if len(filled) > 1:
            for name in filled:
                means.append(_mean(dataset, table, cells[name], level=name, source=source))
    cluster_means = {name: contrasts.cluster_means(table.values, table.clusters, units[name]) for name in names}
    by_rater = {name: variance_components.cell_means(table.ratings, table.clusters, units[name]) for name in names}
    rows = [
        replace(
            contrast_row(
                dataset,
                cluster_means[first],
                cluster_means[second],
                most=table.width,
                by_rater=(by_rater[first], by_rater[second]),
            ),
            first=first,
            second=second,
        )
        for first, second in combinations(names, 2)
    ]
    return FactorOutcome(
        **factor_fields(factor, table),
        means=tuple(means),
        contrasts=tuple(adjust_family(rows, "holm")),
    )


def _mean(dataset: Dataset, table: OutcomeTable, units: BoolArray, *, level: str, source: str) -> LevelMean:
    """The mean of some stories that have a value, with its intervals over clusters."""
    ends, wide = outcome_intervals(dataset, table, units)
    return LevelMean(
        value=float(table.values[units].mean()),
        level=level,
        source=source,
        n_stories=table.n_stories(units),
        interval=ends,
        wide=wide,
    )


def _plots(result: Listing[FactorOutcome], factor: str) -> Iterator[tuple[str, plots.DotPlot, plots.DotPlot | None]]:
    """The means by level of the outcomes in percent, and of the others: over all sources, and within each of them."""
    of_factor = [row for row in result.rows if row.factor == factor]
    for is_percent in (True, False):
        rows = [row for row in of_factor if row.is_percent == is_percent]
        levels = sorted({mean.level for row in rows for mean in row.means}, key=_order)
        if rows:
            overall = [_plot_row(row, "", levels, row.title or _("All tests"), "") for row in rows]
            within = [
                _plot_row(row, source, levels, source, row.title or _("All tests"))
                for row in rows
                for source in dict.fromkeys(mean.source for mean in row.means if mean.source)
            ]
            axis = plots.PERCENT if is_percent else _axis(overall + within)
            yield factor, plots.DotPlot(overall, levels, axis), plots.DotPlot(within, levels, axis) if within else None


def _plot_row(row: FactorOutcome, source: str, levels: list[str], label: str, heading: str) -> plots.PlotRow:
    marks = [
        plots.Mark.of(levels.index(mean.level), mean.value, mean.interval)
        for mean in row.means
        if mean.source == source
    ]
    return plots.PlotRow(label, heading, tuple(marks))


def _axis(rows: list[plots.PlotRow]) -> plots.Axis:
    return plots.value_axis(plots.ends_of(mark for row in rows for mark in row.marks))


def _mean_rows(result: Listing[FactorOutcome]) -> Iterator[Row]:
    for row in result.rows:
        for mean in row.means:
            yield factor_cells(row) | {
                "level": mean.level,
                "source": mean.source or "all",
                "mean": mean.value,
                "low": mean.interval.low,
                "high": mean.interval.high,
                "low_other_raters": mean.wide.low,
                "high_other_raters": mean.wide.high,
                "n_stories": mean.n_stories,
                "note": note_of(mean, mean.interval),
            }


def _contrast_rows(result: Listing[FactorOutcome]) -> Iterator[Row]:
    for row in result.rows:
        for contrast in row.contrasts:
            yield factor_cells(row) | {
                "first": contrast.first,
                "second": contrast.second,
                "difference": contrast.value,
                "low": contrast.interval and contrast.interval.low,
                "high": contrast.interval and contrast.interval.high,
                "low_other_raters": contrast.wide and contrast.wide.low,
                "high_other_raters": contrast.wide and contrast.wide.high,
                "test": contrast.test,
                "p": contrast.p,
                "p_adjusted": None if contrast.is_not_tested else contrast.p_adjusted,
                "n": contrast.n,
                "n_second": contrast.n_second,
            }
