"""How often each source stands at each place of people's rankings (TTCW, figure 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.document import columns, notes, plots
from reports.document.columns import LEAD, QUIET, decimals, ends
from reports.document.model import DocumentSection, DrawnPlot, Files, Head, ReportTable, RowGroup, TextBlock
from reports.document.phrases import in_language, joined, phrase
from reports.document.values import Interval
from reports.figures.base import N_RESAMPLES, Figure, ItemRow, Listing, interval, item_fields
from reports.lazy import np, rates
from reports.numbers import whole

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem

Order = Sequence[Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class PlaceShare:
    """How often the source stands there, in percent of its stories' places; a shared place is divided."""

    place: int
    value: float
    interval: Interval


@dataclass(frozen=True, kw_only=True)
class SourcePlaces:
    """n : how often a story of the source was ranked"""

    source: str
    n: int
    n_clusters: int
    shares: tuple[PlaceShare, ...]


@dataclass(frozen=True, kw_only=True)
class ItemPlaces(ItemRow):
    n_rankings: int
    n_places: int
    by_source: tuple[SourcePlaces, ...]


class Places(Figure[Listing[ItemPlaces]]):
    key = "places"
    title = gettext_lazy("Ranks by source")
    position = 82
    section = "pairs"
    tables = ("places",)
    edition = 2
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[ItemPlaces]:
        items = [item for item in dataset.items if item.is_ranking and len(dataset.answers_to(item))]
        return Listing(tuple(_item_places(dataset, item) for item in items))

    def describe(self, result: Listing[ItemPlaces], head: Head) -> Iterator[DocumentSection]:
        shares = (share.interval for row in result.rows for places in row.by_source for share in places.shares)
        note = _("1 is best. A rank that several stories share is divided among them. Intervals are over groups.")
        margin = [TextBlock(words=note), *notes.weakest(shares)]
        for row in result.rows:
            counted = ngettext("%(shown)s ranking", "%(shown)s rankings", row.n_rankings)
            about = in_language(row.title, head.language) if len(result.rows) > 1 else ""
            yield DocumentSection(
                heading=joined(_("Ranks by source"), about, by=": "),
                body=[
                    DrawnPlot(
                        plot=_plot(row),
                        title=_("Share of every rank by source, in percent"),
                        described=_("The table below the plot holds every share with its interval."),
                        label=row.title,
                    ),
                    Files(words=counted % {"shown": whole(row.n_rankings)}, table="places", is_count=True),
                    _table(row),
                ],
                margin=margin,
            )


def divide_places(order: Order) -> dict[str, list[float]]:
    """Of each story the part of it at each place, from the first: all at one, or divided among those that it shares."""
    n_places = sum(len(shared) for shared in order)
    parts: dict[str, list[float]] = {}
    n_before = 0
    for shared in order:
        places = range(n_before, n_before + len(shared))
        parts |= {story: [1 / len(shared) * (n in places) for n in range(n_places)] for story in shared}
        n_before += len(shared)
    return parts


def _item_places(dataset: Dataset, item: StepItem) -> ItemPlaces:
    answers = dataset.answers_to(item)
    orders: list[Order] = list(answers["value"])
    n_places = max(sum(len(shared) for shared in order) for order in orders)
    placed = [
        (dataset.source_of(story), group, [*parts, *[0.0] * (n_places - len(parts))])
        for order, group in zip(orders, answers["group"], strict=True)
        for story, parts in divide_places(order).items()
    ]
    names = [name for name, _kind in dataset.sources]
    return ItemPlaces(
        **item_fields(item),
        n_rankings=len(orders),
        n_places=n_places,
        by_source=tuple(
            _of_source(dataset, name, [(group, parts) for source, group, parts in placed if source == name])
            for name in names
            if any(source == name for source, _group, _parts in placed)
        ),
    )


def _of_source(dataset: Dataset, name: str, placed: Sequence[tuple[str, Sequence[float]]]) -> SourcePlaces:
    clusters = dataset.clusters_of(group for group, _parts in placed)
    parts = np.array([of_story for _group, of_story in placed])
    shares = [
        PlaceShare(
            place=n + 1,
            value=float(100 * column.mean()),
            interval=interval(
                rates.pass_rate_interval, column, clusters, rng=dataset.resampling(), n_resamples=N_RESAMPLES
            ),
        )
        for n, column in enumerate(parts.T)
    ]
    return SourcePlaces(source=name, n=len(placed), n_clusters=len(set(clusters)), shares=tuple(shares))


def _table(row: ItemPlaces) -> ReportTable[tuple[SourcePlaces, PlaceShare]]:
    groups = [
        RowGroup(heading=f"{places.source}, n = {whole(places.n)}", rows=[(places, share) for share in places.shares])
        for places in row.by_source
    ]
    return ReportTable(
        name="places",
        label=_("Share of every rank"),
        caption=_("How often a source’s stories have each rank, in percent; n counts ranks."),
        rows=[pair for group in groups for pair in group.rows],
        groups=groups,
        columns=[
            columns.item_in_file(lambda pair: row),
            columns.in_file("source", lambda pair: pair[0].source),
            columns.number("place", _("Rank"), lambda pair: pair[1].place, write=str, is_head=True),
            columns.number("percent", phrase(_("Share, %%")), lambda pair: pair[1].value, write=decimals(1), css=LEAD),
            columns.interval(lambda pair: pair[1].interval, write=ends(1), css=QUIET),
            columns.in_file("n", lambda pair: pair[0].n),
            columns.in_file("n_clusters", lambda pair: pair[0].n_clusters),
        ],
        summary=_("Table"),
    )


def _plot(row: ItemPlaces) -> plots.StackPlot:
    rows = [
        plots.StackRow(places.source, f"n = {whole(places.n)}", tuple(share.value for share in places.shares))
        for places in row.by_source
    ]
    return plots.StackPlot(rows, [place_name(n, row.n_places) for n in range(1, row.n_places + 1)])


def place_name(place: int, n_places: int) -> str:
    """The first and the last in words, those between as numbers."""
    if place == 1:
        return _("first")
    return _("last") if place == n_places else str(place)
