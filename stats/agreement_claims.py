"""What may be said of agreement: that it is beyond chance, and that a part of it is on which stories some wrote."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from stats import agreement, intervals, sums
from stats.arrays import BoolArray, FloatArray, IntArray
from stats.intervals import Interval
from stats.reasons import Incomputable
from stats.sums import Level


def p_of_alpha_above(
    ratings: npt.ArrayLike,
    level: Level,
    clusters: npt.ArrayLike,
    bound: float,
    *,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> float:
    """`p_above` of Krippendorff's alpha, from the resamples of `intervals.alpha_interval` of the same generator.

    Raises what `p_above` raises.
    """

    def resamples(weights: IntArray) -> FloatArray:
        return intervals.alpha_resamples(ratings, level, weights)

    return p_above(resamples, clusters, bound, rng=rng, n_resamples=n_resamples)


def p_above(
    resamples: Callable[[IntArray], FloatArray],
    clusters: npt.ArrayLike,
    bound: float,
    *,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> float:
    """How sure it is that a coefficient lies above a bound: the least error at which its two-sided interval over
    clusters, of the same method and resamples, still does.

    Below 100 clusters twice the tail of t around the jackknife's centre; else twice the share of resamples at or below
    the bound, or without a value, the data themselves counted as one of them: with 1,000 it is .002 at least.

    resamples : gives the statistic's value under each row of weights, shape (B, U) to (B,); nan where it has none
    Raises Incomputable if there are fewer than two clusters, or if the statistic does not vary over them.
    Source: Davison & Hinkley 1997, Bootstrap Methods and their Application, sections 4.4.1 and 5.3.
    """
    n_clusters = len(np.unique(np.asarray(clusters)))
    if n_clusters < intervals.ENOUGH_TO_RESAMPLE:
        ends = intervals.jackknife_interval(resamples, clusters)
        half = (ends.high - ends.low) / 2
        t = ((ends.low + ends.high) / 2 - bound) / half * intervals.t_quantile(0.975, n_clusters - 1)
        return float(min(1.0, 2 * stdtr(n_clusters - 1, -t)))
    values = resamples(intervals.resample_weights(clusters, rng=rng, n_resamples=n_resamples))
    computed = values[~np.isnan(values)]
    if not computed.size or np.ptp(computed) < intervals.ALIKE:
        raise Incomputable("resamples_alike")
    return float(min(1.0, 2 * (1 + (~(values > bound)).sum()) / (1 + values.size)))


def interval_above_part(
    items: Sequence[FloatArray] | FloatArray,
    is_part: BoolArray,
    clusters: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> Interval:
    """The 95 % interval of the mean of several items' kappas over all units, less the same over some of these.

    It is of the difference itself, over clusters that hold both: of two coefficients over the same units, each may lie
    within the interval of the other and yet the one always be larger.

    items : of each, ratings of shape (R, U); is_part : shape (U,)
    Raises TooFewRaters if an item has no unit with two ratings, Incomputable as `intervals.interval_of_sums` does.
    """
    parts = []
    for ratings in items:
        whole = agreement.kappa_parts(ratings)
        parts += [whole, whole * is_part[:, np.newaxis]]
    ends = np.cumsum([part.shape[1] for part in parts])[:-1]

    def differences(totals: FloatArray) -> FloatArray:
        kappas = [sums.kappa_of(part) for part in np.split(totals, ends, axis=1)]
        return np.asarray(np.mean(kappas[::2], axis=0) - np.mean(kappas[1::2], axis=0), dtype=np.float64)

    together = np.concatenate(parts, axis=1)
    return intervals.interval_of_sums(
        differences, together, clusters, rng=rng, n_resamples=n_resamples, is_bounded=False
    )
