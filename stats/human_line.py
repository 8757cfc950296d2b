"""How a judge agrees with people, beside how a person does: each person is left out in turn, and both are scored
against the same remaining people on the same units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from stats import confusion_tables, intervals
from stats.arrays import BoolArray, FloatArray, IntArray, mean_present, select_units, values_of
from stats.intervals import Interval
from stats.judge_scores import spearmans
from stats.judgements import majority_option
from stats.reasons import Incomputable, value_or_reason

# "pairwise": the mean of Cohen's kappas with each of the others; "mean": Spearman's rho with the mean of the others.
Against: TypeAlias = Literal["pairwise", "mean"]
# The same among people alone; "majority": Cohen's kappa with what more than half of the others say, and "preference":
# the share of choices that are the majority's, where it prefers one (from 0 on; below it stands for neither).
AmongPeople: TypeAlias = Literal["pairwise", "mean", "majority", "preference"]


@dataclass(frozen=True)
class HumanLine:
    """Means over the people left out, and how far the judge is from a person.

    person, judge : mean scores, of people left out and of the judge in their place; a person who shares more units with
        others, who may be others for every story, weighs as much more
    difference : judge less person
    person_interval, judge_interval, difference_interval : or why there is none
    n_people : who were left out
    n_units : answers on which a person, the judge and somebody else are compared
    """

    person: float
    judge: float
    difference: float
    person_interval: Interval | Incomputable
    judge_interval: Interval | Incomputable
    difference_interval: Interval | Incomputable
    n_people: int
    n_units: int


@dataclass(frozen=True)
class PeopleAgreement:
    """How one person agrees with the others, the mean over people left out in turn, each weighing by its answers.

    interval : or why there is none
    n_people : who were left out
    n_units : answers of people that are compared
    """

    value: float
    interval: Interval | Incomputable
    n_people: int
    n_units: int


def agree_among_people(
    people: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    against: AmongPeople,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> PeopleAgreement:
    """What one of the people has, as a line to hold judges against.

    people : ratings of shape (I items, R, U), nan where there is none
    against : "mean" takes the mean of the items' values, the others pool the items

    Raises Incomputable if nobody shares units with somebody else, or no score has a value.
    """
    ratings = np.asarray(people, dtype=np.float64)
    names, cluster_of_unit = np.unique(np.asarray(clusters), return_inverse=True)
    sides = list(_left_out(ratings, against))
    if not sides:
        raise Incomputable("nobody_beside_the_rest")
    compute = confusion_tables.shares_alike if against == "preference" else confusion_tables.kappas
    values = values_of(ratings.reshape(len(ratings), -1))
    pooled = [] if against == "mean" else [_shared(s.own, s.other, values, cluster_of_unit[s.units]) for s in sides]
    sizes = np.array([side.n for side in sides])

    def resamples(weights: IntArray) -> FloatArray:
        if against == "mean":
            by_item = [_correlate(sides, item, weights[:, cluster_of_unit]) for item in range(len(ratings))]
            return _nanmean(np.stack(by_item), np.ones(len(by_item)))
        return _nanmean(np.stack([compute(tables.resampled(weights)) for tables in pooled]), sizes)

    value = float(resamples(np.ones((1, len(names)), dtype=np.int64))[0])
    if not np.isfinite(value):
        raise Incomputable("judge_or_people_constant")
    return PeopleAgreement(
        value=value,
        interval=value_or_reason(
            lambda: intervals.coefficient_interval(resamples, np.arange(len(names)), rng=rng, n_resamples=n_resamples)
        ),
        n_people=len({side.row for side in sides}),
        n_units=int(sizes.sum()),
    )


@dataclass(frozen=True)
class _Side:
    """A person left out beside others, over the units that the person judged.

    row : who it is
    own, other : shape (I, those units)
    n : answers that both have
    """

    row: int
    units: IntArray
    own: FloatArray
    other: FloatArray

    @property
    def n(self) -> int:
        return int((np.isfinite(self.own) & np.isfinite(self.other)).sum())


def _left_out(people: FloatArray, against: AmongPeople) -> Iterator[_Side]:
    """Each person beside what they are compared with, where both have an answer."""
    has_judged = np.asarray(np.isfinite(people).any(axis=0))
    for row, is_own in enumerate(has_judged):
        if against == "pairwise":
            for other in range(len(has_judged)):
                units = np.flatnonzero(is_own & has_judged[other]) if other != row else np.zeros(0, dtype=np.int64)
                side = _Side(row, units, people[:, row, units], people[:, other, units])
                if side.n:
                    yield side
            continue
        units = np.flatnonzero(is_own)
        side = _Side(row, units, people[:, row, units], _together(np.delete(people[:, :, units], row, axis=1), against))
        if side.n:
            yield side


def _together(others: FloatArray, against: AmongPeople) -> FloatArray:
    """What others say taken together, shape (I, R, U) to (I, U)."""
    if against == "mean":
        return np.asarray(mean_present(others, axis=1), dtype=np.float64)
    most = np.stack([majority_option(of_item) for of_item in others])
    return np.asarray(np.where(most < 0, np.nan, most) if against == "preference" else most, dtype=np.float64)


@dataclass(frozen=True)
class _Shared:
    """Confusion tables of two sides, items pooled, of the clusters in which they share a unit: shape (G', V, V)."""

    clusters: IntArray
    tables: FloatArray

    def resampled(self, weights: IntArray) -> FloatArray:
        """Those of resamples of all clusters, shape (B, G) to (B, V, V)."""
        return np.asarray(confusion_tables.resampled(self.tables[np.newaxis], weights[:, self.clusters])[0])


def _shared(first: FloatArray, second: FloatArray, values: FloatArray, cluster_of_unit: IntArray) -> _Shared:
    clusters, places = np.unique(cluster_of_unit, return_inverse=True)
    tables = confusion_tables.by_cluster(first, second, values, places, len(clusters))
    return _Shared(clusters, tables.sum(axis=0))


def _correlate(sides: Sequence[_Side], item: int, weights: IntArray) -> FloatArray:
    """The mean over people left out of Spearman's correlation in one item. weights : of units, shape (B, U) to (B,)"""
    scores, sizes = [], []
    for side in sides:
        is_shared = np.isfinite(side.own[item]) & np.isfinite(side.other[item])
        if is_shared.any():
            counts = weights[:, side.units[is_shared]].astype(np.float64)
            scores.append(spearmans(side.own[np.newaxis, item, is_shared], side.other[item, is_shared], counts))
            sizes.append(is_shared.sum())
    return _nanmean(np.stack(scores), np.array(sizes)) if scores else np.full(len(weights), np.nan)


def compare(
    people: npt.ArrayLike,
    judge: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    against: Against,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> HumanLine:
    """The judge beside people who are left out in turn.

    people : ratings of shape (I items, R, U), nan where there is none
    judge : shape (I, U)
    clusters : of each unit, shape (U,)
    against : "pairwise" pools the items, "mean" takes the mean of the items' values

    Raises Incomputable if nobody shares units with the judge and with somebody else, or no score has a value.
    """
    ratings, answers = np.asarray(people, dtype=np.float64), np.asarray(judge, dtype=np.float64)
    if ratings.ndim != 3 or answers.shape != (ratings.shape[0], ratings.shape[2]):
        raise ValueError(f"People and judge answer the same items; here are {ratings.shape} and {answers.shape}.")
    usable = np.isfinite(answers) & (np.isfinite(ratings).sum(axis=1) >= 2)
    if not usable.any():
        raise Incomputable("nobody_beside_the_rest")
    units = usable.any(axis=0)
    labels = np.asarray(clusters)[units]
    names, cluster_of_unit = np.unique(labels, return_inverse=True)
    ratings, answers, usable = select_units(ratings, units), select_units(answers, units), usable[:, units]
    if against == "pairwise":
        score = _pairwise(ratings, answers, usable, cluster_of_unit)
    else:

        def score(weights: IntArray) -> FloatArray:
            return _with_mean(ratings, answers, usable, weights[:, cluster_of_unit])

    both = score(np.ones((1, len(names)), dtype=np.int64))
    if not np.isfinite(both).all():
        raise Incomputable("judge_or_people_constant")
    person, of_judge = (float(value) for value in both[:, 0])
    of_person, of_judges, of_difference = _intervals(score, len(names), rng=rng, n_resamples=n_resamples)
    return HumanLine(
        person=person,
        judge=of_judge,
        difference=of_judge - person,
        person_interval=of_person,
        judge_interval=of_judges,
        difference_interval=of_difference,
        n_people=int((np.isfinite(ratings) & usable[:, np.newaxis]).any(axis=(0, 2)).sum()),
        n_units=int(usable.sum()),
    )


def _intervals(
    score: Callable[[IntArray], FloatArray], n_clusters: int, *, rng: np.random.Generator, n_resamples: int
) -> tuple[Interval | Incomputable, ...]:
    """The intervals of the person, of the judge, and of judge less person, over the same resamples of clusters.

    score : of both, shape (2, B), by how often each cluster enters, shape (B, G)
    """
    # Resamples are told apart by how many there are: one, or a batch.
    scores_by_n: dict[int, FloatArray] = {}
    seed = rng.integers(2**32)

    def ends(part: int | None) -> Interval | Incomputable:
        def resamples(weights: IntArray) -> FloatArray:
            if len(weights) not in scores_by_n:
                scores_by_n[len(weights)] = score(weights)
            scores = scores_by_n[len(weights)]
            return np.asarray(scores[1] - scores[0] if part is None else scores[part])

        rng_of_all, most = np.random.default_rng(seed), 2 if part is None else 1
        return value_or_reason(
            lambda: intervals.unbounded_interval(
                resamples, np.arange(n_clusters), rng=rng_of_all, n_resamples=n_resamples
            ).clipped(-most, most)
        )

    return ends(0), ends(1), ends(None)


def _pairwise(
    people: FloatArray, judge: FloatArray, usable: BoolArray, cluster_of_unit: IntArray
) -> Callable[[IntArray], FloatArray]:
    """Gives mean kappas with each of the others, of persons and of the judge in their place: shape (B, G) to (2, B).

    Items are pooled.
    """
    values = np.unique(np.concatenate([values_of(people.reshape(len(people), -1)), values_of(judge[usable])]))
    pairs, sizes = [], []
    for side in _left_out(people, "pairwise"):
        is_compared = usable[:, side.units] & np.isfinite(side.own) & np.isfinite(side.other)
        if is_compared.any():
            clusters = cluster_of_unit[side.units]
            of_both = (np.where(is_compared, answers, np.nan) for answers in (side.own, judge[:, side.units]))
            pairs.append([_shared(first, side.other, values, clusters) for first in of_both])
            sizes.append(is_compared.sum())

    def score(weights: IntArray) -> FloatArray:
        scores = [
            _where_both(np.stack([confusion_tables.kappas(tables.resampled(weights)) for tables in pair]))
            for pair in pairs
        ]
        return _nanmean(np.stack(scores), np.array(sizes))

    return score


def _with_mean(people: FloatArray, judge: FloatArray, usable: BoolArray, weights: IntArray) -> FloatArray:
    """Spearman's correlations with the mean of the others, of persons and of the judge in their place: shape (2, B)."""
    by_item = []
    counts = weights.astype(np.float64)
    for ratings, answers, is_usable in zip(people, judge, usable, strict=True):
        scores, sizes = [], []
        for row in range(len(ratings)):
            others = np.delete(ratings, row, axis=0)
            n = np.isfinite(others).sum(axis=0)
            shared = is_usable & np.isfinite(ratings[row]) & (n > 0)
            if shared.sum() > 1:
                means = np.nansum(others[:, shared], axis=0) / n[shared]
                pair = [
                    spearmans(side[np.newaxis, shared], means, counts[:, shared]) for side in (ratings[row], answers)
                ]
                scores.append(_where_both(np.stack(pair)))
                sizes.append(shared.sum())
        if scores:
            by_item.append(_nanmean(np.stack(scores), np.array(sizes)))
    if not by_item:
        raise Incomputable("nobody_beside_the_rest")
    return _nanmean(np.stack(by_item), np.ones(len(by_item)))


def _where_both(pair: FloatArray) -> FloatArray:
    """The same without what only one of the two has a value for, so that both means are over the same."""
    return np.where(np.isfinite(pair).all(axis=0), pair, np.nan)


def _nanmean(values: FloatArray, sizes: npt.NDArray[Any]) -> FloatArray:
    """The mean over the first axis, each as large as its size; nan is left out."""
    weights = np.where(np.isfinite(values), sizes.reshape(-1, *([1] * (values.ndim - 1))), 0.0)
    n = weights.sum(axis=0)
    return np.asarray((np.nan_to_num(values) * weights).sum(axis=0) / np.where(n > 0, n, np.nan))
