"""The restricted likelihood of a linear mixed model with crossed parts, one of which may have ten thousand units.

That one is swept out in closed form, so that an evaluation costs by the number of the other columns and not by that of
values. Source: Searle, Casella & McCulloch 1992, Variance Components, chapter 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import linalg, optimize, sparse

from stats.arrays import FloatArray, IntArray
from stats.reasons import Incomputable

SWEPT = "story"
# Standard deviations in those of the rest: one below the least is 0, none is looked for above the most.
LEAST, MOST, FIRST = 1e-3, 100.0, 0.5
ROUNDING = 1e-12  # of the sum of squares, below which nothing is left of it


def dummies(places: IntArray) -> sparse.csr_array:
    """A column of ones and zeros for each number, shape (N, K)."""
    n = len(places)
    return sparse.csr_array((np.ones(n), (np.arange(n), places)), shape=(n, int(places.max(initial=-1)) + 1))


@dataclass(frozen=True)
class Evaluation:
    """The likelihood at some ratios, with what follows from it.

    factor : the lower Cholesky factor of the inner products of drawn and fixed columns and values, Q + P + 1 square
    scales : the ratio of each drawn column, shape (Q,); log_swept : the log determinant of what is swept out
    """

    factor: FloatArray
    scales: FloatArray
    log_swept: float
    degrees: int

    def deviance(self, sigma: float | None = None) -> float:
        """-2 log of the restricted likelihood, but for a constant; of the likeliest sigma unless said."""
        diagonal = np.diag(self.factor)
        log_all = self.log_swept + 2 * float(np.log(diagonal[:-1]).sum())
        rest = float(diagonal[-1] ** 2)
        if sigma is None:
            return log_all + self.degrees * float(np.log(rest))
        return log_all + self.degrees * float(np.log(sigma**2)) + rest / sigma**2

    @property
    def sigma(self) -> float:
        """The likeliest standard deviation of the rest."""
        return float(self.factor[-1, -1] / self.degrees**0.5)

    @property
    def effects(self) -> FloatArray:
        """The fixed effects, shape (P,)."""
        of_fixed, of_values = self.factor[self._fixed, self._fixed], self.factor[-1, self._fixed]
        return np.asarray(linalg.solve_triangular(of_fixed, of_values, lower=True, trans="T"), dtype=np.float64)

    @property
    def covariance(self) -> FloatArray:
        """Of the fixed effects, in squared standard deviations of the rest, shape (P, P)."""
        of_fixed = self.factor[self._fixed, self._fixed]
        inverse = linalg.solve_triangular(of_fixed, np.eye(len(of_fixed)), lower=True)
        return np.asarray(inverse.T @ inverse, dtype=np.float64)

    def variance(self, fixed: FloatArray, drawn: FloatArray) -> float:
        """Of a sum of fixed effects, (P,), and of drawn ones, (Q,), which are predicted, in the same unit."""
        row = np.concatenate([drawn * self.scales, fixed])
        half = linalg.solve_triangular(self.factor[:-1, :-1], row, lower=True, check_finite=False)
        return float(half @ half)

    @property
    def _fixed(self) -> slice:
        return slice(len(self.scales), -1)


class RestrictedLikelihood:
    """The restricted likelihood of standard deviations, each as its ratio to that of the rest."""

    def __init__(
        self, values: FloatArray, fixed: sparse.csr_array, drawn: Mapping[str, sparse.csr_array], swept: IntArray
    ) -> None:
        """Columns have shape (N, K).

        drawn : of each part its columns; swept : the number of each value's unit of the part that is swept out
        Raises ValueError unless there are more values than fixed columns, and Incomputable if the fixed columns explain
        all values but for rounding.
        """
        self._degrees = len(values) - int(fixed.shape[1])
        if self._degrees <= 0:
            raise ValueError(f"{fixed.shape[1]} fixed columns take all {len(values)} values.")
        self._n_by_part = {part: int(columns.shape[1]) for part, columns in drawn.items()}
        columns = sparse.hstack([*drawn.values(), fixed, sparse.csr_array(values[:, np.newaxis])], format="csr")
        self._products = (columns.T @ columns).toarray()
        of_unit = sparse.csr_array(dummies(swept).T @ columns)
        n_by_unit = np.bincount(swept)
        # Units of as many values are swept out alike.
        self._swept = [
            (int(n), int((n_by_unit == n).sum()), (rows.T @ rows).toarray())
            for n in np.unique(n_by_unit)
            for rows in [of_unit[np.flatnonzero(n_by_unit == n)]]
        ]
        if self.at({}).factor[-1, -1] ** 2 <= ROUNDING * self._products[-1, -1]:
            raise Incomputable("values_explained")

    def at(self, ratios: Mapping[str, float]) -> Evaluation:
        """The likelihood where parts have these ratios, and 0 those that are not named.

        Raises Incomputable if nothing is left of the values beside what is fixed.
        """
        products, log_swept = self._products.copy(), 0.0
        ratio = ratios.get(SWEPT, 0.0) ** 2
        for n, n_units, of_sums in self._swept if ratio else ():
            products -= ratio / (1 + n * ratio) * of_sums
            log_swept += n_units * float(np.log1p(n * ratio))
        scales = np.repeat([ratios.get(part, 0.0) for part in self._n_by_part], list(self._n_by_part.values()))
        n_drawn = len(scales)
        products[:n_drawn] *= scales[:, np.newaxis]
        products[:, :n_drawn] *= scales
        products[range(n_drawn), range(n_drawn)] += 1.0
        try:
            factor = linalg.cholesky(products, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError as error:
            raise Incomputable("values_explained") from error
        return Evaluation(factor, scales, log_swept, self._degrees)

    def maximise(self, parts: Sequence[str]) -> dict[str, float]:
        """The likeliest ratios by part; those that come out as 0 are left out."""
        while parts:
            optimum = optimize.minimize(
                partial(self._deviance, parts),
                np.full(len(parts), FIRST),
                method="L-BFGS-B",
                bounds=[(0.0, MOST)] * len(parts),
                options={"ftol": 1e-14, "gtol": 1e-8},
            )
            ratio_by_part = dict(zip(parts, optimum.x.tolist(), strict=True))
            parts = [part for part, ratio in ratio_by_part.items() if ratio >= LEAST]
            if len(parts) == len(ratio_by_part):
                return ratio_by_part
        return {}

    def _deviance(self, parts: Sequence[str], ratios: FloatArray) -> float:
        return self.at(dict(zip(parts, ratios.tolist(), strict=True))).deviance()
