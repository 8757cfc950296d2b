"""Sittings: so many groups in a row, as the study asks, with one receipt at the end."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q, Sum

from annotation.models import Assignment, Rater, Response, Timing
from annotation.participation import claims
from studies.models import Step


@dataclass(frozen=True)
class Summary:
    """A submitted group as a receipt shows it.

    n_filled : blanks of a cloze; n_answers : all other answers
    """

    ended_at: datetime | None
    receipt: str
    n_stories: int
    n_filled: int
    n_answers: int
    minutes: int


def submitted(rater: Rater) -> list[Assignment]:
    """The groups that the rater has submitted, first to last."""
    found = rater.assignments.filter(status=Assignment.Status.SUBMITTED).exclude(seat=None)
    return list(found.select_related("seat").order_by("ended_at", "pk"))


def of(assignment: Assignment) -> list[Assignment]:
    """The submitted groups of the sitting to which this one belongs, first to last."""
    done, n = submitted(assignment.rater), max(assignment.study.groups_per_sitting, 1)
    begins = done.index(assignment) // n * n
    return done[begins : begins + n]


def go_on(assignment: Assignment) -> Assignment | None:
    """The next group of the same sitting, claimed; None if the sitting is over or there is no group left."""
    if len(of(assignment)) >= assignment.study.groups_per_sitting:
        return None
    try:
        return claims.claim(assignment.rater)
    except claims.NoSeat:
        return None


def summaries(assignment: Assignment) -> list[Summary]:
    """The groups of the sitting to which this one belongs. Three queries, however many they are."""
    found = of(assignment)
    given = Response.objects.filter(assignment__in=found).exclude(outcome=Response.Outcome.OPEN)
    is_blank = Q(step__layout=Step.Layout.CLOZE)
    counted = given.values("assignment").order_by()
    counted = counted.annotate(n_filled=Count("pk", filter=is_blank), n_answers=Count("pk", filter=~is_blank))
    counts = {row["assignment"]: (row["n_filled"], row["n_answers"]) for row in counted}
    times = Timing.objects.filter(assignment__in=found)
    seconds = dict(times.values_list("assignment").annotate(n=Sum("active_seconds")).order_by())
    return [
        Summary(
            ended_at=each.ended_at,
            receipt=each.receipt,
            n_stories=len(each.seat.order) if each.seat else 0,
            n_filled=counts.get(each.pk, (0, 0))[0],
            n_answers=counts.get(each.pk, (0, 0))[1],
            minutes=seconds.get(each.pk, 0) // 60,
        )
        for each in found
    ]
