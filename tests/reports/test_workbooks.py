"""Tables as .xlsx: every cell comes out as it went in, and what cannot says so."""

from io import BytesIO
from typing import Any

import openpyxl
import pytest

from reports.export import workbooks
from reports.export.workbooks import write_workbook
from studies.incoming_tables.files import read_file
from studies.incoming_tables.tables import TABLES, TableKind

KIND = TableKind(TABLES, 100, 10, no_rows="")  # type: ignore[arg-type]


def workbook(*said: Any) -> bytes:
    stream = BytesIO()
    write_workbook(stream, ["n", "said"], [{"n": n, "said": words} for n, words in enumerate(said)], whole="all.csv")
    return stream.getvalue()


def read_back(content: bytes) -> list[Any]:
    sheets = openpyxl.load_workbook(BytesIO(content)).worksheets
    return [row[1].value for sheet in sheets for row in sheet.iter_rows(min_row=2)]


@pytest.mark.parametrize(
    "words",
    [
        *("=1+1", "@SUM(A1)", "-1", "007", "2024-05-01", "1e5", "TRUE", "https://example.org", "  blanks  "),
        *("<r>mine</r>", "a & b < c", "two\nlines", "a\r\nb", "_x000D_ as written", "bell \x07", "\U0001f600 é"),
    ],
)
def test_words_come_back_as_words(words: str) -> None:
    table = read_file("answers.xlsx", workbook(words), KIND)

    assert table.rows[0][1][1] == words
    assert table.formulas == ()


def test_numbers_are_numbers_unless_a_spreadsheet_would_round_them() -> None:
    said = [1, 2.5, -3, True, None, 2**60, float("nan"), ["a", "b"]]

    assert read_back(workbook(*said)) == [1, 2.5, -3, "True", None, str(2**60), "nan", '["a", "b"]']


def test_what_no_cell_holds_is_cut_and_says_where_the_whole_is() -> None:
    [cell] = read_back(workbook("x" * 40_000))

    assert len(cell) == workbooks.LONGEST_CELL
    assert cell.endswith("x … (cut: a cell holds no more; the whole stands in all.csv)")


def test_rows_that_no_sheet_holds_go_on_in_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbooks, "MOST_ROWS", 2)

    content = workbook("a", "b", "c")

    assert [sheet.max_row for sheet in openpyxl.load_workbook(BytesIO(content)).worksheets] == [3, 2]
    assert read_back(content) == ["a", "b", "c"]


def test_the_same_rows_give_the_same_bytes() -> None:
    assert workbook("a", 2) == workbook("a", 2)
