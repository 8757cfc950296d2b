"""Replications of published studies: one data file each, and a reader for the format of its release.

The data file says what the release's files are, what was printed, and what the data must give; the reader turns files
into a `Release`; `reports.replications.replicate` brings it in and compares. A second study is a second data file.
"""

import hashlib
import importlib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast

from django.utils.crypto import salted_hmac

from annotation.responses.imports import Row
from studies.documents.errors import DocumentError, InvalidValue
from studies.documents.instrument import InstrumentDocument
from studies.documents.reader import LARGEST_FILE, read_text

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class ReleasedStory:
    """A story of a release. Without a text it is withheld.

    code : neutral, since codes appear in blind exports
    groups : that it is read in, one but for pairs
    source : the release's own name of who wrote it
    """

    code: str
    groups: tuple[str, ...]
    source: str
    text: str = ""
    title: str = ""
    url: str = ""
    factors: Mapping[str, str] = field(default_factory=dict)

    @property
    def group(self) -> str:
        """The one group that it is in. Raises ValueError if there are several."""
        (group,) = self.groups
        return group


@dataclass(frozen=True)
class ReleasedJudge:
    """The answers of one model, from one file."""

    name: str
    sha256: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Release:
    """What a release holds, read and checked, nothing yet in the database.

    sha256_by_file : of the files that hold the instrument, the stories and the people's answers
    premise_by_group : the groups, in order
    sources : sources that the files name and the data file does not, as under its [sources]
    """

    instrument: InstrumentDocument
    premise_by_group: Mapping[str, str]
    stories: tuple[ReleasedStory, ...]
    rows: tuple[Row, ...]
    judges: tuple[ReleasedJudge, ...]
    sha256_by_file: Mapping[str, str]
    sources: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


class Reader(Protocol):
    """A module beside the data file: turns the files of a release into one. Raises DocumentError."""

    def read_release(self, folder: Path, judges: Path, spec: Mapping[str, Any]) -> Release: ...


def list_names() -> list[str]:
    """The replications that there are."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_spec(name: str) -> dict[str, Any]:
    """What the data file of that name says. Raises KeyError if there is none."""
    if name not in list_names():
        raise KeyError(name)
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def load_reader(name: str) -> Reader:
    """The reader that a data file names."""
    return cast(Reader, importlib.import_module(f"{__name__}.readers.{name}"))


def flatten(figures: Any, *, at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], float]]:
    """Each figure of a data file with its key: names of tables, and places in lists, from 1."""
    if isinstance(figures, dict):
        for name, inner in figures.items():
            yield from flatten(inner, at=(*at, name))
    elif isinstance(figures, list):
        for place, inner in enumerate(figures, start=1):
            yield from flatten(inner, at=(*at, str(place)))
    elif figures is not None:
        yield at, float(figures)


def read_file(path: Path) -> str:
    """The text of a file of a release. Raises DocumentError."""
    try:
        return read_text(path, largest=LARGEST_FILE)
    except InvalidValue as error:
        raise DocumentError(path, "file", str(error)) from None
    except OSError as error:
        raise DocumentError(path, "file", f"cannot be read: {error.strerror}") from None


def make_code(release: str, name: str) -> str:
    """A code for the story that a release calls by that name: 12 hex digits, the same at every call here.

    A keyed hash, since codes stand in blind packages and a release's names are public: whoever hashes them all without
    this installation's key gets none of its codes. Another key gives other codes, so studies that are there keep theirs
    (`replicate.load_release`).
    """
    return salted_hmac("reports.replications", f"{release} {name}", algorithm="sha256").hexdigest()[:12]


def hash_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


__all__ = [
    "DocumentError",
    "Reader",
    "Release",
    "ReleasedJudge",
    "ReleasedStory",
    "flatten",
    "hash_file",
    "list_names",
    "load_reader",
    "load_spec",
    "make_code",
    "read_file",
]
