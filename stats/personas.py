"""What it gains that a judge answers as several personas, and how far they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stats import intervals
from stats.arrays import BoolArray, FloatArray, IntArray
from stats.intervals import Interval
from stats.judge_scores import spearmans
from stats.reasons import Incomputable, value_or_reason


@dataclass(frozen=True)
class PersonaGain:
    """Spearman's correlations with the mean of people, over the same units; of several items the mean.

    together : of the mean of all personas
    alone : of one persona, the mean of those that have one in every item; nan if none has
    nobody : of the judge without a persona, nan if it did not read so
    gain : together less nobody, nan without; with its interval, or why there is none
    n_units : answers that all of them have
    """

    together: float
    alone: float
    nobody: float
    gain: float
    interval: Interval | Incomputable
    n_units: int


def compare(
    as_personas: npt.ArrayLike,
    as_nobody: npt.ArrayLike,
    people: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> PersonaGain:
    """What a judge gains by the mean of several personas. Where one of them has no answer there is no mean.

    as_personas : shape (P personas, I items, U units), nan where there is no answer
    as_nobody, people : shape (I, U), the judge without a persona, and the mean of people
    clusters : of each unit, shape (U,)
    Raises Incomputable if no unit has all of them, or none of the items' correlations has a value.
    Source: Harel-Canada et al., 2024, section 5.2, for the mean of all personas, and only if all are valid.
    """
    masked, plain = np.asarray(as_personas, dtype=np.float64), np.asarray(as_nobody, dtype=np.float64)
    reference = np.asarray(people, dtype=np.float64)
    has_nobody = bool(np.isfinite(plain).any())
    present = np.isfinite(masked).all(axis=0) & np.isfinite(reference)
    present &= np.isfinite(plain) | (not has_nobody)
    if not present.any():
        raise Incomputable("no_unit_with_judge_and_people")
    mean = masked.mean(axis=0)
    sides = np.stack([mean, plain if has_nobody else mean])
    items = [n for n, units in enumerate(present) if _vary([*sides[:, n, units], reference[n, units]])]
    if not items:
        raise Incomputable("judge_or_people_constant")
    truth, compared = reference[items], present[items]
    ones = np.ones((1, reference.shape[1]), dtype=np.int64)
    together, nobody = (float(value) for value in _correlate(sides[:, items], truth, compared, ones)[:, 0])
    of_one = _correlate(masked[:, items], truth, compared, ones)[:, 0]
    ends: Interval | Incomputable = Incomputable("not_read_as_nobody")
    if has_nobody:
        ends = _gain_interval(sides[:, items], truth, compared, np.asarray(clusters), rng=rng, n_resamples=n_resamples)
    return PersonaGain(
        together=together,
        alone=float(of_one[np.isfinite(of_one)].mean()) if np.isfinite(of_one).any() else float("nan"),
        nobody=nobody if has_nobody else float("nan"),
        gain=together - nobody if has_nobody else float("nan"),
        interval=ends,
        n_units=int(compared.sum()),
    )


def _gain_interval(
    sides: FloatArray,
    reference: FloatArray,
    present: BoolArray,
    clusters: npt.NDArray[Any],
    *,
    rng: np.random.Generator,
    n_resamples: int,
) -> Interval | Incomputable:
    """The interval of how much nearer the first side is to the reference than the second, shapes as `_correlate`'s."""
    units = np.asarray(present.any(axis=0))

    def resample(weights: IntArray) -> FloatArray:
        first, second = _correlate(sides[..., units], reference[..., units], present[..., units], weights)
        return np.asarray(first - second)

    return value_or_reason(
        lambda: intervals.unbounded_interval(resample, clusters[units], rng=rng, n_resamples=n_resamples).clipped(-2, 2)
    )


def _correlate(sides: FloatArray, reference: FloatArray, present: BoolArray, weights: IntArray) -> FloatArray:
    """Of each side, shape (S, I, U), the mean over items of its Spearman's correlations with the reference, (S, B).

    reference, present : shape (I, U), the units that all of them have
    weights : how often each unit enters each resample, shape (B, U)
    """
    counts = weights.astype(np.float64)
    values = [
        [
            spearmans(answers[np.newaxis, units], truth[units], counts[:, units])
            for answers, truth, units in zip(side, reference, present, strict=True)
        ]
        for side in sides
    ]
    return np.asarray(np.mean(values, axis=1), dtype=np.float64)


def _vary(rows: Sequence[FloatArray]) -> bool:
    """Whether none of the rows is constant."""
    return all(row.size > 1 and np.ptp(row) > 0 for row in rows)
