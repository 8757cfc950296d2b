"""Rows that stand among judges and are none: the jury that a plan names, and a judge's expected scores.

They are made here and stored nowhere as a rater.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from annotation.models import Rater, Response
from reports.dataset import grades
from reports.lazy import jury, np, pd
from studies.documents.analysis_plan import AnalysisPlan

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.cubes import Pair
    from reports.dataset.step_items import StepItem

NOBODY = 0  # the assignment of an answer that nobody gave


def name_jury(plan: AnalysisPlan | None) -> str:
    """What tables call the jury, as no judge can be called; "" if none is planned."""
    return f"jury of {', '.join(plan.jury)}" if plan and plan.jury else ""


def jury_rows(dataset: Dataset) -> pd.DataFrame:
    """The jury's answers as a judge's: what has more than half of its weight, of scales the weighted mean.

    Only where two of its judges or more have answered. A tie is no answer.
    """
    plan, models = dataset.plan, dataset.models
    if plan is None or not plan.jury:
        return models.iloc[:0]
    answered = models[models["rater"].isin(plan.jury) & (models["outcome"] == Response.Outcome.ANSWERED)]
    items = [item for item in dataset.items if item.is_about_a_story and (item.type.is_verdict or item.is_choice)]
    items += [item for item in dataset.items if item.is_scale]
    tables = [_rows_of(dataset, plan, item, answered) for item in items]
    filled = [table for table in tables if len(table)]
    return pd.concat(filled, ignore_index=True) if filled else models.iloc[:0]


def _rows_of(dataset: Dataset, plan: AnalysisPlan, item: StepItem, answered: pd.DataFrame) -> pd.DataFrame:
    step, name = item.key
    own = answered[(answered["step"] == step) & (answered["item"] == name)]
    values: list[Any] = [option["value"] for option in item.item.options] if item.is_choice else ["no", "yes"]
    numbers = [values.index(v) if v in values else None for v in own["value"]] if item.is_choice else own["analysed"]
    columns = ["group", "story"]
    table = pd.DataFrame({c: list(own[c]) for c in ("rater", *columns)} | {"number": list(numbers)})
    by_judge = table.dropna(subset="number").drop_duplicates(["rater", *columns])
    matrix = by_judge.pivot(index=columns, columns="rater", values="number").reindex(columns=list(plan.jury))
    take = jury.mean if item.is_scale else jury.majority
    answers = take(matrix.to_numpy(dtype=np.float64).T, plan.weights_of_jury)
    is_there = np.isfinite(answers)
    values_of_units = [number if item.is_scale else values[int(number)] for number in answers[is_there].tolist()]
    analysed = [np.nan] * len(values_of_units) if item.is_choice else answers[is_there].tolist()
    return _answers(dataset, name_jury(plan), item, list(matrix.index[is_there]), values_of_units, analysed)


def expected_rows(dataset: Dataset) -> pd.DataFrame:
    """Of each judge whose probabilities of points are known its expected scores, as another judge's answers."""
    scales = [item for item in dataset.items if item.is_scale]
    tables = []
    for judge in sorted({answer.judge for answer in dataset.graded_answers}):
        for item, means in zip(scales, grades.mean_expectations(dataset, scales, judge), strict=True):
            is_there = np.isfinite(means)
            units = [unit for unit, has_mean in zip(dataset.units, is_there, strict=True) if has_mean]
            numbers = means[is_there].tolist()
            tables.append(_answers(dataset, name_expected(judge), item, units, numbers, numbers))
    filled = [table for table in tables if len(table)]
    return pd.concat(filled, ignore_index=True) if filled else dataset.models.iloc[:0]


def name_expected(judge: str) -> str:
    """What tables call a judge's expected scores, as no judge can be called."""
    return f"{judge}, expected score"


def _answers(
    dataset: Dataset,
    rater: str,
    item: StepItem,
    units: Sequence[Pair],
    values: Sequence[Any],
    numbers: Sequence[float],
) -> pd.DataFrame:
    """Answers to one item in the columns of a judge's."""
    step, name = item.key
    return pd.DataFrame(
        {
            "assignment": NOBODY,
            "rater": rater,
            "rater_kind": Rater.Kind.MODEL.value,
            "status": "submitted",
            "group": [group for group, _story in units],
            "seat": 0,
            "story": [story for _group, story in units],
            "step": step,
            "item": name,
            "value": list(values),
            "analysed": list(numbers),
            "outcome": Response.Outcome.ANSWERED.value,
            "was_given": True,
            "source": [dataset.source_of(story) or None for _group, story in units],
            "source_kind": [_kind_of(dataset, story) for _group, story in units],
        }
    )


def _kind_of(dataset: Dataset, story: str) -> str | None:
    source = dataset.source_by_story.get(story)
    return source.kind if source else None
