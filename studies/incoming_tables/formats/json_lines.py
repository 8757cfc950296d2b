"""Tables of objects in JSON: a list of them, or one in each line."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

from django.utils.translation import gettext as _

from studies.documents import reader
from studies.documents.errors import InvalidValue
from studies.incoming_tables.encodings import DecodedWords
from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.formats.base import FileFormat
from studies.incoming_tables.tables import IncomingTable, TableKind, make_unique

_HALF_A_SIGN = re.compile("[\ud800-\udfff]")  # of a pair that JSON spells; no database keeps one alone


def read_json_lines(name: str, content: bytes, kind: TableKind) -> IncomingTable:
    """A list of objects, or one in each line, with the names of their values as columns."""
    decoded = DecodedWords()
    words = decoded.decode(content, name)
    try:
        if words.lstrip().startswith("["):
            entries = list(enumerate(reader.parse_json(words), start=1))
        else:
            lines = enumerate(words.split("\n"), start=1)
            entries = [(n, reader.parse_json(line)) for n, line in lines if line.strip()]
    except InvalidValue as error:
        raise UnreadableFile(_("The file cannot be read: it %(why)s.") % {"why": error}) from None
    columns: dict[str, None] = {}
    tables: list[tuple[int, dict[str, str]]] = []
    for n, entry in entries:
        if not isinstance(entry, reader.Pairs):
            raise UnreadableFile(_("Row %(n)d is not an object with named values.") % {"n": n})
        cells: dict[str, str] = {}
        for key, value in entry:
            if key in cells:
                raise UnreadableFile(_("Row %(n)d says “%(name)s” twice.") % {"n": n, "name": key[:80]})
            cells[key] = _spell(n, key, value, keeps_lists=kind.keeps_lists)
            _check_whole(n, key, cells[key])
        columns |= dict.fromkeys(cells)
        if len(columns) > kind.most_columns:
            break
        tables.append((n, cells))
    rows = tuple((n, tuple(cells.get(name, "") for name in columns)) for n, cells in tables)
    return IncomingTable(name, make_unique(columns), rows, encoding=decoded.encoding)


def _check_whole(n: int, key: str, cell: str) -> None:
    """Raises UnreadableFile for a cell, or its name, that no database keeps."""
    if _HALF_A_SIGN.search(key) or _HALF_A_SIGN.search(cell):
        message = _("Row %(n)d, “%(name)s” contains half a character, such as a cut emoji. Remove it.")
        raise UnreadableFile(message % {"n": n, "name": _HALF_A_SIGN.sub("\ufffd", key[:80])})


def _spell(n: int, key: str, value: Any, *, keeps_lists: bool) -> str:
    if keeps_lists and isinstance(value, list) and not any(isinstance(part, reader.Pairs) for part in [value, *value]):
        with suppress(RecursionError):  # read with the last of the stack
            return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list | dict):
        message = _("Row %(n)d, “%(name)s”: a cell cannot hold a list or a table.")
        raise UnreadableFile(message % {"n": n, "name": key[:80]})
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


class JsonLinesFormat(FileFormat):
    name = "json-lines"
    suffixes = (".jsonl", ".json")
    read = staticmethod(read_json_lines)
