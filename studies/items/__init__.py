"""Item types: one file each, discovered, never listed.

An item type knows everything that differs between kinds of question: how a definition is checked, how an answer is
read, what a form shows, what a model is told, at which level of measurement the answers stand. Everybody else loops
over items and does not ask which it is.
"""

from functools import cache

from studies.discovery import find_classes
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
    return {name: kind() for name, kind in find_classes(__name__, ItemType, key="name").items()}


def find_type(name: str) -> ItemType:
    """The item type of that name. Raises InvalidDefinition if there is none."""
    try:
        return all_types()[name]
    except KeyError:
        raise InvalidDefinition("type", f"“{name}” is not an item type; there are {', '.join(all_types())}") from None
