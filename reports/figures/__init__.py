"""Figures of the report: one file each, discovered, never listed.

A figure computes one thing that a report says, and knows how it looks as a table, as text and on the page. Everybody
else loops over figures and does not ask which it is.
"""

import importlib
import pkgutil
from functools import cache
from typing import Any

from reports.figures.base import Figure

__all__ = ["Figure", "all_figures", "by_table"]


@cache
def all_figures() -> dict[str, Figure[Any]]:
    """Every figure by its key, in the order of the page. Raises TypeError if two figures share a key."""
    figures: dict[str, Figure[Any]] = {}
    for name in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        for figure in _declared(f"{__name__}.{name}"):
            if figure.key in figures:
                raise TypeError(f"two figures have the key “{figure.key}”")
            figures[figure.key] = figure
    return dict(sorted(figures.items(), key=lambda pair: (pair[1].place, pair[0])))


def _declared(module: str) -> list[Figure[Any]]:
    """The figures that a module declares; one that it merely imports is not a second one."""
    classes = [value for value in vars(importlib.import_module(module)).values() if isinstance(value, type)]
    own = [cls for cls in classes if issubclass(cls, Figure) and cls is not Figure and cls.__module__ == module]
    return [cls() for cls in own]


@cache
def by_table() -> dict[str, Figure[Any]]:
    """The figure of each CSV table. Raises TypeError if two figures share a table."""
    figures: dict[str, Figure[Any]] = {}
    for figure in all_figures().values():
        for table in figure.tables:
            if table in figures:
                raise TypeError(f"two figures have a table “{table}”")
            figures[table] = figure
    return figures
