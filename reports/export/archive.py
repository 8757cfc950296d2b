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
AT_ONCE_BYTES = 1 << 16  # lines are short, and to compress each alone takes longer


@dataclass(frozen=True)
class WrittenFile:
    """A file of the zip. n_rows : of a table, without its head; None of any other file"""

    name: str
    n_bytes: int
    sha256: str
    n_rows: int | None = None


def _pass_on(gathered: bytearray, stream: IO[bytes], digest: hashlib._Hash) -> int:
    """Write what was gathered, and empty it; how many bytes it was."""
    stream.write(gathered)
    digest.update(gathered)
    n_bytes = len(gathered)
    gathered.clear()
    return n_bytes


class Archive:
    """Writes files into a zip one after another, each in pieces, and keeps their sums. Close it with `close`."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._zip = ZipFile(stream, "w", ZIP_DEFLATED)
        self.files: list[WrittenFile] = []

    def write(self, name: str, pieces: Iterable[str], *, is_table: bool = False) -> WrittenFile:
        """One more file. is_table : whether each piece is a row, the first the head"""
        info = ZipInfo(name, date_time=FIXED_TIME)
        info.compress_type, info.external_attr, info.create_system = ZIP_DEFLATED, PLAIN_FILE, UNIX
        digest, n_bytes, n_pieces, gathered = hashlib.sha256(), 0, 0, bytearray()
        # A table of unknown length may pass the size up to which a zip's old form goes.
        with self._zip.open(info, "w", force_zip64=True) as stream:
            for piece in pieces:
                gathered += piece.encode()
                n_pieces += 1
                if len(gathered) >= AT_ONCE_BYTES:
                    n_bytes += _pass_on(gathered, stream, digest)
            n_bytes += _pass_on(gathered, stream, digest)
        written = WrittenFile(name, n_bytes, digest.hexdigest(), max(n_pieces - 1, 0) if is_table else None)
        self.files.append(written)
        return written

    def close(self) -> None:
        """Write the sums of all files, and the end of the zip."""
        self.write("SHA256SUMS", [f"{file.sha256}  {file.name}\n" for file in self.files])
        self._zip.close()
