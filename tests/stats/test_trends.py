"""Spearman's correlation with a number of the units: its value, its floor, its reasons."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from stats.reasons import Incomputable
from stats.trends import trend

SIZES = [7, 7, 13, 13, 33, 33, 70, 70, 70, 7, 13, 33]
VALUES = [1.0, 2.0, 2.5, 2.0, 3.0, 2.8, 4.0, 3.9, np.nan, 1.5, 2.2, 3.3]


def test_a_trend_is_spearmans_correlation_of_the_units_that_have_both() -> None:
    found = trend(SIZES, VALUES, list(range(12)), rng=np.random.default_rng(0))

    has_both = np.isfinite(VALUES)
    expected = scipy_stats.spearmanr(np.array(SIZES)[has_both], np.array(VALUES)[has_both]).statistic
    assert (found.rho, found.n_units) == (pytest.approx(expected), 11)
    assert not isinstance(found.interval, Incomputable)
    assert found.interval.low < found.rho <= found.interval.high <= 1
    assert found.floor.mean == pytest.approx(0, abs=0.05)
    assert found.floor.upper < found.rho


def test_the_order_alone_counts() -> None:
    clusters = list(range(12))

    logs = trend(np.log(SIZES), VALUES, clusters, rng=np.random.default_rng(0))

    assert logs.rho == pytest.approx(trend(SIZES, VALUES, clusters, rng=np.random.default_rng(0)).rho)


@pytest.mark.parametrize(
    ("numbers", "values", "code"),
    [([1.0], [2.0], "fewer_than_two_pairs"), ([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], "one_side_constant")],
)
def test_what_does_not_vary_has_no_trend(numbers: list[float], values: list[float], code: str) -> None:
    with pytest.raises(Incomputable) as error:
        trend(numbers, values, list(range(len(numbers))), rng=np.random.default_rng(0))

    assert error.value.code == code
