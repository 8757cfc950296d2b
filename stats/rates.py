"""How often a test is passed, in percent. Verdicts are 1 (Yes) and 0 (No), nan where there is none."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from statsmodels.stats.proportion import proportion_confint

from stats.arrays import FloatArray, mean_present
from stats.intervals import Interval, cluster_sums, mean_interval_of_sums
from stats.reasons import Incomputable

ENOUGH_WITH_RARER = 3  # clusters with the rarer answer, for an interval on clusters
# Below which a sum is 0, and above one half still one half: which answer is the rarer, and in which clusters it stands,
# must not hang on the order in which the same verdicts were added up.
ROUNDING = 1e-9


def pass_rate(verdicts: npt.ArrayLike) -> float:
    """100 x Yes / verdicts; a missing verdict is none, not a No. Any shape.

    Raises Incomputable if there are no verdicts.
    """
    array = np.asarray(verdicts, dtype=np.float64)
    n = int((~np.isnan(array)).sum())
    if not n:
        raise Incomputable("no_verdicts")
    return float(100 * np.nansum(array) / n)


def pass_rate_interval(
    verdicts: npt.ArrayLike, clusters: npt.ArrayLike, *, rng: np.random.Generator, n_resamples: int = 1000
) -> Interval:
    """The 95 % interval of the pass rate, of several items of their mean, in percent.

    `intervals.mean_interval`, or Wilson's with clusters for verdicts where the rate is 0 or 100 % or the rarer answer
    stands in fewer than three clusters: what does not vary cannot tell how much other stories would.

    verdicts : shape (U,), (R, U) or (I, R, U)
    Raises Incomputable if fewer than two clusters have a verdict.
    """
    sums, counts = cluster_sums(verdicts, clusters)
    n_clusters = sums.shape[1]
    if n_clusters < 2:
        raise Incomputable("fewer_than_two_clusters")
    rate = float((sums.sum(axis=1) / counts.sum(axis=1)).mean())
    rarer = sums if rate <= 0.5 + ROUNDING else counts - sums
    if (rarer > ROUNDING).any(axis=0).sum() < ENOUGH_WITH_RARER:
        low, high = proportion_confint(rate * n_clusters, n_clusters, alpha=0.05, method="wilson")
        note = f"Wilson interval over {n_clusters} clusters, since fewer than 3 hold the rarer answer"
        # Rounding leaves 1e-15 where the end is 0 or 100.
        return Interval(100 * float(low), 100 * float(high), n_clusters, note=note, method="wilson").clipped(0, 100)
    return mean_interval_of_sums(100 * sums, counts, rng=rng, n_resamples=n_resamples).clipped(0, 100)


def percent_interval(
    percents: npt.ArrayLike, clusters: npt.ArrayLike, *, rng: np.random.Generator, n_resamples: int = 1000
) -> Interval:
    """`pass_rate_interval` of the mean of shares in percent, such as a story's: the same mean has the same interval.

    percents : shape (U,), (R, U) or (I, R, U), nan where there is none
    """
    return pass_rate_interval(np.asarray(percents, dtype=np.float64) / 100, clusters, rng=rng, n_resamples=n_resamples)


def passed_interval(
    passed: npt.ArrayLike,
    n_items: int,
    clusters: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> Interval:
    """`pass_rate_interval` of the mean of `tests_passed`, in tests: that of the pass rate times the number of tests."""
    shares = np.asarray(passed, dtype=np.float64) / n_items
    ends = pass_rate_interval(shares, clusters, rng=rng, n_resamples=n_resamples)
    return replace(ends, low=ends.low * n_items / 100, high=ends.high * n_items / 100)


def wilson(n_yes: int, n: int) -> Interval:
    """Wilson's 95 % interval of a pass rate, in percent, as if every verdict stood alone; its note calls it naive.

    Raises Incomputable if there are no verdicts.
    """
    if not n:
        raise Incomputable("no_verdicts")
    low, high = proportion_confint(n_yes, n, alpha=0.05, method="wilson")
    note = "naive: takes verdicts on one story for independent"
    return Interval(100 * float(low), 100 * float(high), n, note=note, method="wilson")


def totals(verdicts: npt.ArrayLike) -> FloatArray:
    """How many items each rater answered Yes for each unit, from shape (I, R, U) to (R, U).

    nan where a rater left out any item, since a count out of fewer would read as fewer passed.
    """
    return np.asarray(np.asarray(verdicts, dtype=np.float64).sum(axis=0), dtype=np.float64)


def tests_passed(verdicts: npt.ArrayLike) -> FloatArray:
    """How many items each unit passes, from shape (I, R, U) to (U,): the mean of its `totals`, nan without any."""
    return mean_present(totals(verdicts), axis=0)
