"""Every story's ratings: their mean, how far raters are apart, and the stories on which they are farthest apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.document import columns, notes, plots
from reports.document.columns import LEAD, decimals
from reports.document.files import file_only
from reports.document.model import (
    Block,
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
from reports.document.values import IntervalEstimate
from reports.figures.base import N_RESAMPLES, Figure, ItemFigure, ItemRow, Listing, interval, item_fields, without_value
from reports.lazy import intervals, np, spreads
from reports.numbers import NONE, decimal, measured, whole
from reports.numbers import interval as between

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable, StepItem
    from reports.dataset.cubes import Pair
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
    title = gettext_lazy("Ratings by story")
    position = 33
    section = "stories"
    tables = ("story-ratings", "spreads")
    pages_of = "stories"
    edition = 3

    def compute(self, dataset: Dataset) -> Listing[ItemStories]:
        """Declared scores, and then every scale."""
        items = super().compute(dataset).rows
        n = sum(self.is_about(item) for item in dataset.items)
        tables = [table for table in dataset.outcomes if table.outcome.kind == "score"]
        scores = [_of_score(dataset, table, salt=salt) for salt, table in enumerate(tables, start=n)]
        return Listing((*scores, *items))

    def is_about(self, item: StepItem) -> bool:
        return item.is_scale

    def of_item(self, dataset: Dataset, item: StepItem, *, salt: int) -> ItemStories | None:
        stories = _of_item(dataset, item, salt=salt)
        return stories if stories.stories else None

    def describe(self, result: Listing[ItemStories], head: Head) -> Iterator[DocumentSection]:
        margin = [
            _("A disputed story is not a bad one: read what its raters wrote."),
            _(
                "SD is the standard deviation between the raters of one story. A single story has no interval: it is "
                "one story, and no sample of them."
            ),
        ]
        too_many = _("There are too many stories for a table here; the file holds them all.")
        table = _story_table(result, head)
        yield DocumentSection(
            heading=_("Ratings by story"),
            body=[
                *(
                    Subsection(heading=in_language(row.title, head.language), blocks=list(_blocks(row)))
                    for row in result.rows
                ),
                Files(words=_("Every story"), table="story-ratings"),
                table if table.rows else TextBlock(words=too_many, css="hint"),
                Files(words=_("Spread of ratings between raters"), table="spreads"),
                *_files(result),
            ],
            margin=[
                *(TextBlock(words=words) for words in margin),
                *notes.weakest(row.spread.interval for row in result.rows),
            ],
        )


def _blocks(row: ItemStories) -> Iterator[Block]:
    """What is said of one item."""
    spread = row.spread
    if spread.value is not None:
        apart = ngettext(
            "The ratings of a story have a standard deviation of %(sd)s in the mean over %(shown)s story.",
            "The ratings of a story have a standard deviation of %(sd)s in the mean over %(shown)s stories.",
            spread.n_stories,
        )
        sentence = apart % {"sd": decimal(spread.value, 2), "shown": whole(spread.n_stories)}
        ends = phrase(_("95 %% interval %(ends)s."), ends=between(spread.interval, 2))
        yield TextBlock(words=joined(sentence, "" if spread.interval.low is None else ends))
    described = _("One mark a story, a row a source. The file beside the plot holds every story.")
    yield DrawnPlot(
        plot=_plot(row), title=_("Mean rating of each story, by source"), described=described, label=row.title
    )
    if row.disputed:
        yield _disputed_table(row)


def _disputed_table(row: ItemStories) -> ReportTable[StoryRating]:
    return ReportTable(
        label=_("%(title)s, most disputed stories") % {"title": row.title},
        caption=_("The stories on which raters are farthest apart, with all ratings in the order of raters’ codes."),
        rows=row.disputed,
        columns=[
            columns.words("story", _("Story"), is_head=True),
            columns.words("source", _("Source")),
            columns.words(
                "ratings", _("Ratings"), lambda story: " ".join(map(measured, story.ratings)), css="kept-whole"
            ),
            columns.number("mean", _("Mean"), write=decimals(2)),
            columns.number("sd", _("SD"), write=decimals(2), css=LEAD),
        ],
    )


def _story_table(result: Listing[ItemStories], head: Head) -> ReportTable[Any]:
    """Every story with its cell of each item; no rows where they are too many for a table."""

    def column(n: int, item: ItemStories) -> TableColumn[Any]:
        def cell(row: tuple[str, str, list[StoryRating | None]]) -> TableCell:
            story = row[2][n]
            return TableCell(words=f"{decimal(story.mean, 2)} ({decimal(story.sd, 2)})" if story else NONE)

        return TableColumn(heading=in_language(item.title, head.language), cell=cell, files={})

    return ReportTable(
        label=_("Every story, as a table"),
        caption=_("Mean rating of each story, with the standard deviation between its raters in brackets."),
        rows=_stories(result),
        columns=[
            columns.words("story", _("Story"), itemgetter(0), is_head=True),
            columns.words("source", _("Source"), itemgetter(1)),
            *(column(n, item) for n, item in enumerate(result.rows)),
        ],
        summary=_("Table"),
    )


def _files(result: Listing[ItemStories]) -> list[Block]:
    stories = file_only(
        "story-ratings",
        [(row, story) for row in result.rows for story in row.stories],
        columns.item_in_file(itemgetter(0)),
        columns.fields("group", "story", "source", "mean", "sd", "n", "is_disputed", of=itemgetter(1)),
        columns.in_file("ratings", lambda pair: list(pair[1].ratings)),
    )
    spreads = file_only(
        "spreads",
        result.rows,
        columns.item_in_file(),
        columns.in_file("mean_sd", lambda row: row.spread.value),
        columns.ends_in_file(lambda row: row.spread.interval),
        columns.in_file("n_stories", lambda row: row.spread.n_stories),
    )
    return [stories, spreads]


def _of_item(dataset: Dataset, item: StepItem, *, salt: int) -> ItemStories:
    cube, settings = dataset.cube([item]), item.item.settings
    about = {**item_fields(item), "lowest": settings.get("low"), "highest": settings.get("high")}
    return _of_values(dataset, about, cube.values[0], cube.units, salt=salt)


def _of_score(dataset: Dataset, table: OutcomeTable, *, salt: int) -> ItemStories:
    step, name = table.outcome.key.split("/", 1)
    about = {"step": step, "item": name, "title": table.outcome.title, "dimension": "", "type": "score"}
    ends = {"lowest": table.bounds[0], "highest": table.bounds[1]}
    return _of_values(dataset, about | ends, table.ratings, table.units, salt=salt)


def _of_values(
    dataset: Dataset, about: dict[str, Any], values: FloatArray, units: Sequence[Pair], *, salt: int
) -> ItemStories:
    """about : the item's fields, and the ends of its scale; values : of each rater, shape (R, U)"""
    sds = spreads.standard_deviations(values)
    ranked = sorted((n for n in range(len(units)) if np.isfinite(sds[n]) and sds[n] > 0), key=lambda n: -float(sds[n]))
    disputed = set(ranked[:N_DISPUTED])
    stories = []
    for n, (group, story) in enumerate(units):
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
        **about,
        sources=tuple(name for name, _kind in dataset.sources),
        spread=_spread(dataset, sds, dataset.clusters_of_units(units), salt=salt),
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
