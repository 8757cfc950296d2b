"""Exports of other tools: a file for each tool, discovered, never listed."""

from functools import cache

from studies.discovery import find_classes
from studies.incoming_tables.formats.tools.base import Tool
from studies.incoming_tables.tables import IncomingTable, TableKind

__all__ = ["Tool", "all_tools", "tidy"]


@cache
def all_tools() -> dict[str, type[Tool]]:
    """Every tool by its name. Raises TypeError if two share one."""
    return find_classes(__name__, Tool, key="name")  # type: ignore[type-abstract]


def tidy(table: IncomingTable, kind: TableKind) -> IncomingTable:
    """The table as the tool that wrote it means it, with hints; as it is if no tool is known by its columns."""
    if table.hints or not table.rows:
        return table
    tool = next((tool for tool in all_tools().values() if tool.wrote(table)), None)
    return tool.tidy(table, kind) if tool else table
