"""Means, standard deviations and ends of numbers, and of the ratings of each unit."""

import numpy as np
import pytest

from stats import spreads


def test_a_unit_has_the_standard_deviation_of_its_ratings() -> None:
    ratings = [[5, 1, np.nan, 3], [1, 1, 4, np.nan], [4, 1, 2, np.nan]]

    sds = spreads.standard_deviations(ratings)

    # 5, 1, 4: mean 10/3, squares 78/9 + ... = 26/3, by 2; 4, 2: the root of 2; a single rating has none.
    assert sds[:3] == pytest.approx([np.sqrt(13 / 3), 0, np.sqrt(2)])
    assert np.isnan(sds[3])


def test_the_order_of_raters_does_not_matter() -> None:
    ratings = np.random.default_rng(1).integers(1, 6, (4, 9)).astype(float)

    assert spreads.standard_deviations(ratings[::-1]) == pytest.approx(spreads.standard_deviations(ratings))


def test_numbers_have_a_mean_a_standard_deviation_and_ends() -> None:
    # 2, 4, 9: mean 5, squares 9 + 1 + 16 = 26, by 2.
    assert spreads.summarise([4, 2, 9]) == spreads.NumberSummary(n=3, mean=5, sd=np.sqrt(13), lowest=2, highest=9)


def test_a_single_number_has_no_standard_deviation_and_none_have_nothing() -> None:
    assert spreads.summarise([4]) == spreads.NumberSummary(n=1, mean=4, sd=None, lowest=4, highest=4)
    assert spreads.summarise([]) == spreads.NumberSummary(n=0)
