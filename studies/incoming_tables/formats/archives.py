"""Archives that somebody hands us, read with an eye on how much comes out of them: ZIP, and what is a ZIP inside."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import PurePosixPath

from django.utils.translation import gettext as _

from studies.incoming_tables.errors import UnreadableFile

MOST_UNPACKED = 200_000_000  # bytes of all files of an archive together
MOST_TIMES = 150  # as large as packed; texts and spreadsheets stay below 30
FREE_OF_RATIO = 2_000_000  # bytes: what is smaller unpacked harms nobody, however well it was packed
MOST_FILES = 25_000
_CHUNK = 1 << 16


def open_archive(content: bytes) -> zipfile.ZipFile:
    """The archive. Raises UnreadableFile if it is none, is locked, or holds too many files."""
    try:
        archive = zipfile.ZipFile(BytesIO(content))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError):
        raise UnreadableFile(_("The archive is damaged. Make it again and upload it.")) from None
    entries = archive.infolist()
    if len(entries) > MOST_FILES:
        raise UnreadableFile(_("The archive holds more than %(n)d files. Split it.") % {"n": MOST_FILES})
    if any(entry.flag_bits & 1 for entry in entries):
        raise UnreadableFile(_("The archive is locked by a password. Make it again without one."))
    return archive


def read_entries(archive: zipfile.ZipFile, *, size: int, largest: int) -> Iterator[tuple[str, bytes]]:
    """Each file of the archive with its name, in the order of names; counted while it is unpacked.

    size : bytes of the archive itself
    largest : bytes that a single file may have
    Raises UnreadableFile as soon as it becomes too much.
    """
    n_unpacked = 0
    for entry in sorted(archive.infolist(), key=lambda entry: entry.filename):
        if entry.is_dir():
            continue
        chunks, n_bytes = [], 0
        try:
            with archive.open(entry) as file:
                while chunk := file.read(_CHUNK):
                    n_bytes += len(chunk)
                    n_unpacked += len(chunk)
                    check_sizes(n_unpacked, size)
                    if n_bytes > largest:
                        names = {"file": PurePosixPath(entry.filename).name, "n": f"{largest // 1_000_000}"}
                        raise UnreadableFile(_("“%(file)s” in the archive is larger than %(n)s MB. Remove it.") % names)
                    chunks.append(chunk)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, zlib.error, lzma.LZMAError):
            raise UnreadableFile(_("The archive is damaged. Make it again and upload it.")) from None
        yield entry.filename, b"".join(chunks)


def size_unpacked(content: bytes) -> int:
    """How much an archive says it unpacks to; no more than that is ever read of a file. Raises UnreadableFile."""
    return sum(entry.file_size for entry in open_archive(content).infolist())


def check_sizes(n_unpacked: int, size: int) -> None:
    """Raise UnreadableFile if so many bytes are too much, or too much for an archive of that size."""
    if n_unpacked > MOST_UNPACKED or (n_unpacked > FREE_OF_RATIO and n_unpacked > MOST_TIMES * size):
        message = _(
            "The file was not read, because it unpacks to far more than its size. Save it again, or upload the "
            "texts as plain .txt files or as a CSV table."
        )
        raise UnreadableFile(message)


def read_office_file(content: bytes, *, kind: str) -> dict[str, bytes]:
    """The parts of a .docx or .xlsx by name: no bomb, no macro, no entity that grows. Raises UnreadableFile."""
    parts = dict(read_entries(open_archive(content), size=len(content), largest=MOST_UNPACKED))
    if any(name.lower().endswith("vbaproject.bin") for name in parts) or _names_macros(parts):
        message = _("The file has macros, which Quire does not open. Save it as an ordinary %(kind)s file.")
        raise UnreadableFile(message % {"kind": kind})
    for name, part in parts.items():
        if name.endswith((".xml", ".rels")) and (b"\0" in part[:4] or b"<!DOCTYPE" in part or b"<!ENTITY" in part):
            raise UnreadableFile(_("The file is not an ordinary %(kind)s file. Save it again.") % {"kind": kind})
    return parts


def _names_macros(parts: dict[str, bytes]) -> bool:
    return b"macroenabled" in parts.get("[Content_Types].xml", b"").lower()
