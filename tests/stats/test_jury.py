"""A jury says what more than half of its weight says, and nothing where it is tied or too few have answered."""

import numpy as np
import pytest

from stats import jury
from tests.stats.examples import NAN

VERDICTS = [
    [1, 1, 0, 1, NAN, NAN],
    [1, 0, 0, NAN, NAN, 1],
    [0, 0, 0, 0, 1, 1],
]


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ([1, 1, 1], [1, 0, 0, NAN, NAN, 1]),  # of two that differ neither has more than half; one alone is no jury
        ([3, 1, 1], [1, 1, 0, 1, NAN, 1]),
        ([2, 1, 1], [1, NAN, 0, 1, NAN, 1]),
        ([0.1, 0.2, 0.3], [NAN, 0, 0, 0, NAN, 1]),  # .1 + .2 against .3
    ],
)
def test_what_has_more_than_half_of_the_weight_of_those_who_answered(
    weights: list[float], expected: list[float]
) -> None:
    np.testing.assert_array_equal(jury.majority(VERDICTS, weights), expected)


def test_of_several_options_the_most_frequent_alone_is_no_majority() -> None:
    np.testing.assert_array_equal(jury.majority([[0, 2], [1, 2], [2, 0], [2, NAN]], [1] * 4), [NAN, 2])


def test_ratings_have_their_weighted_mean_over_those_who_answered() -> None:
    ratings = [[1, 5, 2, NAN], [4, NAN, NAN, NAN], [4, 2, NAN, NAN]]

    np.testing.assert_allclose(jury.mean(ratings, [2, 1, 1]), [2.5, 4, NAN, NAN])
