"""What one of the people has on the axis of a judge: the lines that judges are held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from reports.document.values import Interval, IntervalEstimate
from reports.figures.base import N_RESAMPLES
from reports.lazy import human_line, np
from stats.reasons import Incomputable

if TYPE_CHECKING:
    import numpy

    from stats.arrays import FloatArray, IntArray
    from stats.human_line import AmongPeople

NAMES = {
    "pairwise": gettext_noop("one person with another"),
    "mean": gettext_noop("one person with the mean of the others"),
    "majority": gettext_noop("one person with others who agree"),
    "preference": gettext_noop("one person with most of the others"),
}

SENTENCES = {
    "pairwise": gettext_noop("One person has %(number)s with another."),
    "mean": gettext_noop("One person has %(number)s with the mean of the others."),
    "majority": gettext_noop("One person has %(number)s with others who agree, which are the easier cases."),
    "preference": gettext_noop("One person prefers what most of the others do in %(number)s."),
}


@dataclass(frozen=True, kw_only=True)
class PersonLine(IntervalEstimate):
    """How one person agrees with the others. against : what of the others, as `stats.human_line` has it"""

    against: str

    def in_percent(self) -> PersonLine:
        ends = self.interval
        if self.value is None or ends.low is None or ends.high is None:
            return replace(self, value=self.value and 100 * self.value)
        in_percent = replace(ends, low=100 * max(ends.low, 0), high=100 * min(ends.high, 1))
        return replace(self, value=100 * self.value, interval=in_percent)

    @property
    def label(self) -> str:
        return _(NAMES[self.against])

    def describe(self, number: str) -> str:
        """It in a sentence."""
        return _(SENTENCES[self.against]) % {"number": number}


def person_lines(
    people: FloatArray, clusters: IntArray, kinds: Sequence[AmongPeople], *, rng: numpy.random.Generator
) -> tuple[PersonLine, ...]:
    """The lines of these kinds that have a value; that of a majority only where somebody has two others beside them.

    people : shape (I, R, U)
    """
    has_majority = bool((np.isfinite(people).sum(axis=1) > 2).any())
    lines = []
    for kind in kinds:
        if kind == "majority" and not has_majority:
            continue
        try:
            agreement = human_line.agree_among_people(people, clusters, against=kind, rng=rng, n_resamples=N_RESAMPLES)
        except Incomputable:
            continue
        ends = Interval.of(agreement.interval)
        line = PersonLine(
            against=kind,
            value=agreement.value,
            interval=ends,
            n_units=agreement.n_units,
            n_raters=agreement.n_people,
        )
        lines.append(line)
    return tuple(lines)
