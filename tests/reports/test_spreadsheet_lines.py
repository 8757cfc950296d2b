"""A line of a CSV file as a spreadsheet can open it: what is copied as it is, and what is quoted."""

import csv

import pytest

from reports.export.spreadsheet import make_harmless


@pytest.mark.parametrize(
    ("line", "harmless"),
    [
        ("E01,yes,2026-03-02T12:00:00+00:00\r\n", "E01,yes,2026-03-02T12:00:00+00:00\r\n"),
        ("E01,-1.5,\r\n", "E01,-1.5,\r\n"),
        ("=A1,yes\r\n", "'=A1,yes\r\n"),
        ('E01,"=A1,B1"\r\n', 'E01,"\'=A1,B1"\r\n'),
        ("E01,well;=A1\r\n", "E01,well;'=A1\r\n"),
        ('E01,"well\n""=A1"\r\n', 'E01,"well\n\'""=A1"\r\n'),
        ('E01,"-a\nb",-2,x\r\n', 'E01,"\'-a\nb",-2,x\r\n'),
    ],
)
def test_only_cells_that_begin_like_a_formula_are_quoted(line: str, harmless: str) -> None:
    assert make_harmless(line) == harmless


def test_a_cell_of_any_length_is_quoted() -> None:
    story = "word " * 40_000
    before = csv.field_size_limit(131_072)  # what the module begins with; other readers of this process raise it

    try:
        assert make_harmless(f"-a,{story}\r\n") == f"'-a,{story}\r\n"
    finally:
        csv.field_size_limit(before)
