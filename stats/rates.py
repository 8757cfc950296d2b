"""How often a test is passed, in percent. Verdicts are 1 (Yes) and 0 (No), nan where there is none."""

import numpy as np
import numpy.typing as npt
from statsmodels.stats.proportion import proportion_confint

from stats.arrays import FloatArray, IntArray, as_ratings
from stats.intervals import Interval, percentile_interval, resample_weights
from stats.reasons import Incomputable


def pass_rate(verdicts: npt.ArrayLike) -> float:
    """100 x Yes / verdicts; a missing verdict is none, not a No. Any shape.

    Raises Incomputable if there are no verdicts.
    """
    array = np.asarray(verdicts, dtype=np.float64)
    n = int((~np.isnan(array)).sum())
    if not n:
        raise Incomputable("no_verdicts")
    return float(100 * np.nansum(array) / n)


def pass_rate_resamples(verdicts: npt.ArrayLike, weights: IntArray) -> FloatArray:
    """The pass rate of each resample, shape (B,); nan where it holds no verdict.

    verdicts : shape (R, U)
    weights : from `intervals.resample_weights`, shape (B, U)
    """
    array = as_ratings(verdicts)
    n = weights @ (~np.isnan(array)).sum(axis=0)
    n_yes = weights @ np.nansum(array, axis=0)
    return np.asarray(100 * n_yes / np.where(n > 0, n, np.nan), dtype=np.float64)


def pass_rate_interval(
    verdicts: npt.ArrayLike, clusters: npt.ArrayLike, *, rng: np.random.Generator, n_resamples: int = 1000
) -> Interval:
    """The 95 % percentile interval of the pass rate, resampling stories, since verdicts on one story hang together.

    Raises Incomputable if there are fewer than two clusters or no verdicts.
    """
    weights = resample_weights(clusters, rng=rng, n_resamples=n_resamples)
    return percentile_interval(pass_rate_resamples(verdicts, weights), clusters)


def wilson(n_yes: int, n: int) -> Interval:
    """Wilson's 95 % interval of a pass rate, in percent, as if every verdict stood alone; its note calls it naive.

    Raises Incomputable if there are no verdicts.
    """
    if not n:
        raise Incomputable("no_verdicts")
    low, high = proportion_confint(n_yes, n, alpha=0.05, method="wilson")
    note = "naive: takes verdicts on one story for independent"
    return Interval(100 * float(low), 100 * float(high), n, note=note)


def totals(verdicts: npt.ArrayLike) -> FloatArray:
    """How many items each rater answered Yes for each unit, from shape (I, R, U) to (R, U).

    nan where a rater left out any item, since a count out of fewer would read as fewer passed.
    """
    return np.asarray(np.asarray(verdicts, dtype=np.float64).sum(axis=0), dtype=np.float64)


def tests_passed(verdicts: npt.ArrayLike) -> FloatArray:
    """How many items each unit passes, from shape (I, R, U) to (U,): the mean of its `totals`, nan without any."""
    by_rater = totals(verdicts)
    n = (~np.isnan(by_rater)).sum(axis=0)
    return np.asarray(np.nansum(by_rater, axis=0) / np.where(n > 0, n, np.nan), dtype=np.float64)
