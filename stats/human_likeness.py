"""Scores of human-likeness as guesses of authorship: 1 is surely a model, 5 surely a person, 3 undecided.

Guesses that were asked as a choice of options are a figure of the report, `reports/figures/sources/authorship.py`.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from stats.arrays import BoolArray, FloatArray, IntArray
from stats.intervals import Interval
from stats.reasons import Incomputable

UNDECIDED = 3


@dataclass(frozen=True)
class Guesses:
    """How the guesses fell out."""

    n_correct: int
    n_wrong: int
    n_undecided: int

    @property
    def proportion_correct(self) -> float:
        """Correct guesses among all, between 0 and 1; an undecided one is not correct."""
        return self.n_correct / (self.n_correct + self.n_wrong + self.n_undecided)


def count_guesses(scores: npt.ArrayLike, is_human: npt.ArrayLike) -> Guesses:
    """Counts of the guesses that are right: a score above 3 says a person wrote it, one below 3 a model.

    scores : any shape, nan where there is none
    is_human : who did write it; the same shape, or one that broadcasts to it, as (U,) to (R, U)
    Raises Incomputable if there are no scores.
    """
    present, human = _present_scores(scores, is_human)
    undecided = present == UNDECIDED
    correct = ~undecided & ((present > UNDECIDED) == human)
    n_correct, n_undecided = int(correct.sum()), int(undecided.sum())
    return Guesses(n_correct, present.size - n_correct - n_undecided, n_undecided)


def ideal_distance_accuracy(scores: npt.ArrayLike, is_human: npt.ArrayLike) -> float:
    """1 - mean |score - ideal| / 4, where the ideal is 5 for a person's text and 1 for a model's.

    Called "accuracy" where it was published, but not the share of correct guesses: always answering 3 gives .5.

    Raises Incomputable if there are no scores.
    Source: Harel-Canada et al. 2024, Measuring Psychological Depth in Language Models (56 %).
    """
    present, human = _present_scores(scores, is_human)
    ideal = np.where(human, 5.0, 1.0)
    return float(1 - np.abs(present - ideal).mean() / 4)


def right(scores: npt.ArrayLike, is_human: npt.ArrayLike, ends: tuple[float, float]) -> FloatArray:
    """1 for a score on the right side of the middle of the scale, 0 on the wrong one or in the middle, nan without one.

    ends : of the scale; the high one is a person
    """
    array = np.asarray(scores, dtype=np.float64)
    human = np.broadcast_to(np.asarray(is_human, dtype=np.bool_), array.shape)
    middle = sum(ends) / 2
    is_right = np.where(human, array > middle, array < middle)
    return np.where(np.isnan(array), np.nan, is_right.astype(np.float64))


def nearness(scores: npt.ArrayLike, is_human: npt.ArrayLike, ends: tuple[float, float]) -> FloatArray:
    """1 - |score - ideal| / width of the scale for each score, whose mean is `ideal_distance_accuracy`."""
    array = np.asarray(scores, dtype=np.float64)
    human = np.broadcast_to(np.asarray(is_human, dtype=np.bool_), array.shape)
    low, high = ends
    return np.asarray(1 - np.abs(array - np.where(human, high, low)) / (high - low), dtype=np.float64)


def balanced_right(is_right: FloatArray, is_human: npt.ArrayLike) -> float | None:
    """The mean of how often people's texts are told rightly and how often models' are; None without one of the kinds.

    is_right : shape (R, U), from `right`
    """
    weights = np.ones((1, is_right.shape[1]), dtype=np.int64)
    value = float(balanced_resamples(is_right, is_human, weights)[0])
    return None if np.isnan(value) else value


def balanced_resamples(is_right: FloatArray, is_human: npt.ArrayLike, weights: IntArray) -> FloatArray:
    """`balanced_right` under each row of weights of units, shape (B, U) to (B,); nan where a kind is not drawn."""
    human = np.asarray(is_human, dtype=np.bool_)
    sums, counts = np.nansum(is_right, axis=0), np.isfinite(is_right).sum(axis=0)
    recalls = []
    for kind in (human, ~human):
        n = (weights @ (counts * kind)).astype(np.float64)
        recalls.append((weights @ (sums * kind)) / np.where(n > 0, n, np.nan))
    return np.asarray((recalls[0] + recalls[1]) / 2, dtype=np.float64)


def in_percent(ends: Interval) -> Interval:
    """The interval of a share as one of a percentage."""
    return replace(ends, low=100 * ends.low, high=100 * ends.high)


def _present_scores(scores: npt.ArrayLike, is_human: npt.ArrayLike) -> tuple[FloatArray, BoolArray]:
    array = np.asarray(scores, dtype=np.float64)
    human = np.broadcast_to(np.asarray(is_human, dtype=np.bool_), array.shape)
    present = ~np.isnan(array)
    if not present.any():
        raise Incomputable("no_scores")
    return array[present], human[present]
