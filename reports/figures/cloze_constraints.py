"""Which sections of a cloze are hard, and which of their constraints filled texts fail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports.figures import plots
from reports.figures.base import Figure, Interval, Row, ends_note, interval, weakest_note
from reports.figures.cloze_participants import number
from reports.lazy import arrays, intervals, np
from reports.numbers import coefficient, coefficients

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.scored_clozes import ScoredCloze
    from stats.arrays import FloatArray
    from stats.intervals import Interval as StatisticInterval

MOST_OF_A_FAILURE = 1  # of 5: what a judge is told to give at most where a must is broken


@dataclass(frozen=True, kw_only=True)
class SectionDifficulty:
    """How far n participants satisfy and surprise in one section; the interval is over participants."""

    number: int
    section: str
    n: int
    satisfied: float | None
    interval: Interval
    surprising: float | None


@dataclass(frozen=True, kw_only=True)
class ConstraintRow:
    """One constraint over n texts.

    satisfied : mean, 0 to 1; n_failed : texts to which more than half of the judges gave 0 or 1
    n_denied : texts of which more than half of the judges denied a required check
    """

    section: str
    item: str
    question: str
    is_must: bool
    n: int
    satisfied: float | None
    n_failed: int
    n_denied: int


@dataclass(frozen=True, kw_only=True)
class ClozeConstraintsResult:
    """n_judges : none where scores of sections were published without"""

    n_judges: int
    sections: tuple[SectionDifficulty, ...]
    constraints: tuple[ConstraintRow, ...]


class ClozeConstraints(Figure[ClozeConstraintsResult]):
    key = "cloze_constraints"
    title = gettext_lazy("Filled texts: hard sections")
    position = 143
    result = ClozeConstraintsResult
    tables = ("cloze-difficulty", "cloze-constraints")
    is_shown_sealed = False
    needs_answers = False

    def compute(self, dataset: Dataset) -> ClozeConstraintsResult | None:
        scored = dataset.scored_cloze
        if scored is None:
            return None
        return ClozeConstraintsResult(
            n_judges=len(scored.judged.judges) if scored.judged else 0,
            sections=tuple(_sections(dataset, scored)),
            constraints=tuple(_constraints(scored)),
        )

    def rows(self, result: ClozeConstraintsResult) -> dict[str, Iterator[Row]]:
        return {
            "cloze-difficulty": (_section_row(row) for row in result.sections),
            "cloze-constraints": (dict(vars(row)) for row in result.constraints),
        }

    def lines(self, result: ClozeConstraintsResult) -> Iterator[str]:
        yield "\nFilled texts: sections, the hardest first"
        for row in _by_difficulty(result):
            yield f"  {row.section[:34]:<34} {coefficient(row.satisfied)}, 95 % {coefficients(row.interval)}, n {row.n}"
        for constraint in result.constraints:
            if constraint.n_failed:
                kind = "must" if constraint.is_must else "should"
                yield f"  failed by {constraint.n_failed} of {constraint.n} ({kind}): {constraint.question[:70]}"

    def context(self, result: ClozeConstraintsResult) -> dict[str, Any]:
        rows = _by_difficulty(result)
        failed = [row for row in result.constraints if row.n_failed or row.n_denied]
        return {
            "hardest": rows[0] if rows else None,
            "easiest": rows[-1] if rows else None,
            "plot": _plot(rows),
            "rows": rows,
            "failed": failed,
            "has_checks": any(row.n_denied for row in result.constraints),
            "note": weakest_note(row.interval for row in rows),
        }


def _by_difficulty(result: ClozeConstraintsResult) -> list[SectionDifficulty]:
    """The sections that have a value, the least satisfied first."""
    rows = [(row.satisfied, row.number, row) for row in result.sections if row.satisfied is not None]
    return [row for _satisfied, _number, row in sorted(rows, key=lambda entry: entry[:2])]


def _sections(dataset: Dataset, scored: ScoredCloze) -> Iterator[SectionDifficulty]:
    satisfied = scored.of_participants(scored.satisfied_softly)
    surprising = arrays.mean_present(scored.of_participants(scored.surprising), axis=0)
    for g, title in enumerate(scored.section_titles):
        values = satisfied[np.isfinite(satisfied[:, g]), g]
        ends = interval(_mean_interval, values, rng=dataset.resampling())
        yield SectionDifficulty(
            number=g + 1,
            section=title,
            n=values.size,
            satisfied=number(values.mean()) if values.size else None,
            interval=ends,
            surprising=number(surprising[g]),
        )


def _mean_interval(values: FloatArray, *, rng: np.random.Generator) -> StatisticInterval:
    """Over participants, within the range of the scale."""
    ends: StatisticInterval = intervals.mean_interval(values, np.arange(values.size), rng=rng)
    return ends.clipped(0, 1)


def _constraints(scored: ScoredCloze) -> Iterator[ConstraintRow]:
    judged = scored.judged
    if judged is None:
        return
    for k, constraint in enumerate(judged.constraints):
        ratings, is_broken = judged.ratings[:, :, k], judged.is_broken[:, :, k]
        is_rated = np.isfinite(ratings)
        n_judges = is_rated.sum(axis=0)
        n_failing = (is_rated & (ratings <= MOST_OF_A_FAILURE)).sum(axis=0)
        yield ConstraintRow(
            section=scored.section_titles[constraint.section],
            item=constraint.item.item.key,
            question=constraint.item.item.question,
            is_must=constraint.is_must,
            n=int((n_judges > 0).sum()),
            satisfied=number(float(arrays.mean_present(ratings, axis=(0, 1))) / 5),
            n_failed=int((2 * n_failing > n_judges).sum()),
            n_denied=int((2 * is_broken.sum(axis=0) > n_judges).sum()),
        )


def _plot(rows: list[SectionDifficulty]) -> plots.DotPlot | None:
    if not rows:
        return None
    marks = [plots.Mark.of(0, row.satisfied, row.interval) for row in rows]
    lines = [plots.PlotRow(f"{row.number}. {row.section}", "", (mark,)) for row, mark in zip(rows, marks, strict=True)]
    return plots.DotPlot(lines, [""], plots.value_axis(plots.ends_of(marks)))


def _section_row(row: SectionDifficulty) -> Row:
    return {
        "section": row.number,
        "title": row.section,
        "n": row.n,
        "satisfies": row.satisfied,
        "low": row.interval.low,
        "high": row.interval.high,
        "surprises": row.surprising,
        "note": ends_note(row.interval),
    }
