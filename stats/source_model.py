"""One linear model behind what sources are compared on: source + block + rater + rater × source + story + rest.

Answers have shape (N,), each with the numbers of its source, block, rater and story, shape (N,) too. Sources are fixed.
So are blocks, as premises, of which some hold several sources; where each holds a single one they are drawn, as raters,
what raters make of a source, and stories are. Variances are estimated by REML, degrees of freedom are Satterthwaite's.

Sources: Kuznetsova, Brockhoff & Christensen 2017, Journal of Statistical Software 82(13), whose numbers (lme4 with
lmerTest) come out; of raters who stay the same the narrow inference of McLean, Sanders & Stroup 1991, The American
Statistician 45(1), pp. 54-64.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy import sparse
from scipy import stats as scipy_stats
from scipy.sparse import csgraph

from stats.arrays import BoolArray, FloatArray, IntArray
from stats.crossed_equations import CrossedColumns, ModelPart
from stats.model_estimates import ModelEstimate
from stats.rater_spreads import RaterSpreads
from stats.reasons import Incomputable
from stats.restricted_likelihood import RestrictedLikelihood
from stats.source_spreads import SourceSpreads

DRAWN = ("rater", "rater_source", "block", "story")  # what is drawn beside the rest, in this order


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

    @classmethod
    def of(cls, f: float, degrees: Sequence[float]) -> JointTest:
        """degrees : of freedom of each of the independent contrasts that F is the mean of"""
        if len(degrees) == 1:
            return cls(f, 1, degrees[0])
        if min(degrees) <= 2:  # where the expected F has no end; to 2 the denominator goes as one of them does
            return cls(f, len(degrees), 2.0)
        expected = sum(one / (one - 2) for one in degrees)
        return cls(f, len(degrees), float(2 * expected / (expected - len(degrees))))

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
        """Raises Incomputable if nothing varies within sources and raters, or without more stories than sources and
        blocks.
        """
        self._answers, self._design = answers, _design_of(answers)
        self._contrasts: dict[tuple[int, int, bool], ModelEstimate] = {}
        design = self._design
        values = answers.values
        if design.n_stories <= design.columns.n_fixed:
            raise Incomputable("too_few_stories")
        self._middle = float(values.mean())
        parts = [part for part in DRAWN if design.tells(part)]
        self.not_told = tuple(part for part in DRAWN if part in design.columns.drawn and part not in parts)
        self._fit = RestrictedLikelihood(values - self._middle, design.columns).maximise(parts)
        ratio_by_part = self._fit.ratio_by_part
        # Where nothing is left beside raters, stories say nothing of how sure a difference is.
        if self._fit.is_exact and not ratio_by_part.keys() & {"block", "story"}:
            raise Incomputable("values_explained")
        self.at_zero = tuple(part for part in parts if part not in ratio_by_part)
        self.variances = {part: (ratio_by_part.get(part, 0.0) * self._fit.sigma) ** 2 for part in DRAWN}
        self.variances["residual"] = self._fit.sigma**2

    def holds(self, *sources: int) -> bool:
        """Whether answers about all of these are among those that it was fitted to."""
        return bool(np.isin(sources, self._design.sources).all())

    def is_estimable(self, first: int, second: int) -> bool:
        """Whether the two sources can be compared: by blocks and by raters that hold both, or a chain of sources."""
        return self._design.is_linked_by_blocks(first, second) and self._design.is_linked_by_raters(first, second)

    def mean(self, source: int, *, other_raters: bool) -> ModelEstimate:
        """The source's mean as if every rater had read it in every block of those it is compared in.

        other_raters : whether raters are drawn as stories are; else it is of these raters
        Raises Incomputable for a source that shares no block where others do.
        """
        return self._estimate({source: 1.0}, self._design.mean_row(source), other_raters=other_raters)

    def mean_value(self, source: int) -> float:
        """The value of `mean`, which costs little without how sure it is."""
        return float(self._design.mean_row(source) @ self._fit.effects) + self._middle

    def contrast(self, first: int, second: int, *, other_raters: bool) -> ModelEstimate:
        """The first source's mean less the second's, on the same blocks and raters.

        Raises Incomputable unless `is_estimable`.
        """
        if not self._design.is_linked_by_blocks(first, second):
            raise Incomputable("no_shared_premise")
        if not self._design.is_linked_by_raters(first, second):
            raise Incomputable("sources_not_linked")
        # The test of all sources asks for every two, and so does what is said of them.
        place = first, second, other_raters
        if place not in self._contrasts:
            weights = {first: 1.0, second: -1.0}
            self._contrasts[place] = self._estimate(weights, self._design.row(weights), other_raters=other_raters)
        return self._contrasts[place]

    @cached_property
    def spreads(self) -> SourceSpreads:
        """How far stories of each source spread, or blocks where those are drawn, by what the model leaves of them."""
        design, answers = self._design, self._answers
        effects = self._fit.effects.copy()
        units = "block" if "block" in design.columns.drawn else "story"
        for part in {units, "story"}:
            effects[design.columns.place_by_part[part]] = 0.0
        rests = answers.values - self._middle - design.columns.columns @ effects
        _labels, firsts, places = np.unique(getattr(answers, units), return_index=True, return_inverse=True)
        blocks = answers.block[firsts] if design.has_fixed_blocks else np.zeros(len(firsts))
        return SourceSpreads.of(
            np.bincount(places, rests) / np.bincount(places),
            np.searchsorted(design.sources, answers.source[firsts]),
            np.unique(blocks, return_inverse=True)[1],
        )

    @cached_property
    def _rater_spreads(self) -> RaterSpreads:
        design, answers = self._design, self._answers
        fixed = self._fit.effects.copy()
        for part in design.columns.drawn:
            fixed[design.columns.place_by_part[part]] = 0.0
        rests = answers.values - self._middle - design.columns.columns @ fixed
        rater = np.unique(answers.rater, return_inverse=True)[1]
        return RaterSpreads.of(design.columns.columns, rests, rater, np.searchsorted(design.sources, answers.source))

    def mean_by_raters(self, source: int) -> ModelEstimate | None:
        """`mean` for other raters, as sure as these differ in it; None where it is one rater's, or they do not differ.

        Raises what `mean` raises.
        """
        return self._rater_spreads.estimate(self.mean_value(source), self._fit.shares(self._design.mean_row(source)))

    def contrast_by_raters(self, first: int, second: int) -> ModelEstimate | None:
        """The same of `contrast`, of sources that can be compared."""
        row = self._design.row({first: 1.0, second: -1.0})
        return self._rater_spreads.estimate(float(row @ self._fit.effects), self._fit.shares(row))

    @property
    def block_variance(self) -> float:
        """How far shared blocks vary beyond what their stories and answers would make them differ; 0 without any.

        The mean square of their effects less what sampling adds to it.
        """
        rows = self._design.block_rows
        if len(rows) < 2:
            return 0.0
        covariance, _slopes = self._fit.covariances(rows)
        effects = rows @ self._fit.effects
        centred = np.eye(len(rows)) - 1 / len(rows)
        of_sampling = float(np.trace(centred @ covariance)) / (len(rows) - 1)
        return max(float(effects.var(ddof=1)) - of_sampling, 0.0)

    def place(self, source: int) -> int:
        """Which of the compared sources it is, in the order of `spreads`."""
        return int(np.searchsorted(self._design.sources, source))

    def test_all(self, *, spreads: SourceSpreads | None = None) -> JointTest:
        """Whether any two sources differ, for other stories and other raters; of two sources it is their contrast.

        spreads : of sources, which make it as sure as they let be; None for one spread of all
        Raises Incomputable unless every source can be compared with every other.
        Source: Fai & Cornelius 1996, Journal of Statistical Computation and Simulation 54(4), pp. 363-378.
        """
        first, *others = self._design.sources
        if not others or not all(self.is_estimable(first, other) for other in others):
            raise Incomputable("sources_not_linked")
        weights = [{first: -1.0, other: 1.0} for other in others]
        rows = np.array([self._design.row(of_sources) for of_sources in weights])
        same_rows = rows + np.array([self._design.drawn_row(of_sources) for of_sources in weights])
        wide, same = (self._fit.covariances(part)[0] for part in (rows, same_rows))
        by_source = np.concatenate([np.full((len(others), 1), -1.0), np.eye(len(others))], axis=1)
        covariance = wide if spreads is None else wide + spreads.widen_together(by_source, same) - same
        differences = rows @ self._fit.effects
        f = float(differences @ np.linalg.solve(covariance, differences)) / len(others)
        of_directions, slopes = self._fit.covariances(np.linalg.eigh(wide)[1].T @ rows)
        test = JointTest.of(f, self._degrees(np.diag(of_directions), slopes))
        if spreads is None:
            return test
        # Directions of equal variance are arbitrary, and a source's own spread enters them unequally: pairs are not.
        share = min(self._kept_degrees(pair, spreads) for pair in combinations(self._design.sources.tolist(), 2))
        return replace(test, denominator=max(share * test.denominator, 1.0))

    def _estimate(self, weights: Mapping[int, float], row: FloatArray, *, other_raters: bool) -> ModelEstimate:
        value = float(row @ self._fit.effects) + self._middle * sum(weights.values())
        if not other_raters:
            row = row + self._design.drawn_row(weights)
        covariance, slopes = self._fit.covariances(row[np.newaxis])
        return ModelEstimate(value, float(covariance[0, 0]) ** 0.5, self._degrees(covariance[0], slopes)[0])

    def _kept_degrees(self, pair: tuple[int, int], spreads: SourceSpreads) -> float:
        """The share of a contrast's degrees of freedom, for other raters, that sources' own spreads leave it."""
        narrow, wide = (self.contrast(*pair, other_raters=are_drawn) for are_drawn in (False, True))
        first, second = (self.place(source) for source in pair)
        _narrow, widened = spreads.widen({first: 1.0, second: -1.0}, narrow, wide)
        return min(widened.degrees / wide.degrees, 1.0) if widened else 1.0

    def _degrees(self, variances: FloatArray, slopes: FloatArray) -> list[float]:
        """Satterthwaite's: 2 V² / Var(V), by how each V changes with the variances and how sure those are."""
        spreads = ((slopes @ self._fit.covariance_of_logarithms) * slopes).sum(axis=1)
        return [max(degrees, 1.0) for degrees in (2 * variances**2 / spreads).tolist()]


class SourceDesign:
    """Which columns the model has: of the fixed ones sources and, of shared blocks, all but one of each linked set."""

    def __init__(self, answers: CrossedAnswers) -> None:
        self.n = len(answers.values)
        self.sources, source = np.unique(answers.source, return_inverse=True)
        raters, rater = np.unique(answers.rater, return_inverse=True)
        stories, story = np.unique(answers.story, return_inverse=True)
        blocks, block = np.unique(answers.block, return_inverse=True)
        pairs, rater_source = np.unique(rater * len(self.sources) + source, return_inverse=True)
        self._source_of_pair = pairs % len(self.sources)
        # What is in no shared block has a column for itself, which joins no sources.
        is_shared = _links(block, source).sum(axis=1) > 1
        self.has_fixed_blocks = len(blocks) > 1 and bool(is_shared.any())
        if self.has_fixed_blocks:
            block = np.where(is_shared[block], block, len(blocks))
        _labels, block = np.unique(block, return_inverse=True)
        links = _links(source, block)
        joins = np.full(links.shape[1], self.has_fixed_blocks)
        joins[int(is_shared.sum()) :] = False
        self._set_of_source, self._set_of_block = _linked_sets(links & joins)
        self._set_by_raters, _of_raters = _linked_sets(_links(source, rater))
        # The first block of each set that columns join says nothing that its sources do not.
        _sets, firsts = np.unique(_linked_sets(links)[1], return_index=True)
        others = np.setdiff1d(np.arange(links.shape[1]), firsts)
        has_effect = np.full(links.shape[1], not self.has_fixed_blocks)
        has_effect[others] = True
        parts = [
            ModelPart("source", source, np.ones(len(self.sources), dtype=np.bool_), is_drawn=False),
            ModelPart("rater", rater, np.ones(len(raters), dtype=np.bool_), is_drawn=True),
            ModelPart("rater_source", rater_source, np.ones(len(pairs), dtype=np.bool_), is_drawn=True),
            ModelPart("story", story, np.ones(len(stories), dtype=np.bool_), is_drawn=True),
        ]
        if len(blocks) > 1:
            parts.append(ModelPart("block", block, has_effect, is_drawn=not self.has_fixed_blocks))
        self._n_by_part = {part.name: part.n for part in parts if part.is_drawn}
        self.n_stories = len(stories)
        self.columns = _swept(parts)

    def tells(self, part: str) -> bool:
        """Whether the part can be told from what is finer and what is coarser."""
        n = self._n_by_part.get(part, 0)
        if part == "rater_source":
            return 1 < self._n_by_part["rater"] < n < self.n
        if part == "block":
            return len(self.sources) < n < self.n_stories
        return 1 < n < self.n

    def is_linked_by_blocks(self, first: int, second: int) -> bool:
        one, other = np.searchsorted(self.sources, [first, second])
        return not self.has_fixed_blocks or bool(self._set_of_source[one] == self._set_of_source[other])

    def is_linked_by_raters(self, first: int, second: int) -> bool:
        one, other = np.searchsorted(self.sources, [first, second])
        return bool(self._set_by_raters[one] == self._set_by_raters[other])

    def row(self, weights: Mapping[int, float]) -> FloatArray:
        """How much each effect enters a sum of sources, shape (columns,)."""
        row = np.zeros(self.columns.n_columns)
        self._of(row, "source")[np.searchsorted(self.sources, list(weights))] = list(weights.values())
        return row

    def mean_row(self, source: int) -> FloatArray:
        """How much each effect enters a source's mean over the shared blocks of its linked set, shape (columns,).

        Raises Incomputable for a source that shares no block where others do.
        """
        row = self.row({source: 1.0})
        if self.has_fixed_blocks:
            is_over = self._set_of_block == self._set_of_source[np.searchsorted(self.sources, source)]
            if not is_over.any():
                raise Incomputable("no_shared_premise")
            self._of(row, "block")[:] = is_over / is_over.sum()
        return row

    @property
    def block_rows(self) -> FloatArray:
        """What picks each shared block's effect, shape (blocks, columns), of blocks that are all linked; else none."""
        if not self.has_fixed_blocks or len(set(self._set_of_source.tolist())) > 1:
            return np.zeros((0, self.columns.n_columns))
        rows = np.zeros((len(self._set_of_block), self.columns.n_columns))
        places = np.arange(self.columns.n_columns)[self.columns.place_by_part["block"]]
        rows[np.arange(len(places)), places] = 1.0
        return rows

    def drawn_row(self, weights: Mapping[int, float]) -> FloatArray:
        """How much raters enter a sum of sources, and what those who read a source make of it, shape (columns,).

        All enter alike, so that what is predicted of them adds up to 0 and the sum has the same value without them.
        """
        row = np.zeros(self.columns.n_columns)
        self._of(row, "rater")[:] = sum(weights.values()) / self._n_by_part["rater"]
        for source, weight in weights.items():
            pairs = np.flatnonzero(self._source_of_pair == np.searchsorted(self.sources, source))
            self._of(row, "rater_source")[pairs] = weight / len(pairs)
        return row

    def _of(self, row: FloatArray, part: str) -> FloatArray:
        return row[self.columns.place_by_part[part]]


_LAST: list[tuple[CrossedAnswers, SourceDesign]] = []


def _design_of(answers: CrossedAnswers) -> SourceDesign:
    """The design of these answers: the last one that was made where that is of the same, as of item after item."""
    labels = ("source", "block", "rater", "story")
    for other, design in _LAST[:]:
        if all(np.array_equal(getattr(answers, name), getattr(other, name)) for name in labels):
            return design
    design = SourceDesign(answers)
    _LAST[:] = [(answers, design)]
    return design


def forget_design() -> None:
    """Let go of the design that was made last, and of the answers that it is of."""
    _LAST.clear()


def _swept(parts: Sequence[ModelPart]) -> CrossedColumns:
    """The columns, without those of the larger: stories in their blocks, or what raters make of a source in raters."""
    by_name = {part.name: part for part in parts}
    story, rater_source, block = by_name["story"], by_name["rater_source"], by_name.get("block")
    if block is not None:
        block_of_story = np.zeros(story.n, dtype=np.int64)
        block_of_story[story.places] = block.places
        if (block_of_story[story.places] != block.places).any():
            block = None
    if story.n + (block.n if block else 0) < rater_source.n + by_name["rater"].n:
        return CrossedColumns(parts, fine=rater_source, coarse=by_name["rater"])
    return CrossedColumns(parts, fine=story, coarse=block)


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
