"""The share of ratings at or below each point of a scale, by source (PDS, figure 7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports.figures import plots
from reports.figures.base import (
    N_RESAMPLES,
    Figure,
    Interval,
    ItemRow,
    Listing,
    Row,
    ends_note,
    interval,
    item_cells,
    item_fields,
    select_labels,
    weakest_note,
)
from reports.lazy import np, rates
from reports.numbers import decimal, whole

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
    title = gettext_lazy("How ratings are distributed")
    position = 32
    result = Listing[ItemDistribution]
    tables = ("distributions",)
    edition = 2

    def compute(self, dataset: Dataset) -> Listing[ItemDistribution]:
        items = [item for item in dataset.items if item.is_scale and scale_ends(item)]
        rows = (_of_item(dataset, item) for item in items)
        return Listing(tuple(row for row in rows if row.overall.n))

    def rows(self, result: Listing[ItemDistribution]) -> dict[str, Iterator[Row]]:
        return {"distributions": _rows(result)}

    def lines(self, result: Listing[ItemDistribution]) -> Iterator[str]:
        yield "\nRatings at or below each point, in percent, with n"
        for row in result.rows:
            points = "".join(f"{point.point:>7}" for point in row.overall.points)
            yield f"  {row.title[:34]:<34}{points}"
            for part in row.all_rows:
                shares = "".join(f"{decimal(point.value):>7}" for point in part.points)
                yield f"    {part.source[:32] or 'all':<32}{shares} ({whole(part.n)})"

    def context(self, result: Listing[ItemDistribution]) -> dict[str, Any]:
        ends = (point.interval for row in result.rows for part in row.all_rows for point in part.points)
        return {"plots": list(_plots(result)), "note": weakest_note(ends), "n": sum(r.overall.n for r in result.rows)}


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


def _rows(result: Listing[ItemDistribution]) -> Iterator[Row]:
    for row in result.rows:
        for part in row.all_rows:
            for point in part.points:
                yield item_cells(row) | {
                    "source": part.source or "all",
                    "point": point.point,
                    "n_at": point.n,
                    "percent_at_or_below": point.value,
                    "low": point.interval and point.interval.low,
                    "high": point.interval and point.interval.high,
                    "n": part.n,
                    "n_stories": part.n_stories,
                    "note": ends_note(point.interval),
                }


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
