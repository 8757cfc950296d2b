"""Standard deviations of each unit's ratings."""

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
