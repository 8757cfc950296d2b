"""What one study's results are computed from, read once: its questions, its answers, and its sources unless sealed."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsFloat

import numpy as np
import pandas as pd

from annotation.models import Response
from reports import answers, frames
from reports.frames import Cube
from stats.agreement import Coefficient, Floor, Incomputable
from stats.arrays import BoolArray
from stats.intervals import Interval
from studies import items
from studies.models import Item, Source, Step, Study

N_RESAMPLES = 1000
FEW = 30


def is_sealed(study: Study) -> bool:
    """Whether results by source are neither computed nor shown: until the study is closed."""
    return study.state != Study.State.CLOSED


@dataclass(frozen=True)
class Asked:
    """An item where it is asked."""

    step: Step
    item: Item

    @property
    def key(self) -> tuple[str, str]:
        return self.step.key, self.item.key

    @property
    def level(self) -> str:
        return items.named(self.item.type).level

    @property
    def is_about_a_story(self) -> bool:
        return self.step.scope in (Step.Scope.STORY, Step.Scope.STORIES)

    def described(self) -> dict[str, Any]:
        return {
            "step": self.step.key,
            "item": self.item.key,
            "title": self.item.title or self.item.key,
            "dimension": self.item.dimension,
            "type": self.item.type,
        }


@dataclass(frozen=True)
class Material:
    """Answers that count, by people and by judges, with what they are about.

    about : source, kind and factors by story; empty if sealed
    units : every (group, story) of the study
    """

    study: Study
    sealed: bool
    asked: tuple[Asked, ...]
    everything: pd.DataFrame
    about: dict[str, dict[str, Any]]
    units: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, study: Study, *, blind: bool = False) -> "Material":
        """The material of a study; sealed while the study is, and for readers who are to stay blind."""
        sealed = blind or is_sealed(study)
        return cls(
            study=study,
            sealed=sealed,
            asked=tuple(Asked(step, item) for step, item in frames.asked(study)),
            everything=answers.table(study, with_sources=not sealed),
            about={} if sealed else frames.source_by_story(study),
            units=tuple(frames.units(study)),
        )

    @cached_property
    def people(self) -> pd.DataFrame:
        return frames.people(frames.counted(self.everything))

    @cached_property
    def judges(self) -> pd.DataFrame:
        return frames.judges(frames.counted(self.everything))

    @cached_property
    def sources(self) -> list[tuple[str, str]]:
        """Name and kind of every source: people before models, then by name. None while sealed."""
        order = [Source.Kind.EXPERT, Source.Kind.AMATEUR, Source.Kind.OTHER, Source.Kind.MODEL]
        found = {(about["source"], about["source_kind"]) for about in self.about.values()}
        return sorted(found, key=lambda source: (order.index(Source.Kind(source[1])), source[0].casefold()))

    @cached_property
    def raters(self) -> list[str]:
        """Every person among the answers that count, by code."""
        return sorted(self.people["rater"].unique())

    @cached_property
    def _people_by_key(self) -> dict[Any, pd.DataFrame]:
        return dict(iter(self.people.groupby(["step", "item"], sort=False)))

    @cached_property
    def verdict_cube(self) -> Cube:
        """People's verdicts, of which much is computed."""
        return self.cube(self.verdicts)

    @property
    def verdicts(self) -> list[Asked]:
        """The items answered Yes or No about each story."""
        return [a for a in self.asked if frames.is_verdict(a.item) and a.is_about_a_story]

    def rng(self, *salt: int) -> np.random.Generator:
        """Chance for one purpose, from the study's seed: the same for the same study, whatever else is computed."""
        return np.random.default_rng([abs(self.study.seed), *salt])

    def cube(self, asked: list[Asked], table: pd.DataFrame | None = None) -> Cube:
        """People's answers over all units of the study, so that several items of one scope line up."""
        about_stories = all(a.is_about_a_story for a in asked)
        among = (
            list(self.units) if about_stories else [(group, "") for group in dict.fromkeys(g for g, _ in self.units)]
        )
        if table is None:
            table = self._of(asked[0]) if len(asked) == 1 else self.people
        return frames.cube(table, [a.key for a in asked], raters=self.raters, among=among)

    def rows(self, asked: Asked) -> pd.DataFrame:
        """What people answered to one item."""
        of_item = self._of(asked)
        return of_item[of_item["outcome"] == Response.Outcome.ANSWERED]

    def _of(self, asked: Asked) -> pd.DataFrame:
        return self._people_by_key.get(asked.key, self.people.iloc[:0])

    def source_of(self, story: str) -> str:
        """Who wrote the story; nothing while sealed, or if the study does not say."""
        return str(self.about.get(story, {}).get("source", ""))

    def by(self, cube: Cube, source: str) -> BoolArray:
        """Which units of the cube are of that source."""
        return np.array([self.source_of(story) == source for story in cube.stories], dtype=np.bool_)

    def by_kind(self, cube: Cube, kind: str) -> BoolArray:
        return np.array([self.about.get(s, {}).get("source_kind") == kind for s in cube.stories], dtype=np.bool_)


def value(statistic: Callable[..., SupportsFloat], *arguments: Any, **named: Any) -> dict[str, Any]:
    """A statistic as JSON: its value, or None and why there is none; with its name, n and note where it has them."""
    try:
        found = statistic(*arguments, **named)
    except Incomputable as reason:
        return {"value": None, "why": str(reason)}
    if not isinstance(found, Coefficient):
        return {"value": float(found)}
    few = f"only {found.n_units} unit{'s' * (found.n_units != 1)}" if found.n_units < FEW else ""
    note = "; ".join(filter(None, [found.note, few]))
    rests_on = {"n_units": found.n_units, "n_raters": found.n_raters}
    return {"value": found.value, "name": found.name, **rests_on, "note": note}


def interval(compute: Callable[..., Interval], *arguments: Any, **named: Any) -> dict[str, Any]:
    """A 95 % interval as JSON: its ends, or None and why there are none."""
    try:
        found = compute(*arguments, **named)
    except Incomputable as reason:
        return {"low": None, "high": None, "why": str(reason)}
    return {"low": found.low, "high": found.high, "n_resampled": found.n_units, "note": found.note}


def floor(compute: Callable[..., Floor], *arguments: Any, **named: Any) -> dict[str, Any]:
    """A chance floor as JSON."""
    try:
        found = compute(*arguments, **named)
    except Incomputable as reason:
        return {"mean": None, "upper": None, "why": str(reason)}
    return {"mean": found.mean, "upper": found.upper}


def mean(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The mean of those parts that have a value, saying how many have none."""
    found = [part["value"] for part in parts if part["value"] is not None]
    if not found:
        return {"value": None, "why": "There is nothing to average."}
    return {"value": float(np.mean(found)), "n": len(found), "n_left_out": len(parts) - len(found)}
