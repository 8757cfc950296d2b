"""The sign between the columns of a table in a text file, found by reading its first rows with each."""

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice

DELIMITERS = "\t;,|"
# Excel's own hint, which it does not show as a row.
_HINT = re.compile(r'"?sep=([,;|\t])"?[ \t]*(?:\r\n|\r|\n)', re.IGNORECASE)
_N_ROWS = 200  # looked at


def split_hint(words: str) -> tuple[str, str]:
    """The sign that a first line such as `sep=;` names, or nothing, and the words without that line."""
    hint = _HINT.match(words)
    return (hint[1], words[hint.end() :]) if hint else ("", words)


def find_delimiter(lines: Callable[[], Iterator[str]]) -> str:
    """The sign with which most rows have as many cells as the header; a comma where none parts anything.

    A sign inside of quotation marks parts nothing, however often it stands there. Where a title stands above the
    header, the sign with which most rows have one number of cells.

    lines : the lines with their ends, from the start at each call
    """

    def rank(delimiter: str) -> tuple[bool, bool, float, int, bool]:
        rows = _read_rows(lines(), delimiter)
        widths = [len(cells) for cells in rows if any(cell.strip() for cell in cells)]
        if not widths:
            return (False, False, 0.0, 0, delimiter == ",")
        header, *body = widths
        if header == 1 and body:
            usual, _n = Counter(body).most_common(1)[0]
            return (usual > 1, False, body.count(usual) / len(body), usual, delimiter == ",")
        share = sum(width == header for width in body) / len(body) if body else 1.0
        return (header > 1, True, share, header, delimiter == ",")

    return max(DELIMITERS, key=rank)


def is_table(lines: Callable[[], Iterator[str]], delimiter: str) -> bool:
    """Whether each of the first rows, two at least, has as many cells as the first, which has several."""
    widths = {len(cells) for cells in _read_rows(lines(), delimiter) if cells}
    return len(widths) == 1 and widths.pop() > 1 and len(list(islice(lines(), 2))) > 1


def _read_rows(lines: Iterator[str], delimiter: str) -> list[list[str]]:
    """The first rows, up to one that cannot be read."""
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend(islice(csv.reader(lines, delimiter=delimiter, strict=True), _N_ROWS))
    return rows
