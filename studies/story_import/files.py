"""What somebody drops or pastes, as one table: a header and rows of words, whatever the kind of file."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Self

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies.documents import reader
from studies.documents.errors import InvalidValue
from studies.documents.stories import MOST_ROWS
from studies.story_import.archives import check_sizes, open_archive, read_entries, size_unpacked
from studies.story_import.delimiters import find_delimiter, is_table, split_hint
from studies.story_import.errors import UnreadableFile
from studies.story_import.word_files import read_word_file
from studies.story_import.workbooks import MOST_COLUMNS, read_workbook

LARGEST = reader.LARGEST_FILE
_HALF_A_SIGN = re.compile("[\ud800-\udfff]")  # of a pair that JSON spells; no database keeps one alone
LONGEST_COLUMN = 500  # letters of the name of a column; questionnaires put the whole question there
KINDS = (".csv", ".tsv", ".xlsx", ".jsonl", ".json", ".zip", ".txt", ".md", ".docx")
_OLE, _ZIP = b"\xd0\xcf\x11\xe0", b"PK\x03\x04"
TEXTS = (".txt", ".md", ".docx")
DOCUMENTS = (*TEXTS, ".doc", ".docm", ".odt", ".rtf")
# What a file of texts says of each text.
TEXT_COLUMNS = ("folder", "file", "text")


@dataclass(frozen=True)
class StoryTable:
    """A file as rows of words.

    rows : the number of each row as a spreadsheet counts it, and a cell for every column
    formulas : places (row number, column) whose cell is a formula
    encoding : how the bytes were read; "cp1252" if they were no UTF-8
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    formulas: tuple[tuple[int, int], ...] = ()
    encoding: str = "utf-8"

    def as_text(self) -> str:
        """All but its name, as it is kept until somebody confirms it."""
        return json.dumps([self.columns, self.rows, self.formulas, self.encoding])

    @classmethod
    def from_text(cls, name: str, text: str) -> Self:
        """The table as it was kept."""
        columns, rows, formulas, encoding = json.loads(text)
        cells_by_row = tuple((n, tuple(cells)) for n, cells in rows)
        return cls(name, tuple(columns), cells_by_row, tuple((n, at) for n, at in formulas), encoding)


@dataclass(frozen=True)
class TableKind:
    """What kind of table is asked for.

    kinds : suffixes of the files that may hold it
    keeps_lists : whether a list in JSON may stand in a cell, as JSON
    no_rows : what to say of a header with nothing below it
    """

    kinds: tuple[str, ...]
    most_rows: int
    most_columns: int
    no_rows: Promise
    keeps_lists: bool = False


STORIES = TableKind(
    KINDS, MOST_ROWS, MOST_COLUMNS, gettext_lazy("There is a header and no row below it. Add a row for each story.")
)


@dataclass
class _Decoded:
    """Whether any of the bytes that were turned to words were no UTF-8, and how much documents unpacked to."""

    encodings: set[str] = field(default_factory=set)
    n_unpacked: int = 0

    def decode(self, content: bytes, name: str) -> str:
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            words = _try_decode(content, "utf-16")
        elif (words := _try_decode(content, "utf-8-sig")) is None and b"\0" not in content:
            words = _try_decode(content, "cp1252")
            self.encodings.add("cp1252")
        if words is None or _is_binary(words):
            raise _not_text(name)
        return words

    @property
    def encoding(self) -> str:
        return next(iter(self.encodings), "utf-8")


def _not_text(name: str) -> UnreadableFile:
    reason = _("“%(file)s” is not text.") % {"file": name}
    return UnreadableFile(f"{reason} {_way_out(PurePosixPath(name).suffix.lower(), STORIES)}")


def _way_out(suffix: str, kind: TableKind) -> str:
    """As what to save the file: a document where one may hold what is asked for, a table as a table."""
    if suffix in DOCUMENTS and ".docx" in kind.kinds:
        return _("Save it as .docx or as plain text.")
    return _("Save it as .xlsx or as CSV.")


def _try_decode(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return None


def _is_binary(words: str) -> bool:
    return len(re.findall(r"[\x00-\x08\x0e-\x1f]", words[:100_000])) > len(words[:100_000]) / 100


def read_file(name: str, content: bytes, kind: TableKind = STORIES) -> StoryTable:
    """The table in a file. Raises UnreadableFile with a sentence and a way out."""
    name = PurePosixPath(name.replace("\\", "/")).name[-200:] or "file"
    suffix = PurePosixPath(name).suffix.lower()
    if len(content) > LARGEST:
        raise UnreadableFile(_("The file is larger than 50 MB. Split it, or leave out what is no story."))
    if not content.strip():
        raise UnreadableFile(_("The file is empty."))
    if suffix in (".xlsm", ".docm", ".xlsb"):
        raise UnreadableFile(_("The file has macros, which Quire does not open.") + f" {_way_out(suffix, kind)}")
    if content.startswith(_OLE):
        reason = _("This is a document of an old kind, or locked by a password.")
        raise UnreadableFile(f"{reason} {_way_out(suffix, kind)}")
    if suffix not in kind.kinds:
        message = _("Quire reads %(kinds)s. Save the file as one of these.")
        raise UnreadableFile(message % {"kinds": ", ".join(kind.kinds)})
    if content.startswith(_ZIP) and suffix not in (".zip", ".xlsx", ".docx"):
        raise _not_text(name)
    return _checked(_READERS[suffix](name, content, kind), kind)


def read_pasted(words: str) -> StoryTable:
    """What was pasted: a table with a header if its first line is one, else one text. Raises UnreadableFile."""
    if not words.strip():
        raise UnreadableFile(_("Nothing was pasted."))
    alike = words.replace("\r\n", "\n").replace("\r", "\n")
    first = alike.strip("\n").split("\n", 1)[0]
    if alike.lstrip().startswith(("{", "[")):
        return _checked(_json_lines(_("pasted"), alike.encode(), STORIES), STORIES)
    if first.count("\t") or (first.count(",") and re.search(r"(?:^|,)\s*\"?(?:text|story)\"?\s*(?:,|$)", first, re.I)):
        return _checked(_delimited(_("pasted"), alike.encode(), STORIES), STORIES)
    return _checked(StoryTable(_("pasted"), TEXT_COLUMNS, ((1, ("", "", alike)),)), STORIES)


def _checked(table: StoryTable, kind: TableKind) -> StoryTable:
    """The table without empty columns, if there is anything in it. Raises UnreadableFile."""
    if not table.rows:
        raise UnreadableFile(str(kind.no_rows))
    if len(table.rows) > kind.most_rows:
        raise UnreadableFile(_("There are more than %(n)d rows. Split the file.") % {"n": kind.most_rows})
    _check_width(len(table.columns), kind)
    return table


def _check_width(n_columns: int, kind: TableKind) -> None:
    """Raises UnreadableFile for more columns than are read."""
    if n_columns > kind.most_columns:
        message = _("There are more than %(n)d columns. Leave out those that Quire need not know.")
        raise UnreadableFile(message % {"n": kind.most_columns})


def _delimited(name: str, content: bytes, kind: TableKind) -> StoryTable:
    decoded = _Decoded()
    words = decoded.decode(content, name)
    csv.field_size_limit(LARGEST)  # the module's own limit, 128 KiB, is less than a long story
    hint, words = split_hint(words)
    delimiter = hint or find_delimiter(lambda: _lines(words))
    rows: list[tuple[int, list[str]]] = []
    try:
        for n, cells in enumerate(csv.reader(_lines(words), delimiter=delimiter, strict=True), 1):
            if any(cell.strip() for cell in cells):
                rows.append((n, cells))
            if len(rows) > kind.most_rows + 1:
                break
    except csv.Error:
        n = rows[-1][0] + 1 if rows else 1
        message = _("Row %(n)d cannot be read: a quotation mark is open or stands inside a cell. Save the file anew.")
        raise UnreadableFile(message % {"n": n}) from None
    return _table(name, rows, kind, encoding=decoded.encoding)


def _lines(words: str) -> Iterator[str]:
    """The lines with their ends, as csv wants them. A StringIO would hold all once more, in four bytes a letter."""
    return (line.group() for line in re.finditer(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", words))


def _table(
    name: str,
    rows: list[tuple[int, list[str]]],
    kind: TableKind,
    *,
    encoding: str = "utf-8",
    formulas: tuple[tuple[int, int], ...] = (),
) -> StoryTable:
    """The table of rows of which the first is the header."""
    if not rows:
        raise UnreadableFile(_("The file is empty."))
    header = [cell.strip() for cell in rows[0][1]]
    while header and not header[-1]:
        header.pop()
    _check_width(len(header), kind)  # first, since each row is brought to the header's width
    columns = _unique(word or _("column %(n)d") % {"n": n} for n, word in enumerate(header, start=1))
    body = []
    for n, cells in rows[1:]:
        if any(cell.strip() for cell in cells[len(columns) :]):
            message = _(
                "Row %(n)d has more cells than the header. Put a cell that holds the sign between columns, such as a "
                "comma or a semicolon, into quotation marks."
            )
            raise UnreadableFile(message % {"n": n})
        body.append((n, tuple([*cells, *[""] * len(columns)][: len(columns)])))
    return StoryTable(name, columns, tuple(body), formulas=formulas, encoding=encoding)


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    """Names of columns, each once: the second “Comments” is “Comments (2)”."""
    unique: dict[str, None] = {}
    last_number: dict[str, int] = {}
    for name in names:
        shown = name = name[:LONGEST_COLUMN]
        n = last_number.get(name, 1)
        while shown in unique:
            n += 1
            shown = f"{name} ({n})"
        last_number[name] = n
        unique[shown] = None
    return tuple(unique)


def _workbook(name: str, content: bytes, kind: TableKind) -> StoryTable:
    rows, formulas = read_workbook(content, most_rows=kind.most_rows)
    return _table(name, rows, kind, formulas=tuple(formulas))


def _json_lines(name: str, content: bytes, kind: TableKind) -> StoryTable:
    """A list of objects, or one in each line, with the names of their values as columns."""
    decoded = _Decoded()
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
    return StoryTable(name, _unique(columns), rows, encoding=decoded.encoding)


def _check_whole(n: int, key: str, cell: str) -> None:
    """Raises UnreadableFile for a cell, or its name, that no database keeps."""
    if _HALF_A_SIGN.search(key) or _HALF_A_SIGN.search(cell):
        message = _("Row %(n)d, “%(name)s” holds half a sign, as of an emoji that was cut. Take it out.")
        raise UnreadableFile(message % {"n": n, "name": _HALF_A_SIGN.sub("\ufffd", key[:80])})


def _spell(n: int, key: str, value: Any, *, keeps_lists: bool) -> str:
    if keeps_lists and isinstance(value, list) and not any(isinstance(part, reader.Pairs) for part in [value, *value]):
        with suppress(RecursionError):  # read with the last of the stack
            return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list | dict):
        message = _("Row %(n)d, “%(name)s”: a list or a table cannot stand in a cell.")
        raise UnreadableFile(message % {"n": n, "name": key[:80]})
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _archive(name: str, content: bytes, kind: TableKind) -> StoryTable:
    """A row for every text of an archive; what its system added by itself is left out."""
    decoded = _Decoded()
    rows: list[tuple[int, tuple[str, ...]]] = []
    for path, part in read_entries(open_archive(content), size=len(content), largest=reader.LARGEST_TEXT * 20):
        pure = PurePosixPath(path.replace("\\", "/"))
        if "__MACOSX" in pure.parts or pure.name.startswith(".") or pure.name in ("Thumbs.db", "desktop.ini"):
            continue
        if pure.suffix.lower() not in TEXTS:
            message = _("“%(file)s” in the archive is no .txt, .md or .docx. Take it out.")
            raise UnreadableFile(message % {"file": pure.name[-80:]})
        folder = pure.parent.name if len(pure.parts) > 1 else ""
        rows.append((len(rows) + 1, (folder, pure.stem[-200:], _text_of(pure.name, part, decoded))))
    if not rows:
        raise UnreadableFile(_("The archive holds no texts. Put .txt, .md or .docx files into it."))
    return StoryTable(name, TEXT_COLUMNS, tuple(rows), encoding=decoded.encoding)


def _text_of(name: str, content: bytes, decoded: _Decoded) -> str:
    if not name.lower().endswith(".docx"):
        return decoded.decode(content, name)
    try:
        decoded.n_unpacked += size_unpacked(content)
        check_sizes(decoded.n_unpacked, LARGEST)
        return read_word_file(content)
    except UnreadableFile as error:
        raise UnreadableFile(f"“{name[-80:]}”: {error}") from None


def _single(name: str, content: bytes, kind: TableKind) -> StoryTable:
    """A text; or the table that a text file holds, as Excel's “Unicode text” does."""
    decoded = _Decoded()
    is_word = name.lower().endswith(".docx")
    text = read_word_file(content) if is_word else decoded.decode(content, name)
    if not is_word and is_table(lambda: _lines(text), "\t"):
        return _delimited(name, content, kind)
    return StoryTable(name, TEXT_COLUMNS, ((1, ("", PurePosixPath(name).stem, text)),), encoding=decoded.encoding)


_READERS: dict[str, Callable[[str, bytes, TableKind], StoryTable]] = {
    ".csv": _delimited,
    ".tsv": _delimited,
    ".xlsx": _workbook,
    ".jsonl": _json_lines,
    ".json": _json_lines,
    ".zip": _archive,
    **dict.fromkeys(TEXTS, _single),
}
