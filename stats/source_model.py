"""One linear model behind what sources are compared on: source + block + rater + rater × source + story + rest.

Answers have shape (N,), each with the numbers of its source, block, rater and story, shape (N,) too. Sources are fixed.
So are blocks, as premises, of which some hold several sources; where each holds a single one they are drawn, as raters,
what raters make of a source, and stories are. Variances are estimated by REML, degrees of freedom are Satterthwaite's.

Sources: Kuznetsova, Brockhoff & Christensen 2017, Journal of Statistical Software 82(13), whose numbers (lme4 with
lmerTest) come out; of raters who stay the same the narrow inference of McLean, Sanders & Stroup 1991, The American
Statistician 45(1), pp. 54-64.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy import stats as scipy_stats
from scipy.sparse import csgraph

from stats.arrays import BoolArray, FloatArray, IntArray
from stats.model_estimates import ModelEstimate
from stats.reasons import Incomputable
from stats.restricted_likelihood import Evaluation, RestrictedLikelihood, dummies

DRAWN = ("rater", "rater_source", "block", "story")  # what is drawn beside the rest, in this order
STEP = 1e-4  # by which a standard deviation is moved, as a part of itself, to see how a variance changes


@dataclass(frozen=True)
class CrossedAnswers:
    """Answers with what they are about, each shape (N,): values in the outcome's unit, the others labels as numbers.

    block : what stories share by design, as their premise; the same number everywhere if there is nothing
    """

    values: FloatArray
    source: IntArray
    block: IntArray
    rater: IntArray
    story: IntArray


@dataclass(frozen=True)
class JointTest:
    """An F test of all sources together: `numerator` and `denominator` are its degrees of freedom."""

    f: float
    numerator: int
    denominator: float

    @property
    def p(self) -> float:
        return float(scipy_stats.f.sf(self.f, self.numerator, self.denominator))


class SourceModel:
    """The model fitted to answers.

    variances : by part, "residual" the rest; in squared units
    at_zero : parts that could be told apart and came out as 0
    not_told : parts that cannot be told from others here, as stories that one rater each has read from the rest
    """

    variances: dict[str, float]
    at_zero: tuple[str, ...]
    not_told: tuple[str, ...]

    def __init__(self, answers: CrossedAnswers) -> None:
        """Raises Incomputable if nothing varies within sources, or without more stories than sources and blocks."""
        self._design = _Design(answers)
        if self._design.n_stories <= self._design.fixed.shape[1]:
            raise Incomputable("too_few_stories")
        self._middle = float(answers.values.mean())
        design = self._design
        self._likelihood = RestrictedLikelihood(answers.values - self._middle, design.fixed, design.drawn, design.story)
        parts = [part for part in DRAWN if design.tells(part)]
        self.not_told = tuple(part for part in (*design.drawn, "story") if part not in parts)
        self._ratios = self._likelihood.maximise(parts)
        self._fit = self._likelihood.at(self._ratios)
        self.at_zero = tuple(part for part in parts if part not in self._ratios)
        self.variances = {part: (self._ratios.get(part, 0.0) * self._fit.sigma) ** 2 for part in DRAWN}
        self.variances["residual"] = self._fit.sigma**2

    def is_estimable(self, first: int, second: int) -> bool:
        """Whether the two sources can be compared: by blocks and by raters that hold both, or a chain of sources."""
        return self._design.is_linked_by_blocks(first, second) and self._design.is_linked_by_raters(first, second)

    def mean(self, source: int, *, other_raters: bool) -> ModelEstimate:
        """The source's mean as if every rater had read it in every block of those it is compared in.

        other_raters : whether raters are drawn as stories are; else it is of these raters
        Raises Incomputable for a source that shares no block where others do.
        """
        return self._estimate({source: 1.0}, self._design.mean_columns(source), other_raters=other_raters)

    def contrast(self, first: int, second: int, *, other_raters: bool) -> ModelEstimate:
        """The first source's mean less the second's, on the same blocks and raters.

        Raises Incomputable unless `is_estimable`.
        """
        if not self._design.is_linked_by_blocks(first, second):
            raise Incomputable("no_shared_premise")
        if not self._design.is_linked_by_raters(first, second):
            raise Incomputable("sources_not_linked")
        weights = {first: 1.0, second: -1.0}
        return self._estimate(weights, self._design.columns(weights), other_raters=other_raters)

    def test_all(self) -> JointTest:
        """Whether any two sources differ, for other stories and other raters; of two sources it is their contrast.

        Raises Incomputable unless every source can be compared with every other.
        Source: Fai & Cornelius 1996, Journal of Statistical Computation and Simulation 54(4), pp. 363-378.
        """
        first, *others = self._design.sources
        if not others or not all(self.is_estimable(first, other) for other in others):
            raise Incomputable("sources_not_linked")
        contrasts = np.array([self._design.columns({first: -1.0, other: 1.0}) for other in others])
        covariance = self._fit.sigma**2 * self._fit.covariance
        spreads, directions = np.linalg.eigh(contrasts @ covariance @ contrasts.T)
        turned = directions.T @ contrasts
        f = float(((turned @ self._fit.effects) ** 2 / spreads).mean())
        nobody = np.zeros(self._design.n_drawn)
        degrees = [self._degrees(row, nobody, spread) for row, spread in zip(turned, spreads, strict=True)]
        if len(degrees) == 1:
            return JointTest(f, 1, degrees[0])
        expected = sum(one / (one - 2) for one in degrees if one > 2)
        n = len(degrees)
        return JointTest(f, n, float(2 * expected / (expected - n)) if expected > n else 2.0)

    def _estimate(self, weights: Mapping[int, float], columns: FloatArray, *, other_raters: bool) -> ModelEstimate:
        drawn = np.zeros(self._design.n_drawn) if other_raters else self._design.drawn_columns(weights)
        variance = self._fit.sigma**2 * self._fit.variance(columns, drawn)
        value = float(columns @ self._fit.effects) + self._middle * sum(weights.values())
        return ModelEstimate(value, variance**0.5, self._degrees(columns, drawn, variance))

    def _degrees(self, columns: FloatArray, drawn: FloatArray, variance: float) -> float:
        """Satterthwaite's: 2 V² / Var(V), by how V changes with each standard deviation and how sure those are."""
        ends = [[sigma**2 * fit.variance(columns, drawn) for fit, sigma in both] for both in self._moved]
        slopes = np.array([upper - lower for upper, lower in ends]) / (2 * STEP * self._deviations)
        return max(2 * variance**2 / float(slopes @ self._covariance_of_deviations @ slopes), 1.0)

    @property
    def _deviations(self) -> FloatArray:
        """What the likelihood has as its arguments: the ratios, and the standard deviation of the rest."""
        return np.array([*self._ratios.values(), self._fit.sigma])

    @cached_property
    def _moved(self) -> list[list[tuple[Evaluation, float]]]:
        """The likelihood with each of them a step up and a step down, and the standard deviation of the rest there."""
        steps = np.diag(STEP * self._deviations)
        points = [[self._deviations + sign * step for sign in (1, -1)] for step in steps]
        return [[(self._at(point), float(point[-1])) for point in both] for both in points]

    @cached_property
    def _covariance_of_deviations(self) -> FloatArray:
        """How sure they are, by the curvature of the deviance."""
        steps = np.diag(STEP * self._deviations)
        curvature = np.empty(steps.shape)
        for i, one in enumerate(steps):
            for j, other in enumerate(steps[: i + 1]):
                points = [self._deviations + s * one + t * other for s, t in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
                corners = [self._at(point).deviance(float(point[-1])) for point in points]
                rise = (corners[0] - corners[1] - corners[2] + corners[3]) / (4 * one[i] * other[j])
                curvature[i, j] = curvature[j, i] = rise
        values, vectors = np.linalg.eigh(curvature)
        is_sure = values > 1e-8 * values.max()
        return np.asarray(2 * (vectors[:, is_sure] / values[is_sure]) @ vectors[:, is_sure].T, dtype=np.float64)

    def _at(self, deviations: FloatArray) -> Evaluation:
        return self._likelihood.at(dict(zip(self._ratios, deviations[:-1].tolist(), strict=True)))


class _Design:
    """Which columns the model has: of the fixed ones sources and, of shared blocks, all but one of each linked set."""

    def __init__(self, answers: CrossedAnswers) -> None:
        self.n = len(answers.values)
        self.sources, source = np.unique(answers.source, return_inverse=True)
        _raters, rater = np.unique(answers.rater, return_inverse=True)
        _stories, self.story = np.unique(answers.story, return_inverse=True)
        blocks, block = np.unique(answers.block, return_inverse=True)
        pairs, rater_source = np.unique(rater * len(self.sources) + source, return_inverse=True)
        self._rater_of_pair, self._source_of_pair = np.divmod(pairs, len(self.sources))
        # What is in no shared block has a column for itself, which joins no sources.
        is_shared = _links(block, source).sum(axis=1) > 1
        self._has_fixed_blocks = len(blocks) > 1 and bool(is_shared.any())
        if self._has_fixed_blocks:
            block = np.where(is_shared[block], block, len(blocks))
        _labels, block = np.unique(block, return_inverse=True)
        links = _links(source, block)
        joins = np.full(links.shape[1], self._has_fixed_blocks)
        joins[int(is_shared.sum()) :] = False
        self._set_of_source, self._set_of_block = _linked_sets(links & joins)
        self._set_by_raters, _of_raters = _linked_sets(_links(source, rater))
        # The first block of each set that columns join says nothing that its sources do not.
        _sets, firsts = np.unique(_linked_sets(links)[1], return_index=True)
        others = np.setdiff1d(np.arange(links.shape[1]), firsts)
        self._kept_blocks = others if self._has_fixed_blocks else others[:0]
        self.fixed = sparse.hstack([dummies(source), dummies(block)[:, self._kept_blocks]], format="csr")
        self.drawn = {"rater": dummies(rater), "rater_source": dummies(rater_source)}
        if not self._has_fixed_blocks and len(blocks) > 1:
            self.drawn["block"] = dummies(block)
        self._n_by_part = {part: int(columns.shape[1]) for part, columns in self.drawn.items()}
        self._n_by_part["story"] = self.n_stories = len(_stories)

    @property
    def n_drawn(self) -> int:
        return sum(columns.shape[1] for columns in self.drawn.values())

    def tells(self, part: str) -> bool:
        """Whether the part can be told from what is finer and what is coarser."""
        n = self._n_by_part.get(part, 0)
        if part == "rater_source":
            return 1 < self._n_by_part["rater"] < n < self.n
        if part == "block":
            return len(self.sources) < n < self._n_by_part["story"]
        return 1 < n < self.n

    def is_linked_by_blocks(self, first: int, second: int) -> bool:
        one, other = np.searchsorted(self.sources, [first, second])
        return not self._has_fixed_blocks or bool(self._set_of_source[one] == self._set_of_source[other])

    def is_linked_by_raters(self, first: int, second: int) -> bool:
        one, other = np.searchsorted(self.sources, [first, second])
        return bool(self._set_by_raters[one] == self._set_by_raters[other])

    def columns(self, weights: Mapping[int, float]) -> FloatArray:
        """How much each fixed effect enters a sum of sources, shape (P,)."""
        row = np.zeros(self.fixed.shape[1])
        row[np.searchsorted(self.sources, list(weights))] = list(weights.values())
        return row

    def mean_columns(self, source: int) -> FloatArray:
        """How much each fixed effect enters a source's mean over the shared blocks of its linked set, shape (P,).

        Raises Incomputable for a source that shares no block where others do.
        """
        row = self.columns({source: 1.0})
        if self._has_fixed_blocks:
            is_over = self._set_of_block == self._set_of_source[np.searchsorted(self.sources, source)]
            if not is_over.any():
                raise Incomputable("no_shared_premise")
            row[len(self.sources) :] = is_over[self._kept_blocks] / is_over.sum()
        return row

    def drawn_columns(self, weights: Mapping[int, float]) -> FloatArray:
        """How much the raters who read them enter a sum of sources, each rater of a source alike, shape (Q,)."""
        row = np.zeros(self.n_drawn)
        for source, weight in weights.items():
            pairs = np.flatnonzero(self._source_of_pair == np.searchsorted(self.sources, source))
            row[self._n_by_part["rater"] + pairs] = weight / len(pairs)
            row[self._rater_of_pair[pairs]] += weight / len(pairs)
        return row


def _links(ones: IntArray, others: IntArray) -> BoolArray:
    """Which stand together somewhere, shape (ones, others)."""
    together = np.zeros((int(ones.max()) + 1, int(others.max()) + 1), dtype=np.bool_)
    together[ones, others] = True
    return together


def _linked_sets(links: BoolArray) -> tuple[IntArray, IntArray]:
    """In which set each row and each column is, if all that are linked by a chain are one set."""
    n, m = links.shape
    rows, columns = np.nonzero(links)
    graph = sparse.csr_array((np.ones(len(rows)), (rows, n + columns)), shape=(n + m, n + m))
    _n, sets = csgraph.connected_components(graph, directed=False)
    return sets[:n].astype(np.int64), sets[n:].astype(np.int64)
