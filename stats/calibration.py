"""Whether a judge's share of Yes is that of people: the slope of theirs on its, and how far they are apart.

A judge that was asked again and again gives each verdict a share. It is calibrated where, among all verdicts of one
share, as large a share of people say Yes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stats import intervals
from stats.arrays import BoolArray, FloatArray, IntArray
from stats.intervals import Interval
from stats.reasons import Incomputable

ALIKE = 1e-9  # sum of squares below which all are
EDGES = (0.0, 0.5, 1.0)  # each is a level of its own, and what lies between two of them
NEAR = 0.05  # within which a share is at an edge: a probability is hardly ever one itself


def levels(shares: npt.ArrayLike) -> IntArray:
    """The level of each share, from 0 (never) over 2 (half) to 4 (always); those of 1 and 3 lie between."""
    values = np.asarray(shares, dtype=np.float64)
    below = np.searchsorted(EDGES, values + NEAR + ALIKE, "left")
    up_to = np.searchsorted(EDGES, values - NEAR - ALIKE, "right")
    return np.asarray(below + up_to - 1, dtype=np.int64)


def is_sure(shares: npt.ArrayLike) -> BoolArray:
    """Whether a share is none or all, or as near."""
    return np.isin(levels(shares), (0, 2 * len(EDGES) - 2))


def slope(judge: npt.ArrayLike, people: npt.ArrayLike) -> float:
    """How much larger people's share is where the judge's is larger by one, by least squares: 1 if calibrated, less if
    it says too strongly what it says.

    judge, people : shares, shape (N,)
    Raises Incomputable if the judge's are all alike.
    """
    value = float(_slopes(_slope_parts(judge, people).sum(axis=0, keepdims=True))[0])
    if np.isnan(value):
        raise Incomputable("shares_alike")
    return value


def slope_interval(
    judge: npt.ArrayLike,
    people: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> Interval:
    """The 95 % interval of `slope` over clusters. Raises Incomputable if there are too few, or none gives a value."""
    parts = _slope_parts(judge, people)
    return intervals.interval_of_sums(
        _slopes, parts, np.asarray(clusters), rng=rng, n_resamples=n_resamples, is_bounded=False
    )


def best_slope(judge: npt.ArrayLike, n_answers: npt.ArrayLike) -> float:
    """The `slope` of a judge whose chances of a Yes are people's shares, asked as often: below 1, since the share of a
    few answers lies further out than the chance.

    That is how much of the spread of the judge's shares is one of chances, 0 at least; a share of k answers has by
    itself a variance of share × (1 - share) / (k - 1).
    judge : shares, shape (N,); n_answers : of which each is, two or more, shape (N,)
    Raises Incomputable if the shares are all alike.
    """
    shares, n = np.asarray(judge, dtype=np.float64), np.asarray(n_answers, dtype=np.float64)
    spread = float(((shares - shares.mean()) ** 2).sum())
    if spread < ALIKE:
        raise Incomputable("shares_alike")
    return max(1 - float((shares * (1 - shares) / (n - 1)).sum()) / spread, 0.0)


def error(judge: npt.ArrayLike, people: npt.ArrayLike, clusters: npt.ArrayLike) -> float:
    """How far people's share is from the judge's, on average within a level, root mean square over verdicts.

    Few verdicts of a level differ from their share by chance alone; the jackknife over clusters takes that off, so that
    it is not larger the fewer verdicts there are. Distances in opposite directions within a level cancel.

    judge, people : shares, shape (N,); clusters : shape (N,)
    Raises Incomputable if there are fewer than two clusters.
    Source: Kumar, Liang & Ma 2019, Verified Uncertainty Calibration, section 4, with clusters in place of verdicts.
    """
    own, theirs = np.asarray(judge, dtype=np.float64), np.asarray(people, dtype=np.float64)
    labels, cluster = np.unique(np.asarray(clusters), return_inverse=True)
    n = len(labels)
    if n < 2:
        raise Incomputable("fewer_than_two_clusters")
    n_levels = 2 * len(EDGES) - 1
    cell = cluster * n_levels + levels(own)
    distances, counts = (
        np.bincount(cell, weights, minlength=n * n_levels).reshape(n, n_levels) for weights in (theirs - own, None)
    )
    whole = _mean_square(distances.sum(axis=0), counts.sum(axis=0))
    without = _mean_square(distances.sum(axis=0) - distances, counts.sum(axis=0) - counts)
    return float(np.sqrt(max(n * whole - (n - 1) * without.mean(), 0)))


def _mean_square(distances: FloatArray, counts: FloatArray) -> FloatArray:
    """Of the levels in the last axis the squares of their mean distance, each as often as it has verdicts."""
    squares = distances**2 / np.where(counts > 0, counts, 1)
    return np.asarray(squares.sum(axis=-1) / counts.sum(axis=-1))


def _slope_parts(judge: npt.ArrayLike, people: npt.ArrayLike) -> FloatArray:
    """What each verdict adds to the sums of which `_slopes` are, shape (N, 5)."""
    x, y = np.asarray(judge, dtype=np.float64), np.asarray(people, dtype=np.float64)
    return np.stack([np.ones_like(x), x, y, x * x, x * y], axis=1)


def _slopes(sums: FloatArray) -> FloatArray:
    n, x, y, xx, xy = sums.T
    safe = np.where(n > 0, n, np.nan)
    room = xx - x * x / safe
    return np.asarray((xy - x * y / safe) / np.where(room > ALIKE, room, np.nan))
