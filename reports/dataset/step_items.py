"""The items of a study where they are asked."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from studies import items, protocol
from studies.items import ItemType
from studies.items.base import Level
from studies.models import Item, Step, Study


@dataclass(frozen=True)
class StepItem:
    """An item in the step that asks it."""

    step: Step
    item: Item

    @property
    def key(self) -> tuple[str, str]:
        return self.step.key, self.item.key

    @property
    def type(self) -> ItemType:
        return items.find_type(self.item.type)

    @property
    def level(self) -> Level:
        return self.type.level

    @property
    def is_about_a_story(self) -> bool:
        return self.step.scope in (Step.Scope.STORY, Step.Scope.STORIES)

    @property
    def is_preference(self) -> bool:
        """Whether one of the stories of a group is chosen."""
        return self.step.scope == Step.Scope.GROUP and self.type.chooses_story

    @property
    def is_choice(self) -> bool:
        """Whether one of several options is chosen about a story."""
        return self.is_about_a_story and self.level == "nominal" and self.type.has_options and not self.type.is_verdict

    @property
    def is_scale(self) -> bool:
        """Whether a story is given a number, or a place on a scale."""
        return self.is_about_a_story and self.level in ("ordinal", "interval")

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which its numbers lie, 0 and 1 for verdicts; infinite where a scale has no end."""
        if self.type.is_verdict:
            return 0.0, 1.0
        low, high = self.item.settings.get("low"), self.item.settings.get("high")
        return (-math.inf if low is None else float(low)), (math.inf if high is None else float(high))

    @property
    def is_ranking(self) -> bool:
        """Whether the stories of a group are put in order."""
        return self.step.scope == Step.Scope.GROUP and self.type.gives_order

    @property
    def author_by_option(self) -> dict[str, str]:
        """What kind of author each option means, if the item asks who wrote the story it is about; else nothing."""
        return dict(self.type.author_by_option(self.item)) if self.is_about_a_story else {}

    @property
    def is_guess(self) -> bool:
        return bool(self.author_by_option)


def step_items(study: Study) -> list[StepItem]:
    """Every item of the study, in order, in its current version (the draft if none is frozen). What is only practised
    is none of them."""
    version = study.frozen_versions.last() or study.versions.first()
    steps = protocol.load_protocol(version).steps if version else ()
    counted = [step for step in steps if step.kind != Step.Kind.PRACTICE]
    return [StepItem(step, item) for step in counted for item in protocol.items_of(step)]


def widest(items: Iterable[StepItem]) -> float:
    """How far apart two numbers on the widest of these scales can be, which no difference of means exceeds."""
    return max(widths_of(items))


def widths_of(items: Iterable[StepItem]) -> list[float]:
    """How far apart two numbers on each of these scales can be."""
    return [item.bounds[1] - item.bounds[0] for item in items]


def metric_items(study: Study) -> list[StepItem]:
    """Every item that metrics measured, in order. Their steps stand beside the protocol, in any of its versions."""
    steps = Step.objects.filter(version__study=study, kind=Step.Kind.METRIC).select_related("instrument")
    return [
        StepItem(step, item)
        for step in steps.order_by("version__number", "position")
        if step.instrument
        for item in step.instrument.items.order_by("position")
    ]


def number(item: Item, value: object) -> float | None:
    """The value as one number in the direction in which it is analysed (yes is 1, no is 0); None if it is not one."""
    kind = items.find_type(item.type)
    analysed = kind.analysed(item, value)
    if isinstance(analysed, int | float):
        return float(analysed)
    return {"yes": 1.0, "no": 0.0}.get(cast(str, analysed)) if kind.is_verdict else None
