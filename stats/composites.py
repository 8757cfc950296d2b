"""Composite scores: sums and means of several items, each rater's own."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from stats.arrays import FloatArray, mean_present

Ends: TypeAlias = tuple[float, float]
PLACES = 10  # to which scores are rounded: two that are equal but for the computer's arithmetic are ties


def composite(
    values: npt.ArrayLike, how: str, *, ends: Sequence[Ends], weights: Sequence[float], is_reversed: Sequence[bool]
) -> FloatArray:
    """The score of each rater and unit, shape (I, ...) to (...); nan where one of the items is missing.

    values : of each item, along the first axis
    how : "sum" of weight × value, or "mean", which is that over the sum of the weights
    ends : of each item's own scale, low and high
    is_reversed : of each item, whether low + high − x counts in place of x

    >>> composite([[1.0, 5.0], [2.0, np.nan]], "mean", ends=[(1, 5)] * 2, weights=[1, 1], is_reversed=[False, True])
    array([2.5, nan])
    """
    factors = np.asarray(weights, dtype=np.float64)
    scores = _total([*turned(values, ends, is_reversed)], factors) / _divisor(how, factors)
    return np.asarray(np.round(scores, PLACES), dtype=np.float64)


def over_raters(scores: FloatArray) -> FloatArray:
    """The mean of each unit's scores, shape (R, U) to (U,), rounded as these are: nan where nobody has one."""
    return np.asarray(np.round(mean_present(scores, axis=0), PLACES), dtype=np.float64)


def turned(values: npt.ArrayLike, ends: Sequence[Ends], is_reversed: Sequence[bool]) -> FloatArray:
    """The values in the direction in which they count, of the same shape: of a reversed item low + high − x."""
    array = np.array(values, dtype=np.float64)
    for n, (low, high) in enumerate(ends):
        if is_reversed[n]:
            array[n] = low + high - array[n]
    return array


def bounds(how: str, *, ends: Sequence[Ends], weights: Sequence[float]) -> Ends:
    """The least and the most that the score can be."""
    factors = np.asarray(weights, dtype=np.float64)
    low, high = (_total([np.asarray(pair[n]) for pair in ends], factors) / _divisor(how, factors) for n in (0, 1))
    return float(low), float(high)


def _total(items: Sequence[FloatArray], weights: FloatArray) -> FloatArray:
    total = sum(weight * item for weight, item in zip(weights, items, strict=True))
    return np.asarray(total, dtype=np.float64)


def _divisor(how: str, weights: FloatArray) -> float:
    return float(weights.sum()) if how == "mean" else 1.0
