"""Judges beside people on rankings: Kendall's tau-b between the judge's order of a group and people's mean ranks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports.dataset.judged import answers_to, model_answers
from reports.dataset.judged_groups import JudgedOrders, judged_orders
from reports.figures.base import (
    N_RESAMPLES,
    Figure,
    ItemRow,
    Listing,
    Row,
    chance_floor,
    interval,
    item_cells,
    item_fields,
)
from reports.figures.scores import (
    Outcomes,
    Score,
    ScorePart,
    SourceOutcomes,
    count_outcomes,
    outcome_rows,
    score_cells,
    score_lines,
    without_units,
)
from reports.lazy import intervals, judge_orders, np
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from stats.arrays import BoolArray, FloatArray

SALT = 26  # of the seed


@dataclass(frozen=True, kw_only=True)
class OrderScores(ItemRow):
    """One judge on one question that puts the stories of a group in order."""

    judge: str
    n_people: int
    scores: tuple[Score, ...]
    outcomes: Outcomes


class JudgesOnRankings(Figure[Listing[OrderScores]]):
    key = "judges_on_rankings"
    title = gettext_lazy("Judges on rankings")
    position = 125
    result = Listing[OrderScores]
    tables = ("judges-on-rankings", "lost-rankings")
    is_shown_sealed = False
    nothing = Listing[OrderScores]()

    def compute(self, dataset: Dataset) -> Listing[OrderScores]:
        items = [item for item in dataset.items if item.is_ranking]
        return Listing(
            tuple(
                _scores(dataset, item, orders, salt=(SALT, at, n))
                for at, item in enumerate(items)
                for n, orders in enumerate(judged_orders(dataset, item))
            )
        )

    def rows(self, result: Listing[OrderScores]) -> dict[str, Iterator[Row]]:
        return {
            "judges-on-rankings": (
                {"judge": row.judge} | item_cells(row) | cells
                for row in result.rows
                for score in row.scores
                for cells in score_cells(score)
            ),
            "lost-rankings": (cells for row in result.rows for cells in outcome_rows(row.judge, row.outcomes)),
        }

    def lines(self, result: Listing[OrderScores]) -> Iterator[str]:
        yield "\nJudges beside the mean ranks of people"
        for row in result.rows:
            yield f"  {row.title}"
            yield from score_lines([row])


def _scores(dataset: Dataset, item: StepItem, orders: JudgedOrders, *, salt: tuple[int, ...]) -> OrderScores:
    everything = [np.ones(len(ranks), dtype=np.bool_) for ranks in orders.ranks]
    has_people = np.array([n > 0 for n in orders.n_people], dtype=np.bool_)
    is_split = np.array([n > 1 for n in orders.n_people], dtype=np.bool_) & ~orders.is_unanimous
    parts: dict[str, tuple[BoolArray, list[BoolArray]]] = {"all": (has_people, everything)}
    mixed = np.concatenate(orders.is_of_models)
    if mixed.any() and not mixed.all():
        parts["models"] = (has_people, list(orders.is_of_models))
    parts |= {"unanimous": (orders.is_unanimous, everything), "split": (is_split, everything)}
    rows = answers_to(model_answers(dataset), [item])
    return OrderScores(
        **item_fields(item),
        judge=orders.judge,
        n_people=len(set(dataset.answers_to(item)["rater"])),
        scores=(
            Score(
                statistic="group_tau",
                parts=tuple(
                    _part(dataset, orders, name, *masks, salt=(*salt, n))
                    for n, (name, masks) in enumerate(parts.items())
                ),
            ),
        ),
        outcomes=_outcomes(dataset, rows[rows["rater"] == orders.judge]),
    )


def _part(
    dataset: Dataset,
    orders: JudgedOrders,
    name: str,
    is_in: BoolArray,
    stories: list[BoolArray],
    *,
    salt: tuple[int, ...],
) -> ScorePart:
    """The mean of the groups' values over some groups, or over some stories of each."""
    ranks = [_only(row, mask) for row, mask in zip(orders.ranks, stories, strict=True)]
    taus = np.array(
        [
            judge_orders.group_tau(a, b) if is_kept else np.nan
            for a, b, is_kept in zip(ranks, orders.mean_ranks, is_in, strict=True)
        ]
    )
    has_value = np.isfinite(taus)
    if not has_value.any():
        return without_units(name, Incomputable("no_unit_with_judge_and_people"))
    groups = [group for group, is_kept in zip(orders.groups, has_value, strict=True) if is_kept]

    def ends() -> Any:
        rng, clusters = dataset.rng(*salt, 0), dataset.clusters_of(groups)
        return intervals.mean_interval(taus[has_value], clusters, rng=rng, n_resamples=N_RESAMPLES).clipped(-1, 1)

    kept = np.flatnonzero(has_value)
    floor = chance_floor(
        judge_orders.group_floor,
        [ranks[n] for n in kept],
        [orders.mean_ranks[n] for n in kept],
        rng=dataset.rng(*salt, 1),
    )
    return ScorePart(
        part=name,
        value=float(taus[has_value].mean()),
        n=int(has_value.sum()),
        n_units=int(has_value.sum()),
        interval=interval(ends),
        floor=floor,
    )


def _only(ranks: FloatArray, mask: BoolArray) -> FloatArray:
    return np.where(mask, ranks, np.nan)


def _outcomes(dataset: Dataset, rows: Any) -> Outcomes:
    """One answer is expected of every group; a group counts for each source that stands in it."""
    groups = list(dict.fromkeys(group for group, _story in dataset.units))
    by_source = []
    for source, _kind in dataset.sources:
        of_source = {group for group, story in dataset.units if dataset.source_of(story) == source}
        counted = count_outcomes(rows[rows["group"].isin(of_source)], len(of_source))
        by_source.append(SourceOutcomes(source=source, **counted))
    return Outcomes(**count_outcomes(rows, len(groups)), by_source=tuple(by_source))
