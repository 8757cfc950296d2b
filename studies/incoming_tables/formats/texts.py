"""Texts as a table with a row for each: one file, or an archive of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePosixPath

from django.utils.translation import gettext as _

from studies.documents.reader import LARGEST_FILE, LARGEST_TEXT
from studies.incoming_tables.encodings import DecodedWords
from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.formats.archives import check_sizes, open_archive, read_entries, size_unpacked
from studies.incoming_tables.formats.base import FileFormat
from studies.incoming_tables.formats.delimited import read_delimited, split_lines
from studies.incoming_tables.formats.delimiters import is_table
from studies.incoming_tables.formats.json_lines import read_json_lines
from studies.incoming_tables.formats.text_tables import join_texts
from studies.incoming_tables.formats.word_files import read_word_file
from studies.incoming_tables.formats.workbooks import read_workbook
from studies.incoming_tables.readings import GUESSED, FileReading, ReadingChoices
from studies.incoming_tables.tables import TABLES, TEXT_COLUMNS, TEXTS, IncomingTable, TableKind


def read_archive(name: str, content: bytes, kind: TableKind, choices: ReadingChoices = GUESSED) -> IncomingTable:
    """A row for every text of an archive, with what a table beside them says of it; without texts, that table."""
    decoded = DecodedWords(choices.encoding)
    rows: list[tuple[int, tuple[str, ...]]] = []
    paths: list[PurePosixPath] = []
    table: tuple[str, bytes] | None = None
    for path, part in read_entries(open_archive(content), size=len(content), largest=LARGEST_TEXT * 20):
        pure = PurePosixPath(path.replace("\\", "/"))
        if "__MACOSX" in pure.parts or pure.name.startswith(".") or pure.name in ("Thumbs.db", "desktop.ini"):
            continue
        if pure.suffix.lower() in TABLES:
            if table:
                message = _("The archive holds several tables, “%(file)s” and “%(other)s”. Leave one beside the texts.")
                raise UnreadableFile(message % {"file": table[0][-80:], "other": pure.name[-80:]})
            table = pure.name, part
            continue
        if pure.suffix.lower() not in TEXTS:
            message = _("“%(file)s” in the archive is not a .txt, .md or .docx file. Remove it.")
            raise UnreadableFile(message % {"file": pure.name[-80:]})
        folder = pure.parent.name if len(pure.parts) > 1 else ""
        rows.append((len(rows) + 1, (folder, pure.stem[-200:], _text_of(pure.name, part, decoded))))
        paths.append(pure)
    texts = IncomingTable(name, TEXT_COLUMNS, tuple(rows), encoding=decoded.doubtful_encoding)
    if table:
        of_texts = read_table(*table, kind, choices)
        return join_texts(texts, paths, of_texts) if rows else replace(of_texts, name=name)
    if not rows:
        raise UnreadableFile(_("The archive holds no texts. Put .txt, .md or .docx files into it."))
    resolved = ReadingChoices(encoding=decoded.encoding)
    unsure = ("encoding",) if decoded.guessed else ()
    return replace(texts, reading=FileReading(resolved, choices, unsure=unsure))


def read_table(name: str, content: bytes, kind: TableKind, choices: ReadingChoices) -> IncomingTable:
    """The table in a file of an archive. Raises UnreadableFile, which names it."""
    read = next(read for suffixes, read in _READ_BY_SUFFIX if name.lower().endswith(suffixes))
    try:
        return read(name, content, kind, choices)
    except UnreadableFile as error:
        raise UnreadableFile(f"“{name[-80:]}”: {error}") from None


_READ_BY_SUFFIX: tuple[tuple[tuple[str, ...], Callable[..., IncomingTable]], ...] = (
    ((".csv", ".tsv"), read_delimited),
    ((".xlsx",), read_workbook),
    ((".json", ".jsonl"), read_json_lines),
)


def _text_of(name: str, content: bytes, decoded: DecodedWords) -> str:
    if not name.lower().endswith(".docx"):
        return decoded.decode(content, name)
    try:
        decoded.n_unpacked += size_unpacked(content)
        check_sizes(decoded.n_unpacked, LARGEST_FILE)
        return read_word_file(content)
    except UnreadableFile as error:
        raise UnreadableFile(f"“{name[-80:]}”: {error}") from None


def read_single(name: str, content: bytes, kind: TableKind, choices: ReadingChoices = GUESSED) -> IncomingTable:
    """A text; or the table that a text file holds, as Excel's “Unicode text” does."""
    decoded = DecodedWords(choices.encoding)
    is_word = name.lower().endswith(".docx")
    text = read_word_file(content) if is_word else decoded.decode(content, name)
    if not is_word and is_table(lambda: split_lines(text), "\t"):
        return read_delimited(name, content, kind, choices)
    row = (1, ("", PurePosixPath(name).stem, text))
    table = IncomingTable(name, TEXT_COLUMNS, (row,), encoding=decoded.doubtful_encoding)
    if is_word:
        return table
    unsure = ("encoding",) if decoded.guessed else ()
    return replace(table, reading=FileReading(ReadingChoices(encoding=decoded.encoding), choices, unsure=unsure))


class ArchiveFormat(FileFormat):
    name = "archive"
    suffixes = (".zip",)
    read = staticmethod(read_archive)
    read_as = staticmethod(read_archive)


class TextFormat(FileFormat):
    name = "text"
    suffixes = TEXTS
    read = staticmethod(read_single)
    read_as = staticmethod(read_single)
