"""The stories of a study as a file gives them: CSV, JSON or JSON lines, read strictly and without the database.

A row names a story and a group. A story may stand in several groups: its row is repeated with the other group, and
what was said before may be left out. Columns that are not ours are factors, by which reports can group.
"""

import csv
import io
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studies.documents import reader
from studies.documents.errors import DocumentError, InvalidValue
from studies.documents.names import FACTOR
from studies.documents.reader import FieldReader, Pairs
from studies.vocabulary import SourceKind

NAMES = ("stories.csv", "stories.json", "stories.jsonl")
MOST_ROWS = 20_000
MOST_IN_GROUP = 26  # A to Z

_READERS: dict[str, FieldReader] = {
    "story": reader.code,
    "group": reader.code,
    "text": reader.text,
    "text_file": reader.line(300),
    "source": reader.line(200),
    "source_kind": reader.one_of(*SourceKind.values),
    "premise": reader.text,
    "title": reader.line(300),
    "url": reader.url,
    "licence": reader.line(200),
    "may_redistribute": reader.boolean,
    "may_send_out": reader.boolean,
}
COLUMNS = tuple(_READERS)
_OF_GROUP = ("group", "premise")
_TRUTHS = {"yes": True, "true": True, "no": False, "false": False}


@dataclass(frozen=True)
class StoryDocument:
    """One story with what is known about where it comes from."""

    key: str
    text: str
    source: str
    source_kind: str
    title: str = ""
    url: str = ""
    licence: str = ""
    may_redistribute: bool = False
    may_send_out: bool = False
    factors: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class GroupDocument:
    """Stories that are read together, by key, as listed."""

    key: str
    premise: str
    stories: tuple[str, ...]


@dataclass(frozen=True)
class Collection:
    """All stories and groups of a file, in the order of their first rows."""

    path: Path
    stories: tuple[StoryDocument, ...]
    groups: tuple[GroupDocument, ...]


@dataclass
class _Facts:
    """What the rows so far say about one story or group, and in which row each field was first said."""

    first: int
    values: dict[str, Any] = field(default_factory=dict)
    row_by_field: dict[str, int] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)  # of a story: row by group; of a group: row by story


def list_story_files(folder: Path) -> list[str]:
    """Which files of stories a study's folder holds, by name."""
    return [name for name in NAMES if (folder / name).exists() or (folder / name).is_symlink()]


def find_story_file(folder: Path) -> Path:
    """The one file of stories in a study's folder. Raises InvalidValue if there is none, or more than one."""
    names = list_story_files(folder)
    if not names:
        raise InvalidValue(f"there is no file of stories in its folder; add one of {', '.join(NAMES)}")
    if len(names) > 1:
        raise InvalidValue(f"there are {' and '.join(names)} in its folder; keep one")
    return reader.find_file(folder, names[0])


def read_stories(path: Path) -> Collection:
    """The stories and groups of a file. Raises DocumentError with row and field at the first fault."""
    return collect_stories(path, _rows(path))


def collect_stories(
    path: Path, rows: Iterable[tuple[int, Mapping[str, Any]]], *, typed: Container[str] = ()
) -> Collection:
    """The stories and groups of numbered rows of a file, without empty fields. Raises DocumentError as read_stories.

    typed : the fields that `read_field` has read already, and are not read once more
    """
    stories: dict[str, _Facts] = {}
    groups: dict[str, _Facts] = {}
    for n, row in rows:
        try:
            _add_row(n, _parse_row(row, folder=path.parent, typed=typed), stories=stories, groups=groups)
        except _FieldError as fault:
            raise DocumentError(path, f"row {n}, {fault.field}", fault.reason) from None
    if not stories:
        raise DocumentError(path, "stories", "there are none; add a row for each story")
    return Collection(
        path=path,
        stories=tuple(_story(path, key, facts) for key, facts in stories.items()),
        groups=tuple(_group(path, key, facts) for key, facts in groups.items()),
    )


def read_field(name: str, value: Any) -> Any:
    """One of our fields of a row, typed. Raises InvalidValue."""
    return _READERS[name](value)


def read_factor(name: str, value: Any) -> Any:
    """A factor of that name, typed. Raises InvalidValue for a name that none can have, too."""
    _factor(name)
    return _scalar(value)


class _FieldError(Exception):
    """A fault in one field of the row at hand."""

    def __init__(self, field: str, reason: str) -> None:
        self.field, self.reason = field, reason


def _parse_row(row: Mapping[str, Any], *, folder: Path, typed: Container[str]) -> dict[str, Any]:
    """What a row gives, typed; text files read; factors under their own key. Empty fields are not given."""
    cells: dict[str, Any] = {}
    factors: dict[str, Any] = {}
    for name, value in row.items():
        try:
            if name in typed:
                cells[name] = value
            elif name in _READERS:
                cells[name] = _READERS[name](value)
            else:
                factors[_factor(name)] = _scalar(value)
        except InvalidValue as error:
            raise _FieldError(name, str(error)) from None
    if "text_file" in cells:
        cells["text"] = _from_file(cells.pop("text_file"), folder=folder, has_text="text" in cells)
    return cells | ({"factors": factors} if factors else {})


def _from_file(name: str, *, folder: Path, has_text: bool) -> str:
    try:
        if has_text:
            raise InvalidValue("text is given as well; keep one of the two")
        return str(reader.text(reader.read_text(reader.find_file(folder, name), largest=reader.LARGEST_TEXT)))
    except InvalidValue as error:
        raise _FieldError("text_file", str(error)) from None


def find_column_alike(name: str) -> str:
    """The column of ours that a factor of that name would be taken for; "" if none."""
    alike = re.sub(r"[ -]+", "_", name.strip().lower())
    return alike if alike in _READERS else ""


def _factor(name: str) -> str:
    """The name of a factor. One that is ours but for its spelling is a slip, and would lose its meaning silently."""
    if alike := find_column_alike(name):
        raise InvalidValue(f"would become a factor; the column is called “{alike}”")
    if len(name) > 80:
        raise InvalidValue("has more than 80 characters; shorten the name of the factor")
    FACTOR.check(name)
    return name


def _scalar(value: Any) -> Any:
    if isinstance(value, str):
        return reader.line(200)(value)
    if isinstance(value, bool | int | float):
        return value
    raise InvalidValue(f"a factor must be text, a number, true or false, not {reader.name_kind(value)}")


def _add_row(n: int, cells: dict[str, Any], *, stories: dict[str, _Facts], groups: dict[str, _Facts]) -> None:
    """Add a row to what is known. A story or group that was there before may not be said otherwise."""
    if "group" not in cells:
        raise _FieldError("group", "is missing; every story is read in a group")
    if "story" not in cells:
        raise _FieldError("story", f"is missing; without one, group “{cells['group']}” has no story here")
    story = stories.setdefault(cells["story"], _Facts(first=n))
    if earlier := story.rows.get(cells["group"]):
        reason = f"“{cells['story']}” stands in group “{cells['group']}” already, in row {earlier}"
        raise _FieldError("story", f"{reason}; give every story a key of its own")
    group = groups.setdefault(cells["group"], _Facts(first=n))
    story.rows[cells["group"]] = group.rows[cells["story"]] = n
    for name, value in cells.items():
        if name not in ("story", "group"):
            _add_value(n, name, value, group if name in _OF_GROUP else story, cells)


def _add_value(n: int, name: str, value: Any, facts: _Facts, cells: dict[str, Any]) -> None:
    if name not in facts.values:
        facts.values[name], facts.row_by_field[name] = value, n
    elif facts.values[name] != value:
        owner = f"group “{cells['group']}”" if name in _OF_GROUP else f"story “{cells['story']}”"
        way_out = "make the two the same, or leave this one out"
        raise _FieldError(name, f"{owner} has another {name} in row {facts.row_by_field[name]}; {way_out}")


def _story(path: Path, key: str, facts: _Facts) -> StoryDocument:
    values = facts.values
    if not values.get("text", "").strip():
        raise DocumentError(path, f"row {facts.first}, text", f"story “{key}” has no text; give text or text_file")
    for name in ("source", "source_kind"):
        if name not in values:
            raise DocumentError(path, f"row {facts.first}, {name}", f"is missing for story “{key}”")
    return StoryDocument(key=key, **values)


def _group(path: Path, key: str, facts: _Facts) -> GroupDocument:
    members = sorted((n, name) for name, n in facts.rows.items())
    if len(members) > MOST_IN_GROUP:
        location = f"row {members[MOST_IN_GROUP][0]}, group"
        raise DocumentError(
            path, location, f"group “{key}” has more than {MOST_IN_GROUP} stories, and raters know them by letters"
        )
    return GroupDocument(key=key, premise=facts.values.get("premise", ""), stories=tuple(name for _, name in members))


def _rows(path: Path) -> Iterable[tuple[int, dict[str, Any]]]:
    """Each row with its number, without what is empty. In a CSV the header is row 1, in JSON the first story is."""
    read_rows = {".csv": _csv_rows, ".json": _json_rows, ".jsonl": _jsonl_rows}.get(path.suffix)
    if read_rows is None:
        raise DocumentError(path, "name", f"is not one of {', '.join(NAMES)}")
    try:
        content = reader.read_text(path, largest=reader.LARGEST_FILE)
    except InvalidValue as error:
        raise DocumentError(path, "file", str(error)) from None
    for count, (n, row) in enumerate(read_rows(path, content), start=1):
        if count > MOST_ROWS:
            raise DocumentError(path, f"row {n}", f"there are more than {MOST_ROWS:,} rows; split the study")
        yield n, {name: value for name, value in row.items() if value not in ("", None)}


def _csv_rows(path: Path, text: str) -> Iterable[tuple[int, dict[str, Any]]]:
    # The module's own limit, 128 KiB, is less than a long story.
    csv.field_size_limit(reader.LARGEST_FILE)
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    n = 1
    try:
        header = [name.strip() for name in next(lines)]
        _check_header(path, header)
        for n, cells in enumerate(lines, start=2):
            if not any(cell.strip() for cell in cells):
                continue  # spreadsheets leave such rows at the end
            if len(cells) != len(header):
                reason = f"has {len(cells)} cells under {len(header)} columns"
                raise DocumentError(path, f"row {n}", f"{reason}; put a cell that holds a comma into quotes")
            yield n, {name: _cell(name, cell) for name, cell in zip(header, cells, strict=True) if cell.strip()}
    except csv.Error as error:
        raise DocumentError(path, f"row {n + 1}", f"is not CSV: {error}") from None


def _check_header(path: Path, header: list[str]) -> None:
    for column, name in enumerate(header, start=1):
        if not name:
            raise DocumentError(path, f"row 1, column {column}", "has no name")
        if name in header[: column - 1]:
            raise DocumentError(path, f"row 1, {name}", "stands twice; each column has its own name")
    for name in ("story", "group"):
        if name not in header:
            hint = "; the file seems to use semicolons, save it with commas" if ";" in header[0] else ""
            raise DocumentError(path, f"row 1, {name}", f"this column is missing{hint}")


def _cell(name: str, cell: str) -> Any:
    """A cell as JSON would have it: yes and no become true and false where the column asks for that."""
    if name in ("may_redistribute", "may_send_out"):
        return _TRUTHS.get(cell.strip().lower(), cell)
    return cell


def _json_rows(path: Path, text: str) -> Iterable[tuple[int, dict[str, Any]]]:
    try:
        data = reader.parse_json(text)
    except InvalidValue as error:
        raise DocumentError(path, "file", str(error)) from None
    if isinstance(data, Pairs) or not isinstance(data, list):
        raise DocumentError(path, "file", "must hold a list of stories: [{…}, {…}]")
    for n, entry in enumerate(data, start=1):
        yield n, _object(path, n, entry)


def _jsonl_rows(path: Path, text: str) -> Iterable[tuple[int, dict[str, Any]]]:
    for n, entry in enumerate(text.split("\n"), start=1):
        if entry.strip():
            try:
                yield n, _object(path, n, reader.parse_json(entry))
            except InvalidValue as error:
                raise DocumentError(path, f"row {n}", str(error)) from None


def _object(path: Path, n: int, pairs: Any) -> dict[str, Any]:
    if not isinstance(pairs, Pairs):
        raise DocumentError(path, f"row {n}", f"must be an object, {{…}}, not {reader.name_kind(pairs)}")
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            raise DocumentError(path, f"row {n}, {name}", "stands twice; a key can be given once")
        values[name] = value
    return values
