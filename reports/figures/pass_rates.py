"""How often items are answered Yes, by item and by source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.figures import plots
from reports.figures.base import (
    N_RESAMPLES,
    Figure,
    Head,
    Interval,
    ItemRow,
    Row,
    SourceShare,
    estimate,
    interval,
    item_cells,
    item_fields,
    note_of,
    select_labels,
    weakest_note,
)
from reports.lazy import np, rates
from reports.numbers import decimal, percent, whole

if TYPE_CHECKING:
    from reports.dataset import Cube, Dataset
    from stats.arrays import BoolArray, FloatArray


@dataclass(frozen=True, kw_only=True)
class Rate(SourceShare):
    """Yes in 100 verdicts."""

    n_yes: int
    n_stories: int


@dataclass(frozen=True, kw_only=True)
class RatesBySource:
    overall: Rate
    by_source: tuple[Rate, ...]

    @property
    def rates(self) -> tuple[Rate, ...]:
        return (self.overall, *self.by_source)


@dataclass(frozen=True, kw_only=True)
class ItemRates(RatesBySource, ItemRow):
    """The rates of one item."""


@dataclass(frozen=True, kw_only=True)
class PassRateResult:
    """mean : of the items, each of which weighs the same"""

    items: tuple[ItemRates, ...]
    mean: RatesBySource
    n_verdicts: int
    n_resamples: int
    seed: int


class PassRates(Figure[PassRateResult]):
    key = "pass_rates"
    title = gettext_lazy("Pass rates")
    position = 20
    result = PassRateResult
    tables = ("pass-rates",)
    edition = 3

    def compute(self, dataset: Dataset) -> PassRateResult | None:
        items = dataset.verdict_items
        if not items:
            return None
        cube = dataset.verdict_cube
        cells = [
            [replace(rate, source=name) for rate in _column(dataset, cube, mask)]
            for name, mask in dataset.units_by_source(cube)
        ]
        # Turned round: of each item, and last of their mean, the rates over all and by source.
        rows = [(row[0], row[1:]) for row in zip(*cells, strict=True)]
        return PassRateResult(
            items=tuple(
                ItemRates(**item_fields(item), overall=overall, by_source=by_source)
                for item, (overall, by_source) in zip(items, rows[:-1], strict=True)
            ),
            mean=RatesBySource(overall=rows[-1][0], by_source=rows[-1][1]),
            n_verdicts=int(np.isfinite(cube.readings.values).sum()),
            n_resamples=N_RESAMPLES,
            seed=dataset.study.seed,
        )

    def rows(self, result: PassRateResult) -> dict[str, Iterator[Row]]:
        return {"pass-rates": _rows(result)}

    def lines(self, result: PassRateResult) -> Iterator[str]:
        yield "\nPass rates in percent, with n"
        yield "  " + " " * 34 + "".join(f"{rate.source[:16] or 'all':>18}" for rate in result.mean.rates)
        for title, rates_of_row in [*((row.title, row.rates) for row in result.items), ("Mean", result.mean.rates)]:
            cells = "".join(f"{decimal(rate.value):>10} ({whole(rate.n):>5})" for rate in rates_of_row)
            yield f"  {title[:34]:<34}{cells}"

    def context(self, result: PassRateResult) -> dict[str, Any]:
        of_rows = [result.mean.by_source or (result.mean.overall,)]
        of_rows += [row.by_source or (row.overall,) for row in result.items]
        return {"plot": _plot(result), "note": weakest_note(rate.interval for row in of_rows for rate in row)}

    def headline(self, result: PassRateResult, head: Head) -> str:
        ranked = _ranked(result)
        if len(ranked) < 2:
            return ""
        best, second = ranked[0], ranked[1]
        level = [rate.source for rate in ranked if percent(rate.value) == percent(best.value)]
        if len(level) > 1:
            words = {"names": get_text_list(level, _("and")), "most": percent(best.value)}
            return _("%(names)s each pass %(most)s of the tests") % words
        sentence = _("Stories by %(best)s pass %(most)s of the tests; next are those by %(second)s with %(less)s")
        names = {"best": best.source, "second": second.source}
        return sentence % (names | {"most": percent(best.value), "less": percent(second.value)})


def _column(dataset: Dataset, cube: Cube, mask: BoolArray) -> list[Rate]:
    """The rate of each item over some of the units, and last the mean of the items."""
    stories, clusters = select_labels(cube.stories, mask), dataset.clusters(cube)[mask]
    values = cube.readings.values[:, :, mask]

    def ends(verdicts: FloatArray) -> Interval:
        return interval(rates.pass_rate_interval, verdicts, clusters, rng=dataset.resampling(), n_resamples=N_RESAMPLES)

    of_items = [_rate(verdicts, stories, ends(verdicts)) for verdicts in values]
    return [*of_items, _mean_rate(values, stories, ends(values))]


def _rate(verdicts: FloatArray, stories: list[str], ends: Interval) -> Rate:
    judged = {stories[unit] for unit in np.flatnonzero(np.isfinite(verdicts).any(axis=0))}
    return Rate(
        **vars(estimate(rates.pass_rate, verdicts)),
        n_yes=int(np.nansum(verdicts)),
        n=int(np.isfinite(verdicts).sum()),
        n_stories=len(judged),
        interval=ends,
    )


def _mean_rate(values: FloatArray, stories: list[str], ends: Interval) -> Rate:
    """The mean of the items' rates, each item weighing the same."""
    by_item = [estimate(rates.pass_rate, verdicts).value for verdicts in values]
    computed = [rate for rate in by_item if rate is not None]
    pooled = _rate(values.reshape(-1, values.shape[-1]), stories, ends)
    return replace(pooled, value=float(np.mean(computed))) if computed else pooled


def _rows(result: PassRateResult) -> Iterator[Row]:
    mean = {"step": "", "item": "mean", "title": "", "dimension": ""}
    parts = [*((item_cells(row), row.rates) for row in result.items), (mean, result.mean.rates)]
    for cells, rates_of_row in parts:
        for rate in rates_of_row:
            ends = {"low": rate.interval.low, "high": rate.interval.high, "note": note_of(rate, rate.interval)}
            counts = {"n_yes": rate.n_yes, "n": rate.n}
            yield cells | {"source": rate.source or "all"} | counts | {"pass_rate_percent": rate.value} | ends


def _plot(result: PassRateResult) -> plots.DotPlot | None:
    if not result.mean.overall.n:
        return None
    rows = [plots.PlotRow(row.title, row.dimension, _marks(row)) for row in result.items]
    return plots.DotPlot(rows, [rate.source for rate in result.mean.by_source], plots.PERCENT)


def _marks(row: ItemRates) -> tuple[plots.Mark, ...]:
    rates = row.by_source or (row.overall,)
    return tuple(plots.Mark.of(index, rate.value, rate.interval) for index, rate in enumerate(rates))


def _ranked(result: PassRateResult) -> list[Rate]:
    """The sources by their mean, the best first; none where there is but one test."""
    by_source = result.mean.by_source if len(result.items) > 1 else ()
    computed = [rate for rate in by_source if rate.value is not None]
    return sorted(computed, key=lambda rate: -(rate.value or 0))
