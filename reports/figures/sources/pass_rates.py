"""How often items are answered Yes, by item and by source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.document import columns, notes, plots
from reports.document.model import DocumentSection, DrawnPlot, Files, Head, ReportTable, RowGroup
from reports.document.phrases import phrase
from reports.document.values import Interval, SourceShare
from reports.figures.base import N_RESAMPLES, Figure, ItemRow, estimate, interval, item_fields, note_of, select_labels
from reports.figures.sources.rate_columns import rate_columns
from reports.lazy import np, rates
from reports.numbers import whole

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
    section = "sources"
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

    def describe(self, result: PassRateResult, head: Head) -> Iterator[DocumentSection]:
        mean = ItemRates(step="", item="mean", title="", dimension="", type="", **vars(result.mean))
        table = ReportTable(
            name="pass-rates",
            label=_("Pass rates"),
            caption=phrase(_("Pass rate in percent, with 95 %% interval and n verdicts.")),
            rows=[(row, rate) for row in (*result.items, mean) for rate in row.rates],
            groups=[
                *(_group(row, row.title, head.language) for row in result.items),
                _group(mean, _("Mean of %(n)s") % {"n": len(result.items)}, ""),
            ],
            columns=[
                columns.item_in_file(lambda pair: pair[0]),
                *(column.at(_rate_of) for column in rate_columns()),
                columns.in_file("n_yes", lambda pair: pair[1].n_yes),
                columns.note(lambda pair: note_of(pair[1], pair[1].interval)),
            ],
            summary=_("Table"),
        )
        plot = _plot(result)
        counted = ngettext("%(shown)s verdict", "%(shown)s verdicts", result.n_verdicts)
        intervals = [rate.interval for row in (result.mean, *result.items) for rate in row.by_source or (row.overall,)]
        described = notes.table_below_plot()
        yield DocumentSection(
            heading=_("Share of verdicts that were Yes, by test and source")
            if head.sources
            else _("Share of verdicts that were Yes, by test"),
            body=[
                *([DrawnPlot(plot=plot, title=_("Pass rates"), described=described)] if plot else []),
                Files(words=counted % {"shown": whole(result.n_verdicts)}, table="pass-rates", is_count=True),
                table,
            ],
            margin=[notes.clusters_of_verdicts(), *notes.weakest(intervals), *notes.sealed(head)],
        )


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


def _group(row: ItemRates, heading: str, language: str) -> RowGroup[tuple[ItemRates, Rate]]:
    return RowGroup(heading=heading, language=language, rows=[(row, rate) for rate in row.rates])


def _rate_of(pair: tuple[ItemRates, Rate]) -> Rate:
    return pair[1]
