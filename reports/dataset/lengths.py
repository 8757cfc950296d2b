"""How many words stories and judges' explanations have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from annotation.models import Rater, Response
from reports.lazy import np
from studies.models import Story

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.judged import Judged
    from stats.arrays import FloatArray


def story_lengths(dataset: Dataset, units: Sequence[tuple[str, str]]) -> FloatArray:
    """Words of the story of each unit, shape (U,); nan for a text that is withheld. One query."""
    n_by_code = dict(Story.objects.filter(study=dataset.study).values_list("code", "n_words"))
    lengths = np.array([n_by_code.get(story) or np.nan for _group, story in units], dtype=np.float64)
    return np.asarray(lengths, dtype=np.float64)


def explanation_lengths(dataset: Dataset, material: Judged) -> FloatArray:
    """Words of every judge's explanation of each answer that counts, shape (J, I, U); nan without one. One query."""
    lengths = np.full(material.judges.shape, np.nan)
    position_by_judge = {name: n for n, name in enumerate(material.names)}
    position_by_item = {item.key: n for n, item in enumerate(material.items)}
    position_by_unit = {unit: n for n, unit in enumerate(material.units)}
    rows = dataset.judges
    counted = set(zip(rows["assignment"], rows["step"], rows["item"], rows["story"], strict=True))
    responses = Response.objects.filter(
        assignment__study=dataset.study, assignment__rater_kind=Rater.Kind.MODEL, outcome=Response.Outcome.ANSWERED
    ).exclude(rationale="")
    fields = ("assignment_id", "step__key", "item__key", "story__code", "assignment__group__code")
    names = ("assignment__rater__code", "rationale")
    for assignment, step, item, story, group, judge, rationale in responses.values_list(*fields, *names):
        at = (position_by_judge.get(judge), position_by_item.get((step, item)), position_by_unit.get((group, story)))
        if None not in at and (assignment, step, item, story) in counted:
            lengths[at] = len(rationale.split())
    return lengths
