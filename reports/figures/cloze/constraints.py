"""Which sections of a cloze are hard, and which of their constraints filled texts fail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.document import columns, notes, plots
from reports.document.columns import LEAD
from reports.document.model import (
    Block,
    DocumentSection,
    DrawnPlot,
    Files,
    Head,
    ReportTable,
    RowGroup,
    Subsection,
    TableCell,
    TableColumn,
    TextBlock,
)
from reports.document.values import Interval
from reports.figures.base import Figure, ends_note, ends_of_mean
from reports.figures.cloze.participants import number
from reports.lazy import arrays, np
from reports.numbers import coefficient, coefficients

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.scored_clozes import ScoredCloze

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
    title = gettext_lazy("Filled texts: difficulty of sections")
    position = 145
    section = "cloze"
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

    def describe(self, result: ClozeConstraintsResult, head: Head) -> Iterator[DocumentSection]:
        rows = _by_difficulty(result)
        difficulty = ReportTable(
            name="cloze-difficulty",
            label=_("Sections by difficulty"),
            rows=result.sections,
            groups=[RowGroup(rows=rows)],
            columns=[
                TableColumn(
                    heading=_("Section"),
                    cell=lambda row: TableCell(words=f"{row.number}. {row.section}", language=head.language),
                    files={"section": lambda row: row.number, "title": lambda row: row.section},
                    is_number=False,
                    is_head=True,
                ),
                columns.number("satisfied", _("Satisfies"), lambda row: row.satisfied, write=coefficient, css=LEAD),
                columns.interval(lambda row: row.interval, write=coefficients),
                columns.number("surprising", _("Surprises"), lambda row: row.surprising, write=coefficient),
                columns.number("n", _("Participants")),
                columns.note(lambda row: ends_note(row.interval)),
            ],
            summary=_("Table"),
            css="ruled close",
        )
        plot, title = _plot(rows), _("Satisfaction of sections, the hardest first")
        yield DocumentSection(
            heading=self.title,
            body=[
                *_extremes(rows),
                *([DrawnPlot(plot=plot, title=title, described=notes.table_below_plot())] if plot else []),
                difficulty,
                Files(words=_("Section by section"), table="cloze-difficulty"),
                *_failures(result, head),
            ],
            margin=list(_margin(result, rows)),
        )


def _by_difficulty(result: ClozeConstraintsResult) -> list[SectionDifficulty]:
    """The sections that have a value, the least satisfied first."""
    rows = [(row.satisfied, row.number, row) for row in result.sections if row.satisfied is not None]
    return [row for _satisfied, _number, row in sorted(rows, key=lambda entry: entry[:2])]


def _sections(dataset: Dataset, scored: ScoredCloze) -> Iterator[SectionDifficulty]:
    satisfied = scored.of_participants(scored.satisfied_softly)
    surprising = arrays.mean_present(scored.of_participants(scored.surprising), axis=0)
    for g, title in enumerate(scored.section_titles):
        # Each participant is a cluster: judges read all of them, and are held fixed.
        values = satisfied[np.isfinite(satisfied[:, g]), g]
        yield SectionDifficulty(
            number=g + 1,
            section=title,
            n=values.size,
            satisfied=number(values.mean()) if values.size else None,
            interval=ends_of_mean(values, np.arange(values.size), rng=dataset.resampling(), low=0, high=1),
            surprising=number(surprising[g]),
        )


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


def _extremes(rows: list[SectionDifficulty]) -> Iterator[TextBlock]:
    if len(rows) > 1:
        sentence = _("Section %(hard)s is satisfied least (%(least)s), section %(easy)s most (%(most)s).")
        hardest, easiest = rows[0], rows[-1]
        least, most = coefficient(hardest.satisfied), coefficient(easiest.satisfied)
        words = sentence % {"hard": hardest.number, "least": least, "easy": easiest.number, "most": most}
        yield TextBlock(words=words, css="says")


def _failures(result: ClozeConstraintsResult, head: Head) -> Iterator[Block]:
    """The constraints that some text failed; the file has every one."""
    if not result.constraints:
        return
    failed = [row for row in result.constraints if row.n_failed or row.n_denied]
    denied = _("Required check denied") if any(row.n_denied for row in failed) else None
    label = _("Failed constraints")
    table = ReportTable(
        name="cloze-constraints",
        label=label,
        caption=_("Failed: more than half of the judges gave 0 or 1."),
        rows=result.constraints,
        groups=[RowGroup(rows=failed)],
        columns=[
            columns.in_file("item"),
            columns.words("question", _("Constraint"), language=head.language, is_head=True, css="statement"),
            columns.words("section_title", _("Section"), lambda row: row.section, language=head.language),
            columns.yes_or_no("is_must", _("Must")),
            columns.count_of("n_failed", _("Failed by"), n_all=lambda row: row.n, css=LEAD),
            columns.count_of("n_denied", denied, n_all=lambda row: row.n),
            columns.number("satisfied", _("Satisfies"), write=coefficient),
            columns.in_file("n"),
        ],
        is_shown=bool(failed),
    )
    none = [] if failed else [TextBlock(words=_("No constraint was failed."))]
    yield Subsection(
        heading=label, blocks=[table, *none, Files(words=_("Every constraint"), table="cloze-constraints")]
    )


def _margin(result: ClozeConstraintsResult, rows: list[SectionDifficulty]) -> Iterator[TextBlock]:
    basis = _(
        "Intervals are over participants, with the judges held fixed. The sections are those of one story: which is "
        "hard here says nothing about others."
    )
    checks = _(
        "A judge gives a broken must 0 or 1 in the same answer. A required check that is denied changes nothing in "
        "the ranking; the column “Capped by checks” there says what it would."
    )
    yield TextBlock(words=basis)
    if result.constraints:
        yield TextBlock(words=checks)
    yield from notes.weakest(row.interval for row in rows)
