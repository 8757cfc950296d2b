"""Under which version of the protocol an answer was first given: an assignment at work may have been passed on."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING

from annotation.models import Assignment, LaterVersion, Response
from studies.models import ProtocolVersion

if TYPE_CHECKING:
    import pandas as pd


class AnsweredVersions:
    """The versions of assignments over time. One query, none if no assignment is under an amended version."""

    def __init__(self, assignments: Collection[Assignment]) -> None:
        self._later: dict[int, list[LaterVersion]] = defaultdict(list)
        amended = [a.pk for a in assignments if a.version.amends_id]
        if amended:
            rows = LaterVersion.objects.filter(assignment__in=amended).select_related("before")
            for row in rows.defer("before__document").order_by("at", "pk"):
                self._later[row.assignment_id].append(row)

    @property
    def passed_on(self) -> Collection[int]:
        """The assignments that have had more than one version."""
        return self._later.keys()

    def find(self, assignment: Assignment, answered_at: datetime | None) -> ProtocolVersion:
        """The version that the rater had at that time; the last one, if nothing was ever answered."""
        for row in self._later.get(assignment.pk, ()):
            if answered_at is not None and answered_at < row.at:
                return row.before
        return assignment.version


def count_answers_by_version(answers: pd.DataFrame) -> Counter[int]:
    """How many of these answers were first given under each version, by its number. Up to three queries."""
    answered = answers[answers["outcome"] == Response.Outcome.ANSWERED]
    n_by_assignment = Counter(int(pk) for pk in answered["assignment"])
    rows = Assignment.objects.filter(pk__in=n_by_assignment).select_related("version").defer("version__document")
    assignments = {assignment.pk: assignment for assignment in rows}
    versions = AnsweredVersions(list(assignments.values()))
    counts: Counter[int] = Counter()
    for pk, n in n_by_assignment.items():
        if pk not in versions.passed_on:
            counts[assignments[pk].version.number] += n
    if versions.passed_on:
        given_answers = Response.objects.filter(assignment__in=versions.passed_on, outcome=Response.Outcome.ANSWERED)
        for pk, at in given_answers.exclude(step__kind="practice").values_list("assignment_id", "first_answered_at"):
            if pk in n_by_assignment:
                counts[versions.find(assignments[pk], at).number] += 1
    return counts
