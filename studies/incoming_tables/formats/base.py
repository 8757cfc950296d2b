"""What every format of file says of itself, so that a new one is one file: another tool's own form, too."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from studies.incoming_tables.readings import ReadingChoices
from studies.incoming_tables.tables import IncomingTable, TableKind


class FileFormat(ABC):
    """How files are read as a table.

    suffixes : by which the names of its files end
    is_of_one_tool : whether only those files of these suffixes are read by it that `recognises` takes for the tool's.
        Columns that it names as the roles are named (`names` of a Role) need not be mapped by anybody
    """

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    is_of_one_tool: ClassVar[bool] = False

    @staticmethod
    def recognises(content: bytes) -> bool:
        """Whether the tool wrote the file. The content may be anything."""
        return False

    @staticmethod
    @abstractmethod
    def read(name: str, content: bytes, kind: TableKind) -> IncomingTable:
        """The table in the file. Raises UnreadableFile with a sentence and a way out."""

    @classmethod
    def read_as(cls, name: str, content: bytes, kind: TableKind, choices: ReadingChoices) -> IncomingTable:
        """The table, read as somebody chose. A format in which there is nothing to choose leaves this alone."""
        return cls.read(name, content, kind)
