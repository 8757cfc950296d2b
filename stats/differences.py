"""Whether two groups of values differ, and by how much. Values are one axis each; nan is left out."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats as scipy_stats

from stats.arrays import FloatArray, without_noise
from stats.reasons import Incomputable


@dataclass(frozen=True)
class Difference:
    """A two-sided test of two means. t is positive if the first mean is the larger.

    difference : the first mean less the second; error : its standard error
    """

    t: float
    df: float
    p: float
    name: str
    difference: float
    error: float

    def ends(self, level: float) -> tuple[float, float]:
        """Both ends of the interval of the difference of the means."""
        margin = float(scipy_stats.t.ppf((1 + level) / 2, self.df)) * self.error
        return self.difference - margin, self.difference + margin


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


def _tested(a: npt.ArrayLike, b: npt.ArrayLike, *, equal_var: bool, name: str) -> Difference:
    first, second = _varying(a, b)
    n, m = first.size, second.size
    one, other = float(first.var(ddof=1)), float(second.var(ddof=1))
    if equal_var:
        df = float(n + m - 2)
        variance = ((n - 1) * one + (m - 1) * other) / df * (1 / n + 1 / m)
    else:
        variance = one / n + other / m
        df = variance**2 / ((one / n) ** 2 / (n - 1) + (other / m) ** 2 / (m - 1))
    difference, error = float(first.mean() - second.mean()), variance**0.5
    # scipy's own test warns of lost precision where values are nearly alike.
    p = 2 * float(scipy_stats.t.sf(abs(difference) / error, df))
    return Difference(difference / error, df, p, name, difference, error)


def _varying(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    first, second = (_present(values) for values in (a, b))
    if min(first.size, second.size) < 2:
        raise Incomputable("group_too_small")
    if all(np.ptp(without_noise(values)) == 0 for values in (first, second)):
        raise Incomputable("groups_constant")
    return first, second


def _present(values: npt.ArrayLike) -> FloatArray:
    array = np.asarray(values, dtype=np.float64).ravel()
    return array[~np.isnan(array)]
