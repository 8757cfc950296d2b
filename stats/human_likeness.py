"""Scores of human-likeness as guesses of authorship: 1 is surely a model, 5 surely a person, 3 undecided.

Guesses that were asked as a choice of options are a figure of the report, `reports/figures/authorship.py`.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stats.arrays import BoolArray, FloatArray
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

    Called "accuracy" where it was published, but not the share of correct guesses: whoever always answers 3 gets .5.

    Raises Incomputable if there are no scores.
    Source: Harel-Canada et al. 2024, Measuring Psychological Depth in Language Models (56 %).
    """
    present, human = _present_scores(scores, is_human)
    ideal = np.where(human, 5.0, 1.0)
    return float(1 - np.abs(present - ideal).mean() / 4)


def _present_scores(scores: npt.ArrayLike, is_human: npt.ArrayLike) -> tuple[FloatArray, BoolArray]:
    array = np.asarray(scores, dtype=np.float64)
    human = np.broadcast_to(np.asarray(is_human, dtype=np.bool_), array.shape)
    present = ~np.isnan(array)
    if not present.any():
        raise Incomputable("no_scores")
    return array[present], human[present]
