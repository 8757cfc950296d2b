"""How items go together: their correlations, and what each has in common with the rest.

A row is one rater's reading of one unit, and only rows with an answer to every item enter. So what is measured is what
goes together in one head: it holds a rater's overall liking of the story, not only what the items ask.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stats.agreement import Floor
from stats.arrays import BoolArray, FloatArray, IntArray
from stats.intervals import Interval
from stats.reasons import Incomputable
from stats.resamples import Resamples

UPPER = 1.959963984540054  # standard normal, 97.5th percentile


@dataclass(frozen=True)
class ItemMaterial:
    """The complete rows.

    answers : shape (N, I), less the mean of each item
    raters, clusters : index of each row's rater, and of its cluster, shape (N,)
    n_left_out : rows that leave an item out
    """

    answers: FloatArray
    raters: IntArray
    clusters: IntArray
    n_left_out: int


def read_rows(ratings: npt.ArrayLike, clusters: npt.ArrayLike) -> ItemMaterial:
    """The rows of shape (I, R, U) that answer every item.

    clusters : label of each unit's cluster, shape (U,)
    Raises Incomputable below three such rows.
    """
    cube = np.asarray(ratings, dtype=np.float64)
    present = np.isfinite(cube)
    raters, units = np.nonzero(present.all(axis=0))
    if len(raters) < 3:
        raise Incomputable("fewer_than_three_complete")
    answers = cube[:, raters, units].T
    cluster_of_unit = np.unique(np.asarray(clusters), return_inverse=True)[1]
    cluster_of_row = np.unique(cluster_of_unit[units], return_inverse=True)[1]
    n_left_out = int(present.any(axis=0).sum()) - len(raters)
    return ItemMaterial(answers - answers.mean(axis=0), raters, cluster_of_row, n_left_out)


def correlations(covariance: FloatArray) -> FloatArray:
    """Pearson's r of every two items, shape (..., I, I); nan for an item that does not vary."""
    spread = _spread(np.diagonal(covariance, axis1=-2, axis2=-1))
    return np.asarray(covariance / spread[..., :, np.newaxis] / spread[..., np.newaxis, :], dtype=np.float64)


def item_rest(covariance: FloatArray) -> FloatArray:
    """Pearson's r of each item with the sum of all others, shape (..., I, I) to (..., I)."""
    own = np.diagonal(covariance, axis1=-2, axis2=-1)
    with_all = covariance.sum(axis=-1)
    of_rest = covariance.sum(axis=(-2, -1))[..., np.newaxis] - 2 * with_all + own
    return np.asarray((with_all - own) / _spread(own) / _spread(of_rest), dtype=np.float64)


def mean_correlations(covariance: FloatArray) -> FloatArray:
    """The mean of each item's correlations with the others that vary, shape (..., I, I) to (..., I)."""
    matrix = correlations(covariance)
    n = np.isfinite(matrix).sum(axis=-1) - 1
    own_is_known = np.isfinite(np.diagonal(matrix, axis1=-2, axis2=-1)) & (n > 0)
    means = (np.nansum(matrix, axis=-1) - 1) / np.where(own_is_known, n, 1)
    return np.where(own_is_known, means, np.nan)


def cronbach_alpha(covariance: FloatArray) -> FloatArray:
    """Cronbach's alpha of the sum of all items, shape (..., I, I) to (...); nan where the sum does not vary.

    I / (I − 1) × the share of the sum's variance that lies between items, not within them.
    Source: Cronbach 1951, Psychometrika 16(3), 297-334, equation 2; of Yes and No it is Kuder and Richardson's 20.
    """
    n_items = covariance.shape[-1]
    own, whole = np.trace(covariance, axis1=-2, axis2=-1), covariance.sum(axis=(-2, -1))
    return np.asarray(n_items / (n_items - 1) * (1 - own / _spread(whole) ** 2), dtype=np.float64)


def covariance_of(material: ItemMaterial) -> FloatArray:
    """Sums of products of deviations, shape (I, I)."""
    return np.asarray(material.answers.T @ material.answers, dtype=np.float64)


def covariance_resamples(material: ItemMaterial, weights: FloatArray) -> FloatArray:
    """The same of each resample of clusters, shape (B, G) to (B, I, I)."""
    order = np.argsort(material.clusters, kind="stable")
    bounds = np.searchsorted(material.clusters[order], np.arange(1, weights.shape[1]))
    parts = np.split(material.answers[order], bounds)
    products = np.stack([part.T @ part for part in parts])
    totals = np.stack([part.sum(axis=0) for part in parts])
    n = weights @ np.array([float(len(part)) for part in parts])
    sums = weights @ totals
    crossed = sums[:, :, np.newaxis] * sums[:, np.newaxis, :] / np.maximum(n, 1)[:, np.newaxis, np.newaxis]
    return np.asarray(np.tensordot(weights, products, axes=1) - crossed, dtype=np.float64)


@dataclass(frozen=True)
class ItemIntervals:
    """Intervals over clusters, or why there are none: of each pair (by i < j), of item with rest, of the means, and of
    Cronbach's alpha."""

    pairs: dict[tuple[int, int], Interval | Incomputable]
    rest: list[Interval | Incomputable]
    means: list[Interval | Incomputable]
    alpha: Interval | Incomputable


def item_intervals(material: ItemMaterial, *, rng: np.random.Generator, n_resamples: int = 1000) -> ItemIntervals:
    """95 % intervals of all of them from the same resamples: percentile, below 100 clusters the jackknife's."""
    n_items = material.answers.shape[1]
    drawn = Resamples(np.arange(int(material.clusters.max()) + 1), rng=rng, n_resamples=n_resamples)
    covariances = covariance_resamples(material, drawn.weights)

    def ends(values: FloatArray, low: float = -1.0) -> Interval | Incomputable:
        row = drawn.interval_or_reason(values)
        return row.clipped(low, 1) if isinstance(row, Interval) else row

    matrix, rest, means = correlations(covariances), item_rest(covariances), mean_correlations(covariances)
    return ItemIntervals(
        {(i, j): ends(matrix[:, i, j]) for i in range(n_items) for j in range(i + 1, n_items)},
        [ends(rest[:, i]) for i in range(n_items)],
        [ends(means[:, i]) for i in range(n_items)],
        ends(cronbach_alpha(covariances), -np.inf),
    )


def pair_floors(material: ItemMaterial) -> dict[tuple[int, int], Floor]:
    """The chance floor of each pair of items: one item's answers shuffled within each rater.

    The shuffles' mean and variance are known exactly, so none is drawn; the 97.5th percentile is that of a normal.
    Source: Hoeffding 1951, Annals of Mathematical Statistics 22(4), 558-566, of a sum over permutations.
    """
    answers = material.answers
    n_items = answers.shape[1]
    rows: dict[tuple[int, int], Floor] = {}
    for i in range(n_items):
        mean, upper = _floors(material, answers[:, [i]], answers)
        rows |= {(i, j): Floor(float(mean[j]), float(upper[j]), 0) for j in range(i + 1, n_items)}
    return rows


def item_floors(material: ItemMaterial) -> tuple[list[Floor], list[Floor]]:
    """The chance floors of `item_rest` and of `mean_correlations`: the item's answers shuffled within each rater."""
    answers = material.answers
    rest = answers.sum(axis=1, keepdims=True) - answers
    spread = _spread((answers**2).sum(axis=0))
    standard = np.where(np.isfinite(spread), answers / spread, 0.0)
    others = (standard.sum(axis=1, keepdims=True) - standard) / max(1, int(np.isfinite(spread).sum()) - 1)
    with_rest = _floors(material, answers, rest)
    # A mean of correlations is the item's sum of products with the mean of the others, each of length 1.
    mean, deviation = _moments(material, standard, others)
    of_means = mean, mean + UPPER * deviation
    return _as_floors(*with_rest), _as_floors(*of_means)


def alpha_floor(material: ItemMaterial) -> Floor:
    """The chance floor of `cronbach_alpha`: each item's answers shuffled within each rater, apart from the others.

    The products of two pairs of items are then uncorrelated, so the variances of `pair_floors` add up. nan where no
    answer varies.
    """
    answers, n_items = material.answers, material.answers.shape[1]
    mean, variance = 0.0, 0.0
    for i in range(n_items):
        means, deviations = _moments(material, answers[:, [i]], answers)
        mean += float(means[i + 1 :].sum())
        variance += float((deviations[i + 1 :] ** 2).sum())
    products = 2 * np.array([mean, mean + UPPER * variance**0.5])
    floor = n_items / (n_items - 1) * products / _spread(float((answers**2).sum()) + products) ** 2
    return Floor(float(floor[0]), float(floor[1]), 0)


def _as_floors(mean: FloatArray, upper: FloatArray) -> list[Floor]:
    return [Floor(float(middle), float(end), 0) for middle, end in zip(mean, upper, strict=True)]


def _floors(material: ItemMaterial, own: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and 97.5th percentile of the correlation of columns, the first shuffled within raters."""
    mean, deviation = _moments(material, own, other)
    length = _spread((own**2).sum(axis=0)) * _spread((other**2).sum(axis=0))
    return mean / length, (mean + UPPER * deviation) / length


def _moments(material: ItemMaterial, own: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of the sum of products of columns, over shuffles of the first within raters."""
    n_raters = int(material.raters.max()) + 1
    is_of: BoolArray = material.raters[np.newaxis] == np.arange(n_raters)[:, np.newaxis]
    n = is_of.sum(axis=1, keepdims=True)
    is_of, n = is_of[n[:, 0] > 0], n[n > 0][:, np.newaxis]
    share = is_of.astype(np.float64)
    sum_own, sum_other = share @ own, share @ other
    spread_own = share @ own**2 - sum_own**2 / n
    spread_other = share @ other**2 - sum_other**2 / n
    mean = (sum_own * sum_other / n).sum(axis=0)
    variance = (spread_own * spread_other / np.maximum(n - 1, 1)).sum(axis=0)
    return mean, np.sqrt(np.maximum(variance, 0.0))


def _spread(squares: FloatArray) -> FloatArray:
    """Square roots, nan where there is no variance but what rounding leaves."""
    return np.sqrt(np.where(squares > 1e-9, squares, np.nan))
