"""The coefficients from sums over units are those of the libraries."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given

from stats import agreement, sums
from stats.arrays import FloatArray
from stats.sums import Level
from tests.stats.examples import repeatable, scores, scores_with_gaps

POINTS = np.arange(1.0, 6.0)


def test_ordinal_kernel_of_five_points() -> None:
    kernel = sums.ordinal_kernel(5)

    assert kernel[0] == pytest.approx([1, 0.9, 0.7, 0.4, 0])
    assert np.array_equal(kernel, kernel.T)
    assert all(nearer > farther for nearer, farther in pairwise(kernel[0]))


@repeatable
@given(ratings=scores)
def test_kappa_of_sums_is_that_of_statsmodels(ratings: FloatArray) -> None:
    assume(len(np.unique(ratings)) > 1)

    kappa = sums.kappa_of(sums.kappa_parts(agreement.counts(ratings, POINTS)).sum(axis=0))

    assert float(kappa) == pytest.approx(agreement.fleiss_kappa(ratings).value, abs=1e-12)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@repeatable
@given(ratings=scores_with_gaps)
def test_alpha_of_coincidences_is_that_of_the_package_and_nan_where_that_is_incomputable(
    level: Level, ratings: FloatArray
) -> None:
    try:
        expected = agreement.krippendorff_alpha(ratings, level).value
    except agreement.Incomputable:
        expected = np.nan

    alpha = sums.alpha_of(sums.coincidences(agreement.counts(ratings, POINTS)), POINTS, level)

    assert float(alpha) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@repeatable
@given(ratings=scores_with_gaps)
def test_coincidences_of_the_units_add_up_to_the_whole(ratings: FloatArray) -> None:
    table = agreement.counts(ratings, POINTS)

    assert sums.alpha_parts(table).sum(axis=0).reshape(5, 5) == pytest.approx(sums.coincidences(table), abs=1e-12)


def test_kappa_of_no_units_is_nan() -> None:
    assert np.isnan(sums.kappa_of(np.zeros(4)))
