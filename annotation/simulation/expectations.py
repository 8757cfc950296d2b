"""What simulated raters answer on average: the rule by which their answers are drawn, averaged over stories and raters.

Log-odds are normal with the mean and standard deviation that are given: a rater's severity, a story's worth, its
departure on the item and what each answer departs by are all drawn from normal distributions, one beside the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import hypot, sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from annotation.simulation.kinds import RaterKind
from annotation.simulation.opinions import JITTER, PERCEPTION, SEVERITY, SPREAD

if TYPE_CHECKING:
    from stats.arrays import FloatArray

N_NODES = 60  # of the quadratures


def deviation_on_item(kind: RaterKind, *, stories: float) -> float:
    """Standard deviation of the log-odds of Yes on one item. stories : that of the worth of stories of one source"""
    return hypot(SEVERITY, SPREAD, kind.noise, stories)


def deviation_beside_others(kind: RaterKind, *, stories: float) -> float:
    """Standard deviation of how good a story seems beside others. stories : as in `deviation_on_item`"""
    return hypot(PERCEPTION, kind.noise, stories)


def chance_of_yes(mean: float, deviation: float) -> float:
    """How often Yes is answered, from 0 to 1.

    >>> round(chance_of_yes(0.0, 1.3), 3), round(chance_of_yes(1.0, 0.0), 3)
    (0.5, 0.731)
    """
    nodes, weights = _quadrature()
    return float(weights @ special.expit(mean + deviation * nodes))


def expected_number(low: int, high: int, mean: float, deviation: float) -> float:
    """The mean answer on a scale from low to high, where the answer is the probability of Yes in steps of the scale.

    >>> expected_number(1, 5, 0.0, 1.3)
    3.0
    """
    if high <= low:
        return float(low)
    steps = np.arange(low, high)
    ends = special.logit((steps + 0.5 - low) / (high - low))
    above = special.ndtr((mean - ends) / hypot(deviation, JITTER))
    return float(np.round(low + above.sum(), 12))


def chances_of_first(means: Sequence[float], deviation: float) -> FloatArray:
    """How often each of the stories seems the best of them, from 0 to 1, shape (U,)."""
    nodes, weights = _quadrature()
    worth, places = np.asarray(means, dtype=np.float64), np.arange(len(means))
    beaten = special.ndtr(nodes[:, None, None] + (worth[:, None] - worth[None, :])[None] / deviation)
    beaten[:, places, places] = 1.0
    return np.asarray(weights @ beaten.prod(axis=2), dtype=np.float64)


def expected_places(means: Sequence[float], deviation: float) -> FloatArray:
    """The mean place of each of the stories in an order of all, 1 the best, shape (U,)."""
    worth = np.asarray(means, dtype=np.float64)
    is_behind = special.ndtr((worth[None, :] - worth[:, None]) / (deviation * sqrt(2)))
    return np.asarray(0.5 + is_behind.sum(axis=1), dtype=np.float64)  # behind itself it counts a half


@lru_cache(maxsize=1)
def _quadrature() -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of the mean over a standard normal distribution."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(N_NODES)
    return nodes, weights / weights.sum()
