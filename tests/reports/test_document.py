"""Descriptions of figures as their writers have them."""

import re
from dataclasses import replace

import pytest
from django.template.loader import render_to_string

from reports.document import columns
from reports.document.files import file_only, write_rows
from reports.document.model import DocumentSection, ReportTable, TableColumn
from reports.document.page import PageTable
from reports.document.text import write_lines
from reports.document.values import Estimate, Interval, Reason, SourceShare
from reports.reasons import to_english

NO_ANSWERS = Reason(code="no_answers", values={})


def describe() -> ReportTable[tuple[str, str, float]]:
    """Three columns, of which the row of "b" has no value in the last."""
    setting: TableColumn[tuple[str, str, float]] = columns.words("setting", "Setting", lambda row: row[1])
    return ReportTable(
        label="Rows",
        rows=[("a", "k = 5", 0.25), ("b", "k = 25", 0.5)],
        columns=[
            columns.words("name", "Name", lambda row: row[0], is_head=True),
            replace(setting, is_kept=True),
            columns.number("rho", "Rho", lambda row: row[2]),
            columns.number("low", "Low", lambda row: row[2]),
        ],
        why=lambda row: NO_ANSWERS if row[0] == "b" else None,
    )


def test_a_reason_leaves_page_and_text_the_columns_that_stay() -> None:
    table = describe()

    (_first, second) = next(iter(PageTable.of(table).groups)).rows
    *_lines, last = write_lines([DocumentSection(heading="Rows", body=[table])])

    because = to_english(NO_ANSWERS)
    assert [(str(part.cell.words), part.n_columns) for part in second.cells] == [("b", 1), ("k = 25", 1), (because, 2)]
    assert " ".join(last.split()) == f"b k = 25 {because}"


def test_the_cells_of_a_table_that_is_stacked_on_telephones_name_their_columns() -> None:
    stacked = replace(describe(), css="ruled stacks")

    pages = [
        render_to_string("reports/document/frame.html", {"table": PageTable.of(table)})
        for table in (stacked, describe())
    ]

    assert [re.findall(r'data-label="([^"]+)"', page) for page in pages] == [["Setting", "Rho", "Low", "Setting"], []]


def test_columns_of_files_follow_paths_and_stop_where_there_is_no_such_part() -> None:
    ends = Interval(low=0.1, high=0.3)
    rows = [SourceShare(source="A", value=0.2, n=7, interval=ends), None]

    table = file_only(
        "shares", rows, columns.fields("n", share="value", **columns.ENDS), columns.constants(unit="percent")
    )

    assert write_rows([DocumentSection(heading="Shares", body=[table])]) == {
        "shares": [
            {"n": 7, "share": 0.2, "low": 0.1, "high": 0.3, "unit": "percent"},
            {"n": None, "share": None, "low": None, "high": None, "unit": "percent"},
        ]
    }


def test_a_path_that_leads_nowhere_is_an_error() -> None:
    column = columns.fields(share="values", of=lambda row: row)

    with pytest.raises(AttributeError, match="values"):
        column.files["share"](Estimate(value=0.2))


def test_an_estimate_stands_beside_its_interval_on_the_page_and_in_its_file() -> None:
    row = SourceShare(source="A", value=20.25, n=7, interval=Interval(low=10.0, high=30.0))

    value, ends = columns.with_interval("share", "Share", places=1, prefix="share_")

    assert [str(column.cell(row).words) for column in (value, ends)] == ["20.2", "10.0 to 30.0"]
    assert {name: of(row) for column in (value, ends) for name, of in column.files.items()} == {
        "share": 20.25,
        "share_low": 10.0,
        "share_high": 30.0,
    }
