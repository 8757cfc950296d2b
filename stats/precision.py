"""How exact the results of a planned study will be, and what it can find: the design answered many times over.

Each simulated study goes through the functions that reports use, so that whatever those do for few stories, unequal
shares or several comparisons is in the numbers. Shares of studies have a Monte Carlo error of √(p (1 − p) / studies).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil
from typing import TypeAlias

import numpy as np

from stats import contrasts, source_contrasts
from stats.arrays import FloatArray
from stats.intervals import Interval
from stats.planned_answers import AnswerForm, Deviations, PlannedReadings, answers_of, draw_answers
from stats.reasons import Incomputable
from stats.source_contrasts import BY_MODEL, LEVEL, ComparedSources, PairContrast

Pair: TypeAlias = tuple[int, int]
N_STUDIES, FEWEST_STUDIES = 200, 2
PER_TEST, PER_SHORT_TEST, PER_CONTRAST = 0.012, 0.0012, 0.0004  # seconds: on ranks, with all signs; without; of a fit
SECONDS = 0.9  # on one core, that the studies of an outcome may take; those under a difference as many again
MOST_PAIRS = 10  # whose widths are looked at
ALL_PAIRS = 45  # of so many all are tested in each study
FEWEST_STORIES = 4  # of a source, below which reports find nothing out about it
RELIABLE = 0.8
ONE_SOURCE = "one_source"


@dataclass(frozen=True, kw_only=True)
class PlannedComparison:
    """What is compared, and how.

    test : as in `stats.source_contrasts`; pairs : planned ones, corrected together by Holm. Without, every two sources
    are, within an outcome in which sources differ at all, of so many outcomes
    """

    test: str = BY_MODEL
    pairs: tuple[Pair, ...] = ()
    n_outcomes: int = 1

    def looked_at(self, n_sources: int) -> list[Pair]:
        return list(self.pairs) or list(combinations(range(n_sources), 2))


@dataclass(frozen=True, kw_only=True)
class ContrastPrecision:
    """What differences of two sources will be like. Widths are half of 95 % intervals, in the outcome's unit.

    same_raters, other_raters : of a difference, for other stories and these, or other, raters: the median study; None
        where there is none. Of several pairs of sources the mean; `widest` that of the widest for other raters
    mean : of one source's mean, for other raters where it can be
    power : the share of studies that find a difference of the size that was asked for clear, of one pair;
        power_same_raters : clear, or for these raters alone
    false_claims : the share of studies without any difference that find one clear
    least_p : that the test can reach after correction
    why : the reason if no study could be compared
    """

    n_studies: int
    same_raters: float | None = None
    other_raters: float | None = None
    widest: float | None = None
    mean: float | None = None
    power: float | None = None
    power_same_raters: float | None = None
    false_claims: float | None = None
    least_p: float | None = None
    why: str = ""


def expect_contrasts(
    readings: PlannedReadings,
    form: AnswerForm,
    deviations: Deviations,
    comparison: PlannedComparison,
    *,
    effect: float,
    rng: np.random.Generator,
    n_studies: int | None = None,
    share: float = 1.0,
    on_step: Callable[[], None] = lambda: None,
) -> ContrastPrecision:
    """What the comparisons of an outcome will be like.

    effect : by which one source is better, as `draw_answers` takes it; n_studies : as many as time allows unless said
    share : of that time
    Raises ValueError as `draw_answers` does.
    """
    if readings.n_sources < 2:
        return ContrastPrecision(n_studies=0, why=ONE_SOURCE)
    n = n_studies or count_studies(readings, comparison, share=share)
    without = np.zeros(readings.n_sources)
    null = []
    for _study in range(n):
        null.append(_Study(readings, form, deviations, comparison, without, rng))
        on_step()
    reasons = [study.why for study in null if study.why is not None]
    if len(reasons) == n:
        return ContrastPrecision(n_studies=n, why=reasons[0].code)
    planned = []
    pairs = comparison.looked_at(readings.n_sources)
    for number in range(n):
        pair = pairs[number % len(pairs)]
        better = np.where(np.arange(readings.n_sources) == pair[0], effect, 0.0)
        planned.append(_Study(readings, form, deviations, comparison, better, rng).finds(pair))
        on_step()
    return ContrastPrecision(
        n_studies=n,
        same_raters=_median(study.width(is_wide=False) for study in null),
        other_raters=_median(study.width(is_wide=True) for study in null),
        widest=_median(study.widest for study in null),
        mean=_median(study.mean_width for study in null),
        power=float(np.mean([is_clear for is_clear, _same in planned])),
        power_same_raters=float(np.mean([same for _is_clear, same in planned])),
        false_claims=_share(study.finds_any() for study in null),
        least_p=_median(study.least_p for study in null),
    )


def count_studies(readings: PlannedReadings, comparison: PlannedComparison, *, share: float = 1.0) -> int:
    """How many studies of this design can be simulated in that share of the time: by its size alone, so that the same
    plan gives the same numbers on every computer. A fit takes longer the more columns are left after sweeping."""
    n, n_stories, n_blocks = len(readings.rater), int(readings.story.max()) + 1, int(readings.block.max()) + 1
    n_pairs = min(len(comparison.looked_at(readings.n_sources)), ALL_PAIRS)
    if comparison.test == BY_MODEL:
        n_columns = readings.n_raters + np.unique(readings.rater * readings.n_sources + readings.source).size
        seconds = 0.008 + 1.2e-6 * n + 3.5e-7 * min(n_columns, n_stories + n_blocks) ** 2 + PER_CONTRAST * n_pairs
    else:
        per_test = PER_TEST if n_blocks <= contrasts.N_ALL_SIGNS else PER_SHORT_TEST
        seconds = 0.003 + 4e-7 * n + 6e-8 * readings.n_raters * n_stories + per_test * n_pairs
    return int(np.clip(share * SECONDS / seconds, FEWEST_STUDIES, N_STUDIES))


class _Study:
    """One simulated study, compared as a report would."""

    def __init__(
        self,
        readings: PlannedReadings,
        form: AnswerForm,
        deviations: Deviations,
        comparison: PlannedComparison,
        effects: FloatArray,
        rng: np.random.Generator,
    ) -> None:
        ratings = draw_answers(readings, form, deviations, effects=effects, rng=rng)
        seed = int(rng.integers(2**32))
        self._comparison, self._pairs = comparison, comparison.looked_at(readings.n_sources)
        self._n_sources = readings.n_sources
        self._compared = ComparedSources(
            answers_of(readings, form, ratings),
            test=comparison.test,
            resampling=lambda: np.random.default_rng(seed),
            n_resamples=200,
        )
        self._contrasts: dict[Pair, PairContrast | Incomputable] = {}

    @property
    def why(self) -> Incomputable | None:
        """Why no pair of sources can be compared; None if one can."""
        for pair in self._sampled:
            contrast = self._contrast(pair)
            if not isinstance(contrast, Incomputable):
                return None
        return contrast if isinstance(contrast, Incomputable) else None

    @property
    def _sampled(self) -> list[Pair]:
        """The pairs whose widths are looked at: of many, some at even distances."""
        return self._pairs[:: ceil(len(self._pairs) / MOST_PAIRS)]

    def _contrast(self, pair: Pair) -> PairContrast | Incomputable:
        if pair not in self._contrasts:
            try:
                self._contrasts[pair] = self._compared.between(*pair)
            except Incomputable as error:
                self._contrasts[pair] = error
        return self._contrasts[pair]

    def _widths(self, *, is_wide: bool) -> list[float]:
        comparable = [contrast for pair in self._sampled if isinstance(contrast := self._contrast(pair), PairContrast)]
        ends = [contrast.wide if is_wide else contrast.interval for contrast in comparable]
        return [half_width(interval) for interval in ends if isinstance(interval, Interval)]

    def width(self, *, is_wide: bool) -> float | None:
        widths = self._widths(is_wide=is_wide)
        return float(np.mean(widths)) if widths else None

    @property
    def widest(self) -> float | None:
        return max(self._widths(is_wide=True), default=None)

    @property
    def mean_width(self) -> float | None:
        means = [self._compared.mean(source) for source in range(self._n_sources)]
        widths = [half_width(mean[1]) for mean in means if mean]
        return float(np.mean(widths)) if widths else None

    @property
    def least_p(self) -> float | None:
        """The least p for these raters after correction, each pair with the least that its test can reach."""
        if self._comparison.test == BY_MODEL:
            return 0.0
        corrected = self._corrected([self._least(pair) for pair in self._sampled])
        return min((p for p in corrected if p is not None), default=None)

    def _least(self, pair: Pair) -> float | None:
        contrast = self._contrast(pair)
        if isinstance(contrast, Incomputable):
            return None
        n = [contrast.n] if contrast.n_second is None else [contrast.n, contrast.n_second]
        return contrasts.least_p(contrast.test, n)

    def finds(self, pair: Pair) -> tuple[bool, bool]:
        """Whether a report calls the pair's difference clear, and whether it does so at least for these raters.

        Of very many pairs some are looked at, and the others are taken to show nothing.
        """
        pairs = self._pairs if len(self._pairs) <= ALL_PAIRS else list(dict.fromkeys([pair, *self._sampled]))
        return dict(zip(pairs, self._findings(pairs), strict=True))[pair]

    def finds_any(self) -> bool | None:
        """Whether a report calls any difference clear; None where pairs are too many for their test to look at all."""
        if not self._comparison.pairs and self._comparison.test == BY_MODEL:
            p = self._p_of_all()
            if p is not None and p >= LEVEL:  # pairs are looked at within outcomes that pass
                return False
        elif len(self._pairs) > ALL_PAIRS:
            return None
        return any(is_clear for is_clear, _same in self._findings(self._pairs))

    def _findings(self, pairs: list[Pair]) -> Iterator[tuple[bool, bool]]:
        """As `reports.figures.sources.contrast_rows` says it of a row whose family is corrected."""
        results = [self._contrast(pair) for pair in pairs]
        ps = self._corrected([None if isinstance(c, Incomputable) else c.p for c in results], self._p_of_all())
        ps_same = self._corrected([None if isinstance(c, Incomputable) else c.p_same_raters for c in results])
        least = self._corrected([self._least(pair) for pair in pairs])
        for contrast, p, p_same, p_least in zip(results, ps, ps_same, least, strict=True):
            if isinstance(contrast, Incomputable) or min(contrast.n_stories) < FEWEST_STORIES:
                yield False, False
                continue
            is_tested = p_least is None or p_least < LEVEL
            is_same = is_tested and p_same is not None and p_same < LEVEL
            is_clear = is_same and p is not None and p < LEVEL and _leaves_out_zero(contrast.wide)
            yield is_clear, is_clear or (is_same and _leaves_out_zero(contrast.interval))

    def _p_of_all(self) -> float | None:
        test = self._compared.test_all()
        return test.p if test else None

    def _corrected(self, ps: Sequence[float | None], p_of_all: float | None = None) -> list[float | None]:
        """The p values for all that is looked at; other outcomes are taken to show nothing."""
        n = len(ps)
        ps = [*ps, *[1.0] * (len(self._pairs) - n)]
        if self._comparison.pairs:
            return contrasts.adjust(ps, "holm")[:n]
        p_of_outcome = source_contrasts.p_of_all(ps) if p_of_all is None else p_of_all
        n_others = self._comparison.n_outcomes - 1
        return source_contrasts.adjust_within([ps, *[[]] * n_others], [p_of_outcome, *[1.0] * n_others], "holm")[0][0][
            :n
        ]


def half_width(interval: Interval) -> float:
    return (interval.high - interval.low) / 2


def _leaves_out_zero(interval: Interval | Incomputable) -> bool:
    return isinstance(interval, Interval) and not interval.low <= 0 <= interval.high


def _share(values: Iterator[bool | None]) -> float | None:
    present = [value for value in values if value is not None]
    return float(np.mean(present)) if present else None


def _median(values: Iterator[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return float(np.median(present)) if present else None


@dataclass(frozen=True)
class Generalisability:
    """How reliable the mean of the raters of a story is, from 0 to 1, and how many raters it takes to reach .80.

    coefficient : of so many raters; None where stories of a source do not vary
    n_raters, n_needed : that read a story, and that are needed
    """

    coefficient: float | None
    n_raters: int
    n_needed: int | None


def generalise(deviations: Deviations, n_raters: int, *, is_crossed: bool) -> Generalisability:
    """A D-study of stories within their sources.

    is_crossed : whether the same raters read all stories, so that their severity orders none of them anew
    Source: Brennan 2001, Generalizability Theory, equations 2.38 and 2.40 (relative and absolute error).

    >>> generalise(Deviations(story=1.0, rest=2.0), 4, is_crossed=True)
    Generalisability(coefficient=0.5, n_raters=4, n_needed=16)
    """
    of_stories = deviations.story**2
    error = deviations.rater_source**2 + deviations.rest**2 + (0.0 if is_crossed else deviations.rater**2)
    if not of_stories:
        return Generalisability(None, n_raters, None)
    n_needed = RELIABLE / (1 - RELIABLE) * error / of_stories
    return Generalisability(of_stories / (of_stories + error / n_raters), n_raters, max(1, ceil(round(n_needed, 9))))
