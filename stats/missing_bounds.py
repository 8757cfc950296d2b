"""Between which values a mean lies, whatever the missing answers would have been."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stats.reasons import Incomputable


@dataclass(frozen=True)
class MeanBounds:
    """The mean over units of the answers that there are, None without any, and its lowest and highest value if each
    missing answer had been the lowest, or the highest, that can be given. Nothing is assumed of why they are missing.

    n_missing, n_expected : answers
    """

    value: float | None
    low: float
    high: float
    n_missing: int
    n_expected: int


def mean_bounds(ratings: npt.ArrayLike, n_expected: npt.ArrayLike, *, bounds: tuple[float, float]) -> MeanBounds:
    """Manski's bounds of the mean over units of their answers' mean.

    ratings : shape (R, U), nan where there is none; n_expected : of each unit how many answers were to be given; where
        there are more, none is missing
    bounds : the lowest and the highest answer, both finite

    Raises Incomputable if nothing was to be given.
    Source: Manski 2003, Partial Identification of Probability Distributions, section 1.2.
    """
    array, planned = np.asarray(ratings, dtype=np.float64), np.asarray(n_expected, dtype=np.int64)
    n, total = np.isfinite(array).sum(axis=0), np.nansum(array, axis=0)
    expected = np.maximum(planned, n)
    is_expected = expected > 0
    if not is_expected.any():
        raise Incomputable("no_answers")
    missing = expected - n
    low, high = (float(((total + missing * end)[is_expected] / expected[is_expected]).mean()) for end in bounds)
    has_answer = n > 0
    value = float((total[has_answer] / n[has_answer]).mean()) if has_answer.any() else None
    return MeanBounds(value, low, high, int(missing.sum()), int(expected.sum()))
