"""Finding what a folder holds: one file a thing, discovered, never listed."""

import importlib
import pkgutil
from typing import TypeVar

Kind = TypeVar("Kind")


def find_classes(package: str, kind: type[Kind], *, key: str) -> dict[str, type[Kind]]:
    """Every subclass of the kind that a module of the package, or of a package in it, defines, by its attribute `key`,
    in alphabetical order.

    Imports every module. Raises TypeError if two subclasses share a key.
    """
    class_by_key: dict[str, type[Kind]] = {}
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        name = module.name
        for value in vars(importlib.import_module(name)).values():
            # A class that another module merely imports is not a second one.
            if not (isinstance(value, type) and issubclass(value, kind) and value.__module__ == name) or value is kind:
                continue
            if getattr(value, key) in class_by_key:
                raise TypeError(f"two modules of {package} define “{getattr(value, key)}”")
            class_by_key[getattr(value, key)] = value
    return dict(sorted(class_by_key.items()))
