"""Files of answers on their way in: kept from the file to the confirmation, looked at, then brought in whole or not."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.answer_import.column_map import (
    MOST_ANSWERS,
    MOST_LEFT_OUT,
    ColumnMapping,
    OmittedRows,
    parse_mapping,
    write_mapping,
)
from annotation.answer_import.guesses import guess_left_out, guess_mapping, guess_zone
from annotation.answer_import.problem_groups import AlikeProblems, group_problems, warn_of_spellings
from annotation.answer_import.rows import read_rows
from annotation.models import AnswerImport, BroughtFile
from annotation.responses import imports
from annotation.responses.imports import Row
from studies import protocol
from studies.documents.errors import DocumentError
from studies.incoming_tables import uploads
from studies.incoming_tables.errors import ImportRefused
from studies.incoming_tables.files import read_file
from studies.incoming_tables.problems import InvalidRow, Problem, RowProblem, list_lines
from studies.incoming_tables.tables import TABLES, IncomingTable, TableKind
from studies.models import Study

MOST_PROBLEMS = 20  # that are named; the others are counted
ANSWERS = TableKind(
    TABLES,
    500_000,
    MOST_ANSWERS,
    gettext_lazy("There is a header and no row below it. Add a row for each answer."),
    keeps_lists=True,
)


@dataclass(frozen=True)
class AnswerExamination:
    """What a table holds, read by a mapping.

    rows : the answers that fit; problems : those of one kind together
    n_empty : cells without an answer; n_left_out : rows that do not count, by the column and what it says
    """

    rows: tuple[Row, ...]
    problems: tuple[AlikeProblems, ...]
    n_empty: int
    n_lines: int
    n_left_out: Mapping[tuple[str, str], int] = field(default_factory=dict)
    warning: RowProblem | None = None

    @property
    def n_raters(self) -> int:
        return len({row.rater for row in self.rows})

    @property
    def n_stories(self) -> int:
        return len({row.story for row in self.rows} - {""})

    @property
    def n_groups(self) -> int:
        return len({row.group for row in self.rows})


def examine(study: Study, table: IncomingTable, mapping: ColumnMapping) -> AnswerExamination:
    """The answers in the table and every problem, by row. Writes nothing; a few queries.

    Raises DocumentError if the mapping names what is not there.
    """
    version = protocol.latest(study)
    reading = read_rows(table, mapping, study, version)
    problems = [*reading.problems, *imports.find_problems(study, reading.rows, version=version)]
    locations = {problem.location for problem in problems}
    rows = tuple(row for row in reading.rows if row.location not in locations) if problems else reading.rows
    warning = warn_of_spellings(reading.spellings)
    groups = tuple(group_problems(problems))
    return AnswerExamination(rows, groups, reading.n_empty, len(table.rows), reading.n_left_out, warning)


def find_obstacle(study: Study) -> str:
    """Why the study itself takes no answers yet, whatever the file; "" if it does. A few queries."""
    version = protocol.latest(study)
    if version.frozen_at is not None:
        return ""
    findings = protocol.collect_findings(study, protocol.load_protocol(version))
    return "; ".join(map(str, protocol.select_errors(findings, protocol.Purpose.IMPORT)))


@transaction.atomic
def bring_in(
    study: Study, table: IncomingTable, mapping: ColumnMapping, *, sha256: str, by: str, at: datetime
) -> AnswerImport:
    """All answers of the table in the study, with a record of the file and of how it was read.

    sha256 : of the file
    Raises ImportRefused with every problem, DocumentError, NotPlannable; then nothing has come in.
    """
    # Whoever brings in the same file at once is waited for, and then finds its answers there.
    study = Study.objects.select_for_update().get(pk=study.pk)
    if mapping.rater.is_numbered and study.answer_imports.filter(sha256=sha256).exists():
        raise refuse([InvalidRow(table.name, _("rater"), _("this file is in already; its raters would count twice"))])
    version = protocol.latest(study)
    reading = read_rows(table, mapping, study, version)
    problems = reading.problems or tuple(imports.find_problems(study, reading.rows, version=version))
    if problems:
        raise refuse(examine(study, table, mapping).problems)
    if not reading.rows:
        raise refuse([InvalidRow(table.name, _("answers"), _("no row has an answer in the mapped columns"))])
    summary = imports.import_rows(study, reading.rows, version=version, at=at)
    return AnswerImport.objects.create(
        study=study,
        at=at,
        by=by,
        file_name=table.name,
        sha256=sha256,
        mapping=write_mapping(mapping),
        n_rows=len(table.rows),
        n_raters=summary.n_raters,
        n_responses=summary.n_responses,
    )


def refuse(problems: Sequence[Problem]) -> ImportRefused:
    """The refusal with a line for each of the first problems, and how many there are."""
    return ImportRefused("\n".join(list_lines(problems, MOST_PROBLEMS)))


def hash_content(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def read_answers(name: str, content: bytes) -> IncomingTable:
    """The table in a file of answers. Raises UnreadableFile with a sentence and a way out."""
    return read_file(name, content, ANSWERS)


def forget_old_files(*, at: datetime) -> int:
    """Delete what nobody confirmed for a day; how many there were."""
    return uploads.forget(BroughtFile.objects.filter(created_at__lt=at - uploads.KEPT))


def keep_file(
    study: Study, table: IncomingTable, purpose: BroughtFile.Purpose, *, by: User, at: datetime, **fields: Any
) -> BroughtFile:
    """The table, kept for this account until it is confirmed, in place of what it brought for the same before."""
    forget_old_files(at=at)
    earlier_files = BroughtFile.objects.filter(study=study, user=by, purpose=purpose)
    return uploads.keep(earlier_files, table, at=at, study=study, user=by, purpose=purpose, **fields)


def keep_answers(
    study: Study, table: IncomingTable, mapping: ColumnMapping | None, *, sha256: str, by: User, at: datetime
) -> BroughtFile:
    """A file of answers, kept with its mapping: that one, the one by which the same columns were read, or a guess."""
    choices = {"mapping": write_mapping(mapping)} if mapping else make_choices(study, table)
    return keep_file(study, table, BroughtFile.Purpose.ANSWERS, by=by, at=at, sha256=sha256, choices=choices)


def make_choices(study: Study, table: IncomingTable) -> dict[str, Any]:
    """What is kept of the columns of a table before anybody says anything of them."""
    earlier = _find_earlier(study, table)
    mapping = _with_own_marks(earlier, table) if earlier else guess_mapping(table, study)
    return {"mapping": _write_readable(mapping)}


def choose_again(study: Study, table: IncomingTable, choices: Mapping[str, Any]) -> dict[str, Any]:
    """The same of a table that is read otherwise: what was said of its answers, if their columns are still there."""
    mapping = _parse_kept(choices)
    return {**choices} if mapping.answers and _fits(mapping, table) else make_choices(study, table)


def _fits(mapping: ColumnMapping, table: IncomingTable) -> bool:
    return {column for _place, column in mapping.columns() if column} <= set(table.columns)


def _with_own_marks(mapping: ColumnMapping, table: IncomingTable) -> ColumnMapping:
    """The mapping of an earlier file, with what this one says itself: its zone, and rows that are no answers."""
    words_by_column = {rows.column: rows.words for rows in mapping.leave_out}
    for rows in guess_left_out(table):
        words_by_column[rows.column] = tuple(dict.fromkeys((*words_by_column.get(rows.column, ()), *rows.words)))
    leave_out = tuple(OmittedRows(column, words) for column, words in words_by_column.items())
    times = replace(mapping.times, zone=guess_zone(table) or mapping.times.zone)
    return replace(mapping, times=times, leave_out=leave_out[:MOST_LEFT_OUT])


def _write_readable(mapping: ColumnMapping) -> str:
    """The mapping as TOML; "", which is an open one, if it names what no mapping can, such as endless titles."""
    toml = write_mapping(mapping)
    try:
        parse_mapping(toml, "mapping", may_be_open=True)
    except DocumentError:
        return ""
    return toml


def _find_earlier(study: Study, table: IncomingTable) -> ColumnMapping | None:
    """How the last file of the study that had all these columns was read."""
    for mapping in study.answer_imports.values_list("mapping", flat=True)[:20]:
        try:
            parsed = parse_mapping(mapping, "mapping")
        except DocumentError:  # of an earlier version
            continue
        if _fits(parsed, table):
            return parsed
    return None


def restore_mapping(upload: BroughtFile) -> ColumnMapping:
    """The mapping as it was kept, open or not."""
    return _parse_kept(upload.choices)


def _parse_kept(choices: Mapping[str, Any]) -> ColumnMapping:
    """The mapping as it was kept; an open one if it cannot be read."""
    try:
        return parse_mapping(choices["mapping"], "mapping", may_be_open=True)
    except DocumentError:
        return ColumnMapping()


def may_cross(upload: BroughtFile) -> bool:
    """Whether columns may be read as naming stories or raters: unless somebody said that they do not."""
    return bool(upload.choices.get("may_cross", True))


def save_mapping(upload: BroughtFile, mapping: ColumnMapping, *, may_cross: bool = True) -> None:
    """Keep what was said of the columns."""
    upload.choices = {"mapping": write_mapping(mapping), "may_cross": may_cross}
    upload.save(update_fields=["choices"])
