"""How far every two sources of an outcome are apart: contrasts of one model of all answers, and families of outcomes.

Ratings have shape (R, U), of each rater about each unit, nan where there is none; what units are is given beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from stats import contrasts, variance_components
from stats.arrays import BoolArray, FloatArray, IntArray, as_ratings
from stats.intervals import Interval
from stats.model_estimates import ModelEstimate
from stats.reasons import Incomputable, value_or_reason
from stats.source_model import CrossedAnswers, JointTest, SourceDesign, SourceModel

LEVEL = 0.05
ALIKE = 1e-9  # of the largest, within which two answers, or two errors, are the same
BY_MODEL = "model"  # as a test: the mixed model; the others are those of `stats.contrasts`
MODEL_TEST = "t of the mixed model"


@dataclass(frozen=True, kw_only=True)
class OutcomeAnswers:
    """Answers of one outcome with what they are about.

    values : of each unit, shape (U,), nan where there is none; ratings : of each rater, shape (R, U)
    source : of each unit a number, -1 for one that is left out, shape (U,)
    block, story, cluster : of each unit a number; block as in `CrossedAnswers`, shape (U,)
    most : how far apart two means can be, where all intervals end
    """

    values: FloatArray
    ratings: FloatArray
    source: IntArray
    block: IntArray
    story: IntArray
    cluster: IntArray
    most: float

    def of(self, source: int) -> BoolArray:
        """The units of that source that have a value, shape (U,)."""
        return np.asarray((self.source == source) & np.isfinite(self.values), dtype=np.bool_)

    def n_stories(self, source: int) -> int:
        return int(np.unique(self.story[self.of(source)]).size)

    def n_raters(self, *sources: int) -> int:
        """How many raters rated any of these sources."""
        return int(np.isfinite(self.ratings[:, np.isin(self.source, sources)]).any(axis=1).sum())

    def n_blocks(self, first: int, second: int) -> tuple[int, int]:
        """How many blocks hold both, and how many one of the two alone."""
        sides = [set(self.block[self.of(source)].tolist()) for source in (first, second)]
        return len(sides[0] & sides[1]), len(sides[0] ^ sides[1])


@dataclass(frozen=True, kw_only=True)
class PairContrast:
    """The mean of the first source less that of the second, in the outcome's unit.

    means : of the first and of the second: it is the difference of these
    interval : for other stories and the same raters; wide : for other raters, too, never narrower, or why there is none
    low_90, high_90 : ends of the 90 % interval, for other raters where it can be
    p : of no difference, for other stories and other raters; None where these are not known
    p_same_raters : the same for these raters, by the test
    p_within : of a difference as large as the margin or larger; None without a margin
    n, n_second : as in `stats.contrasts.Contrast`; 0 of a model
    n_stories : of the first and the second; n_raters : who read either
    n_blocks : that hold both; n_left_out : that hold one of the two, where others hold both
    effect : by its name; None where there is none
    """

    difference: float
    means: tuple[float, float]
    interval: Interval
    wide: Interval | Incomputable
    low_90: float
    high_90: float
    p: float | None
    p_same_raters: float
    p_within: float | None
    test: str
    is_paired: bool = False
    n: int = 0
    n_second: int | None = None
    n_left_out: int = 0
    n_stories: tuple[int, int]
    n_raters: int
    n_blocks: int
    effect: float | None
    effect_name: str


class ComparedSources:
    """What is said of every two sources of one outcome: by the mixed model, or by a test on cluster means."""

    def __init__(
        self,
        answers: OutcomeAnswers,
        *,
        test: str,
        margin: float | None = None,
        resampling: Callable[[], np.random.Generator],
        n_resamples: int,
    ) -> None:
        """test : BY_MODEL or a test of `stats.contrasts`; margin : planned, in units of the outcome; None without"""
        self._all, self._test, self._margin = answers, test, margin
        self._resampling, self._n_resamples = resampling, n_resamples
        self._answers = _compared(answers) if test == BY_MODEL else answers
        self.model = value_or_reason(lambda: _fit(self._answers)) if test == BY_MODEL else None

    @property
    def crossed(self) -> CrossedAnswers:
        """The answers that the model is of."""
        return _crossed(self._answers)

    def between(self, first: int, second: int) -> PairContrast:
        """The first less the second. Raises Incomputable where the two cannot be compared."""
        if self.model is None:
            return self._by_clusters(first, second)
        if isinstance(self.model, Incomputable):
            raise self.model
        if not self.model.holds(first, second):
            raise Incomputable("no_shared_premise")
        return self._by_model(self.model, first, second)

    def mean(self, source: int) -> tuple[float, Interval] | None:
        """By the model: the mean as if all raters had read the source in all blocks, with its widest interval."""
        if self.model is None or isinstance(self.model, Incomputable) or not self.model.holds(source):
            return None
        n_stories, has_others = self._answers.n_stories(source), self._answers.n_raters(source) > 1
        try:
            same = self.model.mean(source, other_raters=False)
            wide = self.model.mean(source, other_raters=True) if has_others else None
        except Incomputable:
            return None
        by_raters = self.model.mean_by_raters(source) if has_others else None
        same, wide = self.model.spreads.widen({self.model.place(source): 1.0}, same, wide)
        ends = _widest(
            [estimate.interval(n_stories) for estimate in (wide, by_raters) if estimate] or [same.interval(n_stories)]
        )
        return same.value, variance_components.widened(ends, same.interval(n_stories))

    def test_all(self) -> JointTest | None:
        """By the model: whether any two sources differ; None without a model, other raters, or a chain through all."""
        if self.model is None or isinstance(self.model, Incomputable):
            return None
        if self._answers.n_raters(*self._answers.source[self._answers.source >= 0]) < 2:
            return None
        sources = np.unique(self._answers.source[self._answers.source >= 0]).tolist()
        try:
            if len(sources) == 2:  # their contrast
                same, wide = self._estimates(self.model, *sources)
                estimate = max([same, *wide], key=lambda estimate: estimate.p)
                return JointTest((estimate.value / estimate.error) ** 2, 1, estimate.degrees)
            return self.model.test_all(spreads=self.model.spreads)
        except Incomputable:
            return None

    def _estimates(self, model: SourceModel, first: int, second: int) -> tuple[ModelEstimate, list[ModelEstimate]]:
        """The first less the second for these raters, and for others by the model and by what each rater adds."""
        same = model.contrast(first, second, other_raters=False)
        has_others = self._answers.n_raters(first, second) > 1
        wide = model.contrast(first, second, other_raters=True) if has_others else None
        by_raters = model.contrast_by_raters(first, second) if has_others else None
        same, wide = model.spreads.widen({model.place(first): 1.0, model.place(second): -1.0}, same, wide)
        return same, [estimate for estimate in (wide, by_raters) if estimate]

    def _by_model(self, model: SourceModel, first: int, second: int) -> PairContrast:
        answers, most = self._answers, self._answers.most
        same, wide = self._estimates(model, first, second)
        n_stories = answers.n_stories(first), answers.n_stories(second)
        return self._pair(
            same.interval(min(n_stories), method="t").clipped(-most, most),
            wide or Incomputable("one_rater"),
            same,
            sides=(first, second),
            means=(model.mean_value(first), model.mean_value(second)),
            p_same_raters=same.p,
            test=MODEL_TEST,
            effect=same.value / sum(model.variances.values()) ** 0.5,
            effect_name="Cohen's d, of single answers",
        )

    def _by_clusters(self, first: int, second: int) -> PairContrast:
        answers, sides = self._answers, (first, second)
        means = [contrasts.cluster_means(answers.values, answers.cluster, answers.of(side)) for side in sides]
        cells = [variance_components.cell_means(answers.ratings, answers.cluster, answers.of(side)) for side in sides]
        contrast = contrasts.contrast(
            *means, test=self._test, most=answers.most, rng=self._resampling(), n_resamples=self._n_resamples
        )

        def for_other_raters() -> Sequence[ModelEstimate]:
            return variance_components.difference_estimates(
                cells[0], cells[1], contrast.difference, is_paired=contrast.is_paired
            )

        return self._pair(
            contrast.interval,
            value_or_reason(for_other_raters),
            contrast.estimate,
            sides=sides,
            means=contrast.means,
            p_same_raters=contrast.p,
            test=contrast.test,
            is_paired=contrast.is_paired,
            n=contrast.n[0],
            n_second=None if contrast.is_paired else contrast.n[1],
            effect=contrast.effect,
            effect_name=contrast.effect_name,
        )

    def _pair(
        self,
        interval: Interval,
        wide: Sequence[ModelEstimate] | Incomputable,
        same: ModelEstimate,
        *,
        sides: tuple[int, int],
        p_same_raters: float,
        **fields: Any,
    ) -> PairContrast:
        """What both ways share: what is for other raters, too, is never surer than any estimate of it, nor than for
        these.
        """
        answers, most, n = self._answers, self._answers.most, interval.n_units
        n_blocks, n_alone = self._all.n_blocks(*sides)
        estimates = [same, *([] if isinstance(wide, Incomputable) else wide)]
        ends = _widest([estimate.interval(n, level=0.9) for estimate in estimates])
        return PairContrast(
            difference=same.value,
            interval=interval,
            wide=wide
            if isinstance(wide, Incomputable)
            else variance_components.widened(_widest([estimate.interval(n) for estimate in wide]), interval).clipped(
                -most, most
            ),
            low_90=max(ends.low, -most),
            high_90=min(ends.high, most),
            p=None if isinstance(wide, Incomputable) else max(p_same_raters, *(estimate.p for estimate in wide)),
            p_same_raters=p_same_raters,
            p_within=None if self._margin is None else max(estimate.p_within(self._margin) for estimate in estimates),
            n_stories=(answers.n_stories(sides[0]), answers.n_stories(sides[1])),
            n_raters=answers.n_raters(*sides),
            n_blocks=n_blocks,
            n_left_out=n_alone if n_blocks else 0,
            **fields,
        )


def _widest(ends: Sequence[Interval]) -> Interval:
    """Of intervals around one value."""
    return max(ends, key=lambda interval: interval.high - interval.low)


def _crossed(answers: OutcomeAnswers) -> CrossedAnswers:
    rater, unit = np.nonzero(np.isfinite(as_ratings(answers.ratings)) & (answers.source >= 0))
    return CrossedAnswers(
        values=answers.ratings[rater, unit],
        source=answers.source[unit],
        block=answers.block[unit],
        rater=rater,
        story=answers.story[unit],
    )


def _fit(answers: OutcomeAnswers) -> SourceModel:
    crossed = _crossed(answers)
    if not crossed.values.size:
        raise Incomputable("too_few_stories")
    return SourceModel(_one_a_story(crossed) if _agree(crossed) else crossed)


def _agree(answers: CrossedAnswers) -> bool:
    """Whether all answers of each story are the same, of raters who join all sources: others say nothing more."""
    stories, places = np.unique(answers.story, return_inverse=True)
    if stories.size == answers.values.size:
        return False
    highest, lowest = np.full(stories.size, -np.inf), np.full(stories.size, np.inf)
    np.maximum.at(highest, places, answers.values)
    np.minimum.at(lowest, places, answers.values)
    if (highest - lowest).max() > ALIKE * np.abs(answers.values).max():
        return False
    design = SourceDesign(answers)
    return all(design.is_linked_by_raters(design.sources[0], source) for source in design.sources)


def _one_a_story(answers: CrossedAnswers) -> CrossedAnswers:
    """The first answer of each story, as if by one rater."""
    _stories, firsts = np.unique(answers.story, return_index=True)
    return CrossedAnswers(
        values=answers.values[firsts],
        source=answers.source[firsts],
        block=answers.block[firsts],
        rater=np.zeros(firsts.size, dtype=np.int64),
        story=answers.story[firsts],
    )


def _compared(answers: OutcomeAnswers) -> OutcomeAnswers:
    """Those about stories in blocks that hold several sources, where there are such: others say nothing of sources."""
    is_told = np.isfinite(answers.values) & (answers.source >= 0)
    sources_by_block: dict[int, set[int]] = {}
    for block, source in zip(answers.block[is_told].tolist(), answers.source[is_told].tolist(), strict=True):
        sources_by_block.setdefault(block, set()).add(source)
    are_shared = np.array([len(sources_by_block.get(block, ())) > 1 for block in answers.block.tolist()])
    return replace(answers, source=np.where(are_shared, answers.source, -1)) if are_shared.any() else answers


def p_of_all(ps: Sequence[float | None]) -> float | None:
    """Of the p values of all pairs of an outcome the p that none of them differs: the least after Holm's correction."""
    adjusted = [p for p in contrasts.adjust(ps, "holm") if p is not None]
    return min(adjusted, default=None)


def adjust_within(
    ps_of_outcomes: Sequence[Sequence[float | None]], ps_of_all: Sequence[float | None], correction: str
) -> tuple[list[list[float | None]], list[float | None]]:
    """The p values of pairs, and of all sources together, for all outcomes that were looked at.

    Outcomes are corrected by their p of all sources; pairs are looked at within outcomes that pass, by Holm at 5 %
    times passed / outcomes. A pair's p is below .05 where that rejects it.

    ps_of_outcomes : of each outcome the p of its pairs; ps_of_all : its p of all sources; None where there is none
    Source: Benjamini & Bogomolov 2014, Journal of the Royal Statistical Society B 76(1), pp. 297-318.
    """
    of_all = contrasts.adjust(ps_of_all, correction)
    n_outcomes = sum(p is not None for p in of_all)
    n_passed = sum(p is not None and p < LEVEL for p in of_all)
    factor = n_outcomes / max(n_passed, 1)
    of_pairs = [
        [None if p is None or whole is None else min(1.0, max(whole, factor * p)) for p in contrasts.adjust(ps, "holm")]
        for ps, whole in zip(ps_of_outcomes, of_all, strict=True)
    ]
    return of_pairs, of_all


def letters(order: Sequence[str], are_apart: Mapping[frozenset[str], bool]) -> dict[str, str]:
    """Of each source the letters of the sets that it is in: two that share none are told apart, and no others.

    order : the sources, the best first, who has the first letter; are_apart : whether two are told apart, else not
    Source: Piepho 2004, Journal of Computational and Graphical Statistics 13(2), pp. 456-466: insert and absorb.

    >>> letters(["A", "B", "C"], {frozenset("AC"): True})
    {'A': 'a', 'B': 'ab', 'C': 'b'}
    """
    sets = [frozenset(order)]
    for pair in combinations(order, 2):
        if are_apart.get(frozenset(pair)):
            split = [part - {one} for part in sets if part.issuperset(pair) for one in pair]
            whole = [part for part in sets if not part.issuperset(pair)]
            parts = list(dict.fromkeys(whole + split))
            sets = [part for part in parts if not any(part < other for other in parts)]
    sets.sort(key=lambda part: [order.index(name) for name in order if name in part])
    return {name: "".join(_letter(n) for n, part in enumerate(sets) if name in part) for name in order}


def _letter(number: int) -> str:
    """a, b, … z, then A, … Z."""
    return "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[number % 52]
