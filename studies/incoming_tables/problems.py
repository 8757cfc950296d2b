"""What is wrong with the rows of a table, each problem with its ways out, as a page lists it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from django.utils.translation import gettext as _
from django.utils.translation import ngettext


@dataclass(frozen=True)
class WayOut:
    """A button. act : what it does and to what, as `imports.take_way_out` reads it"""

    label: str
    act: tuple[Any, ...]


@dataclass(frozen=True)
class RowProblem:
    """Something to mend (an error) or to look at (a warning). rows : none if it is about the whole table"""

    level: Literal["error", "warning"]
    rows: tuple[int, ...]
    column: str
    sentence: str
    ways_out: tuple[WayOut, ...] = ()

    @property
    def location(self) -> str:
        """“Row 8”, or the first of several."""
        if not self.rows:
            return _("All rows")
        numbers = ", ".join(map(str, self.rows[:8]))
        if len(self.rows) > 8:
            return _("Rows %(rows)s and %(n)d more") % {"rows": numbers, "n": len(self.rows) - 8}
        return ngettext("Row %(rows)s", "Rows %(rows)s", len(self.rows)) % {"rows": numbers}


class InvalidRow(ValueError):
    """A row cannot come in; the message says where, which column or field, and why."""

    level = "error"
    ways_out: tuple[WayOut, ...] = ()

    def __init__(self, location: str, column: str, sentence: str) -> None:
        super().__init__(f"{location}, {column}: {sentence}")
        self.location, self.column, self.sentence = location, column, sentence


Problem: TypeAlias = RowProblem | InvalidRow


def headline(problems: Sequence[Problem]) -> str:
    """How many problems there are, and how many things to look at."""
    n = sum(problem.level == "error" for problem in problems)
    n_warnings = len(problems) - n
    errors = ngettext("%(n)d problem", "%(n)d problems", n) % {"n": n} if n else _("No problem")
    if not n_warnings:
        return errors
    warnings = ngettext("%(n)d thing to look at", "%(n)d things to look at", n_warnings) % {"n": n_warnings}
    return f"{errors}, {warnings}"


def list_lines(problems: Sequence[Problem], most: int) -> list[str]:
    """A line for each of the first problems, and how many there are."""
    lines = [str(problem) for problem in problems[:most]]
    if len(problems) > 1:
        n = len(problems)
        lines.append(ngettext("%(n)d problem in all.", "%(n)d problems in all.", n) % {"n": n})
    return lines
