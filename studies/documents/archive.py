"""A study's folder in one ZIP file, unpacked within limits: no path leads out, nothing is larger than it may be."""

import stat
import zipfile
from pathlib import Path, PurePosixPath
from typing import IO

from studies.documents.errors import DocumentError
from studies.documents.study import NAME

MOST_FILES = 5_000
LARGEST_SUM = 100_000_000  # bytes of all files together, as they are unpacked
CHUNK = 1 << 16


def unpack_study(file: IO[bytes], name: str, folder: Path) -> Path:
    """The study file in what was uploaded, a ZIP of its folder or the file alone, put into that empty folder.

    Raises DocumentError.
    """
    start = file.read(4)
    file.seek(0)
    if start != b"PK\x03\x04":
        if not name.lower().endswith(".toml"):
            reason = "is neither a ZIP file nor a study file; put the study's folder into a ZIP file"
            raise DocumentError(name, "file", reason)
        (folder / NAME).write_bytes(file.read(LARGEST_SUM))
        return folder / NAME
    try:
        with zipfile.ZipFile(file) as archive:
            _unpack(archive, name, folder)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise DocumentError(name, "file", f"cannot be unpacked: {error}") from None
    candidates = sorted([*folder.glob(NAME), *folder.glob(f"*/{NAME}")])
    if len(candidates) != 1:
        reason = f"holds {len(candidates)} files called {NAME}; it must hold one, with the stories beside it"
        raise DocumentError(name, "file", reason)
    return candidates[0]


def _unpack(archive: zipfile.ZipFile, name: str, folder: Path) -> None:
    members = [member for member in archive.infolist() if not member.is_dir()]
    if len(members) > MOST_FILES:
        raise DocumentError(name, "file", f"holds {len(members):,} files; at most {MOST_FILES:,} are allowed")
    n_left = LARGEST_SUM
    for member in members:
        path = PurePosixPath(member.filename)
        is_link = stat.S_ISLNK(member.external_attr >> 16)
        if path.is_absolute() or ".." in path.parts or "\\" in member.filename or "\x00" in member.filename or is_link:
            raise DocumentError(name, "file", f"holds a path that leads out of it: {member.filename[:80]!r}")
        target = folder.joinpath(*path.parts)
        if target.exists():
            raise DocumentError(name, "file", f"holds the file {member.filename[:80]!r} twice")
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(member) as source, target.open("wb") as copy:
            # What it says of its size need not be true.
            while block := source.read(CHUNK):
                n_left -= len(block)
                if n_left < 0:
                    raise DocumentError(name, "file", f"holds more than {LARGEST_SUM:,} bytes")
                copy.write(block)
