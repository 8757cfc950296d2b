"""The equations of a linear mixed model with crossed parts, one of which may have ten thousand units.

That one is swept out in closed form, with the one that it is nested in, so that their inverse costs by the number of
the other columns and not by that of values.

Sources: Henderson's equations, as in Searle, Casella & McCulloch 1992, Variance Components, chapter 7, with drawn
effects in their own standard deviations: Bates, Mächler, Bolker & Walker 2015, Journal of Statistical Software 67(1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import linalg, sparse

from stats.arrays import BoolArray, FloatArray, IntArray

Columns: TypeAlias = Any  # a plain or a sparse array, whichever is faster
# Plain arrays are faster than sparse ones where there are few entries, and up to more where not nearly all are 0.
FEW, MOST_DENSE, SPARSE = 30_000, 4_000_000, 0.05
N_KEPT = 2


@dataclass(frozen=True)
class ModelPart:
    """Columns of ones and zeros, of which each value is in one.

    places : the column of each value, shape (N,)
    has_effect : shape (K,); not so of fixed columns that say nothing that others do not
    """

    name: str
    places: IntArray
    has_effect: BoolArray
    is_drawn: bool

    @property
    def n(self) -> int:
        return len(self.has_effect)


class CrossedColumns:
    """The columns of all parts with their inner products: what values on the same design share.

    They stand in this order: those of `fine`, which is drawn, those of `coarse`, in which it is nested, and the others.
    """

    def __init__(self, parts: Sequence[ModelPart], *, fine: ModelPart, coarse: ModelPart | None) -> None:
        """`fine` and `coarse` are among the parts, and are swept out."""
        n = len(fine.places)
        nothing = ModelPart("nothing", np.zeros(n, dtype=np.int64), np.zeros(1, dtype=np.bool_), is_drawn=False)
        self.fine, self.coarse = fine, coarse or nothing
        self.others = [part for part in parts if part is not fine and part is not coarse]
        ordered = [self.fine, self.coarse, *self.others]
        self.place_by_part: dict[str, slice] = {}
        self.n_columns = 0
        for part in ordered:
            self.place_by_part[part.name] = slice(self.n_columns, self.n_columns + part.n)
            self.n_columns += part.n
        self.drawn = tuple(part.name for part in parts if part.is_drawn)
        self.n_fixed = sum(int(part.has_effect.sum()) for part in parts if not part.is_drawn)
        self.has_effect = np.concatenate([part.has_effect for part in ordered]).astype(np.float64)
        # A column without effect has an equation of its own, by which it is 0.
        self.prior = np.concatenate([np.where(part.has_effect, float(part.is_drawn), 1.0) for part in ordered])
        self.columns = sparse.hstack([_dummies(part.places, part.n) for part in ordered], format="csr")
        self.fine_columns, self.coarse_columns = slice(0, fine.n), slice(fine.n, fine.n + self.coarse.n)
        self.other_columns = slice(fine.n + self.coarse.n, self.n_columns)
        others = self.columns[:, self.other_columns]
        self.products = (others.T @ others).toarray()
        self.n_by_fine = np.bincount(fine.places, minlength=fine.n)
        self.coarse_of_fine = np.zeros(fine.n, dtype=np.int64)
        self.coarse_of_fine[fine.places] = self.coarse.places
        crossed = [
            sparse.csr_array(self.columns[:, part].T @ others) for part in (self.fine_columns, self.coarse_columns)
        ]
        n_entries = (fine.n + self.coarse.n) * max(others.shape[1], self.coarse.n)
        is_full = sum(part.nnz for part in crossed) > SPARSE * n_entries
        is_dense = n_entries <= (MOST_DENSE if is_full else FEW)
        members = _dummies(self.coarse_of_fine, self.coarse.n)
        self.fine_crossed, self.coarse_crossed = [part.toarray() if is_dense else part for part in crossed]
        self.members: Columns = members.toarray() if is_dense else members
        self.gathers: Columns = self.members.T if is_dense else sparse.csr_array(members.T)
        self._inverses: dict[tuple[tuple[str, float], ...], CrossedInverse] = {}

    def invert(self, ratio_by_part: Mapping[str, float]) -> CrossedInverse:
        """The inverse at these ratios. The first two that are asked for are kept: with them every fit on the design
        begins.

        Raises LinAlgError where fixed columns say what others do.
        """
        key = tuple(ratio_by_part.items())
        inverse = self._inverses.get(key) or CrossedInverse(self, ratio_by_part)
        if len(self._inverses) < N_KEPT:
            self._inverses[key] = inverse
        return inverse


@dataclass(frozen=True)
class Squares:
    """Of the identity less the inverse, by pairs of drawn parts: traces, (K,), and sums of squared entries, (K, K)."""

    traces: FloatArray
    sums: FloatArray


class CrossedInverse:
    """The inverse of the equations where parts have these standard deviations, in those of the rest, and others 0.

    scales : of each column; log_determinant : of the equations
    """

    def __init__(self, design: CrossedColumns, ratio_by_part: Mapping[str, float]) -> None:
        """Raises LinAlgError where fixed columns say what others do."""
        self.design = design
        self.scales = design.has_effect.copy()
        for name in design.drawn:
            self.scales[design.place_by_part[name]] *= ratio_by_part.get(name, 0.0)
        fine, coarse, others = self._parted(self.scales)
        _of_fine, prior_of_coarse, prior_of_others = self._parted(design.prior)
        by_fine = 1 + fine**2 * design.n_by_fine
        left = np.bincount(design.coarse_of_fine, design.n_by_fine / by_fine, minlength=len(coarse))
        by_coarse = prior_of_coarse + coarse**2 * left
        self._fine, self._coarse = 1 / by_fine, 1 / by_coarse
        self._shares = fine * design.n_by_fine * coarse[design.coarse_of_fine] / by_fine
        self._fine_crossed = _times(fine, design.fine_crossed, others)
        self._coarse_crossed = _times(coarse, design.coarse_crossed, others)
        self._coarse_folds = self._swept_coarse(self._fine_crossed, self._coarse_crossed)
        self._fine_folds = self._swept_fine(self._fine_crossed, self._coarse_folds)
        equations = design.products * others[:, np.newaxis] * others
        equations -= _dense(self._fine_crossed.T @ self._fine_folds + self._coarse_crossed.T @ self._coarse_folds)
        equations[np.diag_indices_from(equations)] += prior_of_others
        # Columns that are scaled to 0 have the identity as their inverse, which need not be computed.
        is_scaled = others > 0
        self._inner = np.eye(len(others))
        place = slice(None) if is_scaled.all() else np.ix_(is_scaled, is_scaled)
        self._inner[place], log_of_others = _inverse(equations[place])
        self.log_determinant = float(np.log(by_fine).sum() + np.log(by_coarse).sum()) + log_of_others
        self._squares: dict[tuple[str, ...], Squares] = {}

    def solve(self, row: FloatArray) -> FloatArray:
        """The inverse times the row, shape (columns,) both."""
        of_fine, of_coarse, of_others = self._parted(row)
        coarse = self._swept_coarse(of_fine, of_coarse)
        fine = self._swept_fine(of_fine, coarse)
        others = self._inner @ (of_others - self._fine_crossed.T @ fine - self._coarse_crossed.T @ coarse)
        return np.concatenate([fine - self._fine_folds @ others, coarse - self._coarse_folds @ others, others])

    def squares(self, names: tuple[str, ...]) -> Squares:
        """Of the drawn parts."""
        if names not in self._squares:
            self._squares[names] = self._compute_squares(names)
        return self._squares[names]

    def _compute_squares(self, names: Sequence[str]) -> Squares:
        swept = {self.design.fine.name: self._fine_folds, self.design.coarse.name: self._coarse_folds}
        products = {name: _dense(swept[name].T @ swept[name]) for name in names if name in swept}
        turned = {name: self._inner @ product for name, product in products.items()}
        sums = np.empty((len(names), len(names)))
        for i, one in enumerate(names):
            for j, other in enumerate(names[: i + 1]):
                sums[i, j] = sums[j, i] = self._sum_of_squares(one, other, turned)
        places = [self.design.place_by_part[name] for name in names]
        n = np.array([place.stop - place.start for place in places])
        traces = n - np.array([self._trace(name, products) for name in names])
        return Squares(traces, sums + np.diag(2 * traces - n))

    def _trace(self, name: str, products: Mapping[str, FloatArray]) -> float:
        """Of a part's block of the inverse."""
        if name in products:
            return self._own_trace(name) + float(np.vdot(self._inner, products[name]))
        place = self._inner_place(name)
        return float(np.trace(self._inner[place, place]))

    def _sum_of_squares(self, one: str, other: str, turned: Mapping[str, FloatArray]) -> float:
        """Of the entries of the inverse in rows of one part and columns of another."""
        if one in turned and other in turned:
            return self._own_squares(one, other) + float(np.vdot(turned[one], turned[other].T))
        if one in turned:
            one, other = other, one
        rows = self._inner_place(one)
        if other in turned:
            return float(np.vdot(turned[other][rows], self._inner[rows]))
        return float((self._inner[rows, self._inner_place(other)] ** 2).sum())

    def _own_trace(self, name: str) -> float:
        """Of a swept part's block of the inverse, but for what comes by the other columns."""
        if name == self.design.coarse.name:
            return float(self._coarse.sum())
        return float(self._fine.sum() + (self._shares**2 * self._coarse_by_fine).sum())

    def _own_squares(self, one: str, other: str) -> float:
        """The sum of squares of a block of swept parts, but for what comes by the other columns twice."""
        shares, by_coarse = self._shares, self._coarse
        gathered = self.design.gathers @ _times(shares, self._fine_folds)
        if one != other:
            own = (shares**2 * self._coarse_by_fine**2).sum()
            crossed = -_dense(self._coarse_folds.T @ _times(by_coarse, gathered))
        elif one == self.design.coarse.name:
            own = (by_coarse**2).sum()
            crossed = _dense(self._coarse_folds.T @ _times(by_coarse, self._coarse_folds))
        else:
            summed = np.bincount(self.design.coarse_of_fine, shares**2, minlength=len(by_coarse))
            own = (self._fine**2 + 2 * shares**2 * self._fine * self._coarse_by_fine).sum() + (
                by_coarse**2 * summed**2
            ).sum()
            crossed = _dense(
                self._fine_folds.T @ _times(self._fine, self._fine_folds) + gathered.T @ _times(by_coarse, gathered)
            )
        return float(own + 2 * np.vdot(self._inner, crossed.T))

    @property
    def _coarse_by_fine(self) -> FloatArray:
        return self._coarse[self.design.coarse_of_fine]

    def _swept_coarse(self, of_fine: Columns, of_coarse: Columns) -> Columns:
        """What sweeping leaves of coarse rows, shape (coarse, …)."""
        return _times(self._coarse, of_coarse - self.design.gathers @ _times(self._shares, of_fine))

    def _swept_fine(self, of_fine: Columns, coarse: Columns) -> Columns:
        """The same of fine rows, by what it left of coarse ones."""
        return _times(self._fine, of_fine) - _times(self._shares, self.design.members @ coarse)

    def _parted(self, row: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        design = self.design
        return row[design.fine_columns], row[design.coarse_columns], row[design.other_columns]

    def _inner_place(self, name: str) -> slice:
        place, start = self.design.place_by_part[name], self.design.other_columns.start
        return slice(place.start - start, place.stop - start)


def _inverse(equations: FloatArray) -> tuple[FloatArray, float]:
    """Of positive definite equations, which are overwritten; and the log of their determinant.

    Raises LinAlgError where they are not.
    """
    factor, trouble = linalg.lapack.dpotrf(equations.T, lower=True, clean=True, overwrite_a=True)
    if trouble:
        raise linalg.LinAlgError("The equations are not positive definite.")
    log_determinant = 2 * float(np.log(np.diag(factor)).sum())
    half, _trouble = linalg.lapack.dpotri(factor, lower=True, overwrite_c=True)
    half[np.diag_indices_from(half)] /= 2
    return np.asarray(half + half.T, dtype=np.float64), log_determinant


def _dummies(places: IntArray, n: int) -> sparse.csr_array:
    """A column of ones and zeros for each of n numbers, shape (N, n)."""
    return sparse.csr_array((np.ones(len(places)), (np.arange(len(places)), places)), shape=(len(places), n))


def _times(by_row: FloatArray, columns: Columns, by_column: FloatArray | None = None) -> Columns:
    """Rows, and columns, times a number each."""
    if isinstance(columns, np.ndarray):
        scaled = by_row * columns if columns.ndim == 1 else by_row[:, np.newaxis] * columns
        return scaled if by_column is None else scaled * by_column
    data = columns.data * np.repeat(by_row, np.diff(columns.indptr))
    if by_column is not None:
        data *= by_column[columns.indices]
    return sparse.csr_array((data, columns.indices, columns.indptr), shape=columns.shape)


def _dense(columns: Columns) -> FloatArray:
    return columns if isinstance(columns, np.ndarray) else np.asarray(columns.toarray(), dtype=np.float64)
