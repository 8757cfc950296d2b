"""How sure a number is: intervals over clusters, which are what was sampled (stories or groups), never single answers.
Means take Student's t on clusters below 30 of them and the percentile bootstrap from 30; coefficients take the
delete-one-cluster jackknife below 100 and the percentile bootstrap from 100: of 12 clusters the percentiles hold a
coefficient in 85 to 95 % of studies, of 36 in 90 to 95 %, and the jackknife in 93 % or more of both.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, SupportsFloat

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from stats import agreement, sums
from stats.arrays import FloatArray, IntArray, as_ratings, values_of
from stats.reasons import Incomputable
from stats.sums import Level

ENOUGH_CLUSTERS = 30
ENOUGH_TO_RESAMPLE = 100  # clusters, for a coefficient
MANY_CLUSTERS = 100  # from which they are drawn one by one, in a tenth of a multinomial's time
DRAWN_AT_ONCE = 20  # resamples, which of thousands of clusters stay near the processor
N_KEPT = 2  # draws; of the thousand resamples of 4,000 clusters each takes 33 MB
# How many of 100 studies have the true mean in their percentile interval, from so many clusters on: simulated, 4,000
# studies each of a mean over normal clusters and of a pass rate over stories with three verdicts.
COVERAGE_FROM = {2: 50, 3: 70, 4: 80, 5: 85, 7: 88, 10: 91, 15: 93}
# Coefficients can hold it less often: of 12 clusters 85 (pairs of raters' r) to 95 % (a judge's rho).
FEW_FOR_COEFFICIENTS, LEAST_COVERAGE = 15, 85
NONE_AGREED = "no unit has the rarer answer twice, so its upper end is that with one more unit that has"
ALIKE = 1e-9


@dataclass(frozen=True)
class Interval:
    """A range in the units of its statistic.

    n_units : what was resampled, stories or groups; for a naive interval the answers
    level : the share of studies whose interval should hold the true value
    note : what a reader must know before believing it; empty if nothing
    n_left_out : resamples in which the statistic has no value
    method : "percentile", "t", "jackknife", "wilson" or "crossed" (other raters, too)
    """

    low: float
    high: float
    n_units: int
    level: float = 0.95
    note: str = ""
    n_left_out: int = 0
    method: str = "percentile"

    def clipped(self, low: float, high: float) -> Interval:
        """The same within the range that the statistic can have."""
        return replace(self, low=min(max(self.low, low), high), high=max(min(self.high, high), low))


def resample_weights(clusters: npt.ArrayLike, *, rng: np.random.Generator, n_resamples: int = 1000) -> IntArray:
    """How often each unit enters each resample, shape (B, U). Whole clusters are drawn with replacement.

    The same weights serve several items, so that the interval of a mean over items is that of joint resamples.

    clusters : label of each unit's cluster, shape (U,)
    Raises Incomputable if there are fewer than two clusters.
    """
    labels, cluster_of_unit = np.unique(np.asarray(clusters), return_inverse=True)
    if len(labels) < 2:
        raise Incomputable("fewer_than_two_clusters")
    return np.asarray(draw_clusters(len(labels), rng, n_resamples)[:, cluster_of_unit], dtype=np.int64)


def draw_clusters(n: int, rng: np.random.Generator, n_resamples: int = 1000) -> FloatArray:
    """How often each of n clusters is drawn in each resample, shape (B, n); not to be written to.

    The last few are kept: of thousands of clusters drawing takes forty times the product with their sums, and most
    intervals of a report are over the same clusters from the same seed. The generator is left as if it had drawn.
    """
    counts, after = _drawn(n, n_resamples, json.dumps(rng.bit_generator.state))
    rng.bit_generator.state = after
    return counts


@lru_cache(maxsize=N_KEPT)
def _drawn(n: int, n_resamples: int, state: str) -> tuple[FloatArray, Mapping[str, Any]]:
    """The draws of a generator of `default_rng` in that state, and its state afterwards."""
    rng = np.random.default_rng()
    rng.bit_generator.state = json.loads(state)
    if n >= MANY_CLUSTERS:
        # Counted draws: the distribution of rng.multinomial, at a tenth of its time where clusters are many.
        counts = np.empty((n_resamples, n))
        for start in range(0, n_resamples, DRAWN_AT_ONCE):
            some = counts[start : start + DRAWN_AT_ONCE]
            drawn = rng.integers(n, size=some.shape)
            drawn += n * np.arange(len(some))[:, np.newaxis]
            some[:] = np.bincount(drawn.ravel(), minlength=some.size).reshape(some.shape)
    else:
        counts = rng.multinomial(n, np.full(n, 1 / n), size=n_resamples).astype(np.float64)
    counts.setflags(write=False)
    return counts, rng.bit_generator.state


def bootstrap(
    statistic: Callable[[IntArray], SupportsFloat],
    clusters: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> Interval:
    """`coefficient_interval` of a statistic that is called with the indices of the resampled units.

    Raises Incomputable if there are fewer than two clusters or no resample gives a value.
    """

    def values(weights: IntArray) -> FloatArray:
        return np.array([_value(statistic, row) for row in weights])

    return coefficient_interval(values, clusters, rng=rng, n_resamples=n_resamples)


def _value(statistic: Callable[[IntArray], SupportsFloat], weights: IntArray) -> float:
    try:
        return float(statistic(np.repeat(np.arange(weights.size), weights)))
    except Incomputable:
        return np.nan


def coefficient_interval(
    resamples: Callable[[IntArray], FloatArray],
    clusters: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> Interval:
    """The 95 % interval of a coefficient, from -1 to 1: percentile, or below 100 clusters the jackknife's.

    resamples : gives the statistic's value under each row of weights, shape (B, U) to (B,); nan where it has none
    Raises Incomputable if there are fewer than two clusters or no value.
    """
    interval = unbounded_interval(resamples, clusters, rng=rng, n_resamples=n_resamples)
    return interval.clipped(-1, 1) if interval.method == "jackknife" else interval


def unbounded_interval(
    resamples: Callable[[IntArray], FloatArray],
    clusters: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> Interval:
    """`coefficient_interval` of a statistic that can have any value, such as a slope.

    Raises Incomputable if there are fewer than two clusters or no value.
    """
    if len(np.unique(np.asarray(clusters))) < ENOUGH_TO_RESAMPLE:
        return jackknife_interval(resamples, clusters)
    weights = resample_weights(clusters, rng=rng, n_resamples=n_resamples)
    return percentile_interval(resamples(weights), clusters)


def jackknife_interval(resamples: Callable[[IntArray], FloatArray], clusters: npt.ArrayLike) -> Interval:
    """The 95 % interval from the statistic without each cluster in turn, with t of one degree less than clusters.

    Raises Incomputable if there are fewer than two clusters, or if the statistic has no value or never another one.
    Source: Efron & Stein 1981, The Jackknife Estimate of Variance, equation 1.4.
    """
    labels, cluster_of_unit = np.unique(np.asarray(clusters), return_inverse=True)
    n = len(labels)
    if n < 2:
        raise Incomputable("fewer_than_two_clusters")
    whole = float(resamples(np.ones((1, cluster_of_unit.size), dtype=np.int64))[0])
    without = resamples((cluster_of_unit != np.arange(n)[:, np.newaxis]).astype(np.int64))
    if np.isnan(whole):
        raise Incomputable("no_resample_with_value")
    if np.isnan(without).any():
        raise Incomputable("no_value_without_a_cluster")
    if np.ptp(without) < ALIKE:
        raise Incomputable("resamples_alike")
    variance = (n - 1) / n * float(((without - without.mean()) ** 2).sum())
    return _t_interval(whole, variance, n, method="jackknife")


def mean_interval(
    values: npt.ArrayLike, clusters: npt.ArrayLike, *, rng: np.random.Generator, n_resamples: int = 1000
) -> Interval:
    """The 95 % interval of the mean of all values, of several items the mean of their means.

    Below 30 clusters t on clusters: of clusters with unequally many values the linearised ratio, which of equally many
    is the t interval of the cluster means. From 30 on percentile. Clusters without a value do not count.

    values : shape (U,), (R, U) or (I, R, U), nan where there is none; items without any are left out
    Raises Incomputable if fewer than two clusters have a value, or if all have the same.
    Source: Cochran 1977, Sampling Techniques, equation 6.13.
    """
    return mean_interval_of_sums(*cluster_sums(values, clusters), rng=rng, n_resamples=n_resamples)


def mean_interval_of_sums(
    sums: FloatArray, counts: IntArray, *, rng: np.random.Generator, n_resamples: int = 1000
) -> Interval:
    """`mean_interval` of values of which `cluster_sums` are there."""
    n = sums.shape[1]
    if n < 2:
        raise Incomputable("fewer_than_two_clusters")
    if n >= ENOUGH_CLUSTERS:
        drawn = draw_clusters(n, rng, n_resamples).T
        # Of thousands of clusters, reading the draws takes most of the time: clusters of one size need it once.
        n_values = n * counts[:, :1] if (counts == counts[:, :1]).all() else counts @ drawn
        means = sums @ drawn / np.where(n_values > 0, n_values, np.nan)
        return percentile_interval(np.asarray(means.mean(axis=0), dtype=np.float64), np.arange(n))
    means = sums.sum(axis=1) / counts.sum(axis=1)
    influence = ((sums - means[:, np.newaxis] * counts) / counts.sum(axis=1, keepdims=True)).mean(axis=0)
    variance = n / (n - 1) * float((influence**2).sum())
    if variance < ALIKE**2:
        raise Incomputable("clusters_alike")
    return _t_interval(float(means.mean()), variance, n)


def cluster_sums(values: npt.ArrayLike, clusters: npt.ArrayLike) -> tuple[FloatArray, IntArray]:
    """Sum and number of the values of each item in each cluster that has any, shapes (I, G).

    values : shape (U,), (R, U) or (I, R, U), nan where there is none; items without any are left out
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim < 3:
        array = array.reshape(1, array.shape[0] if array.ndim == 2 else 1, array.shape[-1])
    labels, cluster_of_unit = np.unique(np.asarray(clusters), return_inverse=True)
    # Item by item, since of a million answers a copy of all takes 80 MB.
    n_by_unit = np.array([np.isfinite(item).sum(axis=0) for item in array], dtype=np.int64)
    by_unit = np.array([np.nansum(item, axis=0) for item in array], dtype=np.float64)
    counts = _by_cluster(n_by_unit, cluster_of_unit, len(labels)).astype(np.int64)
    sums = _by_cluster(by_unit, cluster_of_unit, len(labels))
    has_value = counts.any(axis=0)
    is_answered = counts.any(axis=1)
    return sums[is_answered][:, has_value], counts[is_answered][:, has_value]


def _by_cluster(values: FloatArray | IntArray, cluster_of_unit: IntArray, n_clusters: int) -> FloatArray:
    """Sums over the units of each cluster, shape (I, U) to (I, G)."""
    rows = [np.bincount(cluster_of_unit, row, minlength=n_clusters) for row in values]
    return np.asarray(rows, dtype=np.float64).reshape(len(values), n_clusters)


def t_quantile(share: float, degrees: float) -> float:
    """The quantile of Student's t as `scipy.stats.t.ppf` gives it, without checks that take longer than an interval."""
    return float(stdtrit(degrees, share))


def _t_interval(centre: float, variance: float, n_clusters: int, *, method: str = "t") -> Interval:
    margin = t_quantile(0.975, n_clusters - 1) * variance**0.5
    names = {"t": "t interval", "jackknife": "jackknife interval, leaving out one cluster at a time,"}
    note = f"{names[method]} over {n_clusters} clusters"
    return Interval(centre - margin, centre + margin, n_clusters, note=note, method=method)


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
        less = f", of some coefficients {LEAST_COVERAGE} %" if n_clusters < FEW_FOR_COEFFICIENTS else ""
        notes.append(
            f"only {n_clusters} clusters were resampled, so its real coverage is nearer {coverage} % than 95 %{less}"
        )
    if n_left_out:
        notes.append(f"{n_left_out} of {resamples.size} resamples left out, in which the statistic has no value")
    return Interval(float(low), float(high), n_clusters, note="; ".join(notes), n_left_out=n_left_out)


def fleiss_kappa_resamples(ratings: npt.ArrayLike, weights: IntArray) -> FloatArray:
    """Fleiss' kappa of each resample, shape (B,); nan where all ratings are the same.

    weights : from `resample_weights`, shape (B, U)
    Raises TooFewRaters if no unit has two ratings.
    """
    return sums.kappa_of(weights @ agreement.kappa_parts(ratings))


def weighted_fleiss_resamples(ratings: npt.ArrayLike, points: int, weights: IntArray, *, first: int = 1) -> FloatArray:
    """`agreement.weighted_fleiss` of each resample, shape (B,); nan where all ratings are the same."""
    return sums.kappa_of(weights @ _weighted_parts(ratings, points, first))


def _weighted_parts(ratings: npt.ArrayLike, points: int, first: int) -> FloatArray:
    """What each unit with two ratings or more adds to `agreement.weighted_fleiss`, shape (U, points + 3)."""
    table = agreement.counts(ratings, np.arange(first, first + points))
    pairable = np.where(table.sum(axis=1, keepdims=True) >= 2, table, 0)
    return sums.kappa_parts(pairable, sums.ordinal_kernel(points))


def alpha_resamples(ratings: npt.ArrayLike, level: Level, weights: IntArray) -> FloatArray:
    """Krippendorff's alpha of each resample, shape (B,); nan where all ratings that can be paired are the same."""
    array = as_ratings(ratings)
    return _alphas(array, level, weights @ _alpha_parts(array, level))


def _alpha_parts(ratings: FloatArray, level: Level) -> FloatArray:
    """What each unit adds to Krippendorff's alpha, shape (U, P)."""
    if level == "interval":
        return sums.interval_parts_of(ratings)
    return sums.alpha_parts(agreement.counts(ratings, values_of(ratings)))


def _alphas(ratings: FloatArray, level: Level, totals: FloatArray) -> FloatArray:
    """The alphas of sums of such parts, shape (B, P) to (B,)."""
    if level == "interval":
        return sums.interval_alpha_of(totals)
    values = values_of(ratings)
    return sums.alpha_of(totals.reshape(len(totals), len(values), len(values)), values, level)


def interval_of_sums(
    compute: Callable[[FloatArray], FloatArray],
    parts: FloatArray,
    clusters: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int,
    is_bounded: bool = True,
) -> Interval:
    """`coefficient_interval` of a statistic of sums over units, which are added up by cluster before any is drawn.

    compute : the statistic's values from sums, shape (B, P) to (B,); parts : what each unit adds, shape (U, P)
    is_bounded : whether it lies from -1 to 1; else it is the `unbounded_interval`
    """
    names, cluster_of_unit = np.unique(np.asarray(clusters), return_inverse=True)
    n, by_cluster = len(names), _by_cluster(parts.T, cluster_of_unit, len(names)).T
    if n < ENOUGH_TO_RESAMPLE:
        ends = jackknife_interval(lambda weights: compute(weights @ by_cluster), np.arange(n))
        return ends.clipped(-1, 1) if is_bounded else ends
    # The draws as they are kept: to write them out by unit would take three times as long as the product.
    return percentile_interval(compute(draw_clusters(n, rng, n_resamples) @ by_cluster), np.arange(n))


def fleiss_kappa_interval(
    ratings: npt.ArrayLike, clusters: npt.ArrayLike, *, rng: np.random.Generator, n_resamples: int = 1000
) -> Interval:
    """`bootstrap` of Fleiss' kappa in one matrix product; from the same seed the same to rounding. Where no unit has
    the rarer of two answers twice, no resample has: the upper end is `kappa_with_one_agreed`.
    """
    ends = interval_of_sums(sums.kappa_of, agreement.kappa_parts(ratings), clusters, rng=rng, n_resamples=n_resamples)
    high = agreement.kappa_with_one_agreed(ratings)
    note = "; ".join(filter(None, [ends.note, NONE_AGREED]))
    return ends if high is None or high <= ends.high else replace(ends, high=high, note=note)


def mean_fleiss_kappa_interval(
    items: Sequence[FloatArray] | FloatArray,
    clusters: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> Interval:
    """The same of the mean of several items' kappas, from joint resamples. items : of each, ratings of shape (R, U)"""
    by_item = [agreement.kappa_parts(ratings) for ratings in items]
    ends = np.cumsum([parts.shape[1] for parts in by_item])[:-1]

    def means(totals: FloatArray) -> FloatArray:
        kappas = [sums.kappa_of(of_item) for of_item in np.split(totals, ends, axis=1)]
        return np.asarray(np.mean(kappas, axis=0), dtype=np.float64)

    return interval_of_sums(means, np.concatenate(by_item, axis=1), clusters, rng=rng, n_resamples=n_resamples)


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
    parts = _weighted_parts(ratings, points, first)
    return interval_of_sums(sums.kappa_of, parts, clusters, rng=rng, n_resamples=n_resamples)


def alpha_interval(
    ratings: npt.ArrayLike, level: Level, clusters: npt.ArrayLike, *, rng: np.random.Generator, n_resamples: int = 1000
) -> Interval:
    """`bootstrap` of Krippendorff's alpha in one matrix product; from the same seed the same to rounding."""
    array = as_ratings(ratings)
    compute = partial(_alphas, array, level)
    return interval_of_sums(compute, _alpha_parts(array, level), clusters, rng=rng, n_resamples=n_resamples)
