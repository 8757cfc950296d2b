"""How ratings and rates go with a number that is known of each story, such as the size of the model that wrote it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.figures import plots
from reports.figures.base import (
    N_RESAMPLES,
    Figure,
    Floor,
    Interval,
    IntervalEstimate,
    Listing,
    Reason,
    Row,
    mean_interval,
    note_of,
    weakest_note,
)
from reports.figures.factor_rows import FactorRow, as_number, factor_cells, factor_fields, levels_by_factor
from reports.lazy import np, trends
from reports.numbers import coefficient, coefficients, decimal
from reports.numbers import interval as between
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable

SALT = 65  # of the seed
LABELS = ("premise", "plot", "prompt", "seed")  # name things with numbers, which have no order; so do ids
FEWEST_NUMBERS = 3  # different ones, to speak of a trend
MOST_POINTS = 12  # with an interval each; of more, the smallest and the largest stand in the table alone
FAR_APART = 10  # largest by smallest, from which on the axis is that of the logarithm


@dataclass(frozen=True, kw_only=True)
class NumberMean:
    """The mean over the stories of one number."""

    number: float
    value: float
    n_stories: int
    interval: Interval


@dataclass(frozen=True, kw_only=True)
class FactorTrend(FactorRow, IntervalEstimate):
    """Spearman's correlation of one outcome with one number of the stories, over story means.

    means : by number; none where there are many
    """

    n_stories: int
    floor: Floor
    means: tuple[NumberMean, ...]


class Trends(Figure[Listing[FactorTrend]]):
    key = "trends"
    title = gettext_lazy("Against a number")
    position = 67
    result = Listing[FactorTrend]
    tables = ("trends", "trend-means")
    edition = 2
    is_shown_sealed = False
    nothing = Listing[FactorTrend]()

    def compute(self, dataset: Dataset) -> Listing[FactorTrend]:
        number_by_factor = _numbers(dataset)
        pairs = [(factor, table) for factor in number_by_factor for table in dataset.whole_outcomes]
        return Listing(
            tuple(
                _trend(dataset, factor, number_by_factor[factor], table, salt=n)
                for n, (factor, table) in enumerate(pairs)
            )
        )

    def rows(self, result: Listing[FactorTrend]) -> dict[str, Iterator[Row]]:
        return {"trends": _rows(result), "trend-means": _mean_rows(result)}

    def lines(self, result: Listing[FactorTrend]) -> Iterator[str]:
        for row in result.rows:
            ends = f"95 % {coefficients(row.interval)}, chance to {coefficient(row.floor.upper)}"
            yield f"\n{row.title or 'All tests'} by {row.factor}: Spearman's rho {coefficient(row.value)}, {ends}"
            for mean in row.means:
                numbers = f"{decimal(mean.value, row.places)}, 95 % {between(mean.interval, row.places)}"
                yield f"  {mean.number:>10g}  {numbers}; {mean.n_stories} stories"

    def context(self, result: Listing[FactorTrend]) -> dict[str, Any]:
        note = weakest_note(mean.interval for row in result.rows for mean in row.means)
        factors = list(dict.fromkeys(row.factor for row in result.rows))
        drawn = [(factor, plot) for factor in factors for plot in _plots(result, factor)]
        return {"plots": drawn, "note": note, "is_logarithmic": any(map(_is_far, result.rows))}


def _numbers(dataset: Dataset) -> dict[str, dict[str, float]]:
    """Of each factor whose levels are all numbers, three different ones at least, the number of each story."""
    numbers = {
        name: {story: as_number(level) for story, level in levels.items()}
        for name, levels in levels_by_factor(dataset).items()
        if not is_label(name)
    }
    return {
        name: {story: number for story, number in of_factor.items() if number is not None}
        for name, of_factor in numbers.items()
        if None not in of_factor.values() and len(set(of_factor.values())) >= FEWEST_NUMBERS
    }


def is_label(name: str) -> bool:
    """Whether a factor only names things, so that its numbers say nothing of more or less: premise, study_id."""
    words = name.casefold().replace("-", "_").split("_")
    return words[-1] in ("id", "idx", "index", "number") or words[0] in LABELS


def _trend(
    dataset: Dataset, factor: str, number_by_story: dict[str, float], table: OutcomeTable, *, salt: int
) -> FactorTrend:
    numbers = np.array([number_by_story.get(story, np.nan) for _group, story in table.units], dtype=np.float64)
    has_both = np.isfinite(numbers) & np.isfinite(table.values)
    fields: dict[str, Any] = {
        **factor_fields(factor, table),
        "n_stories": table.n_stories(has_both),
        "means": _means(dataset, numbers, table),
    }
    try:
        trend = trends.trend(
            numbers, table.values, table.clusters, rng=dataset.rng(SALT, salt), n_resamples=N_RESAMPLES
        )
    except Incomputable as error:
        why = Reason.of(error)
        nothing = Interval(low=None, high=None, why=why)
        return FactorTrend(value=None, why=why, interval=nothing, floor=Floor(mean=None, upper=None, why=why), **fields)
    return FactorTrend(
        value=trend.rho,
        n_units=trend.n_units,
        interval=Interval.of(trend.interval),
        floor=Floor(mean=trend.floor.mean, upper=trend.floor.upper),
        **fields,
    )


def _means(dataset: Dataset, numbers: Any, table: OutcomeTable) -> tuple[NumberMean, ...]:
    is_rated = np.isfinite(table.values)
    different = sorted({float(number) for number in numbers[np.isfinite(numbers) & is_rated]})
    if len(different) > MOST_POINTS:
        return ()
    return tuple(_mean(dataset, number, (numbers == number) & is_rated, table) for number in different)


def _mean(dataset: Dataset, number: float, units: Any, table: OutcomeTable) -> NumberMean:
    return NumberMean(
        number=number,
        value=float(table.values[units].mean()),
        n_stories=table.n_stories(units),
        interval=mean_interval(table, units, rng=dataset.resampling()),
    )


def _rows(result: Listing[FactorTrend]) -> Iterator[Row]:
    for row in result.rows:
        yield factor_cells(row) | {
            "spearman": row.value,
            "low": row.interval.low,
            "high": row.interval.high,
            "chance_mean": row.floor.mean,
            "chance_end": row.floor.upper,
            "n_stories": row.n_stories,
            "note": note_of(row, row.interval),
        }


def _mean_rows(result: Listing[FactorTrend]) -> Iterator[Row]:
    for row in result.rows:
        for mean in row.means:
            yield factor_cells(row) | {
                "number": mean.number,
                "mean": mean.value,
                "low": mean.interval.low,
                "high": mean.interval.high,
                "n_stories": mean.n_stories,
            }


def _is_far(row: FactorTrend) -> bool:
    numbers = [mean.number for mean in row.means]
    return bool(numbers) and min(numbers) > 0 and max(numbers) / min(numbers) >= FAR_APART


def _plots(result: Listing[FactorTrend], factor: str) -> Iterator[plots.PanelPlot]:
    """A panel for each outcome, those in percent by themselves."""
    for is_percent in (True, False):
        rows = [row for row in result.rows if (row.factor, row.is_percent) == (factor, is_percent) and row.means]
        if rows:
            yield _plot(rows, is_percent=is_percent)


def _plot(rows: list[FactorTrend], *, is_percent: bool) -> plots.PanelPlot:
    is_far = _is_far(rows[0])
    numbers = sorted({mean.number for row in rows for mean in row.means})
    places = [math.log10(number) if is_far else number for number in numbers]
    margin = (places[-1] - places[0]) * 0.08
    ticks = tuple((place, short_number(number)) for place, number in zip(places, numbers, strict=True))
    axis = plots.Axis(places[0] - margin, places[-1] + margin, plots.spaced(ticks))
    place_by_number = dict(zip(numbers, places, strict=True))
    ends = [n for row in rows for m in row.means for n in (m.value, m.interval.low, m.interval.high) if n is not None]
    panels = [
        plots.Panel(
            row.title or _("All tests"),
            points=tuple(
                plots.Point(
                    place_by_number[mean.number],
                    mean.value,
                    low=mean.interval.low,
                    high=mean.interval.high,
                    is_weak=mean.interval.is_weak,
                )
                for mean in row.means
            ),
        )
        for row in rows
    ]
    return plots.PanelPlot(panels, [], axis, plots.SHARES if is_percent else plots.value_axis(ends))


def short_number(number: float) -> str:
    """As few signs as say it: 7B, 550, .5."""
    for size, unit in ((1e12, "T"), (1e9, "B"), (1e6, "M")):
        if abs(number) >= size:
            return f"{number / size:g}{unit}"
    return f"{number:g}"
