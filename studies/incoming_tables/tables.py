"""What a file is read as: a header and rows of words, whatever its format."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.readings import AS_GUESSED, FileReading

LONGEST_COLUMN = 500  # letters of the name of a column; questionnaires put the whole question there
# U+0000, and half of a pair that JSON spells; no database keeps them.
_NEVER_KEPT = re.compile("[\x00\ud800-\udfff]")
DAMAGED = gettext_noop("It contains half a character, such as a cut emoji, or the character U+0000. Correct the cell.")
OVERLONG = gettext_noop(
    "The row has more cells than the header. Put a cell that holds the sign between columns, such as a comma or a "
    "semicolon, into quotation marks."
)
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
    damaged : places (row number, column) whose cell held what no database keeps, now U+FFFD
    overlong : numbers of the rows that have more cells than the header
    hidden : numbers of the rows that a filter hides
    reading : how the file was read; content : the file itself, so that it can be read otherwise, b"" if it cannot
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
    damaged: tuple[tuple[int, int], ...] = ()
    overlong: tuple[int, ...] = ()
    hidden: tuple[int, ...] = ()
    reading: FileReading = AS_GUESSED
    hints: Mapping[str, Any] = field(default_factory=dict)
    content: bytes = field(default=b"", compare=False, repr=False)

    def as_text(self) -> str:
        """All but its name, its reading and the file itself, as it is kept until somebody confirms it."""
        marks = {"damaged": self.damaged, "overlong": self.overlong, "hidden": self.hidden, "hints": self.hints}
        return json.dumps([self.columns, self.rows, self.formulas, self.encoding, marks])

    @classmethod
    def from_text(cls, name: str, text: str) -> Self:
        """The table as it was kept."""
        columns, rows, formulas, encoding, *more = json.loads(text)
        marks = more[0] if more else {}
        return cls(
            name,
            tuple(columns),
            tuple((n, tuple(cells)) for n, cells in rows),
            tuple((n, at) for n, at in formulas),
            encoding,
            damaged=tuple((n, at) for n, at in marks.get("damaged", ())),
            overlong=tuple(marks.get("overlong", ())),
            hidden=tuple(marks.get("hidden", ())),
            hints=marks.get("hints", {}),
        )

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


def check_length(n_rows: int, kind: TableKind, *, n_more: int = 0) -> None:
    """Raises UnreadableFile for more rows than are read. n_more : that may be no rows of the table, as titles are"""
    if n_rows > kind.most_rows + n_more:
        raise UnreadableFile(_("There are more than %(n)d rows. Split the file.") % {"n": kind.most_rows})


def make_table(
    name: str,
    rows: list[tuple[int, list[str]]],
    kind: TableKind,
    *,
    header_row: int | None = None,
    encoding: str = "utf-8",
    formulas: tuple[tuple[int, int], ...] = (),
) -> IncomingTable:
    """The table of numbered rows, of which one is the header: rows that are longer make it wider.

    header_row : the number of its row, or 0 if there is none; the first if None
    """
    if not rows:
        raise UnreadableFile(_("The file is empty."))
    start = 0
    if header_row:
        start = next((at for at, (n, _cells) in enumerate(rows) if n >= header_row), len(rows) - 1)
    header = [] if header_row == 0 else _strip_end(rows[start][1])
    n_in_header = len(rows[start][1])
    body = rows if header_row == 0 else rows[start + 1 :]
    width = len(header)
    check_width(width, kind)  # first, since each row is brought to the header's width
    overlong: list[int] = []
    for n, cells in body:
        if len(cells) > len(header) and (n_cells := len(_strip_end(cells))) > len(header):
            overlong += [n] if n_cells > n_in_header else []
            check_width(n_cells, kind)
            width = max(width, n_cells)
    header += [""] * (width - len(header))
    columns = make_unique(word or _("column %(n)d") % {"n": n} for n, word in enumerate(header, start=1))
    damaged: list[tuple[int, int]] = []
    padded = [
        (n, tuple(mend_cells(n, [*cells, *[""] * (width - len(cells))][:width], damaged=damaged))) for n, cells in body
    ]
    return IncomingTable(
        name,
        tuple(mend_cells(0, columns, damaged=[])),
        tuple(padded),
        formulas=formulas,
        encoding=encoding,
        damaged=tuple(damaged),
        overlong=tuple(overlong) if header_row != 0 else (),
    )


def _strip_end(cells: Sequence[str]) -> list[str]:
    """The cells without blanks around them, and without the empty ones at the end."""
    stripped = [cell.strip() for cell in cells]
    while stripped and not stripped[-1]:
        stripped.pop()
    return stripped


def mend_cells(n: int, cells: Sequence[str], *, damaged: list[tuple[int, int]]) -> Sequence[str]:
    """The cells of row n with U+FFFD in place of what no database keeps; where that was is added to `damaged`."""
    if not _NEVER_KEPT.search("".join(cells)):
        return cells
    mended = [_NEVER_KEPT.sub("\ufffd", cell) for cell in cells]
    damaged += [(n, at) for at, cell in enumerate(cells) if cell != mended[at]]
    return mended


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
