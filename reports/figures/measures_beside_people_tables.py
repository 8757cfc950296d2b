"""Measures beside people, as the page shows them: one table of coefficients and pairs, and a file of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from django.utils.translation import gettext as _

from reports.document import columns, notes
from reports.document.columns import LEAD, Valued, Write, interval_cell
from reports.document.model import Block, Cell, Column, Files, Head, Phrase, RowGroup, Table, Words
from reports.document.phrases import in_language, joined, phrase
from reports.figures.base import Floor, note_of
from reports.numbers import coefficient, coefficients, decimal, whole
from reports.numbers import interval as between

if TYPE_CHECKING:
    from reports.figures.measures_beside_people import (
        MeasureAccuracy,
        MeasureBesidePeople,
        MeasureCoefficient,
        MeasureCorrelation,
        MeasuresResult,
    )

L = TypeVar("L")


class HasFloor(Valued, Protocol):
    """A value with its interval and its chance floor."""

    @property
    def floor(self) -> Floor: ...


@dataclass(frozen=True)
class _Line:
    """A row of the page. beside : what of people, at its first row alone"""

    beside: Phrase
    statistic: Phrase
    valued: HasFloor
    n: int
    ties: str
    is_coefficient: bool

    @property
    def value(self) -> str:
        return self.write(self.valued.value)

    @property
    def ends(self) -> str:
        return coefficients(self.valued.interval) if self.is_coefficient else between(self.valued.interval)

    @property
    def write(self) -> Write:
        return coefficient if self.is_coefficient else decimal


def beside_people(result: MeasuresResult, head: Head) -> list[Block]:
    pairs_file = Files(words=_("Pairs"), table="measures-on-pairs")
    return [
        Table(
            label=_("Measures beside people"),
            caption=_(
                "Over stories: Spearman’s rho and Kendall’s tau-b with people’s means. Over pairs: in percent, how "
                "often the better-scored story is the one that most prefer."
            ),
            groups=[RowGroup(heading=_heading(row), rows=list(_lines(row, head))) for row in result.measures],
            why=lambda line: line.valued.why,
            columns=list(_columns()),
        ),
        _coefficients_file(result.measures),
        Files(words=_("Coefficients"), table="measures-beside-people"),
        _pairs_file(result.measures),
        *([pairs_file] if any(measure.accuracies for measure in result.measures) else []),
    ]


def margin_notes(result: MeasuresResult) -> list[Words]:
    turned = _(
        "Both sides are turned so that more is better: a score of which lower is better, and places in a ranking, the "
        "other way round."
    )
    unturned = _("Of a measure that only counts nothing says which way is better; it stands as it is.")
    sentence = _(
        "Intervals are over clusters: groups, those on the same of several premises together, or in batches each "
        "story. Shuffled reach: where 97.5 %% of chance results end, scores shuffled over stories, or a coin for each "
        "pair. Ties: stories that share their score with another, then their mean of people; of pairs, those whose "
        "two scores are equal, each half right."
    )
    rows = [row for measure in result.measures for row in measure.correlations]
    intervals = [part.interval for row in rows for part in row.coefficients]
    intervals += [accuracy.interval for measure in result.measures for accuracy in measure.accuracies]
    return [
        Words(words=turned),
        *([Words(words=unturned)] if any(not measure.better for measure in result.measures) else []),
        Words(words=phrase(sentence)),
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
        title = in_language(row.title, head.language) if row.title else _("All tests")
        for n, part in enumerate(row.coefficients):
            yield _Line(title if n == 0 else "", names[part.statistic], part, row.n, ties, is_coefficient=True)
    for accuracy in measure.accuracies:
        title = in_language(accuracy.title, head.language)
        ties = whole(accuracy.n_tied)
        yield _Line(title, phrase(_("Pairs right, %%")), accuracy, accuracy.n, ties, is_coefficient=False)


def _columns() -> Iterator[Column[_Line]]:
    def ends(line: _Line) -> Cell:
        return interval_cell(line.valued.interval, line.ends)

    def floor(line: _Line) -> Cell:
        return Cell(words=line.write(line.valued.floor.upper))

    yield Column(
        heading=_("Beside"), cell=lambda line: Cell(words=line.beside), files={}, is_number=False, is_head=True
    )
    yield Column(
        heading=_("Statistic"), cell=lambda line: Cell(words=line.statistic), files={}, is_number=False, is_kept=True
    )
    yield Column(heading=_("Value"), cell=lambda line: Cell(words=line.value, css=LEAD), files={})
    yield Column(heading=phrase(_("95 %% interval")), cell=ends, files={})
    yield Column(heading=_("Shuffled reach"), cell=floor, files={})
    yield replace(columns.number("n", "n"), is_kept=True)
    yield Column(heading=_("Ties"), cell=lambda line: Cell(words=line.ties), files={}, is_kept=True)


def _coefficients_file(
    measures: Sequence[MeasureBesidePeople],
) -> Table[tuple[MeasureBesidePeople, MeasureCorrelation, MeasureCoefficient]]:
    return Table(
        name="measures-beside-people",
        label="",
        is_shown=False,
        rows=[
            (measure, row, part) for measure in measures for row in measure.correlations for part in row.coefficients
        ],
        columns=[
            *_measure_in_file(lambda line: line[0]),
            columns.in_file("outcome", lambda line: line[1].outcome),
            columns.in_file("statistic", lambda line: line[2].statistic),
            columns.in_file("value", lambda line: line[2].value),
            *_ends_in_file(lambda line: line[2]),
            columns.in_file("n", lambda line: line[1].n),
            columns.in_file("n_tied", lambda line: line[1].n_tied),
            columns.in_file("n_tied_people", lambda line: line[1].n_tied_people),
            columns.note(lambda line: note_of(line[2], line[2].interval)),
        ],
    )


def _pairs_file(measures: Sequence[MeasureBesidePeople]) -> Table[tuple[MeasureBesidePeople, MeasureAccuracy]]:
    return Table(
        name="measures-on-pairs",
        label="",
        is_shown=False,
        rows=[(measure, row) for measure in measures for row in measure.accuracies],
        columns=[
            *_measure_in_file(lambda line: line[0]),
            columns.in_file("choice", lambda line: line[1].title),
            columns.in_file("percent", lambda line: line[1].value),
            *_ends_in_file(lambda line: line[1]),
            columns.in_file("n_pairs", lambda line: line[1].n),
            columns.in_file("n_tied", lambda line: line[1].n_tied),
            columns.in_file("n_missing", lambda line: line[1].n_missing),
            columns.note(lambda line: note_of(line[1], line[1].interval)),
        ],
    )


def _measure_in_file(of: Callable[[L], MeasureBesidePeople]) -> list[Column[L]]:
    return [
        columns.in_file("metric", lambda line: of(line).metric),
        columns.in_file("better", lambda line: of(line).better),
        columns.item_in_file(of),
    ]


def _ends_in_file(of: Callable[[L], HasFloor]) -> list[Column[L]]:
    return [
        columns.in_file("low", lambda line: of(line).interval.low),
        columns.in_file("high", lambda line: of(line).interval.high),
        columns.in_file("floor_mean", lambda line: of(line).floor.mean),
        columns.in_file("floor_upper", lambda line: of(line).floor.upper),
    ]
