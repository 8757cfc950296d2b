"""The rows of a table that come in, typed by the readers of study files; and what those refuse, with a way out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from studies.documents.errors import InvalidValue
from studies.incoming_tables.problems import RowProblem, WayOut
from studies.incoming_tables.tables import IncomingTable
from studies.story_import.columns import FACTOR, LEFT_OUT, ROLE_BY_KEY, ColumnChoices
from studies.typography.normalisation import normalise_text
from studies.vocabulary import IntakeStage

# Called with the stage, how many rows are through it, and of how many.
RowCounter: TypeAlias = Callable[[IntakeStage, int, int], None]


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


def read_rows(
    table: IncomingTable, choices: ColumnChoices, count: RowCounter = count_nothing
) -> tuple[list[ImportRow], list[RowProblem]]:
    """The rows that are not left out, typed by the readers of study files, and what those refuse."""
    omitted = set(choices.left_out)
    roles = [(at, column, ROLE_BY_KEY[choices.roles[column]]) for at, column in enumerate(table.columns)]
    parts = [(at, column, role) for at, column, role in roles if role.key not in _unread(choices)]
    rows: list[ImportRow] = []
    refusals: dict[tuple[str, str], list[int]] = defaultdict(list)
    numbered = [(n, cells) for n, cells in table.rows if n not in omitted]
    for n, cells in numbered:
        count(IntakeStage.READING, len(rows), len(numbered))
        row = ImportRow(n, _defaults(choices), {})
        for at, column, role in parts:
            if cells[at].strip():
                try:
                    content = role.read(choices, cells[at])
                except InvalidValue as error:
                    refusals[column, str(error)].append(n)
                    row.refused.add(role.key)
                    continue
                if role.key == FACTOR:
                    row.factors[column] = content
                else:
                    row.values[role.field or role.key] = content
        _apply_choices(row, choices)
        rows.append(row)
    faults = []
    for (column, reason), numbers in refusals.items():
        ways_out = [offer_to_leave_out(numbers)]
        if choices.roles[column] == "code":
            ways_out.insert(0, offer_new_codes())
        faults.append(RowProblem("error", tuple(numbers), column, as_sentence(reason), tuple(ways_out)))
    return rows, faults


def _unread(choices: ColumnChoices) -> tuple[str, ...]:
    """The roles whose cells do not count."""
    return (LEFT_OUT, "code") if choices.has_new_codes else (LEFT_OUT,)


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
    label = ngettext("Leave row %(row)d out", "Leave these rows out", len(rows)) % {"row": rows[0]}
    return WayOut(label, ("leave", *rows))


def offer_new_codes() -> WayOut:
    return WayOut(_("Give neutral codes to all"), ("codes",))
