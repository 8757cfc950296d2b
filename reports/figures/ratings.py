"""How highly stories are rated, on every item with a scale, by source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports.figures import plots
from reports.figures.base import (
    Estimate,
    Figure,
    Interval,
    ItemRow,
    Listing,
    Row,
    item_cells,
    item_fields,
    note_of,
    weakest_note,
    without_value,
)
from reports.figures.mean_intervals import mean_intervals
from reports.lazy import np
from reports.numbers import decimal, whole
from reports.numbers import interval as between

if TYPE_CHECKING:
    from reports.dataset import Cube, Dataset, StepItem
    from stats.arrays import BoolArray


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
    result = Listing[ItemRatings]
    tables = ("ratings",)
    edition = 5

    def compute(self, dataset: Dataset) -> Listing[ItemRatings]:
        items = [item for item in dataset.items if item.level in ("ordinal", "interval") and item.is_about_a_story]
        return Listing(tuple(_item_ratings(dataset, item) for item in items))

    def rows(self, result: Listing[ItemRatings]) -> dict[str, Iterator[Row]]:
        return {"ratings": _rows(result)}

    def lines(self, result: Listing[ItemRatings]) -> Iterator[str]:
        yield "\nMean ratings ± standard deviation, with n"
        for row in result.rows:
            yield f"  {row.title[:34]}"
            for rating in row.ratings:
                mean = f"{decimal(rating.value, 2)} ± {decimal(rating.sd, 2)}"
                wide = f"({between(rating.wide, 2)} for other raters, too)"
                ends = f"95 % {between(rating.interval, 2)} {wide}" if rating.interval else ""
                note = f"; {rating.interval.note}" if rating.interval and rating.interval.is_weak else ""
                yield f"    {rating.source[:32] or 'all':<32} {mean:>14} ({whole(rating.n)}) {ends}{note}".rstrip()

    def is_empty(self, result: Listing[ItemRatings]) -> bool:
        return not any(row.overall.n for row in result.rows)

    def context(self, result: Listing[ItemRatings]) -> dict[str, Any]:
        note = weakest_note(rating.interval for row in result.rows for rating in row.by_source or (row.overall,))
        return {"plots": _plots(result), "note": note}


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
    sd = float(ratings.std(ddof=1)) if ratings.size > 1 else None
    return Rating(value=float(ratings.mean()), sd=sd, n=int(ratings.size), interval=ends, wide=wide)


def _rows(result: Listing[ItemRatings]) -> Iterator[Row]:
    for row in result.rows:
        for rating in row.ratings:
            ends = rating.interval
            yield item_cells(row) | {
                "source": rating.source or "all",
                "sd": rating.sd,
                "n": rating.n,
                "mean": rating.value,
                "low": ends and ends.low,
                "high": ends and ends.high,
                "low_other_raters": rating.wide and rating.wide.low,
                "high_other_raters": rating.wide and rating.wide.high,
                "note": note_of(rating, ends),
            }


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


def _marks(row: ItemRatings) -> tuple[plots.Mark, ...]:
    ratings = row.by_source or (row.overall,)
    return tuple(plots.Mark.of(index, rating.value, rating.interval) for index, rating in enumerate(ratings))
