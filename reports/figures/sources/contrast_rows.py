"""What figures that compare share: a contrast of two sources, or of two levels of a factor, and all of one outcome."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reports.document.values import Interval, Reason

SURE = 0.05
MODEL_TEST = "t of the mixed model"  # what `stats.source_contrasts` calls it
FEWEST_STORIES = 4  # of a source, below which nothing is found out about it: at three Welch's level is 7 to 11 %


@dataclass(frozen=True, kw_only=True)
class SourceLevel:
    """The mean over the stories of a source.

    adjusted : as if all raters had read it in all blocks that are compared, by the model; with its interval for other
        stories and other raters
    letters : of the sets of sources that it cannot be told from; "" without a contrast
    """

    source: str
    value: float
    n_stories: int
    adjusted: float | None = None
    interval: Interval | None = None
    letters: str = ""


@dataclass(frozen=True, kw_only=True)
class VariancePart:
    """How much one thing makes answers differ, in squared units of the outcome; `is_told`: apart from the others."""

    part: str
    variance: float
    is_told: bool = True


@dataclass(frozen=True, kw_only=True)
class TestOfAll:
    """Whether any two of the sources differ, for other stories and other raters.

    f, numerator, denominator : of the F test; None where it is the least p of all pairs, by Holm
    """

    p: float
    p_adjusted: float | None = None
    f: float | None = None
    numerator: int | None = None
    denominator: float | None = None


@dataclass(frozen=True, kw_only=True)
class ContrastRow:
    """The mean of the first source less that of the second, or why there is none.

    first_value, second_value : the means that it is the difference of
    interval : for the same raters and other stories; wide : for other raters, too, never narrower
    low_90, high_90 : the ends of the 90 % interval, which is laid beside a margin; for other raters where it can be
    p : of no difference, for other stories and other raters; p_same_raters : for other stories and these raters
    p_adjusted, p_same_raters_adjusted : for all that its family looked at
    p_least : the least that p_same_raters_adjusted could be, every contrast with the least p that its test can reach
    p_within : of a difference beyond the margin; p_within_adjusted : for all that were planned beside a margin
    n_family : pairs of the outcome that were looked at; n_outcomes : outcomes
    n : clusters of a test on their means, 0 of a model; of unpaired sources those of the first, n_second of the second
    n_stories, n_stories_second : of the first and the second; n_raters : who read either
    n_blocks : premises or groups that hold both; n_left_out : that hold one of the two, where others hold both
    is_planned : whether the analysis plan names it
    is_equivalent : whether it lies within the planned margin; None if none was planned for it
    """

    first: str
    second: str
    value: float | None = None
    first_value: float | None = None
    second_value: float | None = None
    interval: Interval | None = None
    wide: Interval | None = None
    low_90: float | None = None
    high_90: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    p_same_raters: float | None = None
    p_same_raters_adjusted: float | None = None
    p_least: float | None = None
    p_within: float | None = None
    p_within_adjusted: float | None = None
    n_family: int = 0
    n_outcomes: int = 1
    test: str = ""
    is_paired: bool = False
    n: int = 0
    n_second: int | None = None
    n_left_out: int = 0
    n_stories: int = 0
    n_stories_second: int = 0
    n_raters: int = 0
    n_blocks: int = 0
    effect: float | None = None
    effect_name: str = ""
    is_planned: bool = False
    is_equivalent: bool | None = None
    why: Reason | None = None

    @property
    def ends(self) -> Interval | None:
        """The interval that is printed: for other stories and other raters where there is one."""
        return self.wide if self.wide is not None and self.wide.low is not None else self.interval

    @property
    def leaves_out_zero(self) -> bool:
        """Whether the interval that is printed does."""
        return _leaves_out_zero(self.ends)

    @property
    def is_not_tested(self) -> bool:
        """Whether its test could tell no difference apart after correction, however large, or stories are too few."""
        return self.has_too_few_stories or (self.p_least is not None and self.p_least >= SURE)

    @property
    def fewest_stories(self) -> int:
        return min(self.n_stories, self.n_stories_second)

    @property
    def has_too_few_stories(self) -> bool:
        """Whether either source has fewer stories than any finding needs."""
        return self.value is not None and self.fewest_stories < FEWEST_STORIES

    @property
    def is_clear(self) -> bool:
        """Whether the two are told apart after correction for other stories and other raters."""
        is_sure = _is_sure(self.p_adjusted) and _is_sure(self.p_same_raters_adjusted)
        return is_sure and _leaves_out_zero(self.wide) and not self.is_not_tested

    @property
    def is_of_these_raters(self) -> bool:
        """Whether the two are told apart for these raters, and not for others."""
        is_sure = _is_sure(self.p_same_raters_adjusted) and _leaves_out_zero(self.interval)
        return is_sure and not self.is_not_tested and not self.is_clear

    def turned(self) -> ContrastRow:
        """The same, of the second less the first."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            value=None if self.value is None else -self.value,
            first_value=self.second_value,
            second_value=self.first_value,
            interval=_turned(self.interval),
            wide=_turned(self.wide),
            low_90=None if self.high_90 is None else -self.high_90,
            high_90=None if self.low_90 is None else -self.low_90,
            effect=None if self.effect is None else -self.effect,
            n=self.n if self.n_second is None else self.n_second,
            n_second=None if self.n_second is None else self.n,
            n_stories=self.n_stories_second,
            n_stories_second=self.n_stories,
        )


def _is_sure(p: float | None) -> bool:
    return p is not None and p < SURE


def _leaves_out_zero(ends: Interval | None) -> bool:
    return ends is not None and ends.low is not None and ends.high is not None and not ends.low <= 0 <= ends.high


def _turned(ends: Interval | None) -> Interval | None:
    if ends is None or ends.low is None or ends.high is None:
        return ends
    return replace(ends, low=-ends.high, high=-ends.low)


@dataclass(frozen=True, kw_only=True)
class LogOddsCheck:
    """A contrast that was planned, or found clear, looked at by the model of log odds; it finds nothing on its own.

    value : the difference in log odds of a higher answer, or of Yes, with its interval; p : of none, not corrected
    is_clear, difference : of the contrast by the linear model
    """

    first: str
    second: str
    is_clear: bool
    difference: float
    value: float | None = None
    interval: Interval | None = None
    p: float | None = None
    why: Reason | None = None

    @property
    def is_other_way(self) -> bool:
        """Whether it puts the other source ahead in a contrast that is clear."""
        return self.is_clear and self.value is not None and self.value * self.difference < 0

    @property
    def is_doubted(self) -> bool:
        """Whether it does not show a contrast that is clear."""
        return self.is_clear and self.p is not None and self.p >= SURE


@dataclass(frozen=True, kw_only=True)
class OutcomeContrasts:
    """One outcome: the mean of each source, and every two sources.

    kind : as in `studies.protocol.Outcome`
    is_secondary : whether the plan names it beside the primary one
    is_after_exclusions : whether what the plan's rules leave out is left out here
    reference : the source against which the others are drawn; planned, or by the order of sources
    correction : of outcomes, "holm", or of single tests "fdr_bh"
    margin : planned, in units of the outcome
    of_all : the test of all sources together; parts : the variances of the model, none without one
    checks : by log odds, on scales and single questions answered Yes or No
    """

    key: str
    kind: str
    title: str
    is_percent: bool
    is_lower_better: bool
    is_part: bool
    is_primary: bool
    reference: str
    correction: str
    margin: float | None
    sources: tuple[SourceLevel, ...]
    contrasts: tuple[ContrastRow, ...]
    of_all: TestOfAll | None = None
    parts: tuple[VariancePart, ...] = ()
    checks: tuple[LogOddsCheck, ...] = ()
    is_secondary: bool = False
    is_after_exclusions: bool = False

    @property
    def is_named(self) -> bool:
        """Whether the plan names it, as primary or as secondary."""
        return self.is_primary or self.is_secondary

    @property
    def places(self) -> int:
        """How many decimals its numbers are written with."""
        return 1 if self.is_percent else 2

    @property
    def ranked(self) -> list[SourceLevel]:
        """The sources, the best first: by their adjusted means where all have one."""
        sign = 1 if self.is_lower_better else -1
        return sorted(self.sources, key=lambda level: sign * self.value_of(level))

    @property
    def is_adjusted(self) -> bool:
        """Whether sources are compared by their adjusted means."""
        return all(level.adjusted is not None for level in self.sources)

    def value_of(self, level: SourceLevel) -> float:
        """The mean by which the source stands among the others."""
        return level.adjusted if self.is_adjusted and level.adjusted is not None else level.value

    def between(self, first: str, second: str) -> ContrastRow:
        """The contrast of the first less the second. Raises StopIteration if there is none."""
        row = next(row for row in self.contrasts if {row.first, row.second} == {first, second})
        return row if row.first == first else row.turned()

    def check_of(self, row: ContrastRow) -> LogOddsCheck | None:
        """What the model of log odds says of the contrast; None where it was not asked."""
        pair = {row.first, row.second}
        return next((check for check in self.checks if {check.first, check.second} == pair), None)

    def oriented(self, row: ContrastRow) -> ContrastRow:
        """The contrast as an advantage: of places the second less the first, since the smaller place is the better."""
        return row.turned() if self.is_lower_better else row

    def led(self, row: ContrastRow) -> ContrastRow:
        """The contrast with the source first that is ahead in it, whichever is ahead over all stories."""
        return row.turned() if (self.oriented(row).value or 0.0) < 0 else row

    def is_reversed(self, row: ContrastRow) -> bool:
        """Whether over all of their stories the source that the contrast puts second is ahead."""
        if row.value is None:
            return False
        ahead = self.led(row)
        value_by_source = {level.source: level.value for level in self.sources}
        overall = value_by_source[ahead.first] - value_by_source[ahead.second]
        return overall > 0 if self.is_lower_better else overall < 0

    def against(self, reference: str) -> list[ContrastRow]:
        """Every other source less that one, the largest difference first."""
        others = [level.source for level in self.sources if level.source != reference]
        rows = [self.between(other, reference) for other in others]
        return sorted(rows, key=lambda row: (row.value is None, -(row.value or 0)))

    @property
    def against_reference(self) -> list[ContrastRow]:
        """Every other source less the reference, the largest difference first."""
        return self.against(self.reference)

    @property
    def planned_pairs(self) -> list[ContrastRow]:
        """What is planned beside the contrasts with the reference."""
        is_beside = [row.is_planned and self.reference not in (row.first, row.second) for row in self.contrasts]
        return [row for row, is_kept in zip(self.contrasts, is_beside, strict=True) if is_kept]
