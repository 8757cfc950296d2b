"""What people began to read, and how many of the answers that it asks for are there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.models import Assignment, Rater, Response
from reports.lazy import pd

if TYPE_CHECKING:
    from reports.dataset import Dataset

BEGUN = (Assignment.Status.OPEN, Assignment.Status.SUBMITTED, Assignment.Status.GIVEN_UP)


@dataclass(frozen=True)
class BegunReading:
    """One person's work on one story of a group that they began.

    place : of the story among all that the person was given to read, None where nobody knows
    n_missing, n_asked : answers Yes or No, on a scale, or by a choice, to items that anybody answered
    is_ended : whether the group was submitted; of others answers are there, and count in no other result
    """

    rater: str
    group: str
    story: str
    place: int | None
    n_missing: int
    n_asked: int
    is_ended: bool


def read_begun_readings(dataset: Dataset) -> list[BegunReading]:
    """By rater, group and story; without who withdrew, second readings, and groups given back since they were known.

    Two queries.
    """
    answers = _select_answers(dataset)
    n_asked = len(answers[["step", "item"]].drop_duplicates())
    if not n_asked:
        return []
    counts = answers.groupby(["assignment", "story"], observed=True).size()
    n_answered = dict(zip(counts.index.tolist(), counts.tolist(), strict=True))
    place = dataset.records.place_by_story
    readings = [
        BegunReading(
            rater=rater,
            group=group,
            story=story,
            place=place.get((pk, story)),
            n_missing=n_asked - n_answered.get((pk, story), 0),
            n_asked=n_asked,
            is_ended=status == Assignment.Status.SUBMITTED,
        )
        for pk, rater, group, status, order in _begun(dataset)
        for story in order
    ]
    return sorted(readings, key=lambda reading: (reading.rater, reading.group, reading.story))


def _begun(dataset: Dataset) -> Iterator[tuple[int, str, str, str, list[str]]]:
    """Assignment, rater, group, status and stories; of simulated raters where there are no others."""
    assignments = Assignment.objects.first_readings().filter(
        study=dataset.study, rater__withdrawal=None, status__in=BEGUN
    )
    assignments = assignments.exclude(status=Assignment.Status.GIVEN_UP, read_before=True)
    fields = ("rater__is_simulated", "pk", "rater__code", "group__code", "status", "seat__order")
    rows = list(assignments.values_list(*fields))
    has_real_people = any(not is_simulated for is_simulated, *_row in rows)
    for is_simulated, *row in rows:
        if not (is_simulated and has_real_people):
            yield tuple(row)


def _select_answers(dataset: Dataset) -> pd.DataFrame:
    """Answers Yes or No, on a scale or by a choice, about stories, in what was begun."""
    answers = dataset.answers
    rows = answers[(answers["outcome"] == Response.Outcome.ANSWERED) & answers["status"].isin(list(BEGUN))]
    rows = rows[rows["rater_kind"] == Rater.Kind.PERSON]
    asked = [*dataset.verdict_items, *(item for item in dataset.items if item.is_scale or item.is_choice)]
    is_asked = pd.Series(False, index=rows.index)
    for step in {item.step.key for item in asked}:
        items = [item.item.key for item in asked if item.step.key == step]
        is_asked |= (rows["step"] == step) & rows["item"].isin(items)
    return rows[is_asked]
