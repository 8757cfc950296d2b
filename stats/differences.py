"""Whether two groups of values differ, and by how much. Values are one axis each; nan is left out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats as scipy_stats

from stats.agreement import Incomputable
from stats.arrays import FloatArray


@dataclass(frozen=True)
class Difference:
    """A two-sided test of two means. t is positive if the first mean is the larger."""

    t: float
    df: float
    p: float
    name: str


def student(a: npt.ArrayLike, b: npt.ArrayLike) -> Difference:
    """Student's t-test, which takes values to be independent and equally spread in both groups.

    Ratings of one story are not independent: test means of stories, and ratings only to repeat what a paper did.

    Raises Incomputable if a group has fewer than two values or neither varies.
    """
    return _tested(a, b, equal_var=True, name="Student's t-test")


def welch(a: npt.ArrayLike, b: npt.ArrayLike) -> Difference:
    """Welch's t-test, which lets the groups spread differently.

    Raises Incomputable if a group has fewer than two values or neither varies.
    """
    return _tested(a, b, equal_var=False, name="Welch's t-test")


def hedges_g(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """The difference of the means in pooled standard deviations, corrected for small groups.

    Raises Incomputable if a group has fewer than two values or neither varies.
    Source: Hedges 1981, Journal of Educational Statistics 6(2), with the approximate factor 1 - 3 / (4 df - 1).
    """
    first, second = _varying(a, b)
    df = first.size + second.size - 2
    pooled = ((first.size - 1) * first.var(ddof=1) + (second.size - 1) * second.var(ddof=1)) / df
    return float((first.mean() - second.mean()) / np.sqrt(pooled) * (1 - 3 / (4 * df - 1)))


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values of one family of tests, adjusted after Holm 1979, in the order given."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted


def _tested(a: npt.ArrayLike, b: npt.ArrayLike, *, equal_var: bool, name: str) -> Difference:
    first, second = _varying(a, b)
    found = scipy_stats.ttest_ind(first, second, equal_var=equal_var)
    return Difference(float(found.statistic), float(found.df), float(found.pvalue), name)


def _varying(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    first, second = (_present(each) for each in (a, b))
    if min(first.size, second.size) < 2:
        raise Incomputable("A group has fewer than two values.")
    if np.ptp(first) == 0 and np.ptp(second) == 0:
        raise Incomputable("Neither group varies, so there is nothing to compare their difference with.")
    return first, second


def _present(values: npt.ArrayLike) -> FloatArray:
    array = np.asarray(values, dtype=np.float64).ravel()
    return array[~np.isnan(array)]
