"""Tables whose cells stand between commas, semicolons, tabs or pipes."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from django.utils.translation import gettext as _

from studies.documents.reader import LARGEST_FILE
from studies.incoming_tables.encodings import DecodedWords
from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.formats.base import FileFormat
from studies.incoming_tables.formats.delimiters import find_delimiter, split_hint
from studies.incoming_tables.formats.headers import MOST_ABOVE, guess_header_row
from studies.incoming_tables.readings import GUESSED, FileReading, Quoting, ReadingChoices
from studies.incoming_tables.tables import IncomingTable, TableKind, check_length, make_table

_Rows = list[tuple[int, list[str]]]


def read_delimited(name: str, content: bytes, kind: TableKind, choices: ReadingChoices = GUESSED) -> IncomingTable:
    decoded = DecodedWords(choices.encoding)
    words = decoded.decode(content, name)
    csv.field_size_limit(LARGEST_FILE)  # the module's own limit, 128 KiB, is less than a long story
    hint, words = split_hint(words)
    quoting, delimiter, rows = _read_quoted(words, kind, replace(choices, delimiter=choices.delimiter or hint))
    header_row, is_sure = guess_header_row(rows)
    if choices.header_row is not None:
        header_row, is_sure = choices.header_row, True
    table = make_table(name, rows, kind, header_row=header_row, encoding=decoded.doubtful_encoding)
    doubts = {
        "encoding": bool(decoded.guessed),
        "delimiter": not choices.delimiter and bool(table.overlong),
        "quoting": not choices.quoting and quoting != "doubled",
        "header_row": not is_sure,
    }
    resolved = ReadingChoices(decoded.encoding, delimiter, quoting, header_row)
    unsure = tuple(name for name, is_unsure in doubts.items() if is_unsure)
    return replace(table, reading=FileReading(resolved, choices, unsure=unsure))


def _read_quoted(words: str, kind: TableKind, choices: ReadingChoices) -> tuple[Quoting, str, _Rows]:
    """How quotation marks inside cells are written, the sign between columns, and the rows. Raises UnreadableFile."""
    if choices.quoting:
        return _read_with(choices.quoting, words, kind, choices)
    try:
        return _read_with("doubled", words, kind, choices)
    except UnreadableFile as refusal:
        for quoting in _OTHER_QUOTINGS:
            with suppress(UnreadableFile):
                quoted = _read_with(quoting, words, kind, choices)
                if quoting != "none" or quoted[1] == "\t":  # databases write such files, with tabs
                    return quoted
        raise refusal from None


def _read_with(quoting: Quoting, words: str, kind: TableKind, choices: ReadingChoices) -> tuple[Quoting, str, _Rows]:
    spelled = _ESCAPED.sub(_double, words) if quoting == "backslash" else words
    delimiter = choices.delimiter or find_delimiter(lambda: split_lines(spelled))
    return quoting, delimiter, _read_rows(split_lines(spelled), kind, delimiter, quoting)


_OTHER_QUOTINGS: tuple[Quoting, ...] = ("backslash", "none")
_ESCAPED = re.compile(r'\\(["\\])')


def _double(escaped: re.Match[str]) -> str:
    return '""' if escaped[1] == '"' else "\\"


def _read_rows(lines: Iterator[str], kind: TableKind, delimiter: str, quoting: Quoting) -> _Rows:
    rows: _Rows = []
    try:
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        if quoting == "none":
            reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
        for n, cells in enumerate(reader, 1):
            if any(cell.strip() for cell in cells):
                rows.append((n, cells))
            check_length(len(rows), kind, n_more=1 + MOST_ABOVE)
    except csv.Error:
        n = rows[-1][0] + 1 if rows else 1
        message = _("Row %(n)d cannot be read: a quotation mark is open or inside a cell. Save the file again.")
        raise UnreadableFile(message % {"n": n}) from None
    return rows


def split_lines(words: str) -> Iterator[str]:
    """The lines with their ends, as csv wants them. A StringIO would hold all once more, in four bytes a letter."""
    return (line.group() for line in re.finditer(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", words))


class DelimitedFormat(FileFormat):
    name = "delimited"
    suffixes = (".csv", ".tsv")
    read = staticmethod(read_delimited)
    read_as = staticmethod(read_delimited)
