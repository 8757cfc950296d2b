"""What every tool says of its exports, so that a new one is one file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, ClassVar

from studies.incoming_tables.tables import IncomingTable, TableKind

LEAVE_OUT = ""
FACTOR = "factor"
MAY_REPEAT = (LEAVE_OUT, FACTOR)


@dataclass(frozen=True)
class AnnotatedTask:
    """An entry of a JSON export.

    facts : by column what is said of the story; judgements : what each rater said of it
    """

    facts: Mapping[str, Any]
    judgements: Sequence[Mapping[str, Any]] = ()


class Tool(ABC):
    """A tool whose exports are known by their columns.

    title : as pages call it
    roles, story_roles : the key of an importer's role by the pattern of a column's name, where answers or scores are
        asked for, and where stories are. The first column with words in it counts; only what is left out, or a property
        of stories, may repeat
    left_out : by the pattern of a column's name the values whose rows stay out
    task_column : which column names the story of a row, where a file repeats a story for every rater
    prefixes : of columns whose further name is the one that somebody gave, as in `meta.author`
    """

    name: ClassVar[str]
    title: ClassVar[str]
    roles: ClassVar[Mapping[str, str]] = {}
    story_roles: ClassVar[Mapping[str, str]] = {}
    left_out: ClassVar[Mapping[str, Sequence[str]]] = {}
    task_column: ClassVar[str] = ""
    prefixes: ClassVar[tuple[str, ...]] = ()

    @classmethod
    @abstractmethod
    def wrote(cls, table: IncomingTable) -> bool:
        """Whether the tool wrote the table, which has rows and may be anything."""

    @classmethod
    def unpack(cls, entry: Mapping[str, Any]) -> list[AnnotatedTask] | None:
        """What an entry of a JSON file holds, under the columns of the tool's tables; None if it is not the tool's.

        entry : an object of a list or of a line, or the one object of the whole file; anything may be in it
        """
        return None

    @classmethod
    def reshape(cls, table: IncomingTable, kind: TableKind) -> IncomingTable:
        """The table without further headers and with one column a question; perhaps with hints, which stand."""
        return table

    @classmethod
    def names(cls, table: IncomingTable) -> Mapping[str, str]:
        """What columns are called, where their header is a code, a long question or has a prefix."""
        pairs = ((column, prefix) for column in table.columns for prefix in cls.prefixes if column.startswith(prefix))
        return {column: column.removeprefix(prefix) for column, prefix in pairs}

    @classmethod
    def tidy(cls, table: IncomingTable, kind: TableKind) -> IncomingTable:
        """The table as the tool means it, with hints to its importer."""
        table = cls.reshape(table, kind)
        left_out = cls._match_left_out(table)
        if kind.has_stories and cls.task_column in table.columns:
            # A story was given to its raters, whatever became of what they said.
            table, left_out = _take_once(table, cls.task_column, cls.story_roles), {}
        roles = match_roles(table, cls.story_roles if kind.has_stories else cls.roles)
        hints = {
            "names": {**cls.names(table), **table.hints.get("names", {})},
            "roles": {**roles, **table.hints.get("roles", {})},
            "left_out": {**left_out, **table.hints.get("left_out", {})},
        }
        hints = {key: value for key, value in hints.items() if value}
        return replace(table, hints={**table.hints, "tool": cls.title, **hints})

    @classmethod
    def _match_left_out(cls, table: IncomingTable) -> dict[str, list[str]]:
        """By column those of the values that stand in it."""
        return {
            column: values
            for pattern, all_values in cls.left_out.items()
            for column in table.columns
            if fnmatchcase(column, pattern) and (values := list_present(table, column, all_values))
        }


def match_roles(table: IncomingTable, roles: Mapping[str, str]) -> dict[str, str]:
    """The keys of roles by column, as patterns of their names say."""
    key_by_column: dict[str, str] = {}
    for pattern, key in roles.items():
        for column in table.columns:
            may_be = key in MAY_REPEAT or (key not in key_by_column.values() and any(column_cells(table, column)))
            if column not in key_by_column and fnmatchcase(column, pattern) and may_be:
                key_by_column[column] = key
    return key_by_column


def list_present(table: IncomingTable, column: str, values: Sequence[str]) -> list[str]:
    """Those of the values that a cell of the column says."""
    present = {cell.strip() for cell in column_cells(table, column)}
    return [value for value in values if value in present]


def column_cells(table: IncomingTable, column: str) -> list[str]:
    """The cells of the column, row by row."""
    at = table.columns.index(column)
    return [cells[at] for _n, cells in table.rows]


def _take_once(table: IncomingTable, column: str, roles: Mapping[str, str]) -> IncomingTable:
    """The first row of each story, all that name none, and those of the same name with another text."""
    texts = [table.columns.index(column) for column, key in match_roles(table, roles).items() if key == "text"]
    seen: set[tuple[str, ...]] = set()
    rows = []
    for name, row in zip(column_cells(table, column), table.rows, strict=True):
        story = (name, *(row[1][at] for at in texts))
        if not name.strip() or story not in seen:
            rows.append(row)
        seen.add(story)
    return replace(table, rows=tuple(rows))
