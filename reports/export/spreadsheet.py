"""The long file as a spreadsheet can open it."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from reports.page.csv import cell, csv_lines

# Where a formula could begin: at the start, or after a sign at which some spreadsheet begins a new cell or row.
FORMULA = re.compile(r"""\A(?=[=+\-@\t\r\n])|(?<=[;\t\r\n])(?="*[=+\-@])""")
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?")
BYTE_ORDER_MARK = "\ufeff"


def spreadsheet_lines(header: Iterable[str], rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """A CSV file that a spreadsheet can open: marked as UTF-8, and no cell can be run as a formula.

    Raters write what they like, and a cell that begins like a formula would be computed on the machine of whoever opens
    the file. An apostrophe before it makes it text. Where lists are separated by semicolons, as in Brazil, spreadsheets
    open the file as if it were so too: a cell then begins inside a value.
    """
    yield BYTE_ORDER_MARK
    names = list(header)
    yield from csv_lines(names, ({name: _harmless(cell(row.get(name))) for name in names} for row in rows))


def _harmless(value: Any) -> Any:
    return FORMULA.sub("'", value) if isinstance(value, str) and not NUMBER.fullmatch(value) else value
