"""How exact results will be, before there are any: expected half widths of 95 % intervals under stated assumptions."""

from math import lgamma

import numpy as np
import numpy.typing as npt

from stats.arrays import FloatArray

Z = 1.959963984540054  # the 97.5 % point of the normal distribution


def of_mean(n_units: npt.ArrayLike, n_raters: npt.ArrayLike, *, between: float, within: float) -> FloatArray:
    """Expected half width of the interval of a mean over units, each judged by so many raters.

    between : the variance of units' true values; within : that of one rater's answer about a unit
    Source: the variance of a mean of means in the one-way random effects model, (between + within / raters) / units;
    e.g. Cochran, Sampling Techniques, 1977, chapter 10, without the corrections for finite populations.
    """
    units, raters = np.asarray(n_units, dtype=np.float64), np.asarray(n_raters, dtype=np.float64)
    return np.asarray(Z * np.sqrt((between + within / raters) / units), dtype=np.float64)


def of_difference(n_units: npt.ArrayLike, n_raters: npt.ArrayLike, *, between: float, within: float) -> FloatArray:
    """The same of the difference of two such means of n units each, which are independent.

    Where groups pair the units, what is common to a group drops out, and the interval is narrower than this.
    """
    half = of_mean(n_units, n_raters, between=between, within=within)
    return np.asarray(half * np.sqrt(2.0), dtype=np.float64)


def of_kappa(n_units: int, n_raters: int, *, kappa: float, share: float) -> float:
    """Expected half width of the interval of Fleiss' kappa of a Yes/No question.

    kappa : as it is in truth, between 0 and 1; share : of Yes
    Counts of Yes per unit follow the beta-binomial distribution of that share whose intraclass correlation is kappa;
    the variance is that of the estimator's linear part (delta method).
    For two raters it is the variance of Bloch and Kraemer, 1989, "2 × 2 kappa coefficients", Biometrics 45: 269-287.
    """
    x = np.arange(n_raters + 1)
    weights = _beta_binomial(n_raters, kappa=kappa, share=share)
    variance = 2 * share * (1 - share)
    disagreement = 2 * x * (n_raters - x) / (n_raters * (n_raters - 1))
    expected = float(weights @ disagreement)
    by_disagreement = (disagreement - expected) / variance
    by_share = 2 * expected * (1 - 2 * share) * (x / n_raters - share) / variance**2
    return float(Z * np.sqrt(weights @ (by_disagreement - by_share) ** 2 / n_units))


def _beta_binomial(n: int, *, kappa: float, share: float) -> FloatArray:
    """The probabilities of 0 … n times Yes."""
    total = 1 / kappa - 1
    a, b = share * total, (1 - share) * total
    logs = [_log_choose(n, x) + _log_beta(x + a, n - x + b) - _log_beta(a, b) for x in range(n + 1)]
    return np.exp(np.array(logs, dtype=np.float64))


def _log_choose(n: int, x: int) -> float:
    return lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
