"""Tables as .xlsx, for those who open them in a spreadsheet: words stay words, and nothing is run."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from datetime import datetime
from typing import IO, Any

from reports.page.csv import NESTED

CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
LONGEST_CELL = 32_767  # characters that a cell of a spreadsheet holds
MOST_ROWS = 1_000_000  # of a sheet, below the 1,048,576 that it holds; more go on in a further one
LARGEST_EXACT = 2**53  # whole numbers beyond it are rounded by spreadsheets


def write_workbook(stream: IO[bytes], header: Iterable[str], rows: Iterable[dict[str, Any]], *, whole: str) -> None:
    """A workbook of one table, the same to the last byte for the same rows. Rows wait on the disk, not in memory.

    whole : name of the file that has in full what is too long for a cell
    """
    workbook = _TableWorkbook(stream, header, whole=whole)
    for row in rows:
        workbook.write(row)
    workbook.close()


class _TableWorkbook:
    def __init__(self, stream: IO[bytes], header: Iterable[str], *, whole: str) -> None:
        from xlsxwriter import Workbook  # heavy, and seldom needed

        self._names = list(header)
        self._note = f" … (cut: a cell holds no more; the whole stands in {whole})"
        self._workbook = Workbook(stream, {"constant_memory": True})
        self._workbook.set_properties({"created": datetime(1980, 1, 1)})
        self._bold, self._plain = self._workbook.add_format({"bold": True}), self._workbook.add_format()
        self._begin_sheet()

    def _begin_sheet(self) -> None:
        self._sheet = self._workbook.add_worksheet()
        self._sheet.freeze_panes(1, 0)
        self._n_rows = 0
        for at, name in enumerate(self._names):
            self._sheet.write_string(0, at, name, self._bold)

    def write(self, row: dict[str, Any]) -> None:
        """One more row, by the names of the header."""
        if self._n_rows == MOST_ROWS:
            self._begin_sheet()
        self._n_rows += 1
        for at, name in enumerate(self._names):
            self._write_cell(at, row.get(name))

    def _write_cell(self, at: int, value: Any) -> None:
        if value is None or value == "":
            return
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and math.isfinite(value) and abs(value) < LARGEST_EXACT:
            self._sheet.write_number(self._n_rows, at, value)
            return
        words = json.dumps(value, ensure_ascii=False) if isinstance(value, NESTED) else str(value)
        if len(words) > LONGEST_CELL:
            words = words[: LONGEST_CELL - len(self._note)] + self._note
        if words.startswith("<r>"):  # the library would take it for markup of its own
            self._sheet.write_rich_string(self._n_rows, at, words[0], self._plain, words[1:])
        else:
            self._sheet.write_string(self._n_rows, at, words)

    def close(self) -> None:
        self._workbook.close()
