"""Problems of a file of answers, those of one kind together: a wrong column is one problem, not one a cell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from studies.incoming_tables.problems import InvalidRow, RowProblem

MOST_SENTENCES = 3  # of one kind that are said
MOST_SPELLINGS = 8
_SAID = re.compile(r"“[^”]*”|'[^']*'|\"[^\"]*\"|[0-9]+")  # what differs between two problems of one kind


@dataclass(frozen=True)
class AlikeProblems(RowProblem):
    """Problems of one column that are alike but for what the cells say. place : the first row, and how many more"""

    place: str = ""

    @property
    def location(self) -> str:
        """“answers.csv: row 8”, or the first of several and how many there are."""
        return self.place

    def __str__(self) -> str:
        return f"{self.place}, {self.column}: {self.sentence}"


def group_problems(problems: Iterable[InvalidRow]) -> list[AlikeProblems]:
    """The problems, those of one column and one kind together, in the order of the first of each."""
    alike: dict[tuple[str, str], list[InvalidRow]] = {}
    for problem in problems:
        alike.setdefault((problem.column, _SAID.sub("", problem.sentence)), []).append(problem)
    return [
        AlikeProblems("error", (), column, _join_sentences(group), place=_name_rows(group))
        for (column, _kind), group in alike.items()
    ]


def _name_rows(problems: Sequence[InvalidRow]) -> str:
    first, *others = dict.fromkeys(problem.location for problem in problems)
    if not others:
        return first
    more = ngettext("%(first)s and %(n)d more row", "%(first)s and %(n)d more rows", len(others))
    return more % {"first": first, "n": len(others)}


def _join_sentences(problems: Sequence[InvalidRow]) -> str:
    """What is wrong with the first rows; of how many other cells it holds, too."""
    sentences = list(dict.fromkeys(problem.sentence for problem in problems))
    if len(sentences) == 1:
        return sentences[0]
    words = [sentence if sentence.endswith(".") else f"{sentence}." for sentence in sentences[:MOST_SENTENCES]]
    if (n := len(sentences) - MOST_SENTENCES) > 0:
        words.append(ngettext("And %(n)d value more.", "And %(n)d values more.", n) % {"n": n})
    return " ".join(words)


def warn_of_spellings(spellings: Mapping[str, str]) -> RowProblem | None:
    """The warning that these names are taken for one rater each; None if there are none.

    spellings : the first spelling of a name by another one
    """
    if not spellings:
        return None
    names = "; ".join(f"“{first}” = “{other}”" for other, first in [*spellings.items()][:MOST_SPELLINGS])
    sentence = _("These are taken for one rater each: %(names)s. If they are two people, name them otherwise.")
    return RowProblem("warning", (), "", sentence % {"names": names})
