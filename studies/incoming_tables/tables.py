"""What a file is read as: a header and rows of words, whatever its format."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from studies.incoming_tables.errors import UnreadableFile

LONGEST_COLUMN = 500  # letters of the name of a column; questionnaires put the whole question there
# What a file of texts says of each text.
TEXT_COLUMNS = ("folder", "file", "text")
# By the end of a file's name: those that hold tables, and those that hold texts.
TABLES = (".csv", ".tsv", ".xlsx", ".jsonl", ".json")
TEXTS = (".txt", ".md", ".docx")


@dataclass(frozen=True)
class IncomingTable:
    """A file as rows of words.

    rows : the number of each row as a spreadsheet counts it, and a cell for every column
    formulas : places (row number, column) whose cell is a formula
    encoding : how the bytes were read; "cp1252" if they were no UTF-8
    hints : what the tool that wrote the file says beyond the cells, all of it optional and as JSON has it:
        "tool", its title; "zone", the IANA name of the time zone of its times; "roles", by column the key of an
        importer's role, "" for what is left out; "names", by column what it is called where its header is a code or a
        long question; "left_out", by column the values whose rows stay out, such as previews
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    formulas: tuple[tuple[int, int], ...] = ()
    encoding: str = "utf-8"
    hints: Mapping[str, Any] = field(default_factory=dict)

    def as_text(self) -> str:
        """All but its name, as it is kept until somebody confirms it."""
        return json.dumps([self.columns, self.rows, self.formulas, self.encoding, self.hints])

    @classmethod
    def from_text(cls, name: str, text: str) -> Self:
        """The table as it was kept."""
        columns, rows, formulas, encoding, *hints = json.loads(text)  # tables kept by earlier versions have no hints
        cells_by_row = tuple((n, tuple(cells)) for n, cells in rows)
        places = tuple((n, at) for n, at in formulas)
        return cls(name, tuple(columns), cells_by_row, places, encoding, *hints)

    def count_values(self, column: str, *, omitted: Collection[int] = ()) -> Counter[str]:
        """How often each value stands in a column, without the blanks around it; empty cells are left out.

        omitted : numbers of rows that do not count
        """
        if column not in self.columns:
            return Counter()
        at, numbers = self.columns.index(column), set(omitted)
        return Counter(cell for n, cells in self.rows if n not in numbers and (cell := cells[at].strip()))

    def find_left_out(self) -> dict[tuple[str, str], tuple[int, ...]]:
        """The numbers of the rows that stay out by the hints, by the column and its value that say so."""
        numbers_by_value: dict[tuple[str, str], list[int]] = defaultdict(list)
        for column, values in self.hints.get("left_out", {}).items():
            at = self.columns.index(column)
            for n, cells in self.rows:
                if cells[at].strip() in values:
                    numbers_by_value[column, cells[at].strip()].append(n)
        return {value: tuple(numbers) for value, numbers in numbers_by_value.items()}


@dataclass(frozen=True)
class TableKind:
    """What kind of table is asked for.

    kinds : suffixes of the files that may hold it
    keeps_lists : whether a list in JSON may stand in a cell, as JSON
    has_stories : whether a row is a story, not what somebody says of one
    no_rows : what to say of a header with nothing below it
    """

    kinds: tuple[str, ...]
    most_rows: int
    most_columns: int
    no_rows: Promise
    keeps_lists: bool = False
    has_stories: bool = False


def check_width(n_columns: int, kind: TableKind) -> None:
    """Raises UnreadableFile for more columns than are read."""
    if n_columns > kind.most_columns:
        message = _("There are more than %(n)d columns. Leave out those that Quire need not know.")
        raise UnreadableFile(message % {"n": kind.most_columns})


def make_table(
    name: str,
    rows: list[tuple[int, list[str]]],
    kind: TableKind,
    *,
    encoding: str = "utf-8",
    formulas: tuple[tuple[int, int], ...] = (),
) -> IncomingTable:
    """The table of rows of which the first is the header."""
    if not rows:
        raise UnreadableFile(_("The file is empty."))
    header = [cell.strip() for cell in rows[0][1]]
    while header and not header[-1]:
        header.pop()
    check_width(len(header), kind)  # first, since each row is brought to the header's width
    columns = make_unique(word or _("column %(n)d") % {"n": n} for n, word in enumerate(header, start=1))
    body = []
    for n, cells in rows[1:]:
        if any(cell.strip() for cell in cells[len(columns) :]):
            message = _(
                "Row %(n)d has more cells than the header. Put a cell that holds the sign between columns, such as a "
                "comma or a semicolon, into quotation marks."
            )
            raise UnreadableFile(message % {"n": n})
        body.append((n, tuple([*cells, *[""] * len(columns)][: len(columns)])))
    return IncomingTable(name, columns, tuple(body), formulas=formulas, encoding=encoding)


def make_unique(names: Iterable[str]) -> tuple[str, ...]:
    """Names of columns, each once: the second “Comments” is “Comments (2)”."""
    unique: dict[str, None] = {}
    last_number: dict[str, int] = {}
    for name in names:
        shown = name = name[:LONGEST_COLUMN]
        n = last_number.get(name, 1)
        while shown in unique:
            n += 1
            shown = f"{name} ({n})"
        last_number[name] = n
        unique[shown] = None
    return tuple(unique)
