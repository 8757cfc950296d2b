"""The restricted likelihood of a linear mixed model with crossed parts, with its first and second derivatives.

Source: Searle, Casella & McCulloch 1992, Variance Components, chapters 6 and 8.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from scipy import linalg

from stats.arrays import FloatArray
from stats.crossed_equations import CrossedColumns, Squares
from stats.reasons import Incomputable

# Standard deviations in those of the rest: one below the least is 0, none is looked for above the most.
LEAST, MOST, FIRST = 1e-2, 1e5, 0.5
FLOOR = LEAST / 2
ROUNDING = 1e-12  # of the sum of squares, below which nothing is left of it; of the deviance, by which it is uncertain
# Of what fixed columns leave, added to the rest: so that where parts explain all values they have a likelihood still.
NUGGET = 1e-7
GAIN = 1e-9  # in the deviance, below which nothing better is looked for
NEAR = 0.1  # by which another step of scoring gains less than one of Newton's
MOST_STEPS, MOST_HALVINGS = 60, 15


class Evaluation:
    """The likelihood where drawn parts have these standard deviations, in those of the rest, and others 0.

    deviance : -2 log of the restricted likelihood, but for a constant, of the likeliest sigma
    is_exact : whether parts explain nearly all values; rest : the sum of squares that they leave
    sigma : the likeliest standard deviation of the rest; effects : of all columns, fixed and drawn, in their own units
    """

    def __init__(
        self,
        design: CrossedColumns,
        sums: FloatArray,
        sum_of_squares: float,
        ratio_by_part: dict[str, float],
        nugget: float = 0.0,
    ) -> None:
        """sums : of values by column, shape (columns,). Raises Incomputable if nothing is left of the values."""
        self.ratio_by_part = ratio_by_part
        self._parts = tuple(ratio_by_part)
        self._design = design
        try:
            self._inverse = design.invert(ratio_by_part)
        except linalg.LinAlgError as error:
            raise Incomputable("values_explained") from error
        scaled = self._inverse.scales * sums
        self._predicted = self._inverse.solve(scaled)
        rest = sum_of_squares + nugget - float(scaled @ self._predicted)
        self.is_exact = rest <= 100 * nugget
        if rest <= ROUNDING * sum_of_squares:
            raise Incomputable("values_explained")
        self.rest = rest
        self.n_degrees = len(design.fine.places) - design.n_fixed
        self.sigma = (rest / self.n_degrees) ** 0.5
        self.deviance = self._inverse.log_determinant + self.n_degrees * float(np.log(rest))
        self.effects = self._inverse.scales * self._predicted

    def shares(self, row: FloatArray) -> FloatArray:
        """How much the values in each column enter a sum of effects, (columns,) both."""
        return np.asarray(self._inverse.scales * self._inverse.solve(row * self._inverse.scales), dtype=np.float64)

    def covariances(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Of sums of effects, (M, columns), in squared units: (M, M); and how each variance changes, (M, K + 1).

        That is with the logarithms of the variances of drawn parts, in that of the rest, and with that of sigma.
        """
        scaled = rows * self._inverse.scales
        solved = np.array([self._inverse.solve(row) for row in scaled])
        covariance = self.sigma**2 * scaled @ solved.T
        of_parts = [(solved[:, self._design.place_by_part[name]] ** 2).sum(axis=1) for name in self._parts]
        return covariance, np.stack([*(self.sigma**2 * np.array(of_parts)), 2 * np.diag(covariance)], axis=1)

    @cached_property
    def covariance_of_logarithms(self) -> FloatArray:
        """How sure those logarithms are, by the curvature of the deviance, shape (K + 1, K + 1)."""
        n = len(self._parts)
        curvature = np.empty((n + 1, n + 1))
        curvature[:n, :n] = 2 * self._quadratic - self._squares.sums + np.diag(self._slopes)
        curvature[n, :n] = curvature[:n, n] = 2 * self._fits
        curvature[n, n] = 4 * self.n_degrees
        # By the variances themselves: where next to nothing is left beside parts, their ratios to it are not known.
        turn = np.eye(n + 1)
        turn[:, n] = -1.0
        turn[n, n] = 0.5
        values, vectors = np.linalg.eigh(turn.T @ curvature @ turn)
        is_sure = values > 1e-8 * values.max()
        turned = turn @ vectors[:, is_sure]
        return np.asarray(2 * (turned / values[is_sure]) @ turned.T, dtype=np.float64)

    def derivatives(self) -> tuple[FloatArray, FloatArray]:
        """The first, (K,), and second, (K, K), of the deviance by the ratios, in the order of `ratio_by_part`."""
        ratios = np.array(list(self.ratio_by_part.values()))
        both = 2 * self._quadratic - self._squares.sums - np.outer(self._fits, self._fits) / self.n_degrees
        slopes = 2 * self._slopes / ratios
        return slopes, 4 * both / np.outer(ratios, ratios) + np.diag(slopes / ratios)

    def scored(self) -> FloatArray | None:
        """The ratios that sums of squares would be expected from, (K,), as near 0 as may be; None if it cannot be told.

        Of balanced answers they are the likeliest. It is a step of Fisher's scoring by variances, Rao's MINQUE.
        """
        with_rest = self._squares.traces - self._squares.sums.sum(axis=1)
        of_rest = self.n_degrees - self._squares.traces.sum() - with_rest.sum()
        expected = np.block([[self._squares.sums, with_rest[:, np.newaxis]], [with_rest, of_rest]])
        fits = np.append(self._fits, self.n_degrees - self._fits.sum())
        try:
            *times, times_rest = np.linalg.solve(expected, fits)
        except np.linalg.LinAlgError:
            return None
        if times_rest <= 0:
            return None
        ratios = np.array(list(self.ratio_by_part.values()))
        return np.asarray(ratios * np.sqrt(np.maximum(times, 0.0) / times_rest), dtype=np.float64)

    @cached_property
    def _squares(self) -> Squares:
        return self._inverse.squares(self._parts)

    @property
    def _fits(self) -> FloatArray:
        """The sum of squares of each part's effects, in their own and sigma's units, shape (K,)."""
        places = [self._design.place_by_part[name] for name in self._parts]
        sums = [float((self._predicted[place] ** 2).sum()) for place in places]
        return np.asarray(np.array(sums) / self.sigma**2, dtype=np.float64)

    @property
    def _slopes(self) -> FloatArray:
        """Of the deviance by the logarithm of each part's variance, shape (K,)."""
        return np.asarray(self._squares.traces - self._fits, dtype=np.float64)

    @cached_property
    def _quadratic(self) -> FloatArray:
        """Each part's effects times theirs again as the model would predict those of another, shape (K, K)."""
        n = len(self._parts)
        products = np.empty((n, n))
        for i, name in enumerate(self._parts):
            place = self._design.place_by_part[name]
            row = np.zeros(self._design.n_columns)
            row[place] = self._predicted[place]
            turned = row - self._inverse.solve(row)
            for j, other in enumerate(self._parts):
                place = self._design.place_by_part[other]
                products[i, j] = turned[place] @ self._predicted[place]
        return np.asarray((products + products.T) / (2 * self.sigma**2), dtype=np.float64)


class RestrictedLikelihood:
    """The restricted likelihood of values on a design by the ratios of drawn parts."""

    def __init__(self, values: FloatArray, design: CrossedColumns) -> None:
        """Raises ValueError unless there are more values, (N,), than fixed columns, and Incomputable if those explain
        all values but for rounding.
        """
        if len(values) <= design.n_fixed:
            raise ValueError(f"{design.n_fixed} fixed columns take all {len(values)} values.")
        self._design = design
        self._sums = design.columns.T @ values
        self._sum_of_squares = float(values @ values)
        self._nugget = 0.0
        self._nugget = NUGGET * self.at({}).rest

    def at(self, ratio_by_part: dict[str, float]) -> Evaluation:
        """The likelihood there. Raises Incomputable if nothing is left of the values."""
        return Evaluation(self._design, self._sums, self._sum_of_squares, ratio_by_part, self._nugget)

    def maximise(self, parts: Sequence[str]) -> Evaluation:
        """The likelihood at the likeliest ratios; parts whose ratios come out as 0 are left out."""
        evaluation = self._first(parts)
        while True:
            evaluation = self._climb(evaluation)
            ratio_by_part = {name: ratio for name, ratio in evaluation.ratio_by_part.items() if ratio >= LEAST}
            if len(ratio_by_part) == len(evaluation.ratio_by_part):
                return evaluation
            evaluation = self.at(ratio_by_part)

    def _first(self, parts: Sequence[str]) -> Evaluation:
        """The likelihood where it is high, so that a few steps are left to go."""
        evaluation = self.at(dict.fromkeys(parts, FIRST))
        gained = np.inf
        while parts and gained > NEAR and (ratios := evaluation.scored()) is not None:
            scored = self._trial(parts, np.clip(ratios, FLOOR, MOST))
            gained = evaluation.deviance - scored.deviance if scored else 0.0
            if scored and gained > 0:
                evaluation = scored
        return evaluation

    def _climb(self, evaluation: Evaluation) -> Evaluation:
        """From there to the next place that is likeliest, by Newton's steps, turned where curvature is negative."""
        for _step in range(MOST_STEPS if evaluation.ratio_by_part else 0):
            ratios = np.array(list(evaluation.ratio_by_part.values()))
            slopes, curvature = evaluation.derivatives()
            is_free = ~((ratios <= FLOOR) & (slopes > 0) | (ratios >= MOST) & (slopes < 0))
            values, vectors = np.linalg.eigh(curvature[np.ix_(is_free, is_free)])
            along = vectors.T @ slopes[is_free]
            steep = np.maximum(np.abs(values), 1e-8)
            if (along**2 / steep).sum() < GAIN:
                return evaluation
            step = np.zeros(len(ratios))
            step[is_free] = -vectors @ (along / steep)
            better = self._better(evaluation, ratios, step)
            if better is None:
                return evaluation
            evaluation = better
        return evaluation

    def _better(self, evaluation: Evaluation, ratios: FloatArray, step: FloatArray) -> Evaluation | None:
        """The likelihood a step from there, or a part of it, where it is higher."""
        step = step / max(1.0, float((np.abs(step) / (ratios + FIRST)).max()))
        for _halving in range(MOST_HALVINGS):
            # Near 0 it is flat, so that a step that goes there at once may be too far to come back.
            moved = np.clip(ratios + step, np.maximum(ratios / 20, FLOOR), MOST)
            trial = self._trial(evaluation.ratio_by_part, moved)
            if trial is not None and trial.deviance < evaluation.deviance + ROUNDING * abs(evaluation.deviance):
                return trial
            step = step / 2
        return None

    def _trial(self, parts: Iterable[str], ratios: FloatArray) -> Evaluation | None:
        """The likelihood there; None if nothing is left of the values."""
        try:
            return self.at(dict(zip(parts, ratios.tolist(), strict=True)))
        except Incomputable:
            return None
