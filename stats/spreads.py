"""How far numbers are apart: their mean, standard deviation and ends; of a unit's ratings the standard deviations."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stats.arrays import FloatArray, as_ratings


@dataclass(frozen=True)
class NumberSummary:
    """Of n numbers the mean, the standard deviation (n - 1), the lowest and the highest; None where n is too small."""

    n: int
    mean: float | None = None
    sd: float | None = None
    lowest: float | None = None
    highest: float | None = None


def summarise(values: npt.ArrayLike) -> NumberSummary:
    """The summary of these numbers, shape (n,), none of them nan."""
    numbers = np.asarray(values, dtype=np.float64)
    if not numbers.size:
        return NumberSummary(0)
    return NumberSummary(
        n=len(numbers),
        mean=float(numbers.mean()),
        sd=float(numbers.std(ddof=1)) if len(numbers) > 1 else None,
        lowest=float(numbers.min()),
        highest=float(numbers.max()),
    )


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
