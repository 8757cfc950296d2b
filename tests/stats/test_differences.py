"""Differences between two groups: textbook values, a case by hand, invariants."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats as scipy_stats

from stats.agreement import Incomputable
from stats.differences import Difference, hedges_g, student, welch

# Student 1908, "The probable error of a mean", Biometrika 6(1), p. 20: hours of sleep gained with two drugs. Taken as
# two groups, R prints t = -1.8608, df = 18, p = .07919, and for Welch's test df = 17.776, p = .07939 (data "sleep").
DRUG_1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
DRUG_2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_student_reproduces_the_sleep_data() -> None:
    found = student(DRUG_1, DRUG_2)

    assert (found.t, found.df, found.p) == pytest.approx((-1.8608, 18, 0.07919), abs=5e-5)


def test_welch_reproduces_the_sleep_data() -> None:
    found = welch(DRUG_1, DRUG_2)

    assert found.t == pytest.approx(-1.8608, abs=5e-5)
    assert found.df == pytest.approx(17.776, abs=5e-4)
    assert found.p == pytest.approx(0.07939, abs=5e-6)


def test_hedges_g_of_a_case_by_hand() -> None:
    # Means 2 and 5, both variances 1, so 3 deviations; the factor is 1 - 3 / (4 * 4 - 1) = .8.
    assert hedges_g([4, 5, 6], [1, 2, 3]) == pytest.approx(2.4)


@pytest.mark.parametrize("test", [student, welch])
def test_exchanging_the_groups_only_turns_the_sign(test: Callable[..., Difference]) -> None:
    one, other = test(DRUG_1, DRUG_2), test(DRUG_2, DRUG_1)

    assert (one.t, one.df, one.p) == pytest.approx((-other.t, other.df, other.p))


def test_missing_values_are_left_out() -> None:
    assert student([*DRUG_1, np.nan], DRUG_2) == student(DRUG_1, DRUG_2)


@pytest.mark.parametrize("groups", [([1], [1, 2]), ([1, np.nan], [1, 2]), ([1, 1], [2, 2])])
def test_groups_that_cannot_be_compared_say_why(groups: tuple[list[float], list[float]]) -> None:
    for statistic in (student, welch, hedges_g):
        with pytest.raises(Incomputable):
            statistic(*groups)


def test_values_that_differ_by_rounding_alone_do_not_vary() -> None:
    with pytest.raises(Incomputable, match="Neither group varies"):
        welch([100 / 3, 100 - 200 / 3, 100 / 3], [1.0, 1.0, 1.0])


def test_a_group_that_does_not_vary_is_tested_as_scipy_does_without_its_warning() -> None:
    alike, varying = [7.1, 7.1, 7.1], [6.0, 5.0, 6.5]

    found = welch(alike, varying)

    with pytest.warns(RuntimeWarning, match="Precision loss"):
        by_scipy = scipy_stats.ttest_ind(alike, varying, equal_var=False)
    assert (found.t, found.df, found.p) == pytest.approx((by_scipy.statistic, by_scipy.df, by_scipy.pvalue))
    assert found.ends(0.9) == pytest.approx(tuple(by_scipy.confidence_interval(0.9)))
