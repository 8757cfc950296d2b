"""What is wrong with the rows of a table, each problem with its ways out, as a page lists it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
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
        rows = list(dict.fromkeys(self.rows))  # a row may hold several stories
        numbers = ", ".join(map(str, rows[:8]))
        if len(rows) > 8:
            return _("Rows %(rows)s and %(n)d more") % {"rows": numbers, "n": len(rows) - 8}
        return ngettext("Row %(rows)s", "Rows %(rows)s", len(rows)) % {"rows": numbers}


class InvalidRow(ValueError):
    """A row cannot come in; the message says where, which column or field, and why."""

    level = "error"
    ways_out: tuple[WayOut, ...] = ()

    def __init__(self, location: str, column: str, sentence: str) -> None:
        super().__init__(f"{location}, {column}: {sentence}")
        self.location, self.column, self.sentence = location, column, sentence


Problem: TypeAlias = RowProblem | InvalidRow


@dataclass(frozen=True)
class ProblemGroup:
    """Problems that say the same of a column. n : how many; locations : of the first"""

    level: Literal["error", "warning"]
    column: str
    sentence: str
    locations: tuple[str, ...]
    n: int
    ways_out: tuple[WayOut, ...] = ()

    @property
    def location(self) -> str:
        """Where the first are, and how many more there are."""
        file, sign, _row = self.locations[0].partition(": ")
        words = [self.locations[0], *(location.removeprefix(file + sign) for location in self.locations[1:])]
        if self.n > len(words):
            return _("%(rows)s and %(n)d more") % {"rows": ", ".join(words), "n": self.n - len(words)}
        return ", ".join(words)


MOST_ALONE = 3  # problems that say the same of other cells, and are not yet listed as one


def name_topic(sentence: str) -> str:
    """The sentence without the values that it quotes, and without numbers: problems that differ in these are alike."""
    return re.sub(r"“[^”]*”|[\d,]*\d", "·", sentence)


def say_of_all(sentences: Iterable[str]) -> str:
    """One sentence for problems of one topic."""
    first, *others = dict.fromkeys(sentences)
    more = _("Other rows have the same problem with other values.")
    return f"{first.removesuffix('.')}. {more}" if others else first


def group_problems(problems: Sequence[Problem]) -> list[Problem | ProblemGroup]:
    """The problems in their order, many of one row each that say the same of a column listed as one."""
    members_by_topic: dict[tuple[str, str], list[InvalidRow]] = defaultdict(list)
    for problem in problems:
        if isinstance(problem, InvalidRow):
            members_by_topic[problem.column, name_topic(problem.sentence)].append(problem)
    listed: list[Problem | ProblemGroup] = []
    for problem in problems:
        if not isinstance(problem, InvalidRow):
            listed.append(problem)
            continue
        members = members_by_topic[problem.column, name_topic(problem.sentence)]
        if len(members) <= MOST_ALONE:
            listed.append(problem)
        elif members[0] is problem:
            places = tuple(member.location for member in members[:8])
            sentence = say_of_all(member.sentence for member in members)
            listed.append(ProblemGroup("error", problem.column, sentence, places, len(members)))
    return listed


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
