"""What figures that compare share: a contrast of two sources, or of two levels of a factor, and all of one outcome."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reports.document.values import Interval, Reason
from reports.figures.base import N_RESAMPLES
from reports.figures.base import interval as interval_or_reason
from reports.lazy import contrasts, variance_components
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reports.dataset import Dataset
    from stats.arrays import FloatArray
    from stats.contrasts import Contrast
    from stats.intervals import Interval as StatisticInterval

SURE = 0.05


@dataclass(frozen=True, kw_only=True)
class SourceLevel:
    """The mean over the stories of a source."""

    source: str
    value: float
    n_stories: int


@dataclass(frozen=True, kw_only=True)
class ContrastRow:
    """The mean of the first source less that of the second, or why there is none.

    first_value, second_value : the means that it is the difference of, over the clusters that it rests on
    interval : for the same raters and other stories; wide : for other raters, too
    low_90, high_90 : the ends of the 90 % interval, which is laid beside a margin
    p_adjusted : for all contrasts of its family, which are n_family
    p_least : the least that p_adjusted could be: every contrast of the family with the least p that its test can reach
    n : clusters; of unpaired sources those of the first, n_second of the second
    n_left_out : clusters with one of the two only
    is_planned : whether the analysis plan names it
    is_equivalent : whether it lies within the planned margin; None if none was planned for it
    """

    first: str
    second: str
    value: float | None = None
    first_value: float | None = None
    second_value: float | None = None
    interval: Interval | None = None
    low_90: float | None = None
    high_90: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    p_least: float | None = None
    n_family: int = 0
    test: str = ""
    is_paired: bool = False
    n: int = 0
    n_second: int | None = None
    n_left_out: int = 0
    effect: float | None = None
    effect_name: str = ""
    is_planned: bool = False
    is_equivalent: bool | None = None
    why: Reason | None = None
    wide: Interval | None = None

    @property
    def excludes_zero(self) -> bool:
        ends = self.interval
        return ends is not None and ends.low is not None and ends.high is not None and not ends.low <= 0 <= ends.high

    @property
    def is_not_tested(self) -> bool:
        """Whether its test could tell no difference apart after correction, however large."""
        return self.p_least is not None and self.p_least >= SURE

    @property
    def is_clear(self) -> bool:
        """Whether the two are told apart: its interval leaves out 0, and so does the test after its correction."""
        is_sure = self.p_adjusted is not None and self.p_adjusted < SURE and not self.is_not_tested
        return self.excludes_zero and is_sure

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
        )


def _turned(ends: Interval | None) -> Interval | None:
    if ends is None or ends.low is None or ends.high is None:
        return ends
    return replace(ends, low=-ends.high, high=-ends.low)


@dataclass(frozen=True, kw_only=True)
class OutcomeContrasts:
    """One outcome: the mean of each source, and every two sources.

    kind : as in `studies.protocol.Outcome`
    reference : the source against which the others are drawn; planned, or by the order of sources
    correction : "holm" over planned contrasts, and over all others of all outcomes; "fdr_bh" over those of all items
    margin : planned, in units of the outcome
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

    @property
    def places(self) -> int:
        """How many decimals its numbers are written with."""
        return 1 if self.is_percent else 2

    @property
    def ranked(self) -> list[SourceLevel]:
        """The sources, the best first."""
        return sorted(self.sources, key=lambda level: level.value if self.is_lower_better else -level.value)

    def between(self, first: str, second: str) -> ContrastRow:
        """The contrast of the first less the second. Raises StopIteration if there is none."""
        row = next(row for row in self.contrasts if {row.first, row.second} == {first, second})
        return row if row.first == first else row.turned()

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


def adjust_family(rows: Sequence[ContrastRow], correction: str) -> list[ContrastRow]:
    """The contrasts with p values for all that the family looked at; one without a p does not count."""
    adjusted = contrasts.adjust([row.p for row in rows], correction)
    # Adjusted values grow with every p of the family, so with the least of all of them comes the least of each.
    ns = [[row.n] if row.n_second is None else [row.n, row.n_second] for row in rows]
    least = [None if row.p is None else contrasts.least_p(row.test, n) for row, n in zip(rows, ns, strict=True)]
    n_family = sum(row.p is not None for row in rows)
    return [
        replace(row, p_adjusted=p, p_least=p_least, n_family=0 if p is None else n_family)
        for row, p, p_least in zip(rows, adjusted, contrasts.adjust(least, correction), strict=True)
    ]


def _for_other_raters(contrast: Contrast, first: FloatArray, second: FloatArray, *, most: float) -> StatisticInterval:
    ends = variance_components.difference_interval(first, second, contrast.difference, is_paired=contrast.is_paired)
    return variance_components.widened(ends, contrast.interval).clipped(-most, most)


def contrast_row(
    dataset: Dataset,
    first: FloatArray,
    second: FloatArray,
    *,
    most: float,
    by_rater: tuple[FloatArray, FloatArray],
) -> ContrastRow:
    """The contrast of two, nameless yet, by the test of the plan.

    first, second : cluster means, shape (G,)
    most : how far apart they can be, where all intervals end
    by_rater : the same of each rater, shape (R, G), for the interval for other raters
    """
    test = dataset.plan.test if dataset.plan else "default"
    try:
        rng = dataset.resampling()
        contrast = contrasts.contrast(first, second, test=test, most=most, rng=rng, n_resamples=N_RESAMPLES)
    except Incomputable as error:
        return ContrastRow(first="", second="", why=Reason.of(error))
    return ContrastRow(
        first="",
        second="",
        wide=interval_or_reason(_for_other_raters, contrast, *by_rater, most=most),
        value=contrast.difference,
        first_value=contrast.means[0],
        second_value=contrast.means[1],
        interval=Interval.of(contrast.interval),
        low_90=contrast.narrow[0],
        high_90=contrast.narrow[1],
        p=contrast.p,
        test=contrast.test,
        is_paired=contrast.is_paired,
        n=contrast.n[0],
        n_second=None if contrast.is_paired else contrast.n[1],
        n_left_out=contrast.n_left_out,
        effect=contrast.effect,
        effect_name=contrast.effect_name,
    )
