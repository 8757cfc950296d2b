"""The rows of a table that come in, typed by the readers of study files; and what those refuse, with a way out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from studies.documents.errors import InvalidValue
from studies.incoming_tables.problems import RowProblem, WayOut
from studies.incoming_tables.roles import Role
from studies.incoming_tables.tables import IncomingTable
from studies.story_import.columns import FACTOR, LEFT_OUT, ROLE_BY_KEY, ColumnChoices
from studies.story_import.sides import SideColumn
from studies.typography.normalisation import normalise_text
from studies.vocabulary import IntakeStage

# Called with the stage, how many rows are through it, and of how many.
RowCounter: TypeAlias = Callable[[IntakeStage, int, int], None]

NAME_OF_COLUMN = "column"  # the property that says in which of several columns of a row a story stood


@dataclass
class ImportRow:
    """A row that comes in: what it says by our names, typed; factors by theirs.

    refused : roles of its cells that the readers refuse, of which nothing else is to be said
    """

    n: int
    values: dict[str, Any]
    factors: dict[str, Any]
    refused: set[str] = field(default_factory=set)

    def __getitem__(self, name: str) -> str:
        return str(self.values.get(name, ""))

    def lacks(self, name: str, role: str = "") -> bool:
        """Whether nothing is said there. role : of its column, where that is called otherwise"""
        return not self[name].strip() and (role or name) not in self.refused


def count_nothing(_stage: IntakeStage, _n_done: int, _n_rows: int) -> None:
    """For callers that show no progress."""


# A column with its place in the table and what it is.
_Part: TypeAlias = tuple[int, str, Role]


def read_rows(
    table: IncomingTable, choices: ColumnChoices, count: RowCounter = count_nothing
) -> tuple[list[ImportRow], list[RowProblem]]:
    """The rows that are not left out, typed by the readers of study files, and what those refuse.

    A row that holds several stories is a row for each of them.
    """
    omitted = set(choices.left_out)
    sides = choices.sides
    parts_by_text = {text: _list_parts(table, choices, text, sides) for text in choices.columns_of("text")}
    rows: list[ImportRow] = []
    refusals: dict[tuple[str, str], list[int]] = defaultdict(list)
    numbered = [(n, cells) for n, cells in table.rows if n not in omitted]
    for n_done, (n, cells) in enumerate(numbered):
        count(IntakeStage.READING, n_done, len(numbered))
        for text, parts in parts_by_text.items():
            row = ImportRow(n, _defaults(choices), {})
            for column, reason in _fill_row(row, cells, parts, choices, sides):
                refusals[column, reason].append(n)
            if len(parts_by_text) > 1:
                row.factors.setdefault(NAME_OF_COLUMN, text)
            if choices.names_sources_by_column:
                row.values["source"] = text
            _apply_choices(row, choices)
            rows.append(row)
    faults = []
    for (column, reason), with_repeats in refusals.items():
        numbers = list(dict.fromkeys(with_repeats))
        ways_out = [offer_to_leave_out(numbers)]
        if choices.roles[column] == "code":
            ways_out.insert(0, offer_new_codes())
        faults.append(RowProblem("error", tuple(numbers), column, as_sentence(reason), tuple(ways_out)))
    return rows, faults


def _list_parts(
    table: IncomingTable, choices: ColumnChoices, text: str, sides: Mapping[str, SideColumn]
) -> list[_Part]:
    """The columns that say something of the story in that column."""
    unread = (LEFT_OUT, "code") if choices.has_new_codes else (LEFT_OUT,)
    return [
        (at, column, ROLE_BY_KEY[role])
        for at, column in enumerate(table.columns)
        if (role := choices.roles[column]) not in unread
        and (role != "text" or column == text)
        and (column not in sides or sides[column].text == text)
    ]


def _fill_row(
    row: ImportRow,
    cells: Sequence[str],
    parts: Sequence[_Part],
    choices: ColumnChoices,
    sides: Mapping[str, SideColumn],
) -> Iterator[tuple[str, str]]:
    """Put what the cells say into the row. What is refused, by column and reason."""
    for at, column, role in parts:
        if not cells[at].strip():
            continue
        try:
            content = role.read(choices, cells[at])
        except InvalidValue as error:
            row.refused.add(role.key)
            yield column, str(error)
            continue
        if role.key == FACTOR:
            row.factors[sides[column].name if column in sides else column] = content
        else:
            row.values[role.field or role.key] = content


def _apply_choices(row: ImportRow, choices: ColumnChoices) -> None:
    """Let the group be the one that is meant, and the text be typed as all others."""
    if "group" in row.values:
        row.values["group"] = choices.merged.get(row["group"], row["group"])
    if "raw_text" in row.values:
        row.values["text"] = normalise_text(row["raw_text"], choices.normalisations)


def as_sentence(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:]}."


def _defaults(choices: ColumnChoices) -> dict[str, Any]:
    values = {"source": choices.source.strip(), "licence": choices.licence.strip()}
    truths = {"may_send_out": choices.may_send_out, "may_redistribute": choices.may_redistribute}
    return {name: value for name, value in values.items() if value} | truths


def offer_to_leave_out(rows: Sequence[int]) -> WayOut:
    numbers = list(dict.fromkeys(rows))  # a row may hold several stories
    label = ngettext("Leave row %(row)d out", "Leave these rows out", len(numbers)) % {"row": numbers[0]}
    return WayOut(label, ("leave", *numbers))


def offer_new_codes() -> WayOut:
    return WayOut(_("Give neutral codes to all"), ("codes",))
