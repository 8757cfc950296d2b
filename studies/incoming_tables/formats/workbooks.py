"""A sheet of an .xlsx as rows of cells; formulas are marked, never computed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from io import BytesIO
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _

from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.formats.archives import read_office_file
from studies.incoming_tables.formats.base import FileFormat
from studies.incoming_tables.formats.headers import MOST_ABOVE, guess_header_row
from studies.incoming_tables.readings import GUESSED, FileReading, ReadingChoices
from studies.incoming_tables.tables import IncomingTable, TableKind, check_length, make_table

# Rows that a sheet may leave out between two others: a row's number is the file's own claim.
MOST_EMPTY = 100_000
MOST_SHEETS = 100
_ROW = re.compile(rb"<(?:\w+:)?row\s[^>]*>")
_NUMBER = re.compile(rb'\sr="(\d{1,7})"')
_HIDDEN = re.compile(rb'\shidden="(?:1|true)"')


def read_workbook(name: str, content: bytes, kind: TableKind, choices: ReadingChoices = GUESSED) -> IncomingTable:
    """The table in one of the sheets. Raises UnreadableFile."""
    parts = read_office_file(content, kind=".xlsx")
    if "xl/workbook.xml" not in parts:
        raise UnreadableFile(_("This is not an .xlsx workbook. Save it as .xlsx or as CSV."))
    import openpyxl  # heavy, and seldom needed

    try:
        workbook = openpyxl.load_workbook(BytesIO(content), read_only=True)
        sheets = workbook.worksheets[:MOST_SHEETS]
        sheet, is_sure_of_sheet = _choose_sheet(sheets, choices.sheet, kind)
        rows, formulas = _read_sheet(sheet, kind)
        path = str(getattr(sheet, "_worksheet_path", ""))
        titles = tuple(str(other.title) for other in sheets)
    except UnreadableFile:
        raise
    except Exception:  # whatever the library finds wrong, the file is refused
        raise UnreadableFile(_("The workbook is damaged. Save it again, or as CSV.")) from None
    header_row, is_sure = guess_header_row(rows)
    if choices.header_row is not None:
        header_row, is_sure = choices.header_row, True
    table = make_table(name, rows, kind, header_row=header_row, formulas=tuple(formulas))
    doubts = {"sheet": not is_sure_of_sheet, "header_row": not is_sure}
    unsure = tuple(name for name, is_unsure in doubts.items() if is_unsure)
    resolved = ReadingChoices(header_row=header_row, sheet=str(sheet.title))
    hidden = _find_hidden_rows(parts.get(path.removeprefix("/"), b""), {n for n, _cells in table.rows})
    return replace(table, hidden=hidden, reading=FileReading(resolved, choices, sheets=titles, unsure=unsure))


def _choose_sheet(sheets: Sequence[Any], title: str, kind: TableKind) -> tuple[Any, bool]:
    """The sheet of that title; else the first that holds a table, and whether no other does."""
    if chosen := next((sheet for sheet in sheets if sheet.title == title), None):
        return chosen, True
    tables = [sheet for sheet in sheets if sheet.sheet_state == "visible" and _holds_table(sheet, kind)]
    return next(iter(tables), sheets[0]), len(tables) == 1 or len(sheets) == 1


def _holds_table(sheet: Any, kind: TableKind) -> bool:
    """Whether two of the first rows have two cells or more."""
    first_rows = islice(sheet.iter_rows(max_col=kind.most_columns + 1, values_only=True), 2 * MOST_ABOVE)
    return sum(sum(value is not None for value in row) > 1 for row in first_rows) > 1


def _find_hidden_rows(part: bytes, numbers: set[int]) -> tuple[int, ...]:
    """The numbers of those rows that the sheet says are hidden, as a filter hides them."""
    hidden = []
    for row in _ROW.finditer(part):
        number = _NUMBER.search(row[0])
        if number and _HIDDEN.search(row[0]) and int(number[1]) in numbers:
            hidden.append(int(number[1]))
    return tuple(hidden)


def _read_sheet(sheet: Any, kind: TableKind) -> tuple[list[tuple[int, list[str]]], list[tuple[int, int]]]:
    """The rows with their numbers, the header first, and where (row, column) formulas are."""
    rows: list[tuple[int, list[str]]] = []
    formulas: list[tuple[int, int]] = []
    for n, cells in enumerate(sheet.iter_rows(max_col=kind.most_columns + 1), start=1):
        if n > kind.most_rows + MOST_EMPTY:
            raise UnreadableFile(_("The sheet has rows very far down. Delete the empty ones, or save it as CSV."))
        words = [_spell(cell.value) for cell in cells]
        if not any(word.strip() for word in words):
            continue
        formulas += [(n, column) for column, cell in enumerate(cells) if cell.data_type == "f"]
        rows.append((n, words))
        check_length(len(rows), kind, n_more=1 + MOST_ABOVE)
    return rows, formulas


def _spell(value: Any) -> str:
    """A cell as its reader sees it, nearly: whole numbers without a point, days as 2026-11-23."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime | date):
        return value.isoformat()
    from openpyxl.utils.escape import unescape

    return unescape(value) if isinstance(value, str) else str(value)  # _x000D_ is how a workbook spells a line end


class WorkbookFormat(FileFormat):
    name = "workbook"
    suffixes = (".xlsx",)
    read = staticmethod(read_workbook)
    read_as = staticmethod(read_workbook)
