"""How a file is read as a table: what somebody chose, what was guessed for the rest, and what else could be chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, Self, TypeAlias

# How a cell in quotation marks holds one itself; or that the file has none, so that the marks are letters.
Quoting: TypeAlias = Literal["", "doubled", "backslash", "none"]


@dataclass(frozen=True)
class ReadingChoices:
    """How a file is to be read. What is "" or None is guessed.

    header_row : as a spreadsheet counts rows; 0 if the table has no header
    sheet : the name of a workbook's sheet, or the key of a list in JSON
    """

    encoding: str = ""
    delimiter: str = ""
    quoting: Quoting = ""
    header_row: int | None = None
    sheet: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """The choices as they were kept; what is not there any more is left out."""
        return cls(**{field.name: values[field.name] for field in fields(cls) if field.name in values})

    def changed_by(self, resolved: ReadingChoices, posted: ReadingChoices) -> ReadingChoices:
        """What is chosen once somebody has changed what the page showed. The rest is guessed anew if it was guessed.

        resolved : as the page showed it
        """
        changes = {
            field.name: getattr(posted, field.name)
            for field in fields(ReadingChoices)
            if getattr(posted, field.name) != getattr(resolved, field.name)
        }
        if "sheet" in changes:
            changes.setdefault("header_row", None)  # of another sheet
        return replace(self, **changes)


GUESSED = ReadingChoices()


@dataclass(frozen=True)
class FileReading:
    """How a file was read.

    choices : as it was read, with guesses filled in; what its format does not have is "" or None
    chosen : by a person
    sheets : that could be read
    unsure : names of the choices that were guessed with little to go by
    """

    choices: ReadingChoices = GUESSED
    chosen: ReadingChoices = GUESSED
    sheets: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """The reading as it was kept."""
        if not values:
            return cls()
        return cls(
            ReadingChoices.from_json(values["choices"]),
            ReadingChoices.from_json(values["chosen"]),
            tuple(values["sheets"]),
            tuple(values["unsure"]),
        )


AS_GUESSED = FileReading()
