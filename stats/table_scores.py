"""How near a judge's answers are to those of people where they are verdicts or choices: statistics of confusion tables,
which are counted once for all of them, by cluster for their resamples, and of shuffles for their chance floors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from stats import confusion_tables, intervals
from stats.agreement import Floor, floor_of
from stats.arrays import BoolArray, FloatArray, values_of
from stats.intervals import Interval
from stats.judge_scores import as_items
from stats.reasons import Incomputable


@dataclass(frozen=True)
class TableStatistic:
    """One number that says how a judge stands to people; more is better.

    key : its name in files
    compute : its values, shape (..., V, V) to (...), nan where it has none
    pools : whether the units of all items are taken together; otherwise it is the mean of the items' values
    is_share_alike : whether it is the percentage of equal answers: its interval is then that of a mean
    bounds : what it can be
    """

    key: str
    compute: Callable[[FloatArray], FloatArray]
    pools: bool = False
    is_share_alike: bool = False
    bounds: tuple[float, float] = (-1.0, 1.0)

    def of(self, tables: FloatArray) -> FloatArray:
        """Its values of tables of shape (I, ..., V, V), shape (...): of all items together, or the mean of theirs."""
        if self.pools:
            return self.compute(tables.sum(axis=0))
        return np.asarray(np.mean(self.compute(tables), axis=0), dtype=np.float64)


KAPPA = TableStatistic("kappa", confusion_tables.kappas, pools=True)
MEAN_KAPPA = TableStatistic("mean_kappa", confusion_tables.kappas)
BALANCED_ACCURACY = TableStatistic("balanced_accuracy", confusion_tables.balanced_accuracies, pools=True, bounds=(0, 1))
PERCENT_AGREEMENT = TableStatistic(
    "percent_agreement", confusion_tables.percents_alike, pools=True, is_share_alike=True, bounds=(0, 100)
)
NOMINAL = (KAPPA, MEAN_KAPPA, BALANCED_ACCURACY, PERCENT_AGREEMENT)
# Options of several items mean nothing to each other, so these are means of the items' values.
ON_CHOICES = (MEAN_KAPPA, replace(BALANCED_ACCURACY, pools=False), replace(PERCENT_AGREEMENT, pools=False))


def tables_by_cluster(judge: npt.ArrayLike, people: npt.ArrayLike, clusters: npt.ArrayLike) -> FloatArray:
    """The confusion tables of each item and cluster, shape (I, G, V, V); clusters : of each unit, shape (U,)"""
    answers, reference = as_items(judge, people)
    names, cluster_of_unit = np.unique(np.asarray(clusters), return_inverse=True)
    values = values_of(np.stack([answers, reference]))
    return confusion_tables.by_cluster(answers, reference, values, cluster_of_unit, len(names))


def shuffled_tables(
    judge: npt.ArrayLike,
    people: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    strata: Sequence[str] | None = None,
    n_shuffles: int = 1000,
) -> FloatArray:
    """The confusion tables if the judge's answers stood at other units, shape (I, B, V, V): for floors of many
    statistics, and of each item, from the same shuffles.

    strata : of each unit, what it only changes places within
    """
    answers, reference = as_items(judge, people)
    values = values_of(np.stack([answers, reference]))
    batches = confusion_tables.shuffled(answers, reference, values, strata=strata, rng=rng, n_shuffles=n_shuffles)
    return np.concatenate(list(batches), axis=1)


def score(statistic: TableStatistic, tables: FloatArray) -> float:
    """The statistic of tables of shape (I, G, V, V). Items without a value are left out of a mean.

    Raises Incomputable if there is no unit that has both, or no value.
    """
    totals = tables.sum(axis=1)
    of_items = totals[_tables_with_value(statistic, totals)]
    return float(statistic.of(of_items))


def score_interval(
    statistic: TableStatistic, tables: FloatArray, *, rng: np.random.Generator, n_resamples: int = 1000
) -> Interval:
    """The 95 % interval of `score` over clusters, as of means or of coefficients.

    Raises Incomputable as `score` and the intervals do.
    """
    of_items = tables[_tables_with_value(statistic, tables.sum(axis=1))]
    of_items = of_items[:, of_items.any(axis=(0, 2, 3))]
    n_items, n_clusters, *shape = of_items.shape
    if statistic.is_share_alike:
        sums, counts = 100 * np.einsum("igvv->ig", of_items), of_items.sum(axis=(2, 3))
        if statistic.pools:
            sums, counts = sums.sum(axis=0, keepdims=True), counts.sum(axis=0, keepdims=True)
        ends = intervals.mean_interval_of_sums(sums, counts.astype(np.int64), rng=rng, n_resamples=n_resamples)
        return ends.clipped(*statistic.bounds)

    def of_sums(totals: FloatArray) -> FloatArray:
        by_item = totals.reshape(-1, n_items, *shape).swapaxes(0, 1)
        return statistic.of(by_item)

    parts, numbers = of_items.swapaxes(0, 1).reshape(n_clusters, -1), np.arange(n_clusters)
    ends = intervals.interval_of_sums(of_sums, parts, numbers, rng=rng, n_resamples=n_resamples)
    return ends.clipped(*statistic.bounds)


def score_floor(statistic: TableStatistic, shuffled: FloatArray, tables: FloatArray) -> Floor:
    """What `score` is if the judge's answers stood at other units: the mean over shuffles, and their 97.5th percentile.

    shuffled : from `shuffled_tables` of the same items, shape (I, B, V, V)
    Raises Incomputable as `score` does, or if no shuffle has a value.
    """
    of_items = shuffled[_tables_with_value(statistic, tables.sum(axis=1))]
    return floor_of(statistic.of(of_items))


def _tables_with_value(statistic: TableStatistic, totals: FloatArray) -> BoolArray:
    """Which items enter, shape (I, V, V) to (I,). Raises Incomputable if none does."""
    is_compared = totals.any(axis=(1, 2))
    if not is_compared.any():
        raise Incomputable("no_unit_with_judge_and_people")
    values = statistic.compute(totals.sum(axis=0, keepdims=True) if statistic.pools else totals)
    if not np.isfinite(values).any():
        raise Incomputable("judge_or_people_constant")
    return np.asarray(is_compared if statistic.pools else np.isfinite(values), dtype=np.bool_)
