"""Finding what a folder holds: one file a thing, discovered, never listed."""

import importlib
import pkgutil
from typing import TypeVar

Kind = TypeVar("Kind")


def find_classes(package: str, kind: type[Kind], *, key: str, in_families: bool = False) -> dict[str, type[Kind]]:
    """Every subclass of the kind that a module of the package defines, by its attribute `key`, in alphabetical order.

    in_families : whether also in packages within it; elsewhere such a package is what its modules share, and may import
        what is heavy
    Imports every module that it looks into. Raises TypeError if two subclasses share a key.
    """
    class_by_key: dict[str, type[Kind]] = {}
    list_modules = pkgutil.walk_packages if in_families else pkgutil.iter_modules
    for module in list_modules(importlib.import_module(package).__path__, f"{package}."):
        name = module.name
        for value in vars(importlib.import_module(name)).values():
            # A class that another module merely imports is not a second one.
            if not (isinstance(value, type) and issubclass(value, kind) and value.__module__ == name) or value is kind:
                continue
            if getattr(value, key) in class_by_key:
                raise TypeError(f"two modules of {package} define “{getattr(value, key)}”")
            class_by_key[getattr(value, key)] = value
    return dict(sorted(class_by_key.items()))
