"""The first sheet of an Excel file: as many columns as are read of that kind of table."""

import pytest
from django.utils.functional import lazystr

from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.files import read_file
from studies.incoming_tables.tables import TableKind
from tests.studies.story_import.files import workbook

WIDE = TableKind((".xlsx",), most_rows=5, most_columns=100, no_rows=lazystr("No rows."))


def test_every_column_is_read_up_to_the_most_of_the_kind() -> None:
    header = [f"q{n}" for n in range(100)]

    table = read_file("a.xlsx", workbook([*header], [*range(100)]), WIDE)

    assert table.columns == tuple(header)
    assert table.rows == ((2, tuple(map(str, range(100)))),)


def test_more_columns_than_that_are_refused_and_never_dropped() -> None:
    with pytest.raises(UnreadableFile, match="more than 100 columns"):
        read_file("a.xlsx", workbook([f"q{n}" for n in range(101)], [*range(101)]), WIDE)
