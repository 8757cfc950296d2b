"""What a judge and people say in each part of a study, and a statistic of both with what is drawn for it.

Axes: I items, R people, U units. nan is a missing answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from stats import judge_scores, table_scores
from stats.agreement import Floor
from stats.arrays import BoolArray, FloatArray, IntArray
from stats.intervals import Interval
from stats.judge_scores import Statistic
from stats.table_scores import TableStatistic

PARTS_OF_ALL = ("all", "unanimous", "split")  # of the same units; they differ in which of people's answers count
SHUFFLES = 98  # of the seed


class JudgedAnswers(Protocol):
    """people : shape (I, R, U); sources : of each unit, shape (U,); is_of_models, clusters : shape (U,)"""

    @property
    def people(self) -> FloatArray: ...
    @property
    def sources(self) -> Sequence[str]: ...
    @property
    def is_of_models(self) -> BoolArray: ...
    @property
    def clusters(self) -> IntArray: ...


class Draws(Protocol):
    """Chance from the seed of a study: for one purpose, and for resamples, each time from its beginning."""

    def rng(self, *salt: int) -> np.random.Generator: ...
    def resampling(self) -> np.random.Generator: ...


@dataclass(frozen=True)
class Computed:
    """A value, and what gives its interval, and its chance floor, among all stories (None) or within strata.

    n, n_units : answers that both gave, and units that have one
    interval, floor : raise Incomputable where there is none
    strata : of each unit of the part, shape (U,)
    """

    value: float
    n: int
    n_units: int
    interval: Callable[[], Interval]
    floor: Callable[[Sequence[str] | None], Floor]
    strata: tuple[str, ...]


def find_unanimous(people: FloatArray) -> BoolArray:
    """Where two people or more answered and all the same, shape (I, R, U) to (I, U)."""
    nobody = np.full((people.shape[0], 1, people.shape[2]), np.nan)  # so that there is a first to compare
    answers = np.concatenate([people, nobody], axis=1)
    spread = np.fmax.reduce(answers, axis=1) - np.fmin.reduce(answers, axis=1)
    return np.asarray((np.isfinite(people).sum(axis=1) > 1) & (spread == 0))


def find_split(people: FloatArray) -> BoolArray:
    """Where two people or more answered and differ, shape (I, R, U) to (I, U)."""
    return np.asarray((np.isfinite(people).sum(axis=1) > 1) & ~find_unanimous(people))


def is_mixed(is_of_models: BoolArray) -> bool:
    """Whether some stories are by models and others are not."""
    return bool(is_of_models.any() and not is_of_models.all())


@dataclass(frozen=True)
class PartSides:
    """What the judge and people say in a part, both of shape (I, U); the cluster and the source of each unit in it.

    tables : confusion tables by item and cluster, counted once for all statistics
    """

    judge: FloatArray
    people: FloatArray
    clusters: IntArray
    sources: tuple[str, ...]

    @cached_property
    def tables(self) -> FloatArray:
        return table_scores.tables_by_cluster(self.judge, self.people, self.clusters)


@dataclass
class Sides:
    """One judge and what people say of each item and unit, both of shape (I, U), and what is drawn for both once.

    widths : how far apart two numbers on each item's scale can be, shape (I,)
    salt : of the seed
    sides_by_part : what enters in each part that was asked for so far
    tables_by_part : shuffled confusion tables, which all statistics and items share: among all stories, and within
        source, of each part that was asked for so far
    """

    draws: Draws
    material: JudgedAnswers
    answers: FloatArray
    reference: FloatArray
    widths: Sequence[float]
    salt: tuple[int, ...]
    sides_by_part: dict[str, PartSides] = field(default_factory=dict)
    tables_by_part: dict[tuple[str, bool], FloatArray] = field(default_factory=dict)

    def list_parts(self, names: Sequence[str]) -> list[tuple[int, str]]:
        """Those of these parts that the study has, each with its number."""
        has_models = is_mixed(self.material.is_of_models)
        return [(n, name) for n, name in enumerate(names) if name != "models" or has_models]

    def select(self, part: str) -> PartSides:
        """What enters in a part, found once for all statistics and items."""
        if part not in self.sides_by_part:
            self.sides_by_part[part] = self._select(part)
        return self.sides_by_part[part]

    def _select(self, part: str) -> PartSides:
        units, reference = np.ones(self.reference.shape[1], dtype=np.bool_), self.reference
        if part == "models":
            units = self.material.is_of_models
        elif part != "all":
            is_in = find_unanimous(self.material.people) if part == "unanimous" else find_split(self.material.people)
            reference = np.where(is_in, reference, np.nan)
        sources = (source for source, is_kept in zip(self.material.sources, units, strict=True) if is_kept)
        return PartSides(self.answers[:, units], reference[:, units], self.material.clusters[units], tuple(sources))

    def tables(self, part: str, strata: Sequence[str] | None) -> FloatArray:
        """The tables of 1,000 shuffles in a part, of all items. Parts of the same units are drawn together."""
        if (part, strata is not None) not in self.tables_by_part:
            parts = ("models",) if part == "models" else PARTS_OF_ALL
            rng = self.draws.rng(*self.salt, SHUFFLES, int(part == "models"), int(strata is not None))
            people = np.concatenate([self.select(name).people for name in parts])
            judge = np.tile(self.select(part).judge, (len(parts), 1))
            tables = table_scores.shuffled_tables(judge, people, rng=rng, strata=strata)
            self.tables_by_part |= {
                (name, strata is not None): own for name, own in zip(parts, np.split(tables, len(parts)), strict=True)
            }
        return self.tables_by_part[part, strata is not None]

    def compute(
        self, statistic: Statistic | TableStatistic, part: str, items: slice, *, salt: tuple[int, ...], n_resamples: int
    ) -> Computed:
        """A statistic of some of the items in a part. Raises Incomputable if it has no value."""
        own = self.select(part)
        judge, people = own.judge[items], own.people[items]
        both = np.isfinite(judge) & np.isfinite(people)
        of = self._of_tables if isinstance(statistic, TableStatistic) else self._of_numbers
        value, interval, floor = of(statistic, part, items, salt, n_resamples)  # type: ignore[arg-type]
        return Computed(value, int(both.sum()), int(both.any(axis=0).sum()), interval, floor, own.sources)

    def _of_tables(
        self, statistic: TableStatistic, part: str, items: slice, _salt: tuple[int, ...], n_resamples: int
    ) -> tuple[float, Callable[[], Interval], Callable[[Sequence[str] | None], Floor]]:
        tables = self.select(part).tables[items]

        def interval() -> Interval:
            rng = self.draws.resampling()
            return table_scores.score_interval(statistic, tables, rng=rng, n_resamples=n_resamples)

        def floor(strata: Sequence[str] | None) -> Floor:
            return table_scores.score_floor(statistic, self.tables(part, strata)[items], tables)

        return table_scores.score(statistic, tables), interval, floor

    def _of_numbers(
        self, statistic: Statistic, part: str, items: slice, salt: tuple[int, ...], n_resamples: int
    ) -> tuple[float, Callable[[], Interval], Callable[[Sequence[str] | None], Floor]]:
        own = self.select(part)
        judge, people = own.judge[items], own.people[items]
        most = max(self.widths[items]) if statistic.is_distance else np.inf

        def interval() -> Interval:
            rng = self.draws.resampling()
            whole = judge_scores.score_interval(
                statistic, judge, people, own.clusters, rng=rng, n_resamples=n_resamples
            )
            return whole.clipped(-most, most)

        def floor(strata: Sequence[str] | None) -> Floor:
            rng = self.draws.rng(*salt, 1 if strata is None else 2)
            return judge_scores.score_floor(statistic, judge, people, rng=rng, strata=strata)

        return judge_scores.score(statistic, judge, people), interval, floor
