"""Correlations and balanced accuracy on cases done by hand."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given

from stats import agreement, comparisons
from stats.agreement import Incomputable, TooFewRaters
from stats.arrays import FloatArray
from stats.comparisons import Correlation
from tests.stats.examples import NAN, repeatable, scores_with_gaps


@pytest.mark.parametrize(
    ("correlation", "value", "name"),
    [
        (comparisons.pearson, 0.8, "Pearson's r"),  # deviations -1.5 -.5 .5 1.5: 4 of 5
        (comparisons.spearman, 0.8, "Spearman's rho"),  # 1 - 6 x 2 / (4 x 15)
        (comparisons.kendall_tau, 4 / 6, "Kendall's tau-b"),  # five pairs in order, one not
    ],
)
def test_correlations_by_hand_leave_out_what_is_missing(
    correlation: Callable[[list[float], list[float]], Correlation], value: float, name: str
) -> None:
    found = correlation([1, 2, 3, 4, 9], [1, 3, 2, 4, NAN])

    assert (round(found.value, 12), found.name, found.n) == (round(value, 12), name, 4)


def test_spearman_and_kendall_correct_for_ties() -> None:
    a, b = [1, 2, 2, 3], [1, 2, 3, 4]

    # Mid-ranks 1 2.5 2.5 4 against 1 2 3 4: 4.5 / sqrt(4.5 x 5). Five pairs in order, one tied: 5 / sqrt(5 x 6).
    assert comparisons.spearman(a, b).value == pytest.approx(4.5 / np.sqrt(22.5))
    assert comparisons.kendall_tau(a, b).value == pytest.approx(5 / np.sqrt(30))


def test_a_correlation_with_a_constant_is_incomputable() -> None:
    with pytest.raises(Incomputable, match="does not vary"):
        comparisons.pearson([1, 1, 1], [1, 2, 3])


@pytest.mark.parametrize("correlation", [comparisons.spearman, comparisons.kendall_tau])
def test_what_varies_by_rounding_alone_is_constant(correlation: Callable[..., object]) -> None:
    with pytest.raises(Incomputable, match="does not vary"):
        correlation([0.1 + 0.2, 0.3, 0.3], [1, 2, 3])


def test_a_correlation_of_one_pair_is_incomputable() -> None:
    with pytest.raises(Incomputable, match="Fewer than two pairs"):
        comparisons.spearman([1, NAN], [1, 2])


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="one length"):
        comparisons.pearson([1, 2], [1, 2, 3])


def test_pairs_pearson_by_hand() -> None:
    found = comparisons.pairs_pearson([[1, 3, NAN], [2, NAN, 7], [NAN, 5, NAN]])

    # Unit 1 gives (1, 2) and (2, 1), unit 2 (3, 5) and (5, 3), unit 3 nothing; both sides have mean 2.75, so the
    # deviations are -1.75, -.75, .25, 2.25: r = 2 (1.75 x .75 + .25 x 2.25) / 8.75.
    assert found.value == pytest.approx(3.75 / 8.75)
    assert found.n == 4
    assert found.note.startswith("ordered pairs of raters of 2 units")


@repeatable
@given(totals=scores_with_gaps)
def test_pairs_pearson_does_not_ask_who_is_first(totals: FloatArray) -> None:
    try:
        expected = comparisons.pairs_pearson(totals)
    except Incomputable:
        assume(False)

    found = comparisons.pairs_pearson(totals[::-1])

    assert (found.value, found.n) == (pytest.approx(expected.value, abs=1e-12), expected.n)


def test_pairs_pearson_of_equal_totals_is_1() -> None:
    assert comparisons.pairs_pearson(np.tile([1.0, 5.0, 9.0], (3, 1))).value == pytest.approx(1)


def test_pairs_pearson_needs_a_unit_with_two_totals() -> None:
    with pytest.raises(TooFewRaters, match="Nothing has two totals"):
        comparisons.pairs_pearson([[1, NAN], [NAN, 2]])


def test_balanced_accuracy_by_hand() -> None:
    # Of four Yes three are found, of two No one: (3/4 + 1/2) / 2.
    assert comparisons.balanced_accuracy([1, 1, 1, 1, 0, 0, 1], [1, 1, 1, 0, 0, 1, NAN]) == 0.625


def test_balanced_accuracy_of_always_yes_is_a_half() -> None:
    assert comparisons.balanced_accuracy([1, 1, 1, 0], [1, 1, 1, 1]) == 0.5


def test_a_prediction_that_is_never_true_is_wrong() -> None:
    assert comparisons.balanced_accuracy([1, 1, 2, 2], [1, 3, 2, 3]) == 0.5


def test_balanced_accuracy_needs_a_truth_that_varies() -> None:
    with pytest.raises(Incomputable, match="fewer than two values"):
        comparisons.balanced_accuracy([1, 1], [1, 0])


def test_resamples_of_pairs_pearson_are_those_of_the_repeated_units() -> None:
    totals = np.array([[1, 3, NAN, 4, 2], [2, NAN, 7, 6, 2], [NAN, 5, 3, 5, NAN]])
    weights = np.array([[1, 1, 1, 1, 1], [2, 0, 1, 0, 3], [0, 0, 0, 0, 2]])

    resamples = comparisons.pairs_pearson_resamples(totals, weights)

    expected = [comparisons.pairs_pearson(np.repeat(totals, row, axis=1)).value for row in weights[:2]]
    assert resamples[:2] == pytest.approx(expected)
    assert np.isnan(resamples[2])


def test_the_floor_of_pairs_pearson_is_that_of_each_shuffle() -> None:
    totals = np.random.default_rng(3).integers(0, 15, size=(4, 40)).astype(float)

    fast = comparisons.pairs_pearson_floor(totals, rng=np.random.default_rng(1), n_shuffles=300)
    slow = agreement.chance_floor(totals, comparisons.pairs_pearson, rng=np.random.default_rng(2), n_shuffles=300)

    assert (fast.mean, fast.upper) == pytest.approx((slow.mean, slow.upper), abs=0.03)
