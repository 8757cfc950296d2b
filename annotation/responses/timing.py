"""Active time: what pages report of it, and never more than has passed.

A page counts the seconds in which it is visible and somebody did something within the last minute. It could claim
anything, so the server grants at most what its own clock says has gone by since it last granted something.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Sum

from annotation.models import Assignment, Timing
from studies.models import Step, Story

MOST_SECONDS_PER_REPORT = 120  # seconds in one report: pages report every half minute


@dataclass(frozen=True)
class TimeReport:
    """Active seconds at a step: about a story, in a section of a cloze, or neither."""

    step: Step
    seconds: int
    story: Story | None = None
    section: int | None = None


def record_seconds(assignment: Assignment, reports: Sequence[TimeReport], *, at: datetime) -> list[int]:
    """The active seconds added for each of these reports: those reported, or fewer if fewer have passed."""
    counted = []
    with transaction.atomic():
        seconds_left = _granted(assignment, seconds=sum(report.seconds for report in reports), at=at)
        for report in reports:
            counted.append(min(report.seconds, seconds_left))
            seconds_left -= counted[-1]
            if counted[-1]:
                row, _ = Timing.objects.get_or_create(
                    assignment=assignment, step=report.step, story=report.story, section=report.section
                )
                Timing.objects.filter(pk=row.pk).update(active_seconds=F("active_seconds") + counted[-1])
    return counted


def _granted(assignment: Assignment, *, seconds: int, at: datetime) -> int:
    """How many of these seconds count, and that they have been counted. Of two reports at once, one counts nothing."""
    since = assignment.timed_until or assignment.started_at
    passed = int((at - since).total_seconds())
    granted = max(0, min(seconds, passed, MOST_SECONDS_PER_REPORT))
    is_set_back = since > at  # the clock was: it would count nothing until it has caught up
    if not granted and not is_set_back:
        return 0
    # Where the clock was the limit, the rest of its last second still counts next time.
    until = since + timedelta(seconds=granted) if granted == passed else at
    counts = Assignment.objects.filter(pk=assignment.pk, timed_until=assignment.timed_until)
    if not counts.update(timed_until=until):
        return 0
    assignment.timed_until = until
    return granted


def sum_seconds_on_story(assignment: Assignment, story: Story | None) -> int:
    """Active seconds about one story, in all steps; about none of them for None."""
    mine = assignment.timings.filter(story=story)
    return mine.aggregate(total=Sum("active_seconds"))["total"] or 0
