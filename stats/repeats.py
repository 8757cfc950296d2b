"""How far raters agree with themselves on what they rated twice without being told."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stats.agreement import Floor
from stats.arrays import FloatArray, IntArray
from stats.reasons import Incomputable


def same_share(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Of 100 answers given twice, how many are the same. Raises Incomputable if none was."""
    before, after = _pairs(first, second)
    return float(100 * (before == after).mean())


def mean_change(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """How far apart the two answers are on average, in points of the scale. Raises Incomputable if there are none."""
    before, after = _pairs(first, second)
    return float(np.abs(before - after).mean())


def same_share_floor(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    raters: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_shuffles: int = 1000,
) -> Floor:
    """The chance floor of `same_share`: each rater's second answers put to other stories that the rater read twice.

    raters : who gave each pair of answers, shape (N,)
    """
    before, after = _pairs(first, second)
    rater_of: IntArray = np.unique(np.asarray(raters), return_inverse=True)[1]
    moved: FloatArray = np.repeat(after[np.newaxis], n_shuffles, axis=0)
    for rater in range(int(rater_of.max()) + 1):
        own = np.flatnonzero(rater_of == rater)
        moved[:, own] = rng.permuted(moved[:, own], axis=1)
    shares = 100 * (moved == before).mean(axis=1)
    return Floor(float(shares.mean()), float(np.quantile(shares, 0.975)), n_shuffles)


def _pairs(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    before, after = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if not before.size:
        raise Incomputable("nothing_rated_twice")
    return before, after
