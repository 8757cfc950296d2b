"""How sure a number is: percentile bootstrap over what was sampled, stories or groups, never single answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import SupportsFloat

import numpy as np
import numpy.typing as npt

from stats import agreement, sums
from stats.arrays import FloatArray, IntArray, as_ratings, values_of
from stats.reasons import Incomputable
from stats.sums import Level

ENOUGH_CLUSTERS = 30
# How many of 100 studies have the true mean in their percentile interval, from so many clusters on: simulated, 4,000
# studies each of a mean over normal clusters and of a pass rate over stories with three verdicts.
COVERAGE_FROM = {2: 50, 3: 70, 4: 80, 5: 85, 7: 88, 10: 91, 15: 93}
ALIKE = 1e-9


@dataclass(frozen=True)
class Interval:
    """A range in the units of its statistic.

    n_units : what was resampled, stories or groups; for a naive interval the answers
    level : the share of studies whose interval should hold the true value
    note : what a reader must know before believing it; empty if nothing
    n_left_out : resamples in which the statistic has no value
    """

    low: float
    high: float
    n_units: int
    level: float = 0.95
    note: str = ""
    n_left_out: int = 0


def resample_weights(clusters: npt.ArrayLike, *, rng: np.random.Generator, n_resamples: int = 1000) -> IntArray:
    """How often each unit enters each resample, shape (B, U). Whole clusters are drawn with replacement.

    The same weights serve several items, so that the interval of a mean over items is that of joint resamples.

    clusters : label of each unit's cluster, shape (U,)
    Raises Incomputable if there are fewer than two clusters.
    """
    labels, cluster_of_unit = np.unique(np.asarray(clusters), return_inverse=True)
    if len(labels) < 2:
        raise Incomputable("fewer_than_two_clusters")
    drawn = rng.multinomial(len(labels), np.full(len(labels), 1 / len(labels)), size=n_resamples)
    return np.asarray(drawn[:, cluster_of_unit], dtype=np.int64)


def bootstrap(
    statistic: Callable[[IntArray], SupportsFloat],
    clusters: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> Interval:
    """The 95 % percentile interval of any statistic, which is called with the indices of the resampled units.

    Raises Incomputable if there are fewer than two clusters or no resample gives a value.
    """
    values = []
    for weights in resample_weights(clusters, rng=rng, n_resamples=n_resamples):
        try:
            values.append(float(statistic(np.repeat(np.arange(weights.size), weights))))
        except Incomputable:
            values.append(np.nan)
    return percentile_interval(np.array(values), clusters)


def percentile_interval(resamples: FloatArray, clusters: npt.ArrayLike) -> Interval:
    """The middle 95 % of the statistic's values in resamples, shape (B,); nan where it has none, left out and counted.

    Raises Incomputable if no resample has a value, or if all have the same: where the data do not vary, resampling
    cannot tell how much others would, and an interval from 0 to 0 would look like certainty.
    """
    computed = resamples[~np.isnan(resamples)]
    if not computed.size:
        raise Incomputable("no_resample_with_value")
    if np.ptp(computed) < ALIKE:
        raise Incomputable("resamples_alike")
    low, high = np.quantile(computed, [0.025, 0.975])
    n_clusters = len(np.unique(np.asarray(clusters)))
    n_left_out = resamples.size - computed.size
    notes = []
    if n_clusters < ENOUGH_CLUSTERS:
        coverage = COVERAGE_FROM[max(n for n in COVERAGE_FROM if n <= n_clusters)]
        notes.append(
            f"only {n_clusters} clusters were resampled, so its real coverage is nearer {coverage} % than 95 %"
        )
    if n_left_out:
        notes.append(f"{n_left_out} of {resamples.size} resamples left out, in which the statistic has no value")
    return Interval(float(low), float(high), n_clusters, note="; ".join(notes), n_left_out=n_left_out)


def fleiss_kappa_resamples(ratings: npt.ArrayLike, weights: IntArray) -> FloatArray:
    """Fleiss' kappa of each resample, shape (B,), over the complete units; nan where all ratings are the same.

    weights : from `resample_weights`, shape (B, U)
    Raises TooFewRaters if no unit has two ratings.
    """
    array = as_ratings(ratings)
    complete = agreement.complete_units(array)
    table = agreement.counts(array, values_of(array))[complete]
    return sums.kappa_of(weights[:, complete] @ sums.kappa_parts(table))


def weighted_fleiss_resamples(ratings: npt.ArrayLike, points: int, weights: IntArray, *, first: int = 1) -> FloatArray:
    """`agreement.weighted_fleiss` of each resample, shape (B,); nan where all ratings are the same."""
    table = agreement.counts(ratings, np.arange(first, first + points))
    return sums.kappa_of(weights @ sums.kappa_parts(table, sums.ordinal_kernel(points)))


def alpha_resamples(ratings: npt.ArrayLike, level: Level, weights: IntArray) -> FloatArray:
    """Krippendorff's alpha of each resample, shape (B,); nan where all ratings that can be paired are the same."""
    array = as_ratings(ratings)
    if level == "interval":
        return sums.interval_alpha_of(weights @ sums.interval_parts_of(array))
    values = values_of(array)
    coincidence = weights @ sums.alpha_parts(agreement.counts(array, values))
    return sums.alpha_of(coincidence.reshape(len(weights), len(values), len(values)), values, level)


def fleiss_kappa_interval(
    ratings: npt.ArrayLike, clusters: npt.ArrayLike, *, rng: np.random.Generator, n_resamples: int = 1000
) -> Interval:
    """`bootstrap` of Fleiss' kappa in one matrix product; from the same seed the same to rounding."""
    weights = resample_weights(clusters, rng=rng, n_resamples=n_resamples)
    return percentile_interval(fleiss_kappa_resamples(ratings, weights), clusters)


def weighted_fleiss_interval(
    ratings: npt.ArrayLike,
    points: int,
    clusters: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    first: int = 1,
    n_resamples: int = 1000,
) -> Interval:
    """`bootstrap` of `agreement.weighted_fleiss` in one matrix product; from the same seed the same to rounding."""
    weights = resample_weights(clusters, rng=rng, n_resamples=n_resamples)
    return percentile_interval(weighted_fleiss_resamples(ratings, points, weights, first=first), clusters)


def alpha_interval(
    ratings: npt.ArrayLike, level: Level, clusters: npt.ArrayLike, *, rng: np.random.Generator, n_resamples: int = 1000
) -> Interval:
    """`bootstrap` of Krippendorff's alpha in one matrix product; from the same seed the same to rounding."""
    weights = resample_weights(clusters, rng=rng, n_resamples=n_resamples)
    return percentile_interval(alpha_resamples(ratings, level, weights), clusters)


def mean_resamples(values: FloatArray, weights: IntArray) -> FloatArray:
    """The mean of all values in each resample, shape (B,); nan where it holds none.

    values : shape (R, U), nan where there is none
    weights : from `resample_weights`, shape (B, U)
    """
    n = weights @ np.isfinite(values).sum(axis=0)
    return np.asarray((weights @ np.nansum(values, axis=0)) / np.where(n > 0, n, np.nan), dtype=np.float64)
