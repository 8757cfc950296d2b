"""Problems of a file of answers, those of one kind together: a wrong column is one problem, not one a cell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from studies.incoming_tables.problems import InvalidRow, RowProblem, WayOut

MOST_SENTENCES = 3  # of one kind that are said
MOST_SPELLINGS = 8
_SAID = re.compile(r"“[^”]*”|'[^']*'|\"[^\"]*\"|[0-9]+")  # what differs between two problems of one kind


@dataclass(frozen=True)
class ProblemGroup:
    """Problems of one column that are alike but for what the cells say; at least one. A page lists it as a problem."""

    problems: tuple[InvalidRow, ...]
    ways_out: tuple[WayOut, ...] = ()
    level = "error"

    @property
    def column(self) -> str:
        return self.problems[0].column

    @property
    def locations(self) -> list[str]:
        """Where each row is, once."""
        return list(dict.fromkeys(problem.location for problem in self.problems))

    @property
    def location(self) -> str:
        """“answers.csv: row 8”, or the first of several and how many there are."""
        first, *others = self.locations
        if not others:
            return first
        more = ngettext("%(first)s and %(n)d more row", "%(first)s and %(n)d more rows", len(others))
        return more % {"first": first, "n": len(others)}

    @property
    def sentence(self) -> str:
        """What is wrong with the first rows; of how many others it holds alike."""
        sentences = list(dict.fromkeys(problem.sentence for problem in self.problems))
        if len(sentences) == 1:
            return sentences[0]
        words = [sentence if sentence.endswith(".") else f"{sentence}." for sentence in sentences[:MOST_SENTENCES]]
        if (n := len(sentences) - MOST_SENTENCES) > 0:
            words.append(ngettext("And %(n)d value more.", "And %(n)d values more.", n) % {"n": n})
        return " ".join(words)

    def __str__(self) -> str:
        return f"{self.location}, {self.column}: {self.sentence}"


def group_problems(problems: Iterable[InvalidRow]) -> list[ProblemGroup]:
    """The problems, those of one column and one kind together, in the order of the first of each."""
    alike: dict[tuple[str, str], list[InvalidRow]] = {}
    for problem in problems:
        alike.setdefault((problem.column, _SAID.sub("", problem.sentence)), []).append(problem)
    return [ProblemGroup(tuple(group)) for group in alike.values()]


def warn_of_spellings(spellings: Mapping[str, str]) -> RowProblem | None:
    """The warning that these names are taken for one rater each; None if there are none.

    spellings : the first spelling of a name by another one
    """
    if not spellings:
        return None
    names = "; ".join(f"“{first}” = “{other}”" for other, first in [*spellings.items()][:MOST_SPELLINGS])
    sentence = _("These are taken for one rater each: %(names)s. If they are two people, name them otherwise.")
    return RowProblem("warning", (), "", sentence % {"names": names})
