"""A zip that is written as it goes, and is the same to the last byte for the same files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

# Of every file, whenever it is written: the earliest time that a zip can say.
FIXED_TIME = (1980, 1, 1, 0, 0, 0)
PLAIN_FILE = 0o644 << 16
UNIX = 3


@dataclass(frozen=True)
class WrittenFile:
    """A file of the zip. n_rows : of a table, without its head; None of any other file"""

    name: str
    n_bytes: int
    sha256: str
    n_rows: int | None = None


class Archive:
    """Writes files into a zip one after another, each in pieces, and keeps their sums. Close it with `close`."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._zip = ZipFile(stream, "w", ZIP_DEFLATED)
        self.files: list[WrittenFile] = []

    def write(self, name: str, pieces: Iterable[str], *, is_table: bool = False) -> WrittenFile:
        """One more file. is_table : whether each piece is a row, the first the head"""
        info = ZipInfo(name, date_time=FIXED_TIME)
        info.compress_type, info.external_attr, info.create_system = ZIP_DEFLATED, PLAIN_FILE, UNIX
        digest, n_bytes, n_pieces = hashlib.sha256(), 0, 0
        # A table of unknown length may pass the size up to which a zip's old form goes.
        with self._zip.open(info, "w", force_zip64=True) as stream:
            for piece in pieces:
                data = piece.encode()
                stream.write(data)
                digest.update(data)
                n_bytes, n_pieces = n_bytes + len(data), n_pieces + 1
        written = WrittenFile(name, n_bytes, digest.hexdigest(), max(n_pieces - 1, 0) if is_table else None)
        self.files.append(written)
        return written

    def close(self) -> None:
        """Write the sums of all files, and the end of the zip."""
        self.write("SHA256SUMS", [f"{file.sha256}  {file.name}\n" for file in self.files])
        self._zip.close()
