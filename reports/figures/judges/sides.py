"""What a judge and people say in each part of a study, and what statistics of both share: tables, draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from reports.dataset.step_items import widest
from reports.document.values import Floor
from reports.figures.base import N_RESAMPLES, chance_floor
from reports.lazy import judge_scores, np, table_scores

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.judged import Judged
    from stats.arrays import FloatArray, IntArray
    from stats.intervals import Interval as StatisticInterval
    from stats.judge_scores import Statistic
    from stats.table_scores import TableStatistic

    # A value, and what gives its interval and its chance floor, among all stories or within strata.
    Computed = tuple[float, Callable[[], StatisticInterval], Callable[[Sequence[str] | None], Floor]]

PARTS_OF_ALL = ("all", "unanimous", "split")  # of the same units; they differ in which of people's answers count
SHUFFLES = 98  # of the seed


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

    sides_by_part : what enters in each part that was asked for so far
    tables_by_part : shuffled confusion tables, which all statistics and items share: among all stories, and within
        source, of each part that was asked for so far
    """

    dataset: Dataset
    material: Judged
    answers: FloatArray
    reference: FloatArray
    salt: tuple[int, ...]
    sides_by_part: dict[str, PartSides] = field(default_factory=dict)
    tables_by_part: dict[tuple[str, bool], FloatArray] = field(default_factory=dict)

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
            is_in = self.material.is_unanimous() if part == "unanimous" else self.material.is_split()
            reference = np.where(is_in, reference, np.nan)
        sources = (source for source, is_kept in zip(self.material.sources, units, strict=True) if is_kept)
        return PartSides(self.answers[:, units], reference[:, units], self.material.clusters[units], tuple(sources))

    def tables(self, part: str, strata: Sequence[str] | None) -> FloatArray:
        """The tables of 1,000 shuffles in a part, of all items. Parts of the same units are drawn together."""
        if (part, strata is not None) not in self.tables_by_part:
            parts = ("models",) if part == "models" else PARTS_OF_ALL
            rng = self.dataset.rng(*self.salt, SHUFFLES, int(part == "models"), int(strata is not None))
            people = np.concatenate([self.select(name).people for name in parts])
            judge = np.tile(self.select(part).judge, (len(parts), 1))
            tables = table_scores.shuffled_tables(judge, people, rng=rng, strata=strata)
            self.tables_by_part |= {
                (name, strata is not None): own for name, own in zip(parts, np.split(tables, len(parts)), strict=True)
            }
        return self.tables_by_part[part, strata is not None]


def of_tables(sides: Sides, statistic: TableStatistic, part: str, items: slice) -> Computed:
    tables = sides.select(part).tables[items]

    def ends() -> StatisticInterval:
        rng = sides.dataset.resampling()
        return table_scores.score_interval(statistic, tables, rng=rng, n_resamples=N_RESAMPLES)

    def floor(strata: Sequence[str] | None) -> Floor:
        return chance_floor(table_scores.score_floor, statistic, sides.tables(part, strata)[items], tables)

    return table_scores.score(statistic, tables), ends, floor


def of_numbers(sides: Sides, statistic: Statistic, part: str, items: slice, *, salt: tuple[int, ...]) -> Computed:
    own = sides.select(part)
    judge, people = own.judge[items], own.people[items]
    most = widest(sides.material.items[items]) if statistic.is_distance else np.inf

    def ends() -> StatisticInterval:
        rng = sides.dataset.resampling()
        whole = judge_scores.score_interval(statistic, judge, people, own.clusters, rng=rng, n_resamples=N_RESAMPLES)
        return whole.clipped(-most, most)

    def floor(strata: Sequence[str] | None) -> Floor:
        rng = sides.dataset.rng(*salt, 1 if strata is None else 2)
        return chance_floor(judge_scores.score_floor, statistic, judge, people, rng=rng, strata=strata)

    return judge_scores.score(statistic, judge, people), ends, floor
