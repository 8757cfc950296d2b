"""Measures beside people, as the page shows them: one table of coefficients and pairs, and a file of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from reports.document import columns, notes
from reports.document.columns import CHANCE, ENDS, LEAD, Write, interval_cell
from reports.document.files import file_only
from reports.document.model import Block, Files, Head, Phrase, ReportTable, RowGroup, TableCell, TableColumn, TextBlock
from reports.document.phrases import hidden, in_language, joined, phrase
from reports.figures.base import note_of
from reports.figures.outcome_titles import outcome_title
from reports.numbers import coefficient, coefficients, decimal, whole
from reports.numbers import interval as between

if TYPE_CHECKING:
    from reports.figures.texts.measures_beside_people import (
        MeasureAccuracy,
        MeasureBesidePeople,
        MeasureCoefficient,
        MeasureCorrelation,
        MeasuresResult,
    )


@dataclass(frozen=True)
class _Line:
    """A row of the page. beside : what of people, at its first row alone"""

    beside: Phrase
    statistic: Phrase
    estimate: MeasureCoefficient | MeasureAccuracy
    n: int
    ties: str
    is_coefficient: bool

    @property
    def ends(self) -> str:
        return coefficients(self.estimate.interval) if self.is_coefficient else between(self.estimate.interval)

    @property
    def write(self) -> Write:
        return coefficient if self.is_coefficient else decimal


def beside_people(result: MeasuresResult, head: Head) -> list[Block]:
    pairs_file = Files(words=_("Pairs"), table="measures-on-pairs")
    return [
        ReportTable(
            label=_("Text measures and ratings"),
            caption=_(
                "Over stories: Spearman’s rho and Kendall’s tau-b with people’s means. Over pairs: in percent, how "
                "often the better-scored story is the one that most prefer."
            ),
            groups=[RowGroup(heading=_heading(row), rows=list(_lines(row, head))) for row in result.measures],
            why=lambda line: line.estimate.why,
            columns=list(_columns()),
        ),
        _coefficients_file(result.measures),
        Files(words=_("Coefficients"), table="measures-beside-people"),
        _pairs_file(result.measures),
        *([pairs_file] if any(measure.accuracies for measure in result.measures) else []),
    ]


def margin_notes(result: MeasuresResult) -> list[TextBlock]:
    turned = _(
        "Both sides are turned so that more is better: a score of which lower is better, and ranks, "
        "the other way round."
    )
    unturned = _("Of a measure that only counts nothing says which way is better; it stands as it is.")
    sentence = _(
        "Intervals are over clusters: groups, those on the same of several prompts together, or in "
        "batches each story. Shuffled reach: where 97.5 %% of chance results end, scores shuffled "
        "over stories, or a coin for each pair. Ties: stories that share their score with another, "
        "then their mean of people; of pairs, those whose two scores are equal, each half right."
    )
    rows = [row for measure in result.measures for row in measure.correlations]
    intervals = [part.interval for row in rows for part in row.coefficients]
    intervals += [accuracy.interval for measure in result.measures for accuracy in measure.accuracies]
    return [
        TextBlock(words=turned),
        *([TextBlock(words=unturned)] if any(not measure.better for measure in result.measures) else []),
        TextBlock(words=phrase(sentence)),
        *notes.weakest(intervals),
    ]


def _heading(measure: MeasureBesidePeople) -> Phrase:
    scored = _("scored by %(who)s") % {"who": measure.scored_by} if measure.scored_by else ""
    name = measure.metric if scored else f"{measure.metric}: {measure.title}"
    return joined(name, _("lower is better") if measure.better == "lower" else "", scored, by=", ")


def _lines(measure: MeasureBesidePeople, head: Head) -> Iterator[_Line]:
    names = {"spearman": _("Spearman’s rho"), "kendall_tau": _("Kendall’s tau-b")}
    for row in measure.correlations:
        ties = f"{whole(row.n_tied)}, {whole(row.n_tied_people)}"
        title = outcome_title(row.outcome, row.title, head)
        for n, part in enumerate(row.coefficients):
            yield _Line(
                title if n == 0 else hidden(title), names[part.statistic], part, row.n, ties, is_coefficient=True
            )
    for accuracy in measure.accuracies:
        title = in_language(accuracy.title, head.language)
        ties = whole(accuracy.n_tied)
        yield _Line(title, phrase(_("Pairs right, %%")), accuracy, accuracy.n, ties, is_coefficient=False)


def _columns() -> Iterator[TableColumn[_Line]]:
    def ends(line: _Line) -> TableCell:
        return interval_cell(line.estimate.interval, line.ends)

    yield columns.shown(_("Beside"), lambda line: line.beside, is_head=True)
    yield replace(columns.shown(_("Statistic"), lambda line: line.statistic), is_number=False, is_kept=True)
    yield columns.shown(_("Value"), lambda line: line.write(line.estimate.value), css=LEAD)
    yield TableColumn(heading=phrase(_("95 %% interval")), cell=ends)
    yield columns.shown(_("Shuffled reach"), lambda line: line.write(line.estimate.floor.upper))
    yield replace(columns.shown("n", lambda line: whole(line.n)), is_kept=True)
    yield replace(columns.shown(_("Ties"), lambda line: line.ties), is_kept=True)


def _coefficients_file(
    measures: Sequence[MeasureBesidePeople],
) -> ReportTable[tuple[MeasureBesidePeople, MeasureCorrelation, MeasureCoefficient]]:
    return file_only(
        "measures-beside-people",
        [(measure, row, part) for measure in measures for row in measure.correlations for part in row.coefficients],
        columns.fields("metric", "better", of=lambda line: line[0]),
        columns.item_in_file(lambda line: line[0]),
        columns.fields("outcome", "n", "n_tied", "n_tied_people", of=lambda line: line[1]),
        columns.fields("statistic", "value", **ENDS, **CHANCE, of=lambda line: line[2]),
        columns.note(lambda line: note_of(line[2], line[2].interval)),
    )


def _pairs_file(measures: Sequence[MeasureBesidePeople]) -> ReportTable[tuple[MeasureBesidePeople, MeasureAccuracy]]:
    return file_only(
        "measures-on-pairs",
        [(measure, row) for measure in measures for row in measure.accuracies],
        columns.fields("metric", "better", of=lambda line: line[0]),
        columns.item_in_file(lambda line: line[0]),
        columns.fields(choice="title", percent="value", **ENDS, **CHANCE, n_pairs="n", of=lambda line: line[1]),
        columns.fields("n_tied", "n_missing", of=lambda line: line[1]),
        columns.note(lambda line: note_of(line[1], line[1].interval)),
    )
