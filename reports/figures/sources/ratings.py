"""How highly stories are rated, on every item with a scale, by source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.document import columns, notes, plots
from reports.document.columns import LEAD, QUIET, decimals, ends
from reports.document.model import (
    DocumentSection,
    DrawnPlot,
    Files,
    Head,
    ReportTable,
    Subsection,
    TableColumn,
    TextBlock,
)
from reports.document.phrases import phrase
from reports.document.values import Estimate, Interval
from reports.figures.base import Figure, ItemRow, Listing, item_fields, note_of, without_value
from reports.figures.mean_intervals import mean_intervals
from reports.lazy import np, spreads

if TYPE_CHECKING:
    from reports.dataset import Cube, Dataset, StepItem
    from stats.arrays import BoolArray

FEWEST_SPOKES = 3  # of a radar


@dataclass(frozen=True, kw_only=True)
class Rating(Estimate):
    """The mean of n ratings with their standard deviation; its intervals rest on clusters. No source: over all.

    wide : the interval for other raters, too
    """

    source: str = ""
    n: int
    sd: float | None = None
    interval: Interval | None = None
    wide: Interval | None = None


@dataclass(frozen=True, kw_only=True)
class ItemRatings(ItemRow):
    """lowest, highest : the ends of the scale, None where it has none"""

    lowest: int | float | None
    highest: int | float | None
    overall: Rating
    by_source: tuple[Rating, ...]

    @property
    def ratings(self) -> tuple[Rating, ...]:
        return (self.overall, *self.by_source)


class Ratings(Figure[Listing[ItemRatings]]):
    key = "ratings"
    title = gettext_lazy("Mean ratings")
    position = 30
    section = "sources"
    tables = ("ratings",)
    edition = 5

    def compute(self, dataset: Dataset) -> Listing[ItemRatings]:
        items = [item for item in dataset.items if item.level in ("ordinal", "interval") and item.is_about_a_story]
        return Listing(tuple(_item_ratings(dataset, item) for item in items))

    def describe(self, result: Listing[ItemRatings], head: Head) -> Iterator[DocumentSection]:
        table = ReportTable(
            name="ratings",
            label=_("Mean ratings"),
            caption=phrase(_("Mean, standard deviation, 95 %% interval of the mean, n ratings.")),
            rows=[(row, rating) for row in result.rows for rating in row.ratings],
            columns=[
                columns.item(head, lambda pair: pair[0]),
                *(column.at(_rating_of) for column in _rating_columns()),
            ],
        )
        title = _("Mean ratings by item and source")
        intervals = [rating.interval for row in result.rows for rating in row.by_source or (row.overall,)]
        clusters = _(
            "Intervals take as one what was sampled together: <strong>stories of a group</strong> share "
            "their raters, and groups on one prompt share that. Where an item is shown in one direction "
            "and analysed in the other, it stands here as analysed."
        )
        wide = _("The interval “generalising to other raters” takes raters as drawn at random, as stories are.")
        drawn = [DrawnPlot(plot=plot, title=title, described=notes.table_below()) for plot in _plots(result)]
        yield DocumentSection(
            heading=_("Mean ratings"),
            body=[*drawn, *_radars(result), table, Files(words=_("All items on scales"), table="ratings")],
            margin=[TextBlock(words=phrase(clusters)), TextBlock(words=wide), *notes.weakest(intervals)],
        )

    def is_empty(self, result: Listing[ItemRatings]) -> bool:
        return not any(row.overall.n for row in result.rows)


def _item_ratings(dataset: Dataset, item: StepItem) -> ItemRatings:
    cube = dataset.cube([item])
    ratings = [
        replace(_rating(dataset, cube, mask, item.bounds), source=name) for name, mask in dataset.units_by_source(cube)
    ]
    return ItemRatings(
        **item_fields(item),
        lowest=item.item.settings.get("low"),
        highest=item.item.settings.get("high"),
        overall=ratings[0],
        by_source=tuple(ratings[1:]),
    )


def _rating(dataset: Dataset, cube: Cube, mask: BoolArray, bounds: tuple[float, float]) -> Rating:
    values, clusters = cube.values[0][:, mask], dataset.clusters(cube)[mask]
    ratings = values[np.isfinite(values)]
    if not ratings.size:
        return Rating(value=None, why=without_value("no_answers"), n=0)

    ends, wide = mean_intervals(dataset, values, values, clusters, bounds=bounds)
    summary = spreads.summarise(ratings)
    return Rating(value=summary.mean, sd=summary.sd, n=summary.n, interval=ends, wide=wide)


def _plots(result: Listing[ItemRatings]) -> list[plots.DotPlot]:
    """A plot for all items of one scale: they share their axis, so they can be read against each other."""
    on_scale = [row for row in result.rows if row.lowest is not None and row.overall.n]
    dot_plots = []
    for low, high in dict.fromkeys((row.lowest, row.highest) for row in on_scale):
        alike = [row for row in on_scale if (row.lowest, row.highest) == (low, high)]
        rows = [plots.PlotRow(row.title, row.dimension, _marks(row)) for row in alike]
        sources = [rating.source for rating in alike[0].by_source]
        dot_plots.append(plots.DotPlot(rows, sources, plots.scale_axis(low or 0, high or 0)))
    return dot_plots


def _radars(result: Listing[ItemRatings]) -> Iterator[Subsection]:
    """The same means around a centre (PDS, figure 8), of three items on one scale or more that every source has."""
    for plot in _plots(result):
        n_values = sum(mark.value is not None for row in plot.rows for mark in row.marks)
        if len(plot.rows) >= FEWEST_SPOKES and plot.sources and n_values == len(plot.rows) * len(plot.sources):
            caption = _("The centre is the lowest point of the scale. Intervals stand in the table.")
            yield Subsection(
                summary=_("As a radar"),
                blocks=[
                    DrawnPlot(
                        plot=plots.RadarPlot(plot.rows, plot.sources, plot.axis),
                        title=_("Mean ratings by item and source, as a radar"),
                        described=notes.table_below(),
                        caption=caption,
                        label=_("as a radar"),
                    )
                ],
            )


def _marks(row: ItemRatings) -> tuple[plots.Mark, ...]:
    ratings = row.by_source or (row.overall,)
    return tuple(plots.Mark.of(index, rating.value, rating.interval) for index, rating in enumerate(ratings))


def _rating_columns() -> Sequence[TableColumn[Rating]]:
    return [
        columns.source(is_head=False),
        columns.estimate("mean", _("Mean"), lambda rating: rating, write=decimals(2), css=LEAD),
        columns.number("sd", _("SD"), write=decimals(2)),
        columns.interval(lambda rating: rating.interval, write=ends(2), css=QUIET),
        columns.interval(
            lambda rating: rating.wide,
            heading=_("generalising to other raters"),
            write=ends(2),
            css=QUIET,
            low="low_other_raters",
            high="high_other_raters",
        ),
        columns.number("n", "n"),
        columns.note(lambda rating: note_of(rating, rating.interval)),
    ]


def _rating_of(pair: tuple[ItemRatings, Rating]) -> Rating:
    return pair[1]
