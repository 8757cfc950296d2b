"""The scores that judges' answers make, beside people's, as if each were an item that gives a number."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reports.dataset.judged import Judged, judged
from reports.dataset.outcomes import score_ratings
from reports.dataset.step_items import StepItem
from reports.lazy import np
from studies.models import Item

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable
    from stats.arrays import FloatArray
    from studies.documents.scores import ScoreDocument


def judged_scores(dataset: Dataset) -> tuple[Judged, list[StepItem]] | None:
    """Of the S scores that instruments declare what judges and people have, and the items that these are made of.

    Its items stand for the scores: judges have shape (J, S, U), people (S, R, U). None if no model answered any item.
    """
    declared = [(table, score) for table in dataset.outcomes if (score := table.outcome.score) and _is_declared(table)]
    counted = {key for table, _score in declared for key in table.outcome.items}
    asked = [item for item in dataset.items if item.key in counted]
    material = judged(dataset, asked)
    if material is None:
        return None
    answers = material.judges.transpose(1, 0, 2)
    of_judges = np.stack([_scores(table, score, asked, answers) for table, score in declared])
    of_people = np.stack([_scores(table, score, asked, material.people) for table, score in declared])
    items = tuple(_as_item(table, asked) for table, _score in declared)
    return replace(material, items=items, judges=of_judges.transpose(1, 0, 2), people=of_people), asked


def _is_declared(table: OutcomeTable) -> bool:
    return table.outcome.kind == "score"


def _scores(table: OutcomeTable, score: ScoreDocument, asked: list[StepItem], answers: FloatArray) -> FloatArray:
    """The score of each rater and unit, shape (I, R, U) to (R, U)."""
    place_by_key = {item.key: n for n, item in enumerate(asked)}
    places = [place_by_key[key] for key in table.outcome.items]
    return score_ratings(score, [asked[n] for n in places], answers[places])


def _as_item(table: OutcomeTable, asked: list[StepItem]) -> StepItem:
    step_key, key = table.outcome.key.split("/", 1)
    step = next(item.step for item in asked if item.step.key == step_key)
    low, high = table.bounds
    return StepItem(step, Item(key=key, title=table.outcome.title, type="number", settings={"low": low, "high": high}))
