"""The first sheet of an .xlsx as rows of cells; formulas are marked, never computed."""

from __future__ import annotations

from datetime import date, datetime
from io import BytesIO
from typing import Any

from django.utils.translation import gettext as _

from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.formats.archives import read_office_file
from studies.incoming_tables.formats.base import FileFormat
from studies.incoming_tables.tables import IncomingTable, TableKind, make_table

# Rows that a sheet may leave out between two others: a row's number is the file's own claim.
MOST_EMPTY = 100_000


def read_workbook(name: str, content: bytes, kind: TableKind) -> IncomingTable:
    """The table in the first sheet. Raises UnreadableFile."""
    parts = read_office_file(content, kind=".xlsx")
    if "xl/workbook.xml" not in parts:
        raise UnreadableFile(_("This is not an .xlsx workbook. Save it as .xlsx or as CSV."))
    import openpyxl  # heavy, and seldom needed

    try:
        workbook = openpyxl.load_workbook(BytesIO(content), read_only=True)
        rows, formulas = _read_sheet(workbook.worksheets[0], kind)
    except UnreadableFile:
        raise
    except Exception:  # whatever the library finds wrong, the file is refused
        raise UnreadableFile(_("The workbook is damaged. Save it again, or as CSV.")) from None
    return make_table(name, rows, kind, formulas=tuple(formulas))


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
        if len(rows) > kind.most_rows + 1:
            raise UnreadableFile(_("There are more than %(n)d rows. Split the file.") % {"n": kind.most_rows})
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
