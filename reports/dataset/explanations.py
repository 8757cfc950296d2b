"""How long people's explanations of their answers are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.models import Rater, Response

if TYPE_CHECKING:
    from reports.dataset import Dataset

AnswerKey = tuple[int, str, str, str]


def words_by_answer(dataset: Dataset) -> dict[AnswerKey, int]:
    """Words of people's explanation by assignment, step, item and story; none of answers without one. One query."""
    responses = Response.objects.filter(
        assignment__study=dataset.study, assignment__rater_kind=Rater.Kind.PERSON, outcome=Response.Outcome.ANSWERED
    ).exclude(rationale="")
    fields = ("assignment_id", "step__key", "item__key", "story__code", "rationale")
    counted: dict[AnswerKey, int] = {}
    for assignment, step, item, story, rationale in responses.values_list(*fields).iterator(2000):
        if n_words := len(rationale.split()):
            counted[assignment, step, item, story or ""] = n_words
    return counted
