"""Composite scores: by hand, and what does not change them."""

import numpy as np
import pytest

from stats import composites

ENDS = [(1.0, 5.0), (1.0, 5.0), (0.0, 1.0)]


def score(values: object, how: str, **options: object) -> object:
    given = {"ends": ENDS, "weights": [1.0] * 3, "is_reversed": [False] * 3} | options
    return composites.composite(values, how, **given)  # type: ignore[arg-type]


def test_a_sum_counts_weights_and_turns_reversed_items_by_their_own_ends() -> None:
    # 4 + 2 × (1 + 5 − 2) + 3 × (0 + 1 − 1)
    assert score([4, 2, 1], "sum", weights=[1, 2, 3], is_reversed=[False, True, True]) == 12


def test_a_mean_is_the_sum_over_the_sum_of_the_weights() -> None:
    assert score([4, 2, 1], "mean", weights=[1, 2, 1]) == pytest.approx((4 + 4 + 1) / 4)


def test_a_rater_who_left_an_item_out_has_no_score_of_the_story() -> None:
    values = np.array([[[4.0, 5.0]], [[2.0, np.nan]], [[1.0, 0.0]]])

    assert np.array_equal(score(values, "sum"), [[7.0, np.nan]], equal_nan=True)  # type: ignore[arg-type]


def test_the_values_that_were_given_stay_as_they_are() -> None:
    values = np.array([1.0, 2.0, 0.0])

    score(values, "sum", is_reversed=[True] * 3)

    assert values.tolist() == [1.0, 2.0, 0.0]


def test_a_score_lies_between_those_of_its_items_lows_and_highs() -> None:
    assert composites.bounds("sum", ends=ENDS, weights=[1, 2, 1]) == (3, 16)
    assert composites.bounds("mean", ends=ENDS, weights=[1, 2, 1]) == (0.75, 4)


def test_the_order_of_the_items_does_not_matter() -> None:
    values = np.random.default_rng(1).integers(1, 6, (3, 4, 9)).astype(float)
    options = {"weights": [1, 2, 3], "is_reversed": [False, True, False]}
    turned = {"ends": ENDS[::-1], "weights": [3, 2, 1], "is_reversed": [False, True, False]}

    assert score(values, "mean", **options) == pytest.approx(score(values[::-1], "mean", **turned))
