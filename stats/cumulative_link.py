"""A cumulative-link model of crossed raters and stories: a check on the linear one, for scales and for Yes/No.

log odds of an answer above each threshold = source + block − threshold + rater + story. Sources are fixed, and blocks
where they hold several sources; raters and stories are drawn. Of two answers it is the logistic model.

The likelihood is Laplace's approximation, maximised over all parameters at once with its exact gradient. Sources:
Agresti 2010, Analysis of Ordinal Categorical Data, chapter 10; Christensen 2018, Cumulative Link Models for Ordinal
Regression with the R Package ordinal, whose numbers (clmm), and those of lme4 (glmer) for two answers, come out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, optimize, sparse, special
from scipy import stats as scipy_stats

from stats.arrays import BoolArray, FloatArray, IntArray
from stats.reasons import Incomputable
from stats.source_model import CrossedAnswers, SourceDesign

FIRST = 0.5  # standard deviation of raters and of stories, in log odds
LEAST = 1e-3  # below which it is 0
STEP = 1e-5  # by which a parameter is moved to see how the gradient changes
MOST_LOG_ODDS = 12.0  # beyond it the data set no limit to an effect
MOST_STEPS = 200
MOST_HALVINGS = 30
NEXT_TO_0 = 1e-6
MOST_SLOPE = 0.05  # of the likelihood where the search for the likeliest parameters ended
INNER_PRECISION = 1e-16  # of a Newton step's gain, which leaves effects that are exact but for rounding


@dataclass(frozen=True)
class LogOdds:
    """A difference of two sources in log odds of a higher answer, with its standard error."""

    value: float
    error: float

    @property
    def ends(self) -> tuple[float, float]:
        """Those of the 95 % interval, by the normal distribution."""
        margin = float(scipy_stats.norm.ppf(0.975)) * self.error
        return self.value - margin, self.value + margin

    @property
    def p(self) -> float:
        """Two-sided, of no difference, by the normal distribution (Wald)."""
        return float(2 * scipy_stats.norm.sf(abs(self.value) / self.error))


class CumulativeLinkModel:
    """The model fitted to answers, of which each different value is a category.

    deviations : by "rater" and "story", the standard deviation in log odds
    """

    deviations: dict[str, float]
    log_likelihood: float

    def __init__(self, answers: CrossedAnswers) -> None:
        """Raises Incomputable if the data set no limit to a source, and as SourceModel does if they are too few.

        Blocks in which all answers are the highest, or the lowest, say nothing of sources and are left out.
        """
        answers = _informative(answers)
        if len(answers.values) == 0 or np.ptp(answers.values) == 0:
            raise Incomputable("values_explained")
        self._design = SourceDesign(answers)
        if self._design.n_stories <= self._design.columns.n_fixed:
            raise Incomputable("too_few_stories")
        laplace = _Laplace(answers, _fixed_columns(self._design))
        parameters, covariance = _minimise(laplace)
        self.log_likelihood = -laplace.at(parameters)[0]
        self.deviations = dict(zip(laplace.names, np.abs(parameters[-2:]).tolist(), strict=True))
        n_sources = len(self._design.sources)
        place = slice(laplace.n_thresholds, laplace.n_thresholds + n_sources - 1)
        self._effects = np.concatenate([[0.0], parameters[place]])
        self._covariance = np.zeros((n_sources, n_sources))
        self._covariance[1:, 1:] = covariance[place, place]

    def contrast(self, first: int, second: int) -> LogOdds:
        """The first source less the second.

        Raises Incomputable unless blocks and raters, or a chain of sources, join the two in the answers that are left.
        """
        if not {first, second} <= set(self._design.sources.tolist()):
            raise Incomputable("log_odds_unlimited")
        if not self._design.is_linked_by_blocks(first, second):
            raise Incomputable("no_shared_premise")
        if not self._design.is_linked_by_raters(first, second):
            raise Incomputable("sources_not_linked")
        row = np.zeros(len(self._effects))
        places = np.searchsorted(self._design.sources, [first, second])
        np.add.at(row, places, [1.0, -1.0])
        return LogOdds(float(row @ self._effects), float(row @ self._covariance @ row) ** 0.5)


class _Laplace:
    """Minus the log likelihood by the parameters: thresholds, fixed effects, and the deviations of the drawn parts.

    Of thresholds it takes the first, and the logarithm of how far each other lies above the one before.
    names : of the drawn parts, the one with fewer units first
    """

    def __init__(self, answers: CrossedAnswers, fixed: sparse.csr_array) -> None:
        self._category = np.unique(answers.values, return_inverse=True)[1]
        self.n_thresholds = int(self._category.max())
        self._fixed = fixed
        place_by_part = {"rater": answers.rater, "story": answers.story}
        places = {name: np.unique(labels, return_inverse=True)[1] for name, labels in place_by_part.items()}
        self.names = tuple(sorted(places, key=lambda name: int(places[name].max())))
        self._few, self._many = (places[name] for name in self.names)
        self._n_few, self._n_many = int(self._few.max()) + 1, int(self._many.max()) + 1
        self._effects = np.zeros(self._n_few + self._n_many)  # the likeliest of the last evaluation

    @property
    def start(self) -> FloatArray:
        """Thresholds as the shares of answers have them, and no effects."""
        shares = np.cumsum(np.bincount(self._category))[:-1] / len(self._category)
        thresholds = special.logit(shares)
        no_effects = np.zeros(self._fixed.shape[1])
        return np.concatenate([thresholds[:1], np.log(np.diff(thresholds)), no_effects, [FIRST, FIRST]])

    def at(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Minus the log likelihood, and its gradient."""
        n, n_few = self.n_thresholds, self._n_few
        gaps = np.exp(parameters[1:n])
        links = _Links(self._category, np.cumsum(np.concatenate([parameters[:1], gaps])))
        predicted = self._fixed @ parameters[n:-2]
        # A deviation of 0 has the likelihood of one next to it, and no gradient.
        deviations = np.where(np.abs(parameters[-2:]) < NEXT_TO_0, NEXT_TO_0, parameters[-2:])
        scales = np.repeat(deviations, [n_few, self._n_many])
        self._effects, inverse = self._likeliest(links, predicted, scales)
        log_odds = predicted + self._spread(scales * self._effects)
        lost = float(self._effects @ self._effects) / 2 - links.log_likelihood(log_odds)

        leverages = inverse.leverages(self._few, self._many)
        slopes, weights = links.slopes(log_odds), links.weights(log_odds)
        pulls = leverages * links.turns(log_odds) / 2
        adjoint = inverse.solve(scales * self._gather(pulls))
        shifts = self._spread(scales * adjoint)
        by_answer = pulls - slopes - weights * shifts
        by_threshold = links.by_threshold(log_odds, leverages / 2, shifts)
        from_above = np.cumsum(by_threshold[::-1])[::-1] * np.concatenate([[1.0], gaps])
        by_unit = self._gather(by_answer) * self._effects + self._gather(slopes) * adjoint
        by_unit += (1 - inverse.diagonal) / scales
        by_deviation = [by_unit[:n_few].sum(), by_unit[n_few:].sum()]
        gradient = np.concatenate([from_above, self._fixed.T @ by_answer, by_deviation])
        return lost + inverse.log_determinant / 2, gradient

    def _likeliest(self, links: _Links, predicted: FloatArray, scales: FloatArray) -> tuple[FloatArray, _Inverse]:
        """The likeliest drawn effects, in their own deviations, with the inverse of the curvature there."""
        effects = self._effects
        for _step in range(MOST_STEPS):
            log_odds = predicted + self._spread(scales * effects)
            inverse = self._inverse(links.weights(log_odds), scales)
            slopes = scales * self._gather(links.slopes(log_odds)) - effects
            step = inverse.solve(slopes)
            if float(slopes @ step) < INNER_PRECISION:
                break
            before = float(effects @ effects) / 2 - links.log_likelihood(log_odds)
            for _halving in range(MOST_HALVINGS):
                moved = effects + step
                after = float(moved @ moved) / 2
                after -= links.log_likelihood(predicted + self._spread(scales * moved))
                if after <= before:
                    break
                step = step / 2
            effects = moved
        return effects, inverse

    def _inverse(self, weights: FloatArray, scales: FloatArray) -> _Inverse:
        places = self._few * self._n_many + self._many
        crossed = np.bincount(places, weights, minlength=self._n_few * self._n_many).astype(np.float64)
        return _Inverse(crossed.reshape(self._n_few, self._n_many), scales[: self._n_few], scales[self._n_few :])

    def _spread(self, effects: FloatArray) -> FloatArray:
        """By answer the sum of the effects of its units, shape (N,)."""
        return np.asarray(effects[: self._n_few][self._few] + effects[self._n_few :][self._many], dtype=np.float64)

    def _gather(self, by_answer: FloatArray) -> FloatArray:
        """By unit the sum over its answers."""
        sums = [np.bincount(self._few, by_answer, self._n_few), np.bincount(self._many, by_answer, self._n_many)]
        return np.concatenate(sums)


class _Inverse:
    """The inverse of the curvature by drawn effects, in their own deviations; the part with more units is swept out."""

    def __init__(self, crossed: FloatArray, few: FloatArray, many: FloatArray) -> None:
        """crossed : weights by unit of both parts; few, many : the deviation of each unit"""
        self._few, self._many = few, many
        self._of_many = 1 / (1 + many**2 * crossed.sum(axis=0))
        scaled = few[:, np.newaxis] * crossed * many
        self._folds = scaled * self._of_many
        curvature = np.diag(1 + few**2 * crossed.sum(axis=1)) - self._folds @ scaled.T
        factor = linalg.cholesky(curvature, lower=True)
        self._inner = linalg.cho_solve((factor, True), np.eye(len(few)))
        self.log_determinant = float(2 * np.log(np.diag(factor)).sum() - np.log(self._of_many).sum())
        self._crossed = self._inner @ self._folds
        of_many = self._of_many + (self._folds * self._crossed).sum(axis=0)
        self.diagonal = np.concatenate([np.diag(self._inner), of_many])

    def solve(self, row: FloatArray) -> FloatArray:
        n = len(self._few)
        few = self._inner @ (row[:n] - self._folds @ row[n:])
        return np.concatenate([few, self._of_many * row[n:] - few @ self._folds])

    def leverages(self, few: IntArray, many: IntArray) -> FloatArray:
        """The variance, by the inverse, of what units add to each answer, shape (N,)."""
        scaled = self.diagonal * np.concatenate([self._few, self._many]) ** 2
        both = -2 * (self._few[:, np.newaxis] * self._crossed * self._many)[few, many]
        return np.asarray(scaled[few] + scaled[len(self._few) + many] + both, dtype=np.float64)


class _Links:
    """The likelihood of each answer between two thresholds, and its derivatives by log odds and thresholds.

    The log of σ(a) − σ(b) is that of σ(a), of σ(−b) and of 1 − exp(b − a), of which the last is free of log odds.
    """

    def __init__(self, category: IntArray, thresholds: FloatArray) -> None:
        self._category, self._n = category, len(thresholds)
        ends = np.concatenate([[-np.inf], thresholds, [np.inf]])
        self._lower, self._upper = ends[category], ends[category + 1]

    def log_likelihood(self, log_odds: FloatArray) -> float:
        gaps = np.log(-np.expm1(self._lower - self._upper))
        both = special.log_expit(self._upper - log_odds) + special.log_expit(log_odds - self._lower)
        return float((both + gaps).sum())

    def slopes(self, log_odds: FloatArray) -> FloatArray:
        """Of each answer's log likelihood by its log odds."""
        return np.asarray(
            special.expit(self._lower - log_odds) - special.expit(log_odds - self._upper), dtype=np.float64
        )

    def weights(self, log_odds: FloatArray) -> FloatArray:
        """Its curvature, turned positive."""
        return _density(self._upper - log_odds) + _density(self._lower - log_odds)

    def turns(self, log_odds: FloatArray) -> FloatArray:
        """How the weights change with log odds."""
        return -_turn(self._upper - log_odds) - _turn(self._lower - log_odds)

    def by_threshold(self, log_odds: FloatArray, by_weight: FloatArray, by_slope: FloatArray) -> FloatArray:
        """Minus the slope of the log likelihood by threshold, with what comes of weights and slopes that change."""
        above, below = self._upper - log_odds, self._lower - log_odds
        gaps = 1 / np.expm1(self._upper - self._lower)
        upper = by_weight * _turn(above) + by_slope * _density(above) - special.expit(-above) - gaps
        lower = by_weight * _turn(below) + by_slope * _density(below) + special.expit(below) + gaps
        sums = np.bincount(self._category + 1, upper, self._n + 2) + np.bincount(self._category, lower, self._n + 2)
        return np.asarray(sums[1:-1], dtype=np.float64)


def _density(places: FloatArray) -> FloatArray:
    """Of the logistic distribution."""
    return np.asarray(special.expit(places) * special.expit(-places), dtype=np.float64)


def _turn(places: FloatArray) -> FloatArray:
    """The derivative of its density."""
    return _density(places) * (special.expit(-places) - special.expit(places))


def _informative(answers: CrossedAnswers) -> CrossedAnswers:
    """The answers without shared blocks that hold the highest, or the lowest, answer alone."""
    while len(answers.values):
        blocks, block = np.unique(answers.block, return_inverse=True)
        least, most = np.full(len(blocks), np.inf), np.full(len(blocks), -np.inf)
        np.minimum.at(least, block, answers.values)
        np.maximum.at(most, block, answers.values)
        is_alone = (least == answers.values.max()) | (most == answers.values.min())
        n_sources = np.bincount(np.unique(np.stack([block, answers.source]), axis=1)[0])
        is_kept = ~(is_alone & (n_sources > 1))[block]
        if is_kept.all():
            break
        columns = (answers.source, answers.block, answers.rater, answers.story)
        answers = CrossedAnswers(answers.values[is_kept], *(column[is_kept] for column in columns))
    return answers


def _fixed_columns(design: SourceDesign) -> sparse.csr_array:
    """Of sources but the first, then of shared blocks, shape (N, P)."""
    columns = design.columns
    sources = np.arange(columns.n_columns)[columns.place_by_part["source"]]
    blocks = sources[:0]
    if "block" in columns.place_by_part and "block" not in columns.drawn:
        blocks = np.arange(columns.n_columns)[columns.place_by_part["block"]]
    kept = np.concatenate([sources[1:], blocks[columns.has_effect[blocks] > 0]])
    return sparse.csr_array(columns.columns[:, kept])


def _minimise(laplace: _Laplace) -> tuple[FloatArray, FloatArray]:
    """The likeliest parameters, (K,), with their covariance by the curvature there, (K, K); 0 of deviations that are 0.

    Raises Incomputable if the data set no limit to one, or no likeliest ones were found.
    """
    n = laplace.n_thresholds

    def stop_beyond(xk: FloatArray) -> None:
        if np.abs(xk[n:]).max() > 2 * MOST_LOG_ODDS:
            raise StopIteration

    with np.errstate(all="ignore"):
        try:
            optimum = optimize.minimize(
                laplace.at, laplace.start, jac=True, method="BFGS", options={"gtol": 1e-5}, callback=stop_beyond
            )
            parameters = np.asarray(optimum.x, dtype=np.float64)
            if not np.isfinite(optimum.fun) or np.abs(parameters[n:]).max() > MOST_LOG_ODDS:
                raise Incomputable("log_odds_unlimited")
            is_free = _is_free(parameters)
            factor = linalg.cho_factor(_curvature(laplace, parameters, is_free))
        except (linalg.LinAlgError, ValueError) as error:  # ValueError : where numbers are not finite any more
            raise Incomputable("log_odds_unlimited") from error
        slopes = laplace.at(parameters)[1][is_free]
        if np.abs(slopes).max() > MOST_SLOPE:
            raise Incomputable("log_odds_not_found")
        parameters[is_free] -= linalg.cho_solve(factor, slopes)
    covariance = np.zeros((len(parameters), len(parameters)))
    covariance[np.ix_(is_free, is_free)] = linalg.cho_solve(factor, np.eye(int(is_free.sum())))
    return parameters, covariance


def _is_free(parameters: FloatArray) -> BoolArray:
    """All parameters but deviations that came out as 0."""
    is_free = np.ones(len(parameters), dtype=np.bool_)
    is_free[-2:] = np.abs(parameters[-2:]) >= LEAST
    return is_free


def _curvature(laplace: _Laplace, parameters: FloatArray, is_free: BoolArray) -> FloatArray:
    """By differences of the gradient."""
    steps = STEP * np.eye(len(parameters))[is_free]
    rows = [(laplace.at(parameters + step)[1] - laplace.at(parameters - step)[1])[is_free] for step in steps]
    curvature = np.array(rows) / (2 * STEP)
    return np.asarray((curvature + curvature.T) / 2, dtype=np.float64)
