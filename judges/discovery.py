"""Finding what a folder holds: one file a thing, discovered, never listed."""

import importlib
import pkgutil
from typing import ClassVar, Protocol, TypeVar


class Slugged(Protocol):
    """What can be discovered: a class that gives itself a slug, made without arguments."""

    slug: ClassVar[str]


Kind = TypeVar("Kind", bound=Slugged)


def discover(package: str, kind: type[Kind]) -> dict[str, Kind]:
    """One instance of every subclass of the kind that a module of the package defines, by slug, in alphabetical order.

    Imports every module of the package. Raises TypeError if two subclasses share a slug.
    """
    by_slug: dict[str, Kind] = {}
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        name = f"{package}.{module.name}"
        for value in vars(importlib.import_module(name)).values():
            # A class that another module merely imports is not a second one.
            if not (isinstance(value, type) and issubclass(value, kind) and value.__module__ == name) or value is kind:
                continue
            if value.slug in by_slug:
                raise TypeError(f"two modules of {package} define “{value.slug}”")
            by_slug[value.slug] = value()
    return dict(sorted(by_slug.items()))
