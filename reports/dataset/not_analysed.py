"""Answers of judges that no figure analyses: what is left when each figure has taken what it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.models import Rater
from reports.dataset.step_items import metric_items
from reports.lazy import np

if TYPE_CHECKING:
    import pandas as pd

    from reports.dataset import Dataset
    from reports.dataset.step_items import StepItem

KEYS = ["rater", "rater_kind", "step", "item"]


def select_not_analysed(dataset: Dataset) -> pd.DataFrame:
    """The answers of judges that stand in no figure but in counts of answers.

    type : of the item; "" if no step asks it any more
    """
    measured = {item.step.key for item in metric_items(dataset.study)}  # every one of them is a text measure
    item_by_key = {item.key: item for item in dataset.items}
    answers = dataset.judges[~dataset.judges["step"].isin(measured)]
    kinds = answers[KEYS].drop_duplicates()
    items = [item_by_key.get(key) for key in zip(kinds["step"], kinds["item"], strict=True)]
    judges = zip(kinds["rater"], kinds["rater_kind"], items, strict=True)
    is_left = [item is None or not _is_analysed(dataset, item, judge, kind) for judge, kind, item in judges]
    types = [item.item.type if item else "" for item in items]
    left = kinds.assign(type=types)[np.array(is_left, dtype=np.bool_)]
    return answers.merge(left, on=KEYS)


def _is_analysed(dataset: Dataset, item: StepItem, judge: str, kind: str) -> bool:
    if kind == Rater.Kind.METRIC:
        return _is_of_metric(dataset, item, judge)
    if item.is_about_a_story:
        return item.type.is_verdict or item.is_choice or item.is_scale
    return item.is_preference or item.is_ranking or item.step.layout_type.fills_text


def _is_of_metric(dataset: Dataset, item: StepItem, judge: str) -> bool:
    """Whether a figure analyses what this metric answered to what people are asked: choices in pairs, printed scores of
    a cloze, and what the analysis plan of ideas names."""
    published = dataset.scored_cloze.published if dataset.scored_cloze else None
    if published and published.metric == judge and item.key in published.keys:
        return True
    plan = dataset.plan if dataset.plan and dataset.plan.nsv_target else None
    if plan and "/".join(item.key) == plan.nsv_coherence:
        return True
    is_named = plan is not None and judge in (plan.nsv_surprise, plan.nsv_value, plan.nsv_pairs)
    return item.is_preference or (is_named and item.is_about_a_story)
