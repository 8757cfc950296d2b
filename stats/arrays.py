"""The arrays that statistics take and give. Ratings have shape (R raters, U units), nan where there is none."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


def as_ratings(ratings: npt.ArrayLike) -> FloatArray:
    """The ratings as a float array of shape (R, U).

    Raises ValueError for any other number of axes.
    """
    array = np.asarray(ratings, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"Ratings have two axes, raters and units; these have {array.ndim}.")
    return array


def without_gaps(ratings: FloatArray) -> FloatArray:
    """The ratings of each unit from the first row on, in the order of raters, shape (R, U) to (K, U).

    K is the most that a unit has. Of many raters of few units each nearly all would be gaps.
    """
    units, raters = np.nonzero(~np.isnan(ratings.T))
    n = np.bincount(units, minlength=ratings.shape[1])
    places = np.arange(len(units)) - np.repeat(np.cumsum(n) - n, n)
    dense = np.full((int(n.max(initial=0)), ratings.shape[1]), np.nan)
    dense[places, units] = ratings[raters, units]
    return dense


def select_units(values: FloatArray, is_kept: BoolArray) -> FloatArray:
    """The units, which are the last axis, where `is_kept`; of all no copy, which of a million answers takes 60 MB."""
    return values if is_kept.all() else values[..., is_kept]


def values_of(ratings: FloatArray) -> FloatArray:
    """The different values among the ratings, ascending."""
    return np.unique(ratings[~np.isnan(ratings)])


def mean_present(values: npt.ArrayLike, axis: int | tuple[int, ...]) -> FloatArray:
    """The mean along that axis, or those, of the values that are there, whose other axes stay; nan where none is."""
    array = np.asarray(values, dtype=np.float64)
    n = (~np.isnan(array)).sum(axis=axis)
    return np.asarray(np.nansum(array, axis=axis) / np.where(n > 0, n, np.nan), dtype=np.float64)


def as_pairs(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """The two columns without the positions where either is missing.

    Raises ValueError unless both are one axis of the same length.
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(f"Two columns of one length are compared, not shapes {first.shape} and {second.shape}.")
    present = ~np.isnan(first) & ~np.isnan(second)
    return first[present], second[present]


def without_noise(values: FloatArray) -> FloatArray:
    """The values rounded where two that arithmetic makes equal may differ in their last bits, before they are ranked:
    33.333 less 66.667 and 66.667 less 33.333 are as far from 0. To 11 digits of the largest; same shape."""
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    return values if largest == 0 else np.round(values / largest, 11)
