"""What somebody uploads or pastes, as one table, whatever the format of the file."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePosixPath

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from studies.documents.reader import LARGEST_FILE
from studies.incoming_tables.encodings import name_way_out, not_text
from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.formats import find_format
from studies.incoming_tables.formats.delimited import read_delimited
from studies.incoming_tables.formats.json_lines import read_json_lines
from studies.incoming_tables.formats.tools import tidy
from studies.incoming_tables.readings import GUESSED, FileReading, ReadingChoices
from studies.incoming_tables.tables import TEXT_COLUMNS, IncomingTable, TableKind, check_length, check_width

LARGEST = LARGEST_FILE
_OLE, _ZIP, _PARQUET = b"\xd0\xcf\x11\xe0", b"PK\x03\x04", b"PAR1"
_NO_PARQUET = gettext_noop(
    "Quire does not read Parquet. Save the table as JSON lines; in Python: "
    'pandas.read_parquet("file.parquet").to_json("file.jsonl", orient="records", lines=True).'
)


def read_file(name: str, content: bytes, kind: TableKind, choices: ReadingChoices = GUESSED) -> IncomingTable:
    """The table in a file, which it keeps with it. Raises UnreadableFile with a sentence and a way out.

    choices : how it is to be read; the rest is guessed
    """
    name = PurePosixPath(name.replace("\\", "/")).name[-200:] or "file"
    suffix = PurePosixPath(name).suffix.lower()
    way_out = name_way_out(suffix, may_be_document=".docx" in kind.kinds)
    if len(content) > LARGEST:
        raise UnreadableFile(_("The file is larger than 50 MB. Split it, or leave out everything but the stories."))
    if not content.strip():
        raise UnreadableFile(_("The file is empty."))
    if suffix in (".xlsm", ".docm", ".xlsb"):
        raise UnreadableFile(_("The file has macros, which Quire does not open.") + f" {way_out}")
    if content.startswith(_OLE):
        reason = _("This document is in an old format, or locked by a password.")
        raise UnreadableFile(f"{reason} {way_out}")
    if content.startswith(_PARQUET):
        raise UnreadableFile(_(_NO_PARQUET))
    if suffix not in kind.kinds:
        message = _("Quire reads %(kinds)s. Save the file as one of these.")
        raise UnreadableFile(message % {"kinds": ", ".join(kind.kinds)})
    if content.startswith(_ZIP) and suffix not in (".zip", ".xlsx", ".docx"):
        raise not_text(name)
    file_format = find_format(suffix, content)
    table = _checked(file_format.read_as(name, content, kind, choices), kind)
    return replace(table, content=content)


def read_pasted(words: str, kind: TableKind) -> IncomingTable:
    """What was pasted: a table with a header if its first line is one, else one text. Raises UnreadableFile."""
    if not words.strip():
        raise UnreadableFile(_("Nothing was pasted."))
    alike = words.replace("\r\n", "\n").replace("\r", "\n")
    first = alike.strip("\n").split("\n", 1)[0]
    if alike.lstrip().startswith(("{", "[")):
        return _read_as_pasted(read_json_lines(_("pasted"), alike.encode(), kind), kind)
    if first.count("\t") or (first.count(",") and re.search(r"(?:^|,)\s*\"?(?:text|story)\"?\s*(?:,|$)", first, re.I)):
        return _read_as_pasted(read_delimited(_("pasted"), alike.encode(), kind), kind)
    return _checked(IncomingTable(_("pasted"), TEXT_COLUMNS, ((1, ("", "", alike)),)), kind)


def _read_as_pasted(table: IncomingTable, kind: TableKind) -> IncomingTable:
    """The table, of which no file is kept from which it could be read otherwise."""
    return replace(_checked(table, kind), reading=FileReading())


def _checked(table: IncomingTable, kind: TableKind) -> IncomingTable:
    """The table, tidied, if it has rows, and no more rows or columns than it may. Raises UnreadableFile."""
    check_length(len(table.rows), kind)
    table = tidy(table, kind)
    if not table.rows:
        raise UnreadableFile(str(kind.no_rows))
    check_width(len(table.columns), kind)
    return table
