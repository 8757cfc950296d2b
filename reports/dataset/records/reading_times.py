"""How long people took over what they read, and how much they wrote."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Sum

from annotation.models import Assignment, Rater, Response, Timing
from studies.models import Step, Story, Study

if TYPE_CHECKING:
    from reports.dataset import Dataset

# People read about 240 words a minute, hardly anybody 400 (Brysbaert 2019, Journal of Memory and Language 109);
# active time includes answering.
FASTEST = 400


@dataclass(frozen=True)
class TimedReading:
    """A rater's work on one story. place : None where nobody knows"""

    rater: str
    place: int | None
    minutes: float
    n_words: int
    n_written: int


def words_a_minute(readings: Iterable[TimedReading]) -> float | None:
    """Words of story that these readings took a minute, withheld texts and untimed readings left out; None if none is
    left."""
    timed = [reading for reading in readings if reading.minutes and reading.n_words]
    return sum(r.n_words for r in timed) / sum(r.minutes for r in timed) if timed else None


def read_timed_readings(dataset: Dataset) -> list[TimedReading]:
    """Every story that people whose answers count were asked about one by one. Four queries; one if none is timed."""
    counted = dict(zip(dataset.people["assignment"], dataset.people["rater"], strict=True))
    of_stories = {"step__scope": Step.Scope.STORY, "story__isnull": False, "assignment__study": dataset.study}
    timings = Timing.objects.filter(**of_stories, assignment__rater_kind=Rater.Kind.PERSON)
    rows = timings.values_list("assignment", "story__code").annotate(seconds=Sum("active_seconds"))
    seconds = {(pk, story): n for pk, story, n in rows if pk in counted}
    if not any(seconds.values()):
        return []
    n_written: dict[tuple[int, str], int] = defaultdict(int)
    reasons = Response.objects.filter(**of_stories, assignment__rater_kind=Rater.Kind.PERSON).exclude(rationale="")
    for pk, story, words in reasons.values_list("assignment", "story__code", "rationale").iterator(2000):
        n_written[pk, story] += len(words.split())
    n_words = dict(Story.objects.filter(study=dataset.study).values_list("code", "n_words"))
    place = dataset.records.place_by_story
    steps = {item.step.key for item in dataset.items if item.step.scope == Step.Scope.STORY}
    answered = dataset.people[dataset.people["step"].isin(steps)][["assignment", "story"]].drop_duplicates()
    keys = sorted({*seconds, *zip(answered["assignment"].tolist(), answered["story"].tolist(), strict=True)})
    return [
        TimedReading(
            counted[pk], place.get((pk, story)), seconds.get((pk, story), 0) / 60, n_words[story], n_written[pk, story]
        )
        for pk, story in keys
    ]


def read_places(dataset: Dataset) -> dict[tuple[int, str], int]:
    """The place of each story among all that its rater was given to read, from 1, by assignment and story. One query.

    A group that was known and given back unread is not counted. Of imported answers nobody knows.
    """
    seated = dataset.study.assignments.filter(rater_kind=Rater.Kind.PERSON).exclude(seat=None).exclude(position=None)
    fields = ("pk", "rater_id", "read_before", "seat__order")
    place_by_story: dict[tuple[int, str], int] = {}
    n_read: dict[int, int] = defaultdict(int)
    for pk, rater, is_known, order in seated.order_by("position").values_list(*fields):
        for n, story in enumerate(order, start=1):
            place_by_story[pk, story] = n_read[rater] + n
        if not is_known:
            n_read[rater] += len(order)
    return place_by_story


def read_seconds_by_story(study: Study) -> list[int]:
    """Active seconds that a rater spent on one story, each where time was counted."""
    timings = (
        Timing.objects.filter(assignment__study=study, assignment__status=Assignment.Status.SUBMITTED)
        .filter(assignment__repeats=None)
        .filter(story__isnull=False, assignment__rater_kind=Rater.Kind.PERSON, step__scope=Step.Scope.STORY)
        .values_list("assignment", "story")
        .annotate(seconds=Sum("active_seconds"))
    )
    return [timing[2] for timing in timings if timing[2]]
