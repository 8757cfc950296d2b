"""How often the items of each dimension are answered Yes, by source: the mean of the dimension's items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy, ngettext

from reports.figures import plots
from reports.figures.base import (
    N_RESAMPLES,
    Estimate,
    Figure,
    Interval,
    Row,
    interval,
    note_of,
    select_labels,
    weakest_note,
    without_value,
)
from reports.lazy import np, rates
from reports.numbers import decimal, whole
from reports.numbers import interval as between

if TYPE_CHECKING:
    from reports.dataset import Cube, Dataset
    from stats.arrays import BoolArray


@dataclass(frozen=True, kw_only=True)
class DimensionRate(Estimate):
    """The mean over the dimension's items of Yes in 100 verdicts. No source: over all of them."""

    source: str = ""
    n: int
    n_stories: int
    interval: Interval


@dataclass(frozen=True, kw_only=True)
class Dimension:
    name: str
    n_items: int
    overall: DimensionRate
    by_source: tuple[DimensionRate, ...]

    @property
    def rates(self) -> tuple[DimensionRate, ...]:
        return (self.overall, *self.by_source)


@dataclass(frozen=True, kw_only=True)
class DimensionResult:
    dimensions: tuple[Dimension, ...]


class Dimensions(Figure[DimensionResult]):
    key = "dimensions"
    title = gettext_lazy("By dimension")
    position = 22
    result = DimensionResult
    tables = ("dimensions",)
    edition = 2

    def compute(self, dataset: Dataset) -> DimensionResult | None:
        items = dataset.verdict_items
        names = list(dict.fromkeys(item.item.dimension for item in items if item.item.dimension))
        if len(names) < 2:
            return None
        cube = dataset.verdict_cube
        columns = dataset.units_by_source(cube)
        dimensions = []
        for name in names:
            part = cube.select_items([item.item.dimension == name for item in items])
            cells = [_rate(dataset, part, mask, source=source) for source, mask in columns]
            dimension = Dimension(name=name, n_items=len(part.items), overall=cells[0], by_source=tuple(cells[1:]))
            dimensions.append(dimension)
        return DimensionResult(dimensions=tuple(dimensions))

    def is_empty(self, result: DimensionResult) -> bool:
        return not any(row.overall.n for row in result.dimensions)

    def rows(self, result: DimensionResult) -> dict[str, Iterator[Row]]:
        return {"dimensions": _rows(result)}

    def lines(self, result: DimensionResult) -> Iterator[str]:
        yield "\nPass rates by dimension in percent, each item weighing the same"
        for row in result.dimensions:
            yield f"  {row.name}, {row.n_items} item{'s' * (row.n_items != 1)}"
            for rate in row.rates:
                ends = f"95 % {between(rate.interval)}; {whole(rate.n)} verdicts"
                yield f"    {rate.source[:32] or 'all':<32} {decimal(rate.value):>6}, {ends}"

    def context(self, result: DimensionResult) -> dict[str, Any]:
        note = weakest_note(rate.interval for row in result.dimensions for rate in row.by_source or (row.overall,))
        return {"plot": _plot(result), "note": note}


def _rate(dataset: Dataset, cube: Cube, mask: BoolArray, *, source: str) -> DimensionRate:
    """The mean of the items' rates over some of the units; items without a verdict are left out."""
    values = cube.values[:, :, mask]
    n_by_item = np.isfinite(values).sum(axis=(1, 2))
    is_answered = n_by_item > 0
    means = np.nansum(values[is_answered], axis=(1, 2)) / n_by_item[is_answered]
    stories, clusters = select_labels(cube.stories, mask), dataset.clusters(cube)[mask]
    judged = {stories[unit] for unit in np.flatnonzero(np.isfinite(values).any(axis=(0, 1)))}
    ends = interval(rates.pass_rate_interval, values, clusters, rng=dataset.resampling(), n_resamples=N_RESAMPLES)
    return DimensionRate(
        value=float(100 * means.mean()) if means.size else None,
        why=None if means.size else without_value("no_verdicts"),
        source=source,
        n=int(n_by_item.sum()),
        n_stories=len(judged),
        interval=ends,
    )


def _rows(result: DimensionResult) -> Iterator[Row]:
    for row in result.dimensions:
        for rate in row.rates:
            yield {
                "dimension": row.name,
                "n_items": row.n_items,
                "source": rate.source or "all",
                "pass_rate_percent": rate.value,
                "low": rate.interval.low,
                "high": rate.interval.high,
                "n": rate.n,
                "n_stories": rate.n_stories,
                "note": note_of(rate, rate.interval),
            }


def _plot(result: DimensionResult) -> plots.DotPlot:
    rows = []
    for row in result.dimensions:
        n_items = ngettext("%(n)s test", "%(n)s tests", row.n_items) % {"n": row.n_items}
        marks = tuple(
            plots.Mark.of(n, rate.value, rate.interval) for n, rate in enumerate(row.by_source or (row.overall,))
        )
        rows.append(plots.PlotRow(f"{row.name}, {n_items}", "", marks))
    return plots.DotPlot(rows, [rate.source for rate in result.dimensions[0].by_source], plots.PERCENT)
