"""Item types: one file each, discovered, never listed.

An item type knows everything that differs between kinds of question: how a definition is checked, how an answer is
read, what a form shows, what a model is told, at which level of measurement the answers stand. Everybody else loops
over items and does not ask which it is.
"""

import importlib
import pkgutil
from functools import cache

from studies.items.base import InvalidAnswer, InvalidDefinition, ItemDefinition, ItemType, StoryLabel, is_empty

__all__ = [
    "InvalidAnswer",
    "InvalidDefinition",
    "ItemDefinition",
    "ItemType",
    "StoryLabel",
    "all_types",
    "find_type",
    "is_empty",
]


@cache
def all_types() -> dict[str, ItemType]:
    """Every item type by its name, in alphabetical order. Raises TypeError if two types share a name."""
    type_by_name: dict[str, ItemType] = {}
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
        for thing in vars(importlib.import_module(f"{__name__}.{module}")).values():
            # A type that another module merely imports is not a second type.
            if isinstance(thing, type) and issubclass(thing, ItemType) and thing.__module__ == f"{__name__}.{module}":
                if thing is ItemType:
                    continue
                if thing.name in type_by_name:
                    raise TypeError(f"two item types are called “{thing.name}”")
                type_by_name[thing.name] = thing()
    return type_by_name


def find_type(name: str) -> ItemType:
    """The item type of that name. Raises InvalidDefinition if there is none."""
    try:
        return all_types()[name]
    except KeyError:
        raise InvalidDefinition("type", f"“{name}” is not an item type; there are {', '.join(all_types())}") from None
