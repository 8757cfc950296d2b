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


def values_of(ratings: FloatArray) -> FloatArray:
    """The different values among the ratings, ascending."""
    return np.unique(ratings[~np.isnan(ratings)])


def as_pairs(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """The two columns without the positions where either is missing.

    Raises ValueError unless both are one axis of the same length.
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(f"Two columns of one length are compared, not shapes {first.shape} and {second.shape}.")
    present = ~np.isnan(first) & ~np.isnan(second)
    return first[present], second[present]
