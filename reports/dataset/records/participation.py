"""How far the seats of a study are taken, and what of its people stands in no answer that counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.db.models import Count, Q

from annotation.models import Assignment, Rater, Recognition, Response, StepTaken
from studies.models import Step, Study


@dataclass(frozen=True)
class GroupSeats:
    """Seats of people at a group: all, submitted, being worked on."""

    group: str
    n_seats: int
    n_submitted: int
    n_open: int

    @property
    def n_free(self) -> int:
        return self.n_seats - self.n_submitted - self.n_open


@dataclass(frozen=True)
class Participation:
    """n_practised : answers that people gave to practise on"""

    groups: tuple[GroupSeats, ...]
    n_withheld: int
    n_invited: int
    n_consented: int
    n_practised: int


def read_participation(study: Study) -> Participation:
    """Seven queries, whatever the size of the study."""
    return Participation(
        groups=tuple(_list_groups(study)),
        n_withheld=study.stories.filter(is_withheld=True).count(),
        n_invited=study.invitations.count(),
        n_consented=study.raters.filter(consents__isnull=False).distinct().count(),
        n_practised=_count_practised(study),
    )


def _list_groups(study: Study) -> list[GroupSeats]:
    of_people = Q(seats__rater_kind=Rater.Kind.PERSON)
    groups = study.groups.order_by("code").annotate(n_seats=Count("seats", filter=of_people, distinct=True))
    n_by_status = Counter(
        Assignment.objects.first_readings()
        .filter(study=study, status__in=Assignment.LIVE)
        .values_list("group__code", "status")
    )
    return [
        GroupSeats(group.code, group.n_seats, n_by_status[group.code, "submitted"], n_by_status[group.code, "open"])
        for group in groups
    ]


def _count_practised(study: Study) -> int:
    # The steps first: without a practice, a million answers would be gone through to find none.
    practice = list(Step.objects.filter(version__study=study, kind=Step.Kind.PRACTICE).values_list("pk", flat=True))
    of_people = Response.objects.filter(assignment__study=study, assignment__rater_kind=Rater.Kind.PERSON)
    return of_people.filter(step__in=practice, outcome=Response.Outcome.ANSWERED).count()


def has_simulated(study: Study, codes: list[str]) -> bool:
    """Whether one of these raters is simulated. One query."""
    return study.raters.filter(code__in=codes, is_simulated=True).exists()


def count_failures(study: Study) -> Counter[str]:
    """How many people failed the checks of each step, by its key. One query."""
    failures = StepTaken.failures().filter(rater__study=study, rater__withdrawal=None)
    return Counter(failures.values_list("step__key", flat=True))


def list_failed_raters(study: Study) -> set[str]:
    """Codes of the people who failed a check. One query."""
    failures = StepTaken.failures().filter(rater__study=study, rater__withdrawal=None)
    return set(failures.values_list("rater__code", flat=True))


def list_recognised(study: Study) -> set[tuple[str, str, str]]:
    """Rater, group and story of every story that a person recognised, before reading or at work. Two queries."""
    of_people = study.assignments.filter(rater_kind=Rater.Kind.PERSON)
    before = of_people.filter(read_before=True, group__isnull=False)
    at_work = Recognition.objects.filter(assignment__in=of_people.order_by())
    return {
        *before.values_list("rater__code", "group__code", "group__stories__code"),
        *at_work.values_list("assignment__rater__code", "assignment__group__code", "story__code"),
    }
