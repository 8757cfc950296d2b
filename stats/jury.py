"""Several judges as one: what most of them say, each with its weight, or the mean of their ratings."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stats.arrays import BoolArray, FloatArray

LEAST = 2  # judges that have answered, fewer of which are no jury
NEARLY = 1e-9  # of weights that are equal but for rounding


def majority(answers: npt.ArrayLike, weights: npt.ArrayLike) -> FloatArray:
    """The answer that has more than half of the weight of those who answered, shape (N,).

    answers : of judges, as numbers, shape (J, N), nan where there is none; weights : shape (J,)
    nan for a tie, where none has so much, and where fewer than two judges have answered.
    """
    values, weight, is_enough = _read(answers, weights)
    half = weight.sum(axis=0) / 2
    result = np.full(values.shape[1], np.nan)
    for answer in np.unique(values[np.isfinite(values)]):
        result[np.where(values == answer, weight, 0).sum(axis=0) > half + NEARLY] = answer
    return np.where(is_enough, result, np.nan)


def mean(answers: npt.ArrayLike, weights: npt.ArrayLike) -> FloatArray:
    """The weighted mean of those who answered, shape (N,); nan where fewer than two have."""
    values, weight, is_enough = _read(answers, weights)
    sums = np.where(np.isfinite(values), values, 0) * weight
    return np.where(is_enough, sums.sum(axis=0) / np.where(is_enough, weight.sum(axis=0), 1), np.nan)


def _read(answers: npt.ArrayLike, weights: npt.ArrayLike) -> tuple[FloatArray, FloatArray, BoolArray]:
    """The answers, the weight of each (0 where there is none), and where two or more have answered."""
    values = np.asarray(answers, dtype=np.float64)
    is_there = np.isfinite(values)
    weight = np.where(is_there, np.asarray(weights, dtype=np.float64)[:, None], 0)
    return values, weight, is_there.sum(axis=0) >= LEAST
