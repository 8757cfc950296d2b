"""Answers made up around a known truth, for studies of a few clusters of stories to many thousands."""

from collections.abc import Callable
from functools import cache

import numpy as np

from stats.arrays import FloatArray
from stats.intervals import Interval

N_RESAMPLES = 400  # of a report 1,000: ends that hop a little more cost a few tenths of a percent
N_RATERS, N_STORIES = 3, 2  # of each cluster
N_LARGE = 40_000  # clusters of the study that stands for the truth
CENTRE = 3.0

# A study of so many clusters, as its interval and the truth.
Case = Callable[[np.random.Generator, int], tuple[Interval, float]]


def clusters_of(n: int) -> FloatArray:
    return np.repeat(np.arange(n), N_STORIES)


def worth(rng: np.random.Generator, n: int) -> FloatArray:
    """What the stories are worth: those of a cluster go together."""
    return np.repeat(rng.normal(0, 0.5, n), N_STORIES) + rng.normal(0, 0.5, n * N_STORIES)


def raw_ratings(rng: np.random.Generator, n: int) -> FloatArray:
    """Ratings without ends or steps, shape (R, U)."""
    return CENTRE + worth(rng, n) + rng.normal(0, 0.8, (N_RATERS, n * N_STORIES))


def scale_ratings(rng: np.random.Generator, n: int) -> FloatArray:
    """The same on five points."""
    return np.clip(np.round(raw_ratings(rng, n)), 1, 5)


def verdicts(rng: np.random.Generator, n: int, *, bar: float = 0.2) -> FloatArray:
    """1 where a rater takes a story to be above a bar."""
    return (raw_ratings(rng, n) - CENTRE > bar).astype(float)


@cache
def truth(of: Callable[[np.random.Generator], float]) -> float:
    """What a very large study gives."""
    return of(np.random.default_rng(1))
