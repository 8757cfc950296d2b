"""How near a judge's numbers are to those of people: statistics that serve values, resamples and chance floors alike.

Each statistic takes a judge's answers, what people say of each unit, and how often each unit counts. Resampling varies
the last, shuffling the first, so both go through the one function that gives the printed value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats as scipy_stats

from stats import confusion_tables, intervals
from stats.agreement import Floor, floor_of
from stats.arrays import BoolArray, FloatArray, IntArray
from stats.intervals import Interval
from stats.reasons import Incomputable

AT_ONCE = 100_000  # answers that are shuffled together
MOST_VALUES = 25  # of a judge, with which many shuffles are compared at a time
# Judge's answers of shape (B or 1, U), what people say of each unit (U,), weights (B or 1, U); none is missing.
Compute = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class Statistic:
    """One number that says how a judge stands to people.

    key : its name in files
    compute : its values, shape (B,), nan where it has none
    unit_values : of a statistic that is a mean over units, what each contributes; its interval is then that of a mean
    better : 1 if more is better, -1 if less is; 0 if it does not depend on which unit has which answer, so that
        shuffling says nothing
    bounds : what it can be
    is_distance : whether it is in points of the scale, so that it cannot be more than the scale is wide
    """

    key: str
    compute: Compute
    unit_values: Callable[[FloatArray, FloatArray], FloatArray] | None = None
    better: int = 1
    bounds: tuple[float, float] = (-1.0, 1.0)
    is_distance: bool = False


def spearmans(judge: FloatArray, people: FloatArray, weights: FloatArray) -> FloatArray:
    """Spearman's correlations, ties at their mid-rank; nan where a side is constant."""
    return _pearsons(_midranks(judge, weights), _midranks(people[np.newaxis], weights), weights)


def kendall_taus(judge: FloatArray, people: FloatArray, weights: FloatArray) -> FloatArray:
    """Kendall's tau-b, corrected for ties; nan where a side is constant.

    Units at which both sides say the same count together, so that on a scale it is found from a table of both.
    """
    if len(judge) == 1:
        (of_judge, of_people), at = np.unique([judge[0], people], axis=1, return_inverse=True)
        of_judge, of_people = _signs(of_judge), _signs(of_people)
        n = weights @ _is_at(at)
        sums = [((n @ part) * n).sum(axis=1) for part in (of_judge * of_people, of_judge**2, of_people**2)]
        room = sums[1] * sums[2]
        return np.asarray(sums[0] / np.sqrt(np.where(room > 0, room, np.nan)), dtype=np.float64)
    values = np.unique(judge)
    if values.size > MOST_VALUES:
        with np.errstate(invalid="ignore"):
            return np.array([scipy_stats.kendalltau(row, people).statistic for row in judge], dtype=np.float64)
    # Pairs in the same order less those in the opposite one, by the larger of the judge's two values.
    of_people, at = np.unique(people, return_inverse=True)
    is_at, signs = _is_at(at), _signs(of_people)
    alike, n_tied, n_less = np.zeros(len(judge)), np.zeros(len(judge)), np.zeros((len(judge), of_people.size))
    for value in values:
        n = (judge == value).astype(np.float64) @ is_at
        alike += 2 * (n * (n_less @ signs.T)).sum(axis=1)
        n_tied += n.sum(axis=1) ** 2
        n_less += n
    room = (people.size**2 - n_tied) * (people.size**2 - (is_at.sum(axis=0) ** 2).sum())
    return np.asarray(alike / np.sqrt(np.where(room > 0, room, np.nan)), dtype=np.float64)


def _mean(unit_values: Callable[[FloatArray, FloatArray], FloatArray]) -> Compute:
    def means(judge: FloatArray, people: FloatArray, weights: FloatArray) -> FloatArray:
        n = weights.sum(axis=1)
        return np.asarray(
            (unit_values(judge, people) * weights).sum(axis=1) / np.where(n > 0, n, np.nan), dtype=np.float64
        )

    return means


def _distances(judge: FloatArray, people: FloatArray) -> FloatArray:
    return np.abs(judge - people)


def _differences(judge: FloatArray, people: FloatArray) -> FloatArray:
    return judge - people


def is_modal(judge: FloatArray, people: FloatArray) -> FloatArray:
    """100 where an answer is the judge's commonest one, of two as common the lower; else 0."""
    values, counts = np.unique(judge[0], return_counts=True)
    return np.asarray(100.0 * (judge == values[counts.argmax()])) if values.size else np.zeros_like(judge)


UNBOUNDED = (-np.inf, np.inf)
SPEARMAN = Statistic("spearman", spearmans)
KENDALL_TAU = Statistic("kendall_tau", kendall_taus)
MEAN_ABSOLUTE_ERROR = Statistic(
    "mean_absolute_error",
    _mean(_distances),
    unit_values=_distances,
    better=-1,
    bounds=(0, np.inf),
    is_distance=True,
)
MEAN_DIFFERENCE = Statistic(
    "mean_difference",
    _mean(_differences),
    unit_values=_differences,
    better=0,
    bounds=UNBOUNDED,
    is_distance=True,
)
MODAL_SHARE = Statistic("modal_share", _mean(is_modal), unit_values=is_modal, better=0, bounds=(0, 100))
ON_SCALES = (SPEARMAN, KENDALL_TAU, MEAN_ABSOLUTE_ERROR, MEAN_DIFFERENCE, MODAL_SHARE)


def score(statistic: Statistic, judge: npt.ArrayLike, people: npt.ArrayLike) -> float:
    """The statistic of a judge's answers beside what people say, both of shape (I items, U units), nan where missing.

    Items without a value are left out of a mean.

    Raises Incomputable if there is no unit that has both, or no value.
    """
    answers, reference = as_items(judge, people)
    items = _items_with_value(statistic, answers, reference)
    return float(_compute(statistic, answers[np.newaxis], reference, _ones(answers), items)[0])


def score_interval(
    statistic: Statistic,
    judge: npt.ArrayLike,
    people: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> Interval:
    """The 95 % interval of `score` over clusters: of a mean as of means, of a coefficient as of coefficients.

    clusters : of each unit, shape (U,)
    Raises Incomputable as `score` and the intervals do.
    """
    answers, reference = as_items(judge, people)
    items = _items_with_value(statistic, answers, reference)
    compared = (np.isfinite(answers) & np.isfinite(reference))[items].any(axis=0)
    answers, reference = answers[:, compared], reference[:, compared]
    labels = np.asarray(clusters)[compared]
    if statistic.unit_values is not None:
        values = np.stack(
            [_unit_values(statistic, a, p) for a, p in zip(answers[items], reference[items], strict=True)]
        )
        ends = intervals.mean_interval(values[:, np.newaxis], labels, rng=rng, n_resamples=n_resamples)
        return ends.clipped(*statistic.bounds)

    def resamples(weights: IntArray) -> FloatArray:
        return _compute(statistic, answers[np.newaxis], reference, weights.astype(np.float64), items)

    return intervals.coefficient_interval(resamples, labels, rng=rng, n_resamples=n_resamples).clipped(
        *statistic.bounds
    )


def score_floor(
    statistic: Statistic,
    judge: npt.ArrayLike,
    people: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    strata: Sequence[str] | None = None,
    n_shuffles: int = 1000,
) -> Floor:
    """What `score` is if the judge's answers stood at other units: the mean over shuffles, and the better end of them
    (the 97.5th percentile, or the 2.5th where less is better).

    All answers about a unit move together among the units that the judge answered; items, gaps and people stay.

    strata : of each unit, what it only changes places within
    Raises Incomputable as `score` does, or if no shuffle has a value or the statistic does not depend on the order.
    """
    answers, reference = as_items(judge, people)
    items = _items_with_value(statistic, answers, reference)
    if not statistic.better:
        raise Incomputable("independent_of_order")
    batches = shuffled(answers, strata=strata, rng=rng, n_shuffles=n_shuffles)
    values = [_compute(statistic, batch, reference, _ones(answers), items) for batch in batches]
    return floor_of(np.concatenate(values), better=statistic.better)


def shuffled(
    judge: FloatArray, *, strata: Sequence[str] | None, rng: np.random.Generator, n_shuffles: int
) -> Iterator[FloatArray]:
    """Batches of a judge's answers at other units, shape (B, I, U), n_shuffles in all."""
    present = ~np.isnan(judge)
    at_once = max(1, AT_ONCE // max(len(judge), 1))
    places, batches = confusion_tables.moved_units(
        present, strata=strata, rng=rng, n_shuffles=n_shuffles, at_once=at_once
    )
    for origins in batches:
        batch = np.full((len(origins), *judge.shape), np.nan)
        for item, row in enumerate(judge):
            from_units = origins[present[item][origins]].reshape(len(origins), -1)
            batch[:, item, places[present[item][places]]] = row[from_units]
        yield batch


def as_items(judge: npt.ArrayLike, people: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    answers, reference = np.asarray(judge, dtype=np.float64), np.asarray(people, dtype=np.float64)
    if answers.ndim != 2 or answers.shape != reference.shape:
        raise ValueError(f"Judge and people answer items about units; here are {answers.shape} and {reference.shape}.")
    return answers, reference


def _ones(answers: FloatArray) -> FloatArray:
    return np.ones((1, answers.shape[1]))


def _items_with_value(statistic: Statistic, judge: FloatArray, people: FloatArray) -> BoolArray:
    """Which items enter, shape (I,). Raises Incomputable if none does."""
    is_compared = np.isfinite(judge) & np.isfinite(people)
    if not is_compared.any():
        raise Incomputable("no_unit_with_judge_and_people")
    ones = _ones(judge)
    by_item = zip(judge, people, strict=True)
    values = np.array([_of_item(statistic, a[np.newaxis], p, ones)[0] for a, p in by_item])
    if not np.isfinite(values).any():
        raise Incomputable("judge_or_people_constant")
    return np.asarray(np.isfinite(values), dtype=np.bool_)


def _compute(
    statistic: Statistic, judge: FloatArray, people: FloatArray, weights: FloatArray, items: BoolArray
) -> FloatArray:
    """The values of a batch: judge (B or 1, I, U), people (I, U), weights (B or 1, U)."""
    values = [_of_item(statistic, judge[:, n], people[n], weights) for n in np.flatnonzero(items)]
    return np.asarray(np.mean(values, axis=0), dtype=np.float64)


def _of_item(statistic: Statistic, judge: FloatArray, people: FloatArray, weights: FloatArray) -> FloatArray:
    compared = np.isfinite(judge[0]) & np.isfinite(people)  # gaps are where they are in every shuffle
    if not compared.any():
        return np.full(max(len(judge), len(weights)), np.nan)
    return statistic.compute(judge[:, compared], people[compared], weights[:, compared])


def _unit_values(statistic: Statistic, judge: FloatArray, people: FloatArray) -> FloatArray:
    values = np.full(judge.shape, np.nan)
    compared = np.isfinite(judge) & np.isfinite(people)
    if statistic.unit_values is not None and compared.any():
        values[compared] = statistic.unit_values(judge[np.newaxis, compared], people[compared])[0]
    return values


def _midranks(values: FloatArray, weights: FloatArray) -> FloatArray:
    """The mid-rank of each value among units that count as often as their weights, less a constant; (B or 1, U)."""
    if len(values) > 1:  # shuffles, in which every unit counts once
        return _ranks_of_shuffles(values)
    codes = np.unique(values[0], return_inverse=True)[1]
    n_by_code = weights @ _is_at(codes)
    ranks = np.cumsum(n_by_code, axis=1) - n_by_code / 2
    return np.asarray(ranks[:, codes], dtype=np.float64)


def _ranks_of_shuffles(values: FloatArray) -> FloatArray:
    """The mid-rank of each value in its row, shape (B, U)."""
    points = np.unique(values)
    if points.size > MOST_VALUES:
        return np.asarray(scipy_stats.rankdata(values, axis=1), dtype=np.float64)
    ranks, n_less = np.full(values.shape, np.nan), np.zeros((len(values), 1))
    for point in points:
        is_point = values == point
        n = is_point.sum(axis=1, keepdims=True)
        np.copyto(ranks, n_less + (n + 1) / 2, where=is_point)
        n_less += n
    return ranks


def _is_at(codes: IntArray) -> FloatArray:
    """1 where a unit has a code, else 0; shape (U, n codes)."""
    return np.asarray(codes[:, np.newaxis] == np.arange(codes.max() + 1), dtype=np.float64)


def _pearsons(a: FloatArray, b: FloatArray, weights: FloatArray) -> FloatArray:
    n = weights.sum(axis=1, keepdims=True)
    safe = np.where(n > 0, n, np.nan)
    first = a - (a * weights).sum(axis=1, keepdims=True) / safe
    second = b - (b * weights).sum(axis=1, keepdims=True) / safe
    products = (first * second * weights).sum(axis=1)
    room = (first**2 * weights).sum(axis=1) * (second**2 * weights).sum(axis=1)
    return np.asarray(products / np.sqrt(np.where(room > 1e-9, room, np.nan)), dtype=np.float64)


def _signs(values: FloatArray) -> npt.NDArray[Any]:
    return np.sign(values[:, np.newaxis] - values[np.newaxis, :])
