"""Many problems that say the same of different rows, listed as one with one way out for all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from studies.incoming_tables.problems import MOST_ALONE, RowProblem, WayOut, name_topic, say_of_all
from studies.story_import.rows import offer_to_leave_out


def group_problems(problems: Sequence[RowProblem]) -> list[RowProblem]:
    """The problems in their order; those of one column that differ in rows and quoted values alone are one."""
    members_by_topic: dict[tuple[str, str, str], list[RowProblem]] = defaultdict(list)
    for problem in problems:
        members_by_topic[_name_topic(problem)].append(problem)
    grouped: list[RowProblem] = []
    for problem in problems:
        members = members_by_topic[_name_topic(problem)]
        if len(members) <= MOST_ALONE or not problem.rows:
            grouped.append(problem)
        elif members[0] is problem:
            rows = tuple(dict.fromkeys(n for member in members for n in member.rows))
            sentence = say_of_all(member.sentence for member in members)
            grouped.append(RowProblem(problem.level, rows, problem.column, sentence, _join_ways_out(members, rows)))
    return grouped


def _name_topic(problem: RowProblem) -> tuple[str, str, str]:
    return problem.level, problem.column, name_topic(problem.sentence)


def _join_ways_out(members: Sequence[RowProblem], rows: Sequence[int]) -> tuple[WayOut, ...]:
    """A way out for all of them, of each kind that every one offers."""
    acts_by_kind: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    labels: dict[str, str] = {}
    for member in members:
        for way_out in member.ways_out:
            acts_by_kind[way_out.act[0]].append(way_out.act)
            labels.setdefault(way_out.act[0], way_out.label)
    joined = []
    for kind, acts in acts_by_kind.items():
        if kind == "leave":
            joined.append(offer_to_leave_out(rows))
        elif len(set(acts)) == 1:
            joined.append(WayOut(labels[kind], acts[0]))
        elif len(acts) == len(members):
            label = _("%(label)s, and so for the others") % {"label": labels[kind]}
            joined.append(WayOut(label, ("all", *acts)))
    return tuple(joined)
