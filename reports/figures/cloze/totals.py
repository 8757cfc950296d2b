"""Tables of the totals of filled texts: participant by participant, by section, and people beside models."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from reports.document import columns
from reports.document.columns import LEAD, QUIET, decimals, ends
from reports.document.files import file_only
from reports.document.model import ReportTable, TableCell, TableColumn
from reports.figures.base import ends_note
from reports.figures.cloze.participants import KindMean, ParticipantScore, SectionScore
from reports.numbers import NONE, coefficient, decimal, whole
from reports.numbers import interval as between
from reports.reasons import to_english

if TYPE_CHECKING:
    from reports.figures.cloze.scores import ClozeScoresResult


def has_families(result: ClozeScoresResult) -> bool:
    """Whether a judge is of the family of a participant that has a total."""
    return any(row.without_family for row in _ranked(result))


def _ranked(result: ClozeScoresResult) -> list[ParticipantScore]:
    return [row for row in result.participants if row.total is not None]


def total_table(result: ClozeScoresResult) -> ReportTable[ParticipantScore]:
    caption = _("Satisfies × (1 + surprises), added over %(n)s sections; within the reference set at most %(highest)s.")
    return ReportTable(
        name="cloze-scores",
        label=_("Totals of the participants"),
        caption=caption % {"n": len(result.sections), "highest": whole(result.highest)},
        rows=result.participants,
        columns=[
            columns.words("participant", _("Participant"), is_head=True),
            columns.in_file("kind", lambda row: "model" if row.is_model else "person"),
            columns.fields(in_reference="is_in_reference"),
            columns.number("rank", _("Rank"), lambda row: row.rank or None),
            columns.number("total", _("Total"), write=decimals(2), css=LEAD),
            *_uncertainty_columns(result),
            columns.number("satisfied", _("Satisfies"), lambda row: row.satisfied, write=coefficient),
            columns.number("surprising", _("Surprises"), lambda row: row.surprising, write=coefficient),
            columns.fields(raw_distance="distance"),
            columns.number("n_texts", _("Texts"), css=QUIET),
            columns.note(lambda row: to_english(row.why) if row.why else ""),
        ],
    )


def _uncertainty_columns(result: ClozeScoresResult) -> list[TableColumn[ParticipantScore]]:
    """How far totals hold; the page shows what some participant has."""
    rows = _ranked(result)
    of_fills: TableColumn[ParticipantScore] = columns.interval(
        lambda row: row.interval, write=ends(2), low="fills_low", high="fills_high"
    )
    return [
        _shown_if(any(row.interval.low is not None for row in rows), of_fills),
        *(_shown_if(any(row.without_a_judge for row in rows), column) for column in _judge_columns()),
        columns.fields(
            without_section_best_rank="without_a_section.best_rank",
            without_section_worst_rank="without_a_section.worst_rank",
        ),
        _shown_if(has_families(result), _family_column()),
        _shown_if(any(row.capped != row.total for row in rows), _cap_column()),
    ]


def _shown_if(is_shown: bool, column: TableColumn[ParticipantScore]) -> TableColumn[ParticipantScore]:
    return column if is_shown else replace(column, heading=None)


def _judge_columns() -> list[TableColumn[ParticipantScore]]:
    """The range of totals and of ranks when each judge is left out."""

    def ranks(row: ParticipantScore) -> TableCell:
        spread = row.without_a_judge
        return TableCell(words=f"{spread.best_rank}–{spread.worst_rank}" if spread else NONE)

    totals: TableColumn[ParticipantScore] = replace(
        columns.fields(without_judge_lowest="without_a_judge.low", without_judge_highest="without_a_judge.high"),
        heading=_("Without a judge"),
        cell=lambda row: TableCell(words=between(row.without_a_judge, 2)),
    )
    in_file = columns.fields(
        without_judge_best_rank="without_a_judge.best_rank", without_judge_worst_rank="without_a_judge.worst_rank"
    )
    return [totals, replace(in_file, heading=_("Rank then"), cell=ranks)]


def _family_column() -> TableColumn[ParticipantScore]:
    def cell(row: ParticipantScore) -> TableCell:
        family = row.without_family
        return (
            TableCell(words=_with_rank(family.total, family.rank), title=", ".join(family.judges))
            if family
            else TableCell(words=NONE)
        )

    return TableColumn(
        heading=_("Without its own family"),
        cell=cell,
        files={
            "own_family": lambda row: "; ".join(row.without_family.judges) if row.without_family else None,
            "without_own_family": lambda row: row.without_family and row.without_family.total,
            "without_own_family_rank": lambda row: row.without_family and (row.without_family.rank or None),
        },
    )


def _cap_column() -> TableColumn[ParticipantScore]:
    return TableColumn(
        heading=_("Capped by checks"),
        cell=lambda row: TableCell(words=_with_rank(row.capped, row.capped_rank)),
        files={"capped": lambda row: row.capped, "capped_rank": lambda row: row.capped_rank or None},
    )


def _with_rank(total: float | None, rank: int) -> str:
    return f"{decimal(total, 2)} ({rank})" if rank else decimal(total, 2)


def section_table(result: ClozeScoresResult) -> ReportTable[tuple[ParticipantScore, SectionScore]]:
    """The scores of all sections, in the file alone."""
    return file_only(
        "cloze-section-scores",
        [(row, part) for row in result.participants for part in row.sections],
        columns.fields("participant", of=lambda pair: pair[0]),
        columns.fields(section_title="section", satisfied="satisfied", of=lambda pair: pair[1]),
        columns.fields("surprising", raw_distance="distance", score="score", of=lambda pair: pair[1]),
    )


def kind_table(result: ClozeScoresResult, label: str, name: str) -> ReportTable[KindMean]:
    return ReportTable(
        name=name,
        label=label,
        rows=result.kinds,
        columns=[
            columns.words(
                *("participants", _("Participants")),
                of=lambda kind: "models" if kind.is_model else "people",
                shown=lambda kind: _("Models") if kind.is_model else _("People"),
                is_head=True,
            ),
            columns.number("n", "n"),
            columns.number("total", _("Mean total"), write=decimals(2), css=LEAD),
            columns.interval(lambda kind: kind.interval, write=ends(2)),
            columns.number("satisfied", _("Satisfies"), lambda kind: kind.satisfied, write=coefficient),
            columns.number("surprising", _("Surprises"), lambda kind: kind.surprising, write=coefficient),
            columns.note(lambda kind: ends_note(kind.interval)),
        ],
        css="ruled close",
    )
