"""Arrays of ratings in the shapes that statistics need."""

import numpy as np

from stats import arrays

NAN = np.nan


def test_without_gaps_keeps_each_units_ratings_in_the_order_of_raters() -> None:
    ratings = np.array([[NAN, 1.0, NAN, 4.0], [2.0, NAN, NAN, 5.0], [3.0, NAN, NAN, NAN]])

    dense = arrays.without_gaps(ratings)

    np.testing.assert_array_equal(dense, [[2.0, 1.0, NAN, 4.0], [3.0, NAN, NAN, 5.0]])


def test_without_gaps_of_no_rating_has_no_row() -> None:
    assert arrays.without_gaps(np.full((3, 2), NAN)).shape == (0, 2)
