"""The tables of a package as a spreadsheet can open them."""

import csv
import io
import re

from studies.documents.reader import LARGEST_FILE

# Where a formula could begin: at the start, or after a sign at which some spreadsheet begins a new cell or row.
FORMULA = re.compile(r"""\A(?=[=+\-@\t\r\n])|(?<=[;\t\r\n])(?="*[=+\-@])""")
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?")
# What a line has in which a cell may match; most lines have none, and need not be taken apart.
SUSPICIOUS = re.compile(r"""(?:\A|[,;\t\r\n])"*[=+\-@\t\r\n]""")
END_OF_LINE = "\r\n"
BYTE_ORDER_MARK = "\ufeff"


def make_harmless(line: str) -> str:
    """A line of a CSV file, or several of one row, in which no cell can be run as a formula.

    Raters write what they like, and a cell that begins like a formula would be computed on the machine of whoever opens
    the file. An apostrophe before it makes it text. Where lists are separated by semicolons, as in Brazil, spreadsheets
    open the file as if it were so too: a cell then begins inside a value.
    """
    if not SUSPICIOUS.search(line.removesuffix(END_OF_LINE)):
        return line
    csv.field_size_limit(LARGEST_FILE)  # the module's own limit, 128 KiB, is less than a long story
    (row,) = csv.reader(io.StringIO(line, newline=""))
    harmless = io.StringIO(newline="")
    csv.writer(harmless).writerow(map(_quote_formula, row))
    return harmless.getvalue()


def _quote_formula(cell: str) -> str:
    return cell if NUMBER.fullmatch(cell) else FORMULA.sub("'", cell)
