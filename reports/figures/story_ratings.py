"""Every story's ratings: their mean, how far raters are apart, and the stories on which they are farthest apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports.figures import plots
from reports.figures.base import (
    N_RESAMPLES,
    Figure,
    IntervalEstimate,
    ItemFigure,
    ItemRow,
    Listing,
    Row,
    interval,
    item_cells,
    item_fields,
    weakest_note,
    without_value,
)
from reports.lazy import intervals, np, spreads
from reports.numbers import decimal
from reports.numbers import interval as between

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from stats.arrays import FloatArray, IntArray
    from stats.intervals import Interval as StatisticInterval

SALT = 64  # of the seed
N_DISPUTED = 8
MOST_IN_TABLE = 300  # stories on the page; the file holds all


@dataclass(frozen=True, kw_only=True)
class StoryRating:
    """One story on one item. sd : between its raters; None of a single rating

    ratings : in the order of raters' codes
    """

    group: str
    story: str
    source: str
    mean: float
    sd: float | None
    ratings: tuple[float, ...]
    is_disputed: bool = False

    @property
    def n(self) -> int:
        return len(self.ratings)


@dataclass(frozen=True, kw_only=True)
class Spread(IntervalEstimate):
    """The mean of stories' standard deviations."""

    n_stories: int


@dataclass(frozen=True, kw_only=True)
class ItemStories(ItemRow):
    """All stories on one item. sources : in the order of the report, as everywhere else in it"""

    sources: tuple[str, ...]
    lowest: int | float | None
    highest: int | float | None
    spread: Spread
    stories: tuple[StoryRating, ...]

    @property
    def disputed(self) -> list[StoryRating]:
        """The stories with the widest spread, the widest first."""
        rows = [story for story in self.stories if story.is_disputed]
        return sorted(rows, key=lambda story: (-(story.sd or 0), story.story))


class StoryRatings(ItemFigure[ItemStories], Figure[Listing[ItemStories]]):
    key = "story_ratings"
    title = gettext_lazy("Story by story")
    position = 33
    result = Listing[ItemStories]
    tables = ("story-ratings", "spreads")
    edition = 2

    def is_about(self, item: StepItem) -> bool:
        return item.is_scale

    def of_item(self, dataset: Dataset, item: StepItem, *, salt: int) -> ItemStories | None:
        stories = _of_item(dataset, item, salt=salt)
        return stories if stories.stories else None

    def rows(self, result: Listing[ItemStories]) -> dict[str, Iterator[Row]]:
        return {"story-ratings": _story_rows(result), "spreads": _spread_rows(result)}

    def lines(self, result: Listing[ItemStories]) -> Iterator[str]:
        for row in result.rows:
            spread = row.spread
            ends = f"95 % {between(spread.interval, 2)}"
            yield f"\n{row.title}: the ratings of a story spread by {decimal(spread.value, 2)} (SD), {ends}"
            for story in row.disputed:
                ratings = " ".join(f"{rating:g}" for rating in story.ratings)
                numbers = f"mean {decimal(story.mean, 2)}, SD {decimal(story.sd, 2)}"
                yield f"  {story.story[:20]:<20} {story.source[:24]:<24} {ratings}: {numbers}"

    def context(self, result: Listing[ItemStories]) -> dict[str, Any]:
        note = weakest_note(row.spread.interval for row in result.rows)
        return {"rows": [(row, _plot(row)) for row in result.rows], "note": note, "stories": _stories(result)}


def _of_item(dataset: Dataset, item: StepItem, *, salt: int) -> ItemStories:
    cube = dataset.cube([item])
    values = cube.values[0]
    sds = spreads.standard_deviations(values)
    ranked = sorted(
        (n for n in range(len(cube.units)) if np.isfinite(sds[n]) and sds[n] > 0), key=lambda n: -float(sds[n])
    )
    disputed = set(ranked[:N_DISPUTED])
    stories = []
    for n, (group, story) in enumerate(cube.units):
        ratings = values[:, n][np.isfinite(values[:, n])]
        if ratings.size:
            stories.append(
                StoryRating(
                    group=group,
                    story=story,
                    source=dataset.source_of(story),
                    mean=float(ratings.mean()),
                    sd=float(sds[n]) if np.isfinite(sds[n]) else None,
                    ratings=tuple(map(float, ratings)),
                    is_disputed=n in disputed,
                )
            )
    return ItemStories(
        **item_fields(item),
        sources=tuple(name for name, _kind in dataset.sources),
        lowest=item.item.settings.get("low"),
        highest=item.item.settings.get("high"),
        spread=_spread(dataset, sds, dataset.clusters(cube), salt=salt),
        stories=tuple(stories),
    )


def _spread(dataset: Dataset, sds: FloatArray, clusters: IntArray, *, salt: int) -> Spread:
    has_spread = np.isfinite(sds)
    n = int(has_spread.sum())
    return Spread(
        value=float(sds[has_spread].mean()) if n else None,
        why=None if n else without_value("no_unit_with_two_ratings"),
        n_stories=n,
        interval=interval(_mean_interval, sds, clusters, rng=dataset.rng(SALT, salt)),
    )


def _mean_interval(sds: FloatArray, clusters: IntArray, *, rng: np.random.Generator) -> StatisticInterval:
    """Of deviations, of which none is below 0, nor is their mean."""
    return intervals.mean_interval(sds, clusters, rng=rng, n_resamples=N_RESAMPLES).clipped(0, np.inf)


def _story_rows(result: Listing[ItemStories]) -> Iterator[Row]:
    for row in result.rows:
        for story in row.stories:
            yield item_cells(row) | {
                "group": story.group,
                "story": story.story,
                "source": story.source,
                "mean": story.mean,
                "sd": story.sd,
                "n": story.n,
                "ratings": list(story.ratings),
                "is_disputed": story.is_disputed,
            }


def _spread_rows(result: Listing[ItemStories]) -> Iterator[Row]:
    for row in result.rows:
        spread = row.spread
        yield item_cells(row) | {
            "mean_sd": spread.value,
            "low": spread.interval.low,
            "high": spread.interval.high,
            "n_stories": spread.n_stories,
        }


def _stories(result: Listing[ItemStories]) -> list[tuple[str, str, list[StoryRating | None]]]:
    """Every story with its cell of each item, for a table; nothing where they are too many for one."""
    cells = [{(story.group, story.story): story for story in row.stories} for row in result.rows]
    source_by_unit = {unit: story.source for of_item in cells for unit, story in of_item.items()}
    if len(source_by_unit) > MOST_IN_TABLE:
        return []
    return [
        (unit[1], source, [of_item.get(unit) for of_item in cells]) for unit, source in sorted(source_by_unit.items())
    ]


def _plot(row: ItemStories) -> plots.StripPlot:
    with_stories = {story.source for story in row.stories}
    names = [name for name in row.sources if name in with_stories]
    values = [(name, [story.mean for story in row.stories if story.source == name]) for name in names]
    means = [story.mean for story in row.stories]
    if row.lowest is None or row.highest is None:
        return plots.StripPlot(values, plots.value_axis(means))
    return plots.StripPlot(values, plots.scale_axis(row.lowest, row.highest))
