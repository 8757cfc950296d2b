"""The share of ratings at or below each point of a scale, by source (PDS, figure 7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports import numbers
from reports.document import columns, notes, plots
from reports.document.columns import LEAD, QUIET
from reports.document.files import file_only
from reports.document.model import (
    DocumentSection,
    DrawnPlot,
    Files,
    Head,
    ReportTable,
    Subsection,
    TableCell,
    TableColumn,
    TextBlock,
)
from reports.document.phrases import in_language, joined, phrase
from reports.document.values import Interval
from reports.figures.base import N_RESAMPLES, Figure, ItemRow, Listing, ends_note, interval, item_fields, select_labels
from reports.lazy import np, rates

if TYPE_CHECKING:
    from reports.dataset import Cube, Dataset, StepItem
    from stats.arrays import BoolArray

MOST_POINTS = 11
MOST_CURVES = 3  # in one panel; more cannot be told apart


@dataclass(frozen=True, kw_only=True)
class PointShare:
    """n : ratings of just this point; value : percent of all at or below it"""

    point: int
    n: int
    value: float
    interval: Interval | None


@dataclass(frozen=True, kw_only=True)
class SourceDistribution:
    """The ratings of one source, of all sources without a name. The last point holds all, so it has no interval."""

    source: str = ""
    n: int
    n_stories: int
    points: tuple[PointShare, ...]


@dataclass(frozen=True, kw_only=True)
class ItemDistribution(ItemRow):
    lowest: int
    highest: int
    overall: SourceDistribution
    by_source: tuple[SourceDistribution, ...]

    @property
    def all_rows(self) -> tuple[SourceDistribution, ...]:
        return (self.overall, *self.by_source)


class Distributions(Figure[Listing[ItemDistribution]]):
    key = "distributions"
    title = gettext_lazy("Distribution of ratings")
    position = 32
    section = "sources"
    tables = ("distributions",)
    edition = 2

    def compute(self, dataset: Dataset) -> Listing[ItemDistribution]:
        items = [item for item in dataset.items if item.is_scale and scale_ends(item)]
        rows = (_of_item(dataset, item) for item in items)
        return Listing(tuple(row for row in rows if row.overall.n))

    def describe(self, result: Listing[ItemDistribution], head: Head) -> Iterator[DocumentSection]:
        title = _("Cumulative share of ratings, in percent")
        described = _("The table below the plot holds every share with its interval.")
        n = sum(row.overall.n for row in result.rows)
        counted = ngettext("%(shown)s rating", "%(shown)s ratings", n) % {"shown": numbers.whole(n)}
        margin = [
            _("A curve that runs lower has higher ratings. Where two cross, neither is simply higher."),
            _("More than three sources have a panel each; the broken line in it is that of all sources together."),
            _("Intervals are over groups of stories, with raters held fixed."),
        ]
        shares = [(row, part, point) for row in result.rows for part in row.all_rows for point in part.points]
        yield DocumentSection(
            heading=_("Share of ratings at or below each point"),
            body=[
                *(DrawnPlot(plot=plot, title=title, described=described) for plot in _plots(result)),
                Files(words=counted, table="distributions", is_count=True),
                Subsection(summary=_("Table"), blocks=[_table(row, head) for row in result.rows]),
                _file(shares),
            ],
            margin=[
                *(TextBlock(words=words) for words in margin),
                *notes.weakest(point.interval for _row, _part, point in shares),
            ],
        )


def _table(row: ItemDistribution, head: Head) -> ReportTable[SourceDistribution]:
    explained = phrase(_("percent of ratings at or below each point, with 95 %% interval."))
    return ReportTable(
        label=_("%(title)s, at or below each point") % {"title": row.title},
        caption=joined(in_language(row.title, head.language), explained, by=": "),
        rows=[part for part in row.all_rows if part.n],
        columns=[
            columns.source(),
            columns.number("n", "n", css=QUIET),
            *(_point_column(n, point.point) for n, point in enumerate(row.overall.points)),
        ],
    )


def _point_column(n: int, point: int) -> TableColumn[SourceDistribution]:
    """The share at or below the n-th point with its interval under it."""

    def cell(part: SourceDistribution) -> TableCell:
        share = part.points[n]
        words = format_html('<span class="{}">{}</span>', LEAD, numbers.decimal(share.value, 0))
        if not share.interval:
            return TableCell(words=words)
        ends = format_html('<br><small class="{}">{}</small>', QUIET, numbers.interval(share.interval, 0))
        point_cell = columns.marked(TableCell(words=joined(words, ends, by="")), share.interval)
        return columns.with_reason(point_cell, share.interval.why)

    return TableColumn(heading=str(point), cell=cell, files={})


def _file(shares: Sequence[tuple[ItemDistribution, SourceDistribution, PointShare]]) -> ReportTable[Any]:
    item, part, point = itemgetter(0), itemgetter(1), itemgetter(2)
    return file_only(
        "distributions",
        shares,
        columns.item_in_file(item),
        columns.in_file("source", lambda row: part(row).source or "all"),
        columns.fields("n", "n_stories", of=part),
        columns.fields("point", of=point),
        columns.in_file("n_at", lambda row: point(row).n),
        columns.in_file("at_or_below_percent", lambda row: point(row).value),
        columns.ends_in_file(lambda row: point(row).interval),
        columns.note(lambda row: ends_note(point(row).interval)),
    )


def scale_ends(item: StepItem) -> tuple[int, int] | None:
    """The lowest and the highest point of a scale of few whole numbers; None of any other."""
    low, high = item.item.settings.get("low"), item.item.settings.get("high")
    if not isinstance(low, int) or not isinstance(high, int) or not 1 <= high - low < MOST_POINTS:
        return None
    return low, high


def _of_item(dataset: Dataset, item: StepItem) -> ItemDistribution:
    lowest, highest = scale_ends(item) or (0, 0)
    cube = dataset.cube([item])
    columns = dataset.units_by_source(cube)
    points = range(lowest, highest + 1)
    parts = [_of_source(dataset, cube, mask, points, name) for name, mask in columns]
    return ItemDistribution(
        **item_fields(item), lowest=lowest, highest=highest, overall=parts[0], by_source=tuple(parts[1:])
    )


def _of_source(dataset: Dataset, cube: Cube, mask: BoolArray, points: Sequence[int], source: str) -> SourceDistribution:
    values, clusters = cube.values[0][:, mask], dataset.clusters(cube)[mask]
    is_rated = np.isfinite(values)
    n = int(is_rated.sum())
    stories = select_labels(cube.stories, mask)
    shares = []
    for point in points if n else ():
        is_below = np.where(is_rated, values <= point, np.nan)
        ends = interval(rates.pass_rate_interval, is_below, clusters, rng=dataset.resampling(), n_resamples=N_RESAMPLES)
        shares.append(
            PointShare(
                point=point,
                n=int((values == point).sum()),
                value=float(100 * np.nansum(is_below) / n),
                interval=None if point == points[-1] else ends,
            )
        )
    n_stories = len({stories[unit] for unit in np.flatnonzero(is_rated.any(axis=0))})
    return SourceDistribution(source=source, n=n, n_stories=n_stories, points=tuple(shares))


def _plots(result: Listing[ItemDistribution]) -> Iterator[plots.PanelPlot]:
    """A plot for all items of one scale: a panel for each, or for each and every source where there are many."""
    for ends in dict.fromkeys((row.lowest, row.highest) for row in result.rows):
        alike = [row for row in result.rows if (row.lowest, row.highest) == ends]
        names = [part.source for part in alike[0].by_source]
        is_small = len(names) > MOST_CURVES
        panels = [panel for row in alike for panel in (_small_panels(row) if is_small else [_panel(row)])]
        x = plots.scale_axis(*map(float, ends))
        yield plots.PanelPlot(panels, [] if is_small else names, x, plots.SHARES, is_small=is_small)


def _panel(row: ItemDistribution) -> plots.Panel:
    parts = row.by_source or (row.overall,)
    curves = tuple(plots.Curve(_steps(part), source=n) for n, part in enumerate(parts) if part.n)
    return plots.Panel(row.title, curves=curves)


def _small_panels(row: ItemDistribution) -> Iterator[plots.Panel]:
    """Each source beside the curve of all."""
    everything = plots.Curve(_steps(row.overall), source=None)
    for part in row.by_source:
        if part.n:
            yield plots.Panel(part.source, curves=(everything, plots.Curve(_steps(part))), heading=row.title)


def _steps(part: SourceDistribution) -> tuple[tuple[float, float], ...]:
    return tuple((float(point.point), point.value) for point in part.points)
