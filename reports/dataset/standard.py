"""The standard that a plan names beside people, such as votes, gold labels or published verdicts.

Its labels are read here and stored nowhere as a rater: they count neither among people nor among judges.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from annotation.models import Response
from reports.dataset import cubes
from reports.dataset.choices import Choice
from reports.dataset.judged import Judged, answers_to, code_options, judged
from reports.lazy import np
from studies.models import Source

if TYPE_CHECKING:
    import pandas as pd

    from reports.dataset import Dataset
    from reports.dataset.step_items import StepItem
    from stats.arrays import FloatArray

NUMBER_BY_WORD = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


@dataclass(frozen=True)
class ItemLabels:
    """What the standard says of one item.

    factor : of the stories, that has the labels; "" where they are the answers of a rater
    values : of each unit of the study, shape (U,), nan without a label; of an item about pairs empty
    choices : of an item about pairs, the preferred story of each group
    n_missing : units, or pairs, without a label, those included whose label is none of the item's answers
    n_unreadable : stories whose property has a value that is none
    """

    item: StepItem
    factor: str
    values: FloatArray
    choices: tuple[Choice, ...]
    n_missing: int
    n_unreadable: int

    @property
    def n(self) -> int:
        return len(self.choices) if self.item.is_preference else int(np.isfinite(self.values).sum())


def read_labels(dataset: Dataset) -> list[ItemLabels]:
    """The labels of each item that the standard says anything about, in the order of the items; none without one."""
    plan = dataset.plan
    if plan is None or not plan.standard:
        return []
    if plan.standard_rater:
        rows = dataset.standard_answers
        rows = rows[rows["outcome"] == Response.Outcome.ANSWERED]
        read = (_read_answers(dataset, item, answers_to(rows, [item])) for item in _answerable(dataset))
    else:
        name_by_key = dict(plan.standard_labels)
        names = [(item, name_by_key.get("/".join(item.key))) for item in _answerable(dataset)]
        read = (_read_property(dataset, item, name) for item, name in names if name)
    return [labels for labels in read if labels.n]


def judged_by_standard(dataset: Dataset, labels: list[ItemLabels]) -> tuple[Judged, FloatArray] | None:
    """What judges answered to these items about stories, without people, and the labels, shape (I, U); None if none
    did."""
    material = judged(dataset, [of_item.item for of_item in labels], with_jury=True)
    if material is None:
        return None
    nobody = np.full((len(labels), 0, len(material.units)), np.nan)
    return replace(material, people=nobody, raters=()), np.stack([of_item.values for of_item in labels])


def without_answers(dataset: Dataset, item: StepItem) -> Judged:
    """The units of the study with neither judges nor people, for what else is held against labels of an item."""
    cube = cubes.Cube((item.key,), (), dataset.units, np.full((1, 0, len(dataset.units)), np.nan))
    return Judged(
        items=(item,),
        names=(),
        judges=cube.values.transpose(1, 0, 2),
        people=cube.values,
        raters=(),
        units=cube.units,
        clusters=dataset.clusters(cube),
        sources=tuple(dataset.source_of(story) for story in cube.stories),
        is_of_models=dataset.is_of_kind(cube, Source.Kind.MODEL),
    )


def _answerable(dataset: Dataset) -> list[StepItem]:
    """The items that can have labels."""
    return [
        item
        for item in dataset.items
        if item.is_preference or (item.is_about_a_story and (item.type.is_verdict or item.is_choice or item.is_scale))
    ]


def _read_answers(dataset: Dataset, item: StepItem, rows: pd.DataFrame) -> ItemLabels:
    """Answers as labels. No value is none: answers are checked as they come in."""
    if item.is_preference:
        pairs = dict(_pairs_of(dataset))
        choices = {
            group: Choice(rater="", group=group, order=pairs[group], story=value)
            for group, value in zip(rows["group"], rows["value"], strict=True)
            if value in pairs.get(group, ())
        }
        return _of_pairs(item, "", [choices[group] for group in sorted(choices)], len(pairs), 0)
    cube = cubes.build_cube(code_options(rows, [item]), [item.key], units=dataset.units)
    values = cube.values[0][0] if len(cube.raters) else np.full(len(dataset.units), np.nan)
    return ItemLabels(item, "", values, (), int(np.isnan(values).sum()), 0)


def _read_property(dataset: Dataset, item: StepItem, name: str) -> ItemLabels:
    """The values of a property as labels."""
    words = {story: dataset.story_factor(story, name).strip() for _group, story in dataset.units}
    value_by_story = {story: _read_value(item, word) for story, word in words.items()}
    n_unreadable = sum(bool(word) and math.isnan(value_by_story[story]) for story, word in words.items())
    if not item.is_preference:
        values = np.array([value_by_story[story] for _group, story in dataset.units], dtype=np.float64)
        return ItemLabels(item, name, values, (), int(np.isnan(values).sum()), n_unreadable)
    pairs = dict(_pairs_of(dataset))
    choices = []
    for group, stories in pairs.items():
        first, second = (value_by_story[story] for story in stories)
        if first != second and math.isfinite(first + second):
            choices.append(Choice(rater="", group=group, order=stories, story=stories[int(second > first)]))
    return _of_pairs(item, name, choices, len(pairs), n_unreadable)


def _of_pairs(item: StepItem, name: str, choices: list[Choice], n_pairs: int, n_unreadable: int) -> ItemLabels:
    nothing = np.full(0, np.nan)
    return ItemLabels(item, name, nothing, tuple(choices), n_pairs - len(choices), n_unreadable)


def _read_value(item: StepItem, word: str) -> float:
    """A label as the number that an answer of it is analysed as, of pairs any number; nan where it is none."""
    if item.is_choice:
        values = [str(option["value"]).casefold() for option in item.item.options]
        return float(values.index(word)) if word in values else math.nan
    try:
        number = NUMBER_BY_WORD[word] if word in NUMBER_BY_WORD and item.type.is_verdict else float(word)
    except ValueError:
        return math.nan
    if item.is_preference:
        return number if math.isfinite(number) else math.nan
    low, high = item.bounds
    is_answer = number in (0, 1) if item.type.is_verdict else math.isfinite(number) and low <= number <= high
    return number if is_answer else math.nan


def _pairs_of(dataset: Dataset) -> Iterator[tuple[str, tuple[str, str]]]:
    """Every group of two stories with them, by code."""
    stories_by_group = defaultdict[str, list[str]](list)
    for group, story in dataset.units:
        stories_by_group[group].append(story)
    for group, stories in stories_by_group.items():
        if len(stories) == 2:
            yield group, (stories[0], stories[1])
