"""Layouts: how the items of a step are laid out. One file each, discovered, never listed.

A layout knows everything that differs between one item after another and fields in a running text: which options a
step has, what keeps it from being asked, how a model answers it. Everybody else asks it and not which it is.
"""

import importlib
import pkgutil
from functools import cache

from studies.layouts.base import LaidOut, Layout

__all__ = ["LaidOut", "Layout", "all_layouts", "find_layout", "keys_that_fill_text", "keys_with_options"]


@cache
def all_layouts() -> dict[str, Layout]:
    """Every layout by its key, in alphabetical order. Raises TypeError if two share a key."""
    layout_by_key: dict[str, Layout] = {}
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
        for thing in vars(importlib.import_module(f"{__name__}.{module}")).values():
            # A layout that another module merely imports is not a second one.
            if isinstance(thing, type) and issubclass(thing, Layout) and thing.__module__ == f"{__name__}.{module}":
                if thing is Layout:
                    continue
                if thing.key in layout_by_key:
                    raise TypeError(f"two layouts are called “{thing.key}”")
                layout_by_key[thing.key] = thing()
    return dict(sorted(layout_by_key.items()))


def find_layout(key: str) -> Layout:
    """The layout of that key. Raises LookupError if there is none."""
    try:
        return all_layouts()[key]
    except KeyError:
        raise LookupError(f"“{key}” is not a layout; there are {', '.join(filter(None, all_layouts()))}") from None


def keys_that_fill_text() -> list[str]:
    """What `Step.layout` says where answers fill one text, for queries."""
    return [key for key, layout in all_layouts().items() if layout.fills_text]


def keys_with_options() -> list[str]:
    """What `Step.layout` says where a step may have options."""
    return [key for key, layout in all_layouts().items() if layout.has_options]
