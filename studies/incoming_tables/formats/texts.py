"""Texts as a table with a row for each: one file, or an archive of them."""

from __future__ import annotations

from pathlib import PurePosixPath

from django.utils.translation import gettext as _

from studies.documents.reader import LARGEST_FILE, LARGEST_TEXT
from studies.incoming_tables.encodings import DecodedWords
from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.formats.archives import check_sizes, open_archive, read_entries, size_unpacked
from studies.incoming_tables.formats.base import FileFormat
from studies.incoming_tables.formats.delimited import read_delimited, split_lines
from studies.incoming_tables.formats.delimiters import is_table
from studies.incoming_tables.formats.word_files import read_word_file
from studies.incoming_tables.tables import TEXT_COLUMNS, TEXTS, IncomingTable, TableKind


def read_archive(name: str, content: bytes, kind: TableKind) -> IncomingTable:
    """A row for every text of an archive; what its system added is left out."""
    decoded = DecodedWords()
    rows: list[tuple[int, tuple[str, ...]]] = []
    for path, part in read_entries(open_archive(content), size=len(content), largest=LARGEST_TEXT * 20):
        pure = PurePosixPath(path.replace("\\", "/"))
        if "__MACOSX" in pure.parts or pure.name.startswith(".") or pure.name in ("Thumbs.db", "desktop.ini"):
            continue
        if pure.suffix.lower() not in TEXTS:
            message = _("“%(file)s” in the archive is not a .txt, .md or .docx file. Remove it.")
            raise UnreadableFile(message % {"file": pure.name[-80:]})
        folder = pure.parent.name if len(pure.parts) > 1 else ""
        rows.append((len(rows) + 1, (folder, pure.stem[-200:], _text_of(pure.name, part, decoded))))
    if not rows:
        raise UnreadableFile(_("The archive holds no texts. Put .txt, .md or .docx files into it."))
    return IncomingTable(name, TEXT_COLUMNS, tuple(rows), encoding=decoded.doubtful_encoding)


def _text_of(name: str, content: bytes, decoded: DecodedWords) -> str:
    if not name.lower().endswith(".docx"):
        return decoded.decode(content, name)
    try:
        decoded.n_unpacked += size_unpacked(content)
        check_sizes(decoded.n_unpacked, LARGEST_FILE)
        return read_word_file(content)
    except UnreadableFile as error:
        raise UnreadableFile(f"“{name[-80:]}”: {error}") from None


def read_single(name: str, content: bytes, kind: TableKind) -> IncomingTable:
    """A text; or the table that a text file holds, as Excel's “Unicode text” does."""
    decoded = DecodedWords()
    is_word = name.lower().endswith(".docx")
    text = read_word_file(content) if is_word else decoded.decode(content, name)
    if not is_word and is_table(lambda: split_lines(text), "\t"):
        return read_delimited(name, content, kind)
    return IncomingTable(
        name, TEXT_COLUMNS, ((1, ("", PurePosixPath(name).stem, text)),), encoding=decoded.doubtful_encoding
    )


class ArchiveFormat(FileFormat):
    name = "archive"
    suffixes = (".zip",)
    read = staticmethod(read_archive)


class TextFormat(FileFormat):
    name = "text"
    suffixes = TEXTS
    read = staticmethod(read_single)
