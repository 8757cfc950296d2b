"""Judges beside people on pairs: how often they prefer what most people do, and whether the order decides for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports.dataset.judged import answers_to, model_answers
from reports.dataset.judged_groups import JudgedPairs, judged_pairs
from reports.figures.base import (
    N_RESAMPLES,
    Figure,
    Floor,
    ItemRow,
    Listing,
    Row,
    chance_floor,
    interval,
    item_cells,
    item_fields,
    without_value,
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

SALT = 25  # of the seed


@dataclass(frozen=True, kw_only=True)
class PairScores(ItemRow):
    """One judge on one question about pairs.

    n_pairs : with a choice of the judge
    n_both : of those, the pairs that it judged in both orders
    """

    judge: str
    n_people: int
    n_pairs: int
    n_both: int
    scores: tuple[Score, ...]
    outcomes: Outcomes


class JudgesOnPairs(Figure[Listing[PairScores]]):
    key = "judges_on_pairs"
    title = gettext_lazy("Judges on pairs")
    position = 124
    result = Listing[PairScores]
    tables = ("judges-on-pairs", "lost-pairs")
    is_shown_sealed = False
    nothing = Listing[PairScores]()

    def compute(self, dataset: Dataset) -> Listing[PairScores]:
        items = [item for item in dataset.items if item.is_preference]
        return Listing(
            tuple(
                _scores(dataset, item, pairs, salt=(SALT, at, n))
                for at, item in enumerate(items)
                for n, pairs in enumerate(judged_pairs(dataset, item))
            )
        )

    def rows(self, result: Listing[PairScores]) -> dict[str, Iterator[Row]]:
        return {
            "judges-on-pairs": (
                {"judge": row.judge} | item_cells(row) | cells
                for row in result.rows
                for s in row.scores
                for cells in score_cells(s)
            ),
            "lost-pairs": (cells for row in result.rows for cells in outcome_rows(row.judge, row.outcomes)),
        }

    def lines(self, result: Listing[PairScores]) -> Iterator[str]:
        yield "\nJudges beside the majority of people, on pairs"
        for row in result.rows:
            yield f"  {row.title}: {row.n_pairs} pairs, {row.n_both} in both orders"
            yield from score_lines([row])


def _scores(dataset: Dataset, item: StepItem, pairs: JudgedPairs, *, salt: tuple[int, ...]) -> PairScores:
    choices = judge_orders.pair_choices(pairs.chosen, pairs.preferred)
    unknown = np.where(pairs.is_order_known, 0.0, np.nan)
    rows = answers_to(model_answers(dataset), [item])
    rows = rows[rows["rater"] == pairs.judge]
    answered = np.isfinite(pairs.chosen)
    return PairScores(
        **item_fields(item),
        judge=pairs.judge,
        n_people=len(set(dataset.answers_to(item)["rater"])),
        n_pairs=int(answered.any(axis=1).sum()),
        n_both=int((answered.all(axis=1) & pairs.is_order_known).sum()),
        scores=(
            _score(dataset, pairs, "accuracy", choices.right, choices.wrong, salt=(*salt, 0)),
            _score(dataset, pairs, "flip_rate", choices.changed + unknown, None, salt=(*salt, 1)),
            _score(dataset, pairs, "first_rate", choices.first + unknown, choices.second + unknown, salt=(*salt, 2)),
        ),
        outcomes=_outcomes(dataset, pairs, rows),
    )


def _score(
    dataset: Dataset,
    pairs: JudgedPairs,
    name: str,
    shares: FloatArray,
    of_the_other: FloatArray | None,
    *,
    salt: tuple[int, ...],
) -> Score:
    """A mean over pairs, in percent, over all of them and over each part."""
    everywhere = np.ones(len(shares), dtype=np.bool_)
    kinds = {story: source.kind for story, source in dataset.source_by_story.items()}
    of_models = np.array([all(kinds.get(s) == "language_model" for s in two) for two in pairs.stories], dtype=np.bool_)
    masks = {"all": everywhere}
    if of_models.any() and not of_models.all():
        masks["models"] = of_models
    masks |= {"unanimous": pairs.is_unanimous, "split": (pairs.n_choices > 1) & ~pairs.is_unanimous}
    return Score(
        statistic=name,
        parts=tuple(
            _part(dataset, pairs, part, name, shares, of_the_other, mask, salt=(*salt, n))
            for n, (part, mask) in enumerate(masks.items())
        ),
    )


def _part(
    dataset: Dataset,
    pairs: JudgedPairs,
    part: str,
    name: str,
    shares: FloatArray,
    of_the_other: FloatArray | None,
    mask: BoolArray,
    *,
    salt: tuple[int, ...],
) -> ScorePart:
    present = mask & np.isfinite(shares)
    if not present.any():
        return without_units(part, _why_none(pairs, name))
    values = 100 * shares[present]
    groups = [group for group, is_present in zip(pairs.groups, present, strict=True) if is_present]

    def ends() -> Any:
        rng = dataset.rng(*salt, 0)
        clusters = dataset.clusters_of(groups)
        return intervals.mean_interval(values, clusters, rng=rng, n_resamples=N_RESAMPLES).clipped(0, 100)

    floor = Floor(mean=None, upper=None, why=without_value("independent_of_order"))
    if of_the_other is not None:
        floor = chance_floor(judge_orders.flip_floor, shares[present], of_the_other[present], rng=dataset.rng(*salt, 1))
    return ScorePart(
        part=part,
        value=float(values.mean()),
        n=int(present.sum()),
        n_units=int(present.sum()),
        interval=interval(ends),
        floor=floor,
    )


def _why_none(pairs: JudgedPairs, name: str) -> Incomputable:
    if name == "accuracy":
        return Incomputable("no_unit_with_judge_and_people")
    return Incomputable("pairs_not_turned") if pairs.is_order_known.any() else Incomputable("order_not_known")


def _outcomes(dataset: Dataset, pairs: JudgedPairs, rows: Any) -> Outcomes:
    """One answer is expected of every pair; a pair counts for each source that stands in it."""
    by_source = []
    for source, _kind in dataset.sources:
        groups = [
            group
            for group, two in zip(pairs.groups, pairs.stories, strict=True)
            if any(dataset.source_of(story) == source for story in two)
        ]
        by_source.append(SourceOutcomes(source=source, **count_outcomes(rows[rows["group"].isin(groups)], len(groups))))
    of_pairs = rows[rows["group"].isin(pairs.groups)]
    return Outcomes(**count_outcomes(of_pairs, len(pairs.groups)), by_source=tuple(by_source))
