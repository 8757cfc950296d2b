"""How often each source stands at each place of people's rankings (TTCW, figure 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.figures import plots
from reports.figures.base import (
    N_RESAMPLES,
    Figure,
    Interval,
    ItemRow,
    Listing,
    Row,
    interval,
    item_cells,
    item_fields,
    weakest_note,
)
from reports.lazy import np, rates
from reports.numbers import decimal, whole

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
    title = gettext_lazy("Where each source was ranked")
    position = 82
    result = Listing[ItemPlaces]
    tables = ("places",)
    edition = 2
    is_shown_sealed = False
    nothing = Listing[ItemPlaces]()

    def compute(self, dataset: Dataset) -> Listing[ItemPlaces]:
        items = [item for item in dataset.items if item.is_ranking and len(dataset.answers_to(item))]
        return Listing(tuple(_item_places(dataset, item) for item in items))

    def rows(self, result: Listing[ItemPlaces]) -> dict[str, Iterator[Row]]:
        return {"places": _rows(result)}

    def lines(self, result: Listing[ItemPlaces]) -> Iterator[str]:
        for row in result.rows:
            yield f"\n{row.title}: places in percent, 1 to {row.n_places}, of {whole(row.n_rankings)} rankings"
            for places in row.by_source:
                shares = "".join(f"{decimal(share.value):>8}" for share in places.shares)
                yield f"  {places.source[:34]:<34} {shares}  (n = {whole(places.n)})"

    def context(self, result: Listing[ItemPlaces]) -> dict[str, Any]:
        ends = (share.interval for row in result.rows for places in row.by_source for share in places.shares)
        return {"rows": [(row, _plot(row)) for row in result.rows], "note": weakest_note(ends)}


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


def _rows(result: Listing[ItemPlaces]) -> Iterator[Row]:
    for row in result.rows:
        for places in row.by_source:
            for share in places.shares:
                yield item_cells(row) | {
                    "source": places.source,
                    "place": share.place,
                    "percent": share.value,
                    "low": share.interval.low,
                    "high": share.interval.high,
                    "n": places.n,
                    "n_clusters": places.n_clusters,
                }


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
