"""How far the raters of a unit are apart: the standard deviations of their ratings."""

import numpy as np
import numpy.typing as npt

from stats.arrays import FloatArray, as_ratings


def standard_deviations(ratings: npt.ArrayLike) -> FloatArray:
    """The standard deviation (n - 1) of each unit's ratings, shape (U,); nan for a unit with fewer than two.

    ratings : shape (R, U), nan where rater r did not judge unit u
    """
    array = as_ratings(ratings)
    present = np.isfinite(array)
    n = present.sum(axis=0)
    means = np.nansum(array, axis=0) / np.where(n > 0, n, np.nan)
    squares = np.where(present, (array - means) ** 2, 0.0).sum(axis=0)
    return np.asarray(np.sqrt(squares / np.where(n > 1, n - 1, np.nan)), dtype=np.float64)
