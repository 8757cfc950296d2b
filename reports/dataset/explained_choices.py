"""Judges' choices between two stories that they explained: in how many words, and whether most people choose so too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.models import Rater, Response
from reports.dataset.choices import choices_of
from reports.dataset.judged import answers_to
from reports.dataset.pairs import list_pairs

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.step_items import StepItem


@dataclass(frozen=True)
class ExplainedChoice:
    """A judge's choice in one of its readings, in a pair of which more than half of the people prefer one story."""

    judge: str
    group: str
    n_words: int
    is_right: bool


def list_explained_choices(dataset: Dataset, item: StepItem) -> list[ExplainedChoice]:
    """Those of models that have an explanation, by judge and group. Without answers of judges no query, else four."""
    rows = answers_to(dataset.all_readings, [item])
    rows = rows[(rows["rater_kind"] == Rater.Kind.MODEL) & (rows["outcome"] == Response.Outcome.ANSWERED)]
    if rows.empty:
        return []
    n_words_by_assignment = _count_words(dataset, item)
    pairs = list_pairs(dataset, choices_of(dataset, item))
    preferred_by_group = {pair.group: pair.stories[pair.preferred] for pair in pairs if pair.preferred is not None}
    rows = rows.sort_values(["rater", "group", "assignment"])
    fields = ("assignment", "rater", "group", "value")
    return [
        ExplainedChoice(judge, group, n_words, value == preferred_by_group[group])
        for assignment, judge, group, value in zip(*(rows[name] for name in fields), strict=True)
        if group in preferred_by_group and (n_words := n_words_by_assignment.get(assignment, 0))
    ]


def _count_words(dataset: Dataset, item: StepItem) -> dict[int, int]:
    """Words of judges' explanations of the item, by assignment. One query."""
    explained = Response.objects.filter(
        assignment__study=dataset.study,
        assignment__rater_kind=Rater.Kind.MODEL,
        step__key=item.step.key,
        item__key=item.item.key,
    ).exclude(rationale="")
    return {pk: len(rationale.split()) for pk, rationale in explained.values_list("assignment_id", "rationale")}
