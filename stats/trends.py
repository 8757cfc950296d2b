"""How an outcome goes with a number known of each unit: Spearman's correlation, its interval, its chance floor."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stats.agreement import Floor, floor_of
from stats.arrays import FloatArray, IntArray, as_pairs
from stats.intervals import Interval, coefficient_interval
from stats.judge_scores import spearmans
from stats.reasons import Incomputable


@dataclass(frozen=True)
class Trend:
    """rho : Spearman's correlation over units, ties at their mid-rank"""

    rho: float
    n_units: int
    interval: Interval | Incomputable
    floor: Floor


def trend(
    numbers: npt.ArrayLike,
    values: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = 1000,
    n_shuffles: int = 1000,
) -> Trend:
    """Spearman's rho of the values with the numbers, over the units that have both.

    The interval is over clusters; the floor shuffles the numbers over the units.

    numbers, values : shape (U,), nan where there is none
    Raises Incomputable if fewer than two units have both, or if either does not vary.
    """
    number_array = np.asarray(numbers, dtype=np.float64)
    has_both = np.isfinite(number_array) & np.isfinite(np.asarray(values, dtype=np.float64))
    x, y = as_pairs(numbers, values)
    if x.size < 2:
        raise Incomputable("fewer_than_two_pairs")
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        raise Incomputable("one_side_constant")
    labels = np.asarray(clusters)[has_both]
    ends: Interval | Incomputable

    def resamples(weights: IntArray) -> FloatArray:
        return spearmans(x[np.newaxis], y, weights.astype(np.float64))

    try:
        ends = coefficient_interval(resamples, labels, rng=rng, n_resamples=n_resamples)
    except Incomputable as error:
        ends = error
    whole = np.ones((1, x.size))
    shuffled = rng.permuted(np.repeat(x[np.newaxis], n_shuffles, axis=0), axis=1)
    floor = floor_of(spearmans(shuffled, y, np.ones_like(shuffled)))
    return Trend(rho=float(spearmans(x[np.newaxis], y, whole)[0]), n_units=int(x.size), interval=ends, floor=floor)
