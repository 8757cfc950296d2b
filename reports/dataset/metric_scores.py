"""What metrics measured, and scores from elsewhere, of stories or of pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from judges.models import ScoreCard
from reports.lazy import np, score_pairs

if TYPE_CHECKING:
    import pandas as pd

    from reports.dataset import Dataset, StepItem
    from reports.dataset.cubes import Pair
    from reports.dataset.pairs import JudgedPair
    from stats.arrays import FloatArray


def list_measures(dataset: Dataset, answers: pd.DataFrame) -> Iterator[tuple[StepItem, str, pd.DataFrame]]:
    """Each item of each metric with its values."""
    items = dataset.records.metric_items
    for metric, of_metric in answers.groupby("rater", sort=True, observed=True):
        for item in items:
            rows = of_metric[(of_metric["step"] == item.step.key) & (of_metric["item"] == item.item.key)]
            if len(rows):
                yield item, str(metric), rows


def scores_of(card: ScoreCard | None, rows: pd.DataFrame) -> dict[Pair, float]:
    """The value of each unit, more being better, where a card says which way is."""
    sign = -1.0 if card and card.better == ScoreCard.Better.LOWER else 1.0
    units = zip(rows["group"], rows["story"], strict=True)
    return {unit: sign * value for unit, value in zip(units, rows["analysed"], strict=True)}


def is_about_pairs(card: ScoreCard | None) -> bool:
    return bool(card and card.about == ScoreCard.About.PAIRS)


def score_right(pairs: Sequence[JudgedPair], score_by_unit: dict[Pair, float], *, is_of_pairs: bool) -> FloatArray:
    """Whether the better-scored story of each pair is the preferred one, shape (P,): see `score_pairs.pairs_right`.

    is_of_pairs : whether a pair has one score, not each of its stories
    """
    differences = [
        score_by_unit.get((pair.group, ""), np.nan)
        if is_of_pairs
        else _difference(pair.group, pair.stories, score_by_unit)
        for pair in pairs
    ]
    preferred = [np.nan if pair.preferred is None else float(pair.preferred) for pair in pairs]
    return np.asarray(score_pairs.pairs_right(differences, preferred))


def _difference(group: str, stories: Sequence[str], score_by_unit: dict[Pair, float]) -> float:
    """The first story's score less the second's; a pair's own score is kept for the story whose code comes first."""
    first, second = (score_by_unit.get((group, story), np.nan) for story in stories)
    return float(first - second)
