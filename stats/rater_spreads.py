"""How far raters differ in a sum of sources, by what each of them adds to it.

Of three or four raters, what they make of a source comes out as 0 or nearly so in one study of twenty, whatever it is;
an interval for other raters that takes it at its word is far too short then. Here raters are single values, as many as
they are, with Student's t of so many less one: of complete designs the t interval of their own differences.

Sources: Liang & Zeger 1986, Biometrika 73, pp. 13-22; of raters who count unequally the degrees of freedom after Bell &
McCaffrey 2002, Survey Methodology 28, pp. 169-181, where what a rater makes of a source is all that varies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from stats.arrays import FloatArray, IntArray
from stats.model_estimates import ModelEstimate

FEWEST = 1 + 1e-6  # raters that count


@dataclass(frozen=True)
class RaterSpreads:
    """Sums over the answers of each rater, by column of a model.

    rests : of what its fixed effects leave, sparse, (columns, R); numbers : of answers about each source, sparse,
    (columns, R × S); n_sources : S
    """

    rests: Any
    numbers: Any
    n_sources: int

    @classmethod
    def of(cls, columns: Any, rests: FloatArray, rater: IntArray, source: IntArray) -> RaterSpreads:
        """columns : sparse, (N, columns); rests : (N,); rater, source : numbers from 0, (N,)"""
        answers, n_sources = np.arange(len(rests)), int(source.max()) + 1
        n_raters = int(rater.max()) + 1
        of_raters = sparse.csr_array((rests, (answers, rater)), shape=(len(rests), n_raters))
        pairs = rater * n_sources + source
        of_pairs = sparse.csr_array((np.ones(len(rests)), (answers, pairs)), shape=(len(rests), n_raters * n_sources))
        return cls(sparse.csr_array(columns.T @ of_raters), sparse.csr_array(columns.T @ of_pairs), n_sources)

    def estimate(self, value: float, shares: FloatArray) -> ModelEstimate | None:
        """The value with an error by what each rater adds to it; None where it is one rater's, or all add the same.

        shares : how much the answers in each column enter it, (columns,)
        """
        weights = ((shares @ self.numbers).reshape(-1, self.n_sources) ** 2).sum(axis=1)
        return _estimate(value, shares @ self.rests, weights)


def estimate_of_means(value: float, *sides: FloatArray) -> ModelEstimate | None:
    """The same of a mean of clusters' means, or of the first such mean less the second.

    sides : the cells of each, of rater and cluster, shape (R, G), nan where there is none
    """
    added, weights = np.zeros(len(sides[0])), np.zeros(len(sides[0]))
    for sign, cells in zip((1, -1), sides, strict=False):
        n_raters = np.isfinite(cells).sum(axis=0)
        shares = np.isfinite(cells) / np.maximum(n_raters, 1) / np.count_nonzero(n_raters)
        centre = np.nansum(shares * cells)
        added += sign * np.nansum(shares * (cells - centre), axis=1)
        weights += shares.sum(axis=1) ** 2
    return _estimate(value, added, weights)


def _estimate(value: float, added: FloatArray, weights: FloatArray) -> ModelEstimate | None:
    """added : what each rater adds to the value, (R,); weights : how much each counts for, (R,)"""
    n = float(weights.sum() ** 2 / (weights**2).sum())
    variance = float((added**2).sum())
    if n < FEWEST or variance == 0:
        return None
    return ModelEstimate(value, (variance * n / (n - 1)) ** 0.5, max(n - 1, 1.0), basis="of what each rater adds")
