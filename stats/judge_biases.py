"""Where a judge's answers go by something else than the story's worth: its length, its author's family, a habit.

Each is a difference or a slope with its interval over clusters; the same for people is given beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stats import intervals
from stats.arrays import BoolArray, FloatArray, mean_present
from stats.intervals import Interval
from stats.reasons import Incomputable, value_or_reason


@dataclass(frozen=True)
class Slope:
    """How much more an answer is for a story twice as long, at equal ratings of the others.

    judge : given the mean of all people; people : the mean of each person's own, given the mean of the others; nan
        where nobody has one
    """

    judge: float
    people: float
    interval: Interval | Incomputable
    n_units: int
    n_people: int


@dataclass(frozen=True)
class BiasDifference:
    """A difference of means with its interval. n_first, n_second : what each mean rests on"""

    value: float
    interval: Interval | Incomputable
    n_first: int
    n_second: int


def verbosity(
    judge: npt.ArrayLike,
    people: npt.ArrayLike,
    words: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> Slope:
    """The slope of a judge's answers on the logarithm of the words, people's ratings held equal.

    By least squares with the items' own levels taken off. Per doubling of the length.

    judge : shape (I, U); people : (I, R, U); words : (U,)
    Raises Incomputable if too few units have all three, or lengths or ratings do not vary.
    """
    answers, ratings = np.asarray(judge, dtype=np.float64), np.asarray(people, dtype=np.float64)
    lengths = np.log2(np.asarray(words, dtype=np.float64))
    means = mean_present(ratings, axis=1)
    labels = np.asarray(clusters)
    parts = _slope_parts(answers, means, lengths)
    value = _whole(_slopes, parts)
    if np.isnan(value):
        raise Incomputable("lengths_or_ratings_alike")
    own = [_own_slope(ratings, row, lengths) for row in range(ratings.shape[1])]
    has_own = [slope for slope in own if not np.isnan(slope)]
    compared = np.isfinite(answers) & np.isfinite(means)
    return Slope(
        judge=value,
        people=float(np.mean(has_own)) if has_own else float("nan"),
        interval=_ends(_slopes, parts, labels, compared, rng, n_resamples),
        n_units=int(compared.any(axis=0).sum()),
        n_people=len(has_own),
    )


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


def _own_slope(ratings: FloatArray, row: int, lengths: FloatArray) -> float:
    # Of hundreds of raters each has rated few units: only these are looked at.
    is_rated = np.isfinite(ratings[:, row]).any(axis=0)
    own, others = ratings[:, row, is_rated], np.delete(ratings[:, :, is_rated], row, axis=1)
    if not others.shape[1]:
        return float("nan")
    return _whole(_slopes, _slope_parts(own, mean_present(others, axis=1), lengths[is_rated]))


def _slope_parts(answers: FloatArray, means: FloatArray, lengths: FloatArray) -> FloatArray:
    """What each unit adds to the sums of which `_slopes` are, of all items beside each other, shape (U, 9 × I).

    answers, means : shape (I, U); lengths : (U,)
    """
    parts = []
    for own, of_people in zip(answers, means, strict=True):
        present = np.isfinite(own) & np.isfinite(of_people) & np.isfinite(lengths)
        x, z, y = (np.where(present, values, 0.0) for values in (lengths, of_people, own))
        parts += [present.astype(np.float64), x, z, y, x * x, z * z, x * z, x * y, z * y]
    return np.stack(parts, axis=1)


def _slopes(sums: FloatArray) -> FloatArray:
    """The coefficient of the length beside that of the means, items' levels taken off, shape (B, 9 × I) to (B,)."""
    n, x, z, y, *products = np.moveaxis(sums.reshape(len(sums), -1, 9), -1, 0)
    means = [(x, x), (z, z), (x, z), (x, y), (z, y)]
    safe = np.where(n > 0, n, np.nan)
    within = (np.nan_to_num(of_both - a * b / safe) for of_both, (a, b) in zip(products, means, strict=True))
    xx, zz, xz, xy, zy = (of_items.sum(axis=1) for of_items in within)
    # Where the ratings of people do not vary, there is nothing to hold equal.
    room = np.where(zz > 1e-9, xx * zz - xz**2, xx)
    above = np.where(zz > 1e-9, xy * zz - zy * xz, xy)
    return np.asarray(above / np.where(room > 1e-9 * np.maximum(xx * np.maximum(zz, 1), 1e-9), room, np.nan))
