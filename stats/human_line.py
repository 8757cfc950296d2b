"""How a judge agrees with people, beside how a person does: each person is left out in turn, and both are scored
against the same remaining people on the same units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from stats import intervals
from stats.arrays import BoolArray, FloatArray, IntArray
from stats.intervals import Interval
from stats.judge_scores import cohen_kappas, spearmans
from stats.reasons import Incomputable

# "pairwise": the mean of Cohen's kappas with each of the others; "mean": Spearman's rho with the mean of the others.
Against: TypeAlias = Literal["pairwise", "mean"]


@dataclass(frozen=True)
class HumanLine:
    """Means over the people left out, and how far the judge is from a person.

    person, judge : mean scores, of people left out and of the judge in their place; whoever shares more units with
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


def compare(
    people: npt.ArrayLike,
    judge: npt.ArrayLike,
    clusters: Sequence[str],
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
    kept = usable.any(axis=0)
    labels = np.asarray(clusters, dtype=object)[kept].astype(str)
    ratings, answers, usable = ratings[:, :, kept], answers[:, kept], usable[:, kept]
    score = _pairwise if against == "pairwise" else _with_mean
    ones = np.ones((1, ratings.shape[2]), dtype=np.int64)
    both = score(ratings, answers, usable, ones)
    if not np.isfinite(both).all():
        raise Incomputable("judge_or_people_constant")
    person, of_judge = (float(value) for value in both[:, 0])

    def ends(part: int | None) -> Interval | Incomputable:
        def resamples(weights: IntArray) -> FloatArray:
            scores = score(ratings, answers, usable, weights)
            return np.asarray(scores[1] - scores[0] if part is None else scores[part])

        try:
            return intervals.coefficient_interval(
                resamples, labels, rng=np.random.default_rng(seed), n_resamples=n_resamples
            )
        except Incomputable as reason:
            return reason

    seed = rng.integers(2**32)  # the same resamples for all three
    return HumanLine(
        person=person,
        judge=of_judge,
        difference=of_judge - person,
        person_interval=ends(0),
        judge_interval=ends(1),
        difference_interval=ends(None),
        n_people=int((np.isfinite(ratings) & usable[:, np.newaxis]).any(axis=(0, 2)).sum()),
        n_units=int(usable.sum()),
    )


def _pairwise(people: FloatArray, judge: FloatArray, usable: BoolArray, weights: IntArray) -> FloatArray:
    """Mean kappas with each of the others, of persons and of the judge in their place: shape (2, B)."""
    n_items, n_raters, _n_units = people.shape
    flat = people.transpose(1, 0, 2).reshape(n_raters, -1)
    answers, is_usable = judge.ravel(), usable.ravel()
    tiled = np.tile(weights, n_items).astype(np.float64)
    scores, sizes = [], []
    for row in range(n_raters):
        for other in range(n_raters):
            shared = is_usable & np.isfinite(flat[row]) & np.isfinite(flat[other])
            if other != row and shared.any():
                pair = [
                    cohen_kappas(side[np.newaxis, shared], flat[other, shared], tiled[:, shared])
                    for side in (flat[row], answers)
                ]
                scores.append(_where_both(np.stack(pair)))
                sizes.append(shared.sum())
    return _nanmean(np.stack(scores), np.array(sizes))


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
