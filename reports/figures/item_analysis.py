"""How the items of one scale go together: which of them say the same, and which have little in common with the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports.dataset.blocks import ItemBlock, item_blocks
from reports.figures.base import (
    N_RESAMPLES,
    Estimate,
    Figure,
    Floor,
    Interval,
    ItemRow,
    Listing,
    Reason,
    Row,
    item_cells,
    item_fields,
    note_of,
    weakest_note,
    without_value,
)
from reports.lazy import item_analysis, np
from reports.numbers import NONE, coefficient, coefficients, whole
from reports.reasons import to_english
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from stats.agreement import Floor as StatisticFloor
    from stats.intervals import Interval as StatisticInterval


@dataclass(frozen=True, kw_only=True)
class ItemCorrelation:
    """Pearson's r with its interval over clusters and its chance floor."""

    coefficient: Estimate
    interval: Interval
    floor: Floor


@dataclass(frozen=True, kw_only=True)
class ItemTogether(ItemRow):
    """with_rest : with the sum of all other items; with_others : the mean of its correlations with each of them"""

    with_rest: ItemCorrelation
    with_others: ItemCorrelation


@dataclass(frozen=True, kw_only=True)
class ItemPair:
    first: str
    second: str
    correlation: ItemCorrelation


@dataclass(frozen=True, kw_only=True)
class ItemOverlap:
    """The items of one scale.

    n : raters' readings of a story that answer all items; n_left_out : those that leave one out
    why : too little was answered
    """

    kind: str
    title: str
    n: int
    n_left_out: int
    n_raters: int
    items: tuple[ItemTogether, ...] = ()
    pairs: tuple[ItemPair, ...] = ()
    why: Reason | None = None

    @property
    def closest(self) -> ItemPair | None:
        rows = [pair for pair in self.pairs if pair.correlation.coefficient.value is not None]
        return max(rows, key=lambda pair: pair.correlation.coefficient.value or 0.0, default=None)

    @property
    def loosest(self) -> ItemTogether | None:
        """The item that has least in common with the rest; of two items each is the other's rest, so none."""
        if len(self.items) < 3:
            return None
        rows = [row for row in self.items if row.with_rest.coefficient.value is not None]
        return min(rows, key=lambda row: row.with_rest.coefficient.value or 0.0, default=None)


class ItemAnalysis(Figure[Listing[ItemOverlap]]):
    key = "item_analysis"
    title = gettext_lazy("How the items go together")
    position = 58
    result = Listing[ItemOverlap]
    tables = ("item-rest", "item-correlations")
    edition = 2

    def compute(self, dataset: Dataset) -> Listing[ItemOverlap]:
        blocks = [block for block in item_blocks(dataset) if len(block.items) > 1]
        return Listing(tuple(_overlap(dataset, block) for block in blocks))

    def rows(self, result: Listing[ItemOverlap]) -> dict[str, Iterator[Row]]:
        return {"item-rest": _item_rows(result), "item-correlations": _pair_rows(result)}

    def lines(self, result: Listing[ItemOverlap]) -> Iterator[str]:
        for block in result.rows:
            n_left_out = f", {whole(block.n_left_out)} left out" if block.n_left_out else ""
            yield f"\nHow the items go together: Pearson's r over {whole(block.n)} readings of a story{n_left_out}"
            if block.why:
                yield f"  {NONE} {to_english(block.why)}"
            for row in block.items:
                rest, others = row.with_rest, row.with_others
                yield (
                    f"  {row.title[:34]:<34} with the rest {coefficient(rest.coefficient.value)}, 95 % "
                    f"{coefficients(rest.interval)}, chance to {coefficient(rest.floor.upper)}; "
                    f"mean with the others {coefficient(others.coefficient.value)}"
                )

    def context(self, result: Listing[ItemOverlap]) -> dict[str, Any]:
        return {"note": weakest_note(row.with_rest.interval for block in result.rows for row in block.items)}


def _overlap(dataset: Dataset, block: ItemBlock) -> ItemOverlap:
    try:
        material = item_analysis.read_rows(block.cube.values, dataset.clusters(block.cube))
    except Incomputable as error:
        return ItemOverlap(kind=block.kind, title=block.title, n=0, n_left_out=0, n_raters=0, why=Reason.of(error))
    covariance = item_analysis.covariance_of(material)
    matrix, rest = item_analysis.correlations(covariance), item_analysis.item_rest(covariance)
    means = item_analysis.mean_correlations(covariance)
    ends = item_analysis.item_intervals(material, rng=dataset.resampling(), n_resamples=N_RESAMPLES)
    rest_floors, mean_floors = item_analysis.item_floors(material)
    pair_floors = item_analysis.pair_floors(material)
    n_raters = len(np.unique(material.raters))
    keys = [item.item.key for item in block.items]
    return ItemOverlap(
        kind=block.kind,
        title=block.title,
        n=len(material.answers),
        n_left_out=material.n_left_out,
        n_raters=n_raters,
        items=tuple(
            ItemTogether(
                **item_fields(item),
                with_rest=_correlation(float(rest[n]), ends.rest[n], rest_floors[n]),
                with_others=_correlation(float(means[n]), ends.means[n], mean_floors[n]),
            )
            for n, item in enumerate(block.items)
        ),
        pairs=tuple(
            ItemPair(
                first=keys[i],
                second=keys[j],
                correlation=_correlation(float(matrix[i, j]), ends.pairs[i, j], pair_floors[i, j]),
            )
            for i, j in sorted(pair_floors)
        ),
    )


def _correlation(value: float, ends: StatisticInterval | Incomputable, floor: StatisticFloor) -> ItemCorrelation:
    if value != value:
        why = without_value("item_constant")
        return ItemCorrelation(
            coefficient=Estimate(value=None, why=why),
            interval=Interval(low=None, high=None, why=why),
            floor=Floor(mean=None, upper=None, why=why),
        )
    return ItemCorrelation(
        coefficient=Estimate(value=float(value), name="Pearson's r"),
        interval=Interval.of(ends),
        floor=Floor(mean=floor.mean, upper=floor.upper),
    )


def _item_rows(result: Listing[ItemOverlap]) -> Iterator[Row]:
    for block in result.rows:
        for row in block.items:
            yield {
                **item_cells(row),
                **_cells("with_rest", row.with_rest),
                **_cells("mean_with_others", row.with_others),
                "n": block.n,
                "n_left_out": block.n_left_out,
                "n_raters": block.n_raters,
                "note": note_of(row.with_rest.coefficient, row.with_rest.interval),
            }


def _pair_rows(result: Listing[ItemOverlap]) -> Iterator[Row]:
    for block in result.rows:
        for pair in block.pairs:
            yield {
                "kind": block.kind,
                "first": pair.first,
                "second": pair.second,
                **_cells("r", pair.correlation),
                "n": block.n,
                "note": note_of(pair.correlation.coefficient, pair.correlation.interval),
            }


def _cells(name: str, row: ItemCorrelation) -> Row:
    return {
        name: row.coefficient.value,
        f"{name}_low": row.interval.low,
        f"{name}_high": row.interval.high,
        f"{name}_chance_mean": row.floor.mean,
        f"{name}_chance_upper": row.floor.upper,
    }
