"""The rows of a table that come in, typed by the readers of study files; and what those refuse, with a way out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from studies.documents import stories as documents
from studies.documents.errors import InvalidValue
from studies.story_import.columns import FACTOR, ColumnChoices
from studies.story_import.files import StoryTable
from studies.typography.normalisation import normalise_text
from studies.vocabulary import IntakeStage

# Called with the stage, how many rows are through it, and of how many.
RowCounter: TypeAlias = Callable[[IntakeStage, int, int], None]
_TRUTHS = dict.fromkeys(("yes", "true", "y", "1", "x", "ja", "sim", "oui"), True) | dict.fromkeys(
    ("no", "false", "n", "0", "-", "nein", "não", "non"), False
)


@dataclass(frozen=True)
class WayOut:
    """A button. act : what it does and to what, as `imports.take_way_out` reads it"""

    label: str
    act: tuple[Any, ...]


@dataclass(frozen=True)
class RowProblem:
    """Something to mend (an error) or to look at (a warning). rows : none if it is about the whole table"""

    level: Literal["error", "warning"]
    rows: tuple[int, ...]
    column: str
    sentence: str
    ways_out: tuple[WayOut, ...] = ()

    @property
    def location(self) -> str:
        """“Row 8”, or the first of several."""
        if not self.rows:
            return _("All rows")
        numbers = ", ".join(map(str, self.rows[:8]))
        if len(self.rows) > 8:
            return _("Rows %(rows)s and %(n)d more") % {"rows": numbers, "n": len(self.rows) - 8}
        return ngettext("Row %(rows)s", "Rows %(rows)s", len(self.rows)) % {"rows": numbers}


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
    table: StoryTable, choices: ColumnChoices, count: RowCounter = count_nothing
) -> tuple[list[ImportRow], list[RowProblem]]:
    """The rows that are not left out, typed by the readers of study files, and what those refuse."""
    omitted = set(choices.left_out)
    parts = [(at, column, choices.roles[column]) for at, column in enumerate(table.columns) if choices.roles[column]]
    rows: list[ImportRow] = []
    refusals: dict[tuple[str, str], list[int]] = defaultdict(list)
    numbered = [(n, cells) for n, cells in table.rows if n not in omitted]
    for n, cells in numbered:
        count(IntakeStage.READING, len(rows), len(numbered))
        row = ImportRow(n, _defaults(choices), {})
        for at, column, role in parts:
            if cells[at].strip():
                try:
                    _read_cell(row, column, role, cells[at], choices)
                except InvalidValue as error:
                    refusals[column, str(error)].append(n)
                    row.refused.add(role)
        rows.append(row)
    faults = []
    for (column, reason), numbers in refusals.items():
        ways_out = [offer_to_leave_out(numbers)]
        if choices.roles[column] == "code":
            ways_out.insert(0, offer_new_codes())
        faults.append(RowProblem("error", tuple(numbers), column, as_sentence(reason), tuple(ways_out)))
    return rows, faults


def as_sentence(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:]}."


def _defaults(choices: ColumnChoices) -> dict[str, Any]:
    values = {"source": choices.source.strip(), "licence": choices.licence.strip()}
    truths = {"may_send_out": choices.may_send_out, "may_redistribute": choices.may_redistribute}
    return {name: value for name, value in values.items() if value} | truths


def _read_cell(row: ImportRow, column: str, role: str, cell: str, choices: ColumnChoices) -> None:
    if role == "code":
        if not choices.has_new_codes:
            row.values["story"] = documents.read_field("story", cell)
    elif role == "group":
        name = documents.read_field("source", cell)  # words on a line, as long as a source's name
        row.values["group"] = choices.merged.get(name, name)
    elif role == "text":
        row.values["raw_text"] = documents.read_field("text", cell)
        row.values["text"] = normalise_text(row.values["raw_text"], choices.normalisations)
    elif role in ("may_send_out", "may_redistribute"):
        truth = _TRUTHS.get(cell.strip().casefold())
        if truth is None:
            raise InvalidValue(_("say yes or no"))
        row.values[role] = truth
    elif role == "source_kind":
        row.values["source_kind_said"] = cell.strip()
    elif role == FACTOR:
        row.factors[column] = documents.read_factor(column, cell)
    else:
        row.values[role] = documents.read_field(role, cell)


def offer_to_leave_out(rows: Sequence[int]) -> WayOut:
    label = ngettext("Leave row %(row)d out", "Leave these rows out", len(rows)) % {"row": rows[0]}
    return WayOut(label, ("leave", *rows))


def offer_new_codes() -> WayOut:
    return WayOut(_("Give neutral codes to all"), ("codes",))
