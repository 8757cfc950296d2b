"""Layouts: how the items of a step are laid out. One file each, discovered, never listed.

A layout knows everything that differs between one item after another and fields in a running text: which options a
step has, what keeps it from being asked, how a model answers it. Everybody else asks it and not which it is.
"""

from functools import cache

from studies.discovery import find_classes
from studies.layouts.base import LaidOut, Layout

__all__ = ["LaidOut", "Layout", "all_layouts", "find_layout", "keys_that_fill_text"]


@cache
def all_layouts() -> dict[str, Layout]:
    """Every layout by its key, in alphabetical order. Raises TypeError if two share a key."""
    return {key: layout() for key, layout in find_classes(__name__, Layout, key="key").items()}


def find_layout(key: str) -> Layout:
    """The layout of that key. Raises LookupError if there is none."""
    try:
        return all_layouts()[key]
    except KeyError:
        raise LookupError(f"“{key}” is not a layout; there are {', '.join(filter(None, all_layouts()))}") from None


def keys_that_fill_text() -> list[str]:
    """What `Step.layout` says where answers fill one text, for queries."""
    return [key for key, layout in all_layouts().items() if layout.fills_text]
