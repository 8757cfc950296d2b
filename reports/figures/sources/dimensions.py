"""How often the items of each dimension are answered Yes, by source: the mean of the dimension's items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.document import columns, notes, plots
from reports.document.model import DocumentSection, DrawnPlot, Files, Head, ReportTable, RowGroup, TextBlock
from reports.document.phrases import phrase
from reports.document.values import Estimate, Interval
from reports.figures.base import N_RESAMPLES, Figure, interval, note_of, select_labels, without_value
from reports.figures.sources.rate_columns import rate_columns
from reports.lazy import np, rates

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
    title = gettext_lazy("Pass rates by dimension")
    position = 22
    section = "sources"
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

    def describe(self, result: DimensionResult, head: Head) -> Iterator[DocumentSection]:
        table = ReportTable(
            name="dimensions",
            label=_("Pass rates by dimension"),
            caption=phrase(_("Mean of the dimension’s tests in percent, with 95 %% interval and n verdicts.")),
            rows=[(row, rate) for row in result.dimensions for rate in row.rates],
            groups=[
                RowGroup(heading=row.name, language=head.language, rows=[(row, rate) for rate in row.rates])
                for row in result.dimensions
            ],
            columns=[
                columns.in_file("dimension", lambda pair: pair[0].name),
                columns.in_file("n_items", lambda pair: pair[0].n_items),
                *(column.at(_rate_of) for column in rate_columns()),
                columns.note(lambda pair: note_of(pair[1], pair[1].interval)),
                columns.in_file("n_stories", lambda pair: pair[1].n_stories),
            ],
            summary=_("Table"),
        )
        counted = ngettext("%(n)s dimension", "%(n)s dimensions", len(result.dimensions))
        of_plot = (rate.interval for row in result.dimensions for rate in row.by_source or (row.overall,))
        yield DocumentSection(
            heading=_("Share of verdicts that were Yes, by dimension and source")
            if head.sources
            else _("Share of verdicts that were Yes, by dimension"),
            body=[
                DrawnPlot(plot=_plot(result), title=_("Pass rates by dimension"), described=notes.table_below_plot()),
                Files(words=counted % {"n": len(result.dimensions)}, table="dimensions", is_count=True),
                table,
            ],
            margin=[
                TextBlock(words=_("A dimension’s mean gives each of its tests the same weight.")),
                notes.clusters_of_verdicts(),
                *notes.weakest(of_plot),
                *notes.sealed(head),
            ],
        )


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


def _plot(result: DimensionResult) -> plots.DotPlot:
    rows = []
    for row in result.dimensions:
        n_items = ngettext("%(n)s test", "%(n)s tests", row.n_items) % {"n": row.n_items}
        marks = tuple(
            plots.Mark.of(n, rate.value, rate.interval) for n, rate in enumerate(row.by_source or (row.overall,))
        )
        rows.append(plots.PlotRow(f"{row.name}, {n_items}", "", marks))
    return plots.DotPlot(rows, [rate.source for rate in result.dimensions[0].by_source], plots.PERCENT)


def _rate_of(pair: tuple[Dimension, DimensionRate]) -> DimensionRate:
    return pair[1]
