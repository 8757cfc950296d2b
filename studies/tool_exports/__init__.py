"""A study for another tool: what it asks about each story, and the stories, so that a lab can go elsewhere."""

from functools import cache

from studies.discovery import find_classes
from studies.tool_exports.base import ToolExport

__all__ = ["ToolExport", "all_tools"]


@cache
def all_tools() -> dict[str, type[ToolExport]]:
    """Every tool for which a study can be written, by its name."""
    return find_classes(__name__, ToolExport, key="name")  # type: ignore[type-abstract]
