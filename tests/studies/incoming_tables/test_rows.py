"""Rows by the roles of their columns: what each says, and what is wrong with it, named by row and column."""

from django.utils.functional import lazystr

from studies.documents.errors import InvalidValue
from studies.incoming_tables.problems import InvalidRow
from studies.incoming_tables.roles import Role
from studies.incoming_tables.rows import IncomingRow, read_each
from studies.incoming_tables.tables import IncomingTable


def read_number(names: dict[str, int], cell: str) -> int:
    if cell not in names:
        raise InvalidValue(f"{cell} is no number")
    return names[cell]


ROLES = (
    Role("count", lazystr("Count"), read=read_number, field="n", if_empty=lazystr("there is no count")),
    Role("note", lazystr("Note")),
    Role("place", lazystr("Place")),
)
TABLE = IncomingTable(
    "folder/a.csv",
    ("Seen", "unread", "Note"),
    (
        (2, (" two ", "?", "")),
        (3, ("", "?", "late")),
        (5, ("many", "?", "")),
        (6, ("one", "?", " two\nlines ")),
    ),
)


def read_table() -> tuple[list[dict[str, object]], list[InvalidRow]]:
    columns = {"count": "Seen", "note": "Note"}

    def read_row(row: IncomingRow) -> list[dict[str, object]]:
        return [row.read_roles(ROLES, columns, {"one": 1, "two": 2})]

    return read_each(TABLE, columns.values(), read_row)


def test_a_row_says_what_its_roles_read_by_their_fields_and_an_empty_cell_says_nothing() -> None:
    assert read_table()[0] == [{"n": 2}, {"n": 1, "note": "two\nlines"}]


def test_what_is_wrong_is_named_by_the_row_of_the_file_and_its_column_and_the_other_rows_are_read() -> None:
    assert [str(problem) for problem in read_table()[1]] == [
        "a.csv: row 3, “Seen”: there is no count",
        "a.csv: row 5, “Seen”: many is no number",
    ]


def test_blanks_stay_where_they_count() -> None:
    row = IncomingRow("a.csv: row 6", {"Note": " two\nlines "})

    assert row.read("Note", str, keeps_blanks=True) == " two\nlines "
    assert row.read("Note", str) == "two\nlines"
