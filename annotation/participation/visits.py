"""What is met once: a rater's visit, which holds the answers, and the steps that they have gone through."""

from collections.abc import Sequence

from django.utils import timezone

from annotation.models import Assignment, Rater, StepTaken
from annotation.participation import arrivals, versions
from studies.models import Step


def find_visit(rater: Rater) -> Assignment | None:
    """The rater's visit, if they have begun it."""
    return rater.assignments.filter(seat=None).first()


def ensure_visit(rater: Rater) -> Assignment:
    """The rater's one visit, which holds what is asked once of a rater; made on the first call."""
    visit, _ = Assignment.objects.get_or_create(
        rater=rater,
        seat=None,
        defaults={"study": rater.study, "rater_kind": rater.kind, "version": versions.find_version(rater)},
    )
    return visit


def record_step_taken(rater: Rater, step: Step, *, attempt: int = 1, wrong: Sequence[str] = ()) -> None:
    """Note that the rater has gone through this step; of a check, which attempt it was and what was wrong in it.

    A place that is held for them stays theirs while they go on.
    """
    arrivals.renew_hold(rater, at=timezone.now())
    StepTaken.objects.get_or_create(rater=rater, step=step, attempt=attempt, defaults={"wrong": list(wrong)})
