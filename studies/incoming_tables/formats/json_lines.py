"""Tables of objects in JSON: a list of them, one in each line, each under its id, or a list in a key of one object."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from django.utils.translation import gettext as _

from studies.documents.errors import InvalidValue
from studies.documents.reader import Pairs
from studies.incoming_tables.encodings import DecodedWords
from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.formats.base import FileFormat
from studies.incoming_tables.formats.json_values import DEPTH, JsonMember, JsonWords, ValueTooLong
from studies.incoming_tables.readings import GUESSED, FileReading, ReadingChoices
from studies.incoming_tables.tables import IncomingTable, TableKind, check_length, check_width, make_unique, mend_cells

MOST_LISTS = 100  # of one object that can be chosen, the longest
LEVELS = 2  # of objects within a row, whose values become columns such as meta.source
_ID = "id"
_Entry = tuple[int, str | None, Any]  # number, key if it stands under one, value


def read_json_lines(name: str, content: bytes, kind: TableKind, choices: ReadingChoices = GUESSED) -> IncomingTable:
    """The table of objects, with the names of their values as columns."""
    decoded = DecodedWords(choices.encoding)
    words = JsonWords(decoded.decode(content, name), most_values=kind.most_rows + 1)
    is_lines = PurePosixPath(name).suffix.lower() == ".jsonl"
    try:
        entries, sheet, sheets = _find_entries(words, choices.sheet, is_lines=is_lines)
        table = _make_table(name, entries, kind)
    except InvalidValue as error:
        raise UnreadableFile(_("The file cannot be read: it %(why)s.") % {"why": error}) from None
    doubts = {"encoding": bool(decoded.guessed), "sheet": len(sheets) > 1 and not choices.sheet}
    resolved = ReadingChoices(encoding=decoded.encoding, sheet=sheet)
    unsure = tuple(name for name, is_unsure in doubts.items() if is_unsure)
    return replace(
        table, encoding=decoded.doubtful_encoding, reading=FileReading(resolved, choices, sheets=sheets, unsure=unsure)
    )


def _find_entries(words: JsonWords, sheet: str, *, is_lines: bool) -> tuple[Iterator[_Entry], str, tuple[str, ...]]:
    """The rows, the key of the list that holds them if it stands in one, and all such keys. Raises InvalidValue."""
    start = words.skip_blanks(0)
    if words.sign_at(start) == "[":
        return _number(words, start), "", ()
    if words.sign_at(start) != "{" or not _is_alone(words, start):
        return _list_lines(words, start), "", ()
    members = list(words.list_members(start))
    lists, is_by_id = _find_lists(words, members)
    longest_lists = sorted(lists, key=lambda key: lists[key].end - lists[key].start)[-MOST_LISTS:]
    lists = {key: member for key, member in lists.items() if key in longest_lists}
    if lists and not (is_lines and len(members) > 1):  # a single line is a row, of which a value may be such a list
        key = sheet if sheet in lists else longest_lists[-1]
        return _number(words, lists[key].start), key, tuple(lists)
    if is_by_id:
        return _list_by_id(words, members), "", ()
    return _list_lines(words, start), "", ()


def _is_alone(words: JsonWords, place: int) -> bool:
    """Whether nothing follows the value at that place; nothing does if it is as long as no row is."""
    try:
        return words.skip_blanks(words.read_value(place)[1]) >= len(words.words)
    except ValueTooLong:
        return True


def _find_lists(
    words: JsonWords, members: Sequence[JsonMember], *, prefix: str = "", depth: int = DEPTH
) -> tuple[dict[str, JsonMember], bool]:
    """The lists of objects of an object by their keys, and whether all that it holds are objects.

    An object that is all that another holds is looked into.
    """
    keys = mend_cells(0, [f"{prefix}{member.key}" for member in members], damaged=[])
    lists = {key: member for key, member in zip(keys, members, strict=True) if member.is_of_objects}
    is_by_id = bool(members) and all(words.sign_at(member.start) == "{" for member in members)
    if is_by_id and len(members) == 1 and depth:
        (only,) = members
        inner = list(words.list_members(only.start, depth - 1))
        lists = _find_lists(words, inner, prefix=f"{prefix}{only.key}.", depth=depth - 1)[0]
    return lists, is_by_id


def _number(words: JsonWords, place: int) -> Iterator[_Entry]:
    """The values of the list at that place, numbered."""
    for n, (value, _end) in enumerate(words.list_values(place), start=1):
        yield n, None, value


def _list_lines(words: JsonWords, place: int) -> Iterator[_Entry]:
    """The values one after another, each with the number of its line."""
    n = 1 + words.words.count("\n", 0, place)
    while place < len(words.words):
        value, end = words.read_value(place)
        yield n, None, value
        start, place = place, words.skip_blanks(end)
        n += words.words.count("\n", start, place)


def _list_by_id(words: JsonWords, members: Sequence[JsonMember]) -> Iterator[_Entry]:
    for n, member in enumerate(members, start=1):
        yield n, member.key, words.read_value(member.start)[0]


def _make_table(name: str, entries: Iterator[_Entry], kind: TableKind) -> IncomingTable:
    """The table of the rows. Raises UnreadableFile, for too many of them too."""
    columns: dict[str, None] = {}
    rows: list[tuple[int, dict[str, str]]] = []
    keys: list[str | None] = []
    for n, key, entry in entries:
        if not isinstance(entry, Pairs):
            raise UnreadableFile(_("Row %(n)d is not an object with named values.") % {"n": n})
        cells = dict(_spell_members(n, "", entry, kind, LEVELS))
        columns |= dict.fromkeys(cells)
        rows.append((n, cells))
        keys.append(key)
        check_width(len(columns), kind)
        check_length(len(rows), kind)
    has_keys = any(key is not None for key in keys)
    damaged: list[tuple[int, int]] = []
    spelled = []
    for (n, cells), key in zip(rows, keys, strict=True):
        line = [*([key or ""] if has_keys else []), *(cells.get(column, "") for column in columns)]
        spelled.append((n, tuple(mend_cells(n, line, damaged=damaged))))
    names = [*([_ID if _ID not in columns else "key"] if has_keys else []), *columns]
    header = make_unique(mend_cells(0, names, damaged=[]))
    return IncomingTable(name, header, tuple(spelled), damaged=tuple(damaged))


def _spell_members(n: int, prefix: str, pairs: Pairs, kind: TableKind, levels: int) -> Iterator[tuple[str, str]]:
    """The values of an object as cells by their columns; those of objects within it too, so many levels deep."""
    seen: set[str] = set()
    for key, value in pairs:
        if key in seen:
            raise UnreadableFile(_("Row %(n)d says “%(name)s” twice.") % {"n": n, "name": f"{prefix}{key}"[:80]})
        seen.add(key)
        if isinstance(value, Pairs) and levels:
            yield from _spell_members(n, f"{prefix}{key}.", value, kind, levels - 1)
        else:
            yield f"{prefix}{key}", _spell(value, keeps_lists=kind.keeps_lists)


def _spell(value: Any, *, keeps_lists: bool) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    is_plain_list = isinstance(value, list) and not isinstance(value, Pairs)
    if is_plain_list and not keeps_lists and not any(isinstance(part, list) for part in value):
        return "; ".join(_spell(part, keeps_lists=False) for part in value)
    with suppress(RecursionError):  # read with the last of the stack
        return json.dumps(as_plain(value), ensure_ascii=False)
    raise InvalidValue(_("is nested too deeply"))


def as_plain(value: Any) -> Any:
    """The value with objects as dictionaries again."""
    if isinstance(value, Pairs):
        return {key: as_plain(part) for key, part in value}
    return [as_plain(part) for part in value] if isinstance(value, list) else value


class JsonLinesFormat(FileFormat):
    name = "json-lines"
    suffixes = (".jsonl", ".json")
    read = staticmethod(read_json_lines)
    read_as = staticmethod(read_json_lines)
