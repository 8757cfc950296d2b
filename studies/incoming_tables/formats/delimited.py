"""Tables whose cells stand between commas, semicolons or tabs."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from django.utils.translation import gettext as _

from studies.documents.reader import LARGEST_FILE
from studies.incoming_tables.encodings import DecodedWords
from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.formats.base import FileFormat
from studies.incoming_tables.formats.delimiters import find_delimiter, split_hint
from studies.incoming_tables.tables import IncomingTable, TableKind, make_table


def read_delimited(name: str, content: bytes, kind: TableKind) -> IncomingTable:
    decoded = DecodedWords()
    words = decoded.decode(content, name)
    csv.field_size_limit(LARGEST_FILE)  # the module's own limit, 128 KiB, is less than a long story
    hint, words = split_hint(words)
    delimiter = hint or find_delimiter(lambda: split_lines(words))
    rows: list[tuple[int, list[str]]] = []
    try:
        for n, cells in enumerate(csv.reader(split_lines(words), delimiter=delimiter, strict=True), 1):
            if any(cell.strip() for cell in cells):
                rows.append((n, cells))
            if len(rows) > kind.most_rows + 1:
                break
    except csv.Error:
        n = rows[-1][0] + 1 if rows else 1
        message = _("Row %(n)d cannot be read: a quotation mark is open or inside a cell. Save the file again.")
        raise UnreadableFile(message % {"n": n}) from None
    return make_table(name, rows, kind, encoding=decoded.encoding)


def split_lines(words: str) -> Iterator[str]:
    """The lines with their ends, as csv wants them. A StringIO would hold all once more, in four bytes a letter."""
    return (line.group() for line in re.finditer(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", words))


class DelimitedFormat(FileFormat):
    name = "delimited"
    suffixes = (".csv", ".tsv")
    read = staticmethod(read_delimited)
