"""What can be wrong with a document, and how a message quotes it."""

from pathlib import Path
from typing import Any


class DocumentError(ValueError):
    """A document cannot be used as it is; one line says in which file, at which field, why, and what would do."""

    def __init__(self, path: Path | str, location: str, reason: str) -> None:
        super().__init__(f"{Path(path).name}: {location}: {reason}".replace("\n", " "))
        self.path = path
        self.location = location
        self.reason = reason


class InvalidValue(ValueError):
    """A value cannot stand in its field; the message says why and what would do."""


def quote(value: Any) -> str:
    """The value in quotes, on one line, short."""
    words = " ".join(str(value).split())
    return f"“{words[:59]}…”" if len(words) > 60 else f"“{words}”"
