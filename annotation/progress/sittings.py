"""Sittings: so many groups in a row, as the study asks, with one receipt at the end."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q, Sum

from annotation.models import Assignment, Rater, Response, Timing
from annotation.participation import claims
from studies import layouts


@dataclass(frozen=True)
class Summary:
    """A submitted group as a receipt shows it.

    code : of its addresses; n_filled : blanks of a cloze; n_answers : all other answers
    """

    code: str
    ended_at: datetime | None
    receipt: str
    n_stories: int
    n_filled: int
    n_answers: int
    minutes: int


def submitted_assignments(rater: Rater) -> list[Assignment]:
    """The groups that the rater has submitted, first to last."""
    assignments = rater.assignments.filter(status=Assignment.Status.SUBMITTED).exclude(seat=None)
    return list(assignments.select_related("seat").order_by("ended_at", "pk"))


def assignments_of_sitting(assignment: Assignment) -> list[Assignment]:
    """The submitted groups of the sitting to which this one belongs, first to last."""
    assignments, n = submitted_assignments(assignment.rater), max(assignment.study.groups_per_sitting, 1)
    begins = assignments.index(assignment) // n * n
    return assignments[begins : begins + n]


def claim_next(assignment: Assignment) -> Assignment | None:
    """The next group of the same sitting, claimed; None if the sitting is over or there is no group left."""
    if len(assignments_of_sitting(assignment)) >= assignment.study.groups_per_sitting:
        return None
    try:
        return claims.claim(assignment.rater)
    except claims.NoSeat:
        return None


def summarise(assignment: Assignment) -> list[Summary]:
    """The groups of the sitting to which this one belongs. Three queries, however many they are."""
    assignments = assignments_of_sitting(assignment)
    responses = Response.objects.filter(assignment__in=assignments).exclude(outcome=Response.Outcome.OPEN)
    is_blank = Q(step__layout__in=layouts.keys_that_fill_text())
    counted = responses.values("assignment").order_by()
    counted = counted.annotate(n_filled=Count("pk", filter=is_blank), n_answers=Count("pk", filter=~is_blank))
    counts = {row["assignment"]: (row["n_filled"], row["n_answers"]) for row in counted}
    times = Timing.objects.filter(assignment__in=assignments)
    seconds = dict(times.values_list("assignment").annotate(n=Sum("active_seconds")).order_by())
    return [
        Summary(
            code=assignment.code,
            ended_at=assignment.ended_at,
            receipt=assignment.receipt,
            n_stories=len(assignment.seat.order) if assignment.seat else 0,
            n_filled=counts.get(assignment.pk, (0, 0))[0],
            n_answers=counts.get(assignment.pk, (0, 0))[1],
            minutes=seconds.get(assignment.pk, 0) // 60,
        )
        for assignment in assignments
    ]
