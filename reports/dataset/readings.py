"""What belongs to stories and to judges' answers beside the answers themselves: lengths, families, further readings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from annotation.models import Assignment, Rater, Response, Seat
from judges.models import Reading
from reports.dataset.judged import answers_to
from reports.lazy import np
from studies.models import Story

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.judged import Judged
    from reports.dataset.step_items import StepItem
    from stats.arrays import BoolArray, FloatArray

FAMILY = "family"


def persona_readings(dataset: Dataset) -> set[tuple[str, int]]:
    """Group and seat of every reading in which a judge answered as somebody: these are another question. One query."""
    readings = Reading.objects.filter(assignment__study=dataset.study).exclude(persona="")
    return set(readings.values_list("assignment__group__code", "assignment__seat__number"))


def story_lengths(dataset: Dataset, units: Sequence[tuple[str, str]]) -> FloatArray:
    """Words of the story of each unit, shape (U,); nan for a text that is withheld. One query."""
    n_by_code = dict(Story.objects.filter(study=dataset.study).values_list("code", "n_words"))
    lengths = np.array([n_by_code.get(story) or np.nan for _group, story in units], dtype=np.float64)
    return np.asarray(lengths, dtype=np.float64)


def family_masks(dataset: Dataset, material: Judged, judge: str) -> tuple[BoolArray, BoolArray] | None:
    """Which units are stories of the judge's own family of models, and which of others; None if it has none among them.

    Stories say their family by the factor `family`; a judge is of the family with whose name its own begins.
    """
    families = [dataset.story_factor(story, FAMILY) for _group, story in material.units]
    own = [name for name in set(families) if name and judge.casefold().startswith(name)]
    if not own:
        return None
    name = max(own, key=len)
    is_own = np.array([family == name for family in families], dtype=np.bool_) & material.is_of_models
    has_other = np.array([bool(family) and family != name for family in families], dtype=np.bool_)
    return is_own, has_other & material.is_of_models


def explanation_lengths(dataset: Dataset, material: Judged) -> FloatArray:
    """Words of every judge's explanation of each answer that counts, shape (J, I, U); nan without one. One query."""
    lengths = np.full(material.judges.shape, np.nan)
    position_by_judge = {name: n for n, name in enumerate(material.names)}
    position_by_item = {item.key: n for n, item in enumerate(material.items)}
    position_by_unit = {unit: n for n, unit in enumerate(material.units)}
    responses = Response.objects.filter(
        assignment__study=dataset.study, assignment__rater_kind=Rater.Kind.MODEL, outcome=Response.Outcome.ANSWERED
    ).exclude(rationale="")
    fields = (
        "assignment__rater__code",
        "step__key",
        "item__key",
        "assignment__group__code",
        "story__code",
        "rationale",
    )
    # Of several readings the one in the first seat counts, as everywhere; the others find their place taken.
    for judge, step, item, group, story, rationale in responses.order_by("assignment__seat__number").values_list(
        *fields
    ):
        at = (position_by_judge.get(judge), position_by_item.get((step, item)), position_by_unit.get((group, story)))
        if None not in at and np.isnan(lengths[at]):
            lengths[at] = len(rationale.split())
    return lengths


def repeated_answers(dataset: Dataset, items: Sequence[StepItem], judge: str) -> FloatArray:
    """Answers to the same question about the same story, read again in the same order, shape (K, N); nan where none."""
    counted = dataset.answers["status"].isin([Assignment.Status.SUBMITTED, Assignment.Status.OPEN])
    rows = answers_to(dataset.answers[counted & (dataset.answers["rater"] == judge)], items)
    seats = Seat.objects.filter(study=dataset.study, rater_kind=Rater.Kind.MODEL)
    order_by_seat = {(code, n): tuple(order) for code, n, order in seats.values_list("group__code", "number", "order")}
    as_somebody = persona_readings(dataset)
    columns = ("group", "seat", "story", "step", "item", "analysed")
    readings = defaultdict[tuple[object, ...], list[float]](list)
    for group, seat, story, step, item, analysed in zip(*(rows[name] for name in columns), strict=True):
        if analysed is not None and analysed == analysed and (group, seat) not in as_somebody:
            readings[order_by_seat.get((group, seat), ()), group, story, step, item].append(float(analysed))
    several = [values for values in readings.values() if len(values) > 1]
    most = max(map(len, several), default=0)
    table = np.full((most, len(several)), np.nan)
    for n, values in enumerate(several):
        table[: len(values), n] = values
    return table
