"""Figures of the report: one file each, discovered, never listed.

A figure computes one thing that a report says, and knows how it looks as a table, as text and on the page. Everybody
else loops over figures and does not ask which it is.
"""

from functools import cache
from typing import Any

from reports.figures.base import Figure
from studies.discovery import find_classes

__all__ = ["Figure", "all_figures", "by_table"]


@cache
def all_figures() -> dict[str, Figure[Any]]:
    """Every figure by its key, in the order of the page. Raises TypeError if two figures share a key."""
    figures = [figure() for figure in find_classes(__name__, Figure, key="key", in_families=True).values()]
    return {figure.key: figure for figure in sorted(figures, key=lambda figure: (figure.position, figure.key))}


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
