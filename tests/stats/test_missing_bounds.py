"""Bounds of a mean with missing answers: by hand, and as what the worst and the best answers would give."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stats.missing_bounds import MeanBounds, mean_bounds
from stats.reasons import Incomputable
from tests.stats.examples import NAN


def test_bounds_by_hand() -> None:
    # Two of three answers on the first story, one of three on the second, none of three on the third.
    bounds = mean_bounds([[2, 5, NAN], [4, NAN, NAN]], [3, 3, 3], bounds=(1, 5))

    low, high = ((6 + 1) / 3 + (5 + 2) / 3 + 1) / 3, ((6 + 5) / 3 + (5 + 10) / 3 + 5) / 3
    assert bounds == MeanBounds(pytest.approx(4.0), pytest.approx(low), pytest.approx(high), 6, 9)  # type: ignore[arg-type]


def test_with_nothing_missing_both_are_the_mean() -> None:
    assert mean_bounds([[0, 100], [100, 100]], [2, 1], bounds=(0, 100)) == MeanBounds(75.0, 75.0, 75.0, 0, 4)


def test_where_nobody_was_to_answer_there_are_none() -> None:
    with pytest.raises(Incomputable) as reason:
        mean_bounds(np.full((2, 2), NAN), [0, 0], bounds=(1, 5))

    assert reason.value.code == "no_answers"


@given(st.integers(0, 10_000))
def test_whatever_the_missing_answers_are_the_mean_lies_between(seed: int) -> None:
    rng = np.random.default_rng(seed)
    whole = rng.integers(1, 6, (4, 6)).astype(float)
    seen = np.where(rng.random(whole.shape) < 0.4, NAN, whole)

    bounds = mean_bounds(seen, np.full(6, 4), bounds=(1, 5))

    assert bounds.low - 1e-9 <= whole.mean() <= bounds.high + 1e-9
    for end, reached in ((1, bounds.low), (5, bounds.high)):
        assert np.where(np.isnan(seen), end, seen).mean() == pytest.approx(reached)
