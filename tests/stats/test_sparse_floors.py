"""Chance floors where raters are many and each saw few units: held as ratings alone, they are those of the loop."""

import tracemalloc

import numpy as np
import pytest

from stats import agreement
from stats.arrays import FloatArray


def sparse(n_raters: int, n_units: int) -> FloatArray:
    """Three ratings a unit, by raters drawn anew for each."""
    rng = np.random.default_rng(3)
    ratings = np.full((n_raters, n_units), np.nan)
    for unit in range(n_units):
        ratings[rng.choice(n_raters, 3, replace=False), unit] = rng.integers(0, 2, 3)
    return ratings


def test_the_floor_is_that_of_the_loop_though_nearly_all_are_gaps() -> None:
    ratings = sparse(40, 30)

    fast = agreement.fleiss_chance_floor(ratings, rng=np.random.default_rng(5), n_shuffles=150)
    loop = agreement.chance_floor(ratings, agreement.fleiss_kappa, rng=np.random.default_rng(5), n_shuffles=150)

    assert (fast.mean, fast.upper) == pytest.approx((loop.mean, loop.upper), abs=1e-12)


def test_memory_goes_with_the_ratings_not_with_raters_times_units() -> None:
    ratings = sparse(600, 900)  # a hundred dense shuffles of it are 432 MB

    tracemalloc.start()
    agreement.fleiss_chance_floor(ratings, rng=np.random.default_rng(5), n_shuffles=100)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 60e6


def test_without_ratings_there_is_no_floor() -> None:
    with pytest.raises(agreement.Incomputable):
        agreement.alpha_chance_floor(np.full((2, 3), np.nan), "nominal", rng=np.random.default_rng(1))
