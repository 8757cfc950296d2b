"""What a judge does otherwise where it is right or wrong, and where it reads again. What it goes by beside the story's
worth, such as its length, stands in `stats.trait_effects`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stats import intervals
from stats.arrays import BoolArray, FloatArray
from stats.intervals import Interval
from stats.reasons import Incomputable, value_or_reason


@dataclass(frozen=True)
class BiasDifference:
    """A difference of means with its interval. n_first, n_second : what each mean rests on"""

    value: float
    interval: Interval | Incomputable
    n_first: int
    n_second: int


def difference(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> BiasDifference:
    """The mean of the first values less that of the second, both of shape (I, U), nan where there is none.

    Raises Incomputable if either has no value.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    labels = np.asarray(clusters)
    n_first, n_second = int(np.isfinite(a).sum()), int(np.isfinite(b).sum())
    if not n_first or not n_second:
        raise Incomputable("group_too_small")

    parts = np.stack(
        [part for values in (a, b) for part in (np.nansum(values, axis=0), np.isfinite(values).sum(axis=0))]
    )
    ends = _ends(_differences, parts.T, labels, np.isfinite(a) | np.isfinite(b), rng, n_resamples)
    return BiasDifference(_whole(_differences, parts.T), ends, n_first, n_second)


def repeat_variances(readings: npt.ArrayLike) -> FloatArray:
    """The variance of a judge's answers to each question read again, shape (N,); nan where it has one answer only.

    readings : shape (K readings, N questions), nan where there is none
    Raises Incomputable if nothing was read twice.
    """
    values = np.asarray(readings, dtype=np.float64)
    n = np.isfinite(values).sum(axis=0)
    if not (n > 1).any():
        raise Incomputable("nothing_read_twice")
    n_several = np.where(n > 1, n, np.nan)
    squares = np.nansum((values - np.nansum(values, axis=0) / n_several) ** 2, axis=0)
    return np.asarray(squares / (n_several - 1), dtype=np.float64)


def _whole(compute: Callable[[FloatArray], FloatArray], parts: FloatArray) -> float:
    """The statistic of all units."""
    return float(compute(parts.sum(axis=0, keepdims=True))[0])


def _ends(
    compute: Callable[[FloatArray], FloatArray],
    parts: FloatArray,
    labels: npt.NDArray[np.str_],
    compared: BoolArray,
    rng: np.random.Generator,
    n_resamples: int,
) -> Interval | Incomputable:
    """The interval over the clusters that hold anything compared, of a statistic of sums.

    compute, parts : as `intervals.interval_of_sums` takes them
    """
    units = np.asarray(compared.any(axis=0))
    return value_or_reason(
        lambda: intervals.interval_of_sums(
            compute, parts[units], labels[units], rng=rng, n_resamples=n_resamples, is_bounded=False
        )
    )


def _differences(sums: FloatArray) -> FloatArray:
    """The mean of the first less that of the second, from sum and number of each, shape (B, 4) to (B,)."""
    totals, n = sums[:, ::2], sums[:, 1::2]
    first, second = (totals / np.where(n > 0, n, np.nan)).T
    return np.asarray(first - second)
