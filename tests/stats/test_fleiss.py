"""Fleiss' kappa, generalised and in its first form: on published examples, by hand, and as irrCAC has it."""

import numpy as np
import pytest
from hypothesis import assume, given

from stats import agreement
from stats.arrays import FloatArray
from tests.stats.examples import FLEISS_1971, NAN, WIKIPEDIA, WIKIPEDIA_COUNTS, repeatable, scores

# Three raters, four units, one gap: pairs agree 3 of 3, 1 of 3, 1 of 1, 1 of 3.
BY_HAND = np.array([[1, 1, 1, 0], [1, 1, 1, 0], [1, 0, NAN, 1]])


def test_fleiss_kappa_of_fleiss_1971() -> None:
    kappa = agreement.fleiss_kappa(FLEISS_1971)

    assert round(kappa.value, 3) == 0.430
    assert (kappa.name, kappa.n_units, kappa.n_raters, kappa.note) == ("Fleiss' kappa", 30, 6, "6 ratings a unit")


def test_fleiss_kappa_of_the_table_in_wikipedia() -> None:
    assert agreement.counts(WIKIPEDIA, range(5)).tolist() == WIKIPEDIA_COUNTS
    assert round(agreement.fleiss_kappa(WIKIPEDIA).value, 3) == 0.210


def test_fleiss_kappa_by_hand_holds_the_unit_with_a_gap() -> None:
    kappa = agreement.fleiss_kappa(BY_HAND)

    # Observed (1 + 1/3 + 1 + 1/3) / 4 = 2/3; the shares of 1 are 1, 2/3, 1 and 1/3, so chance is (3/4)² + (1/4)² = 5/8.
    assert kappa.value == pytest.approx(1 / 9)
    assert (kappa.n_units, kappa.note) == (4, "2 to 3 ratings a unit")


# Five raters on ten stories, who leave one after another: 5, 5, 5, 4, 4, 3, 3, 3, 2, 2 ratings.
LEAVING = np.array(
    [
        [1, 1, 0, 1, 0, 1, 1, 0, 0, 1],
        [1, 1, 0, 1, 0, 0, 1, 0, 0, 1],
        [0, 1, 0, 1, 0, 0, 1, 1, NAN, NAN],
        [1, 1, 0, 0, 0, NAN, NAN, NAN, NAN, NAN],
        [1, 1, 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN],
    ]
)
READ_ONCE = np.array([[1], [NAN], [NAN], [NAN], [NAN]])


def with_gaps(seed: int) -> FloatArray:
    """Five raters, 20 units, from two to five values, three in ten missing; some units have one rating or none."""
    rng = np.random.default_rng(seed)
    ratings = rng.integers(0, seed + 1, (5, 20)).astype(float)
    ratings[rng.random(ratings.shape) < 0.3] = NAN
    return ratings


@pytest.mark.parametrize(
    ("ratings", "by_irrcac", "n_units"),
    [
        (LEAVING, 0.55249, 10),
        (np.hstack([LEAVING, READ_ONCE]), 0.54562, 10),  # one rating counts towards chance and not towards agreement
        (with_gaps(1), 0.02602, 20),
        (with_gaps(2), -0.07141, 17),
        (with_gaps(3), -0.01604, 20),
        (with_gaps(4), -0.06097, 20),
    ],
)
def test_fleiss_kappa_of_unequally_many_ratings_is_that_of_irrcac(
    ratings: FloatArray, by_irrcac: float, n_units: int
) -> None:
    """Values of irrCAC 0.4.4 in Python, `CAC(ratings).fleiss()`, which rounds them."""
    kappa = agreement.fleiss_kappa(ratings)

    assert kappa.value == pytest.approx(by_irrcac, abs=5e-6)
    assert kappa.n_units == n_units


def test_the_first_form_of_fleiss_kappa_takes_the_units_with_the_usual_number_of_ratings() -> None:
    kappa = agreement.fleiss_kappa_of_complete_units(LEAVING)

    # Three stories have 5 ratings and three have 3: of two as common, the larger.
    assert kappa.value == pytest.approx(0.7222, abs=5e-5)
    assert (kappa.n_units, kappa.note) == (3, "5 ratings a unit; 7 of 10 units left out, which have more or fewer")


@repeatable
@given(ratings=scores)
def test_on_complete_data_both_forms_of_fleiss_kappa_are_that_of_statsmodels(ratings: FloatArray) -> None:
    assume(len(np.unique(ratings)) > 1)

    kappa = agreement.fleiss_kappa(ratings).value

    assert kappa == pytest.approx(agreement.fleiss_kappa_of_complete_units(ratings).value, abs=1e-12)


def test_the_first_form_of_fleiss_kappa_is_not_thrown_by_one_rating_too_many() -> None:
    extra = np.full((1, 30), NAN)
    extra[0, 0] = 4

    kappa = agreement.fleiss_kappa_of_complete_units(np.vstack([FLEISS_1971, extra]))

    assert kappa.value == agreement.fleiss_kappa_of_complete_units(FLEISS_1971[:, 1:]).value
    assert kappa.note == "6 ratings a unit; 1 of 30 units left out, which have more or fewer"


def test_fleiss_kappa_does_not_need_the_same_raters_for_every_unit() -> None:
    apart = np.full((12, 30), NAN)
    apart[:6, :15], apart[6:, 15:] = FLEISS_1971[:, :15], FLEISS_1971[:, 15:]

    kappa = agreement.fleiss_kappa(apart)

    assert kappa.value == agreement.fleiss_kappa(FLEISS_1971).value
    assert kappa.n_raters == 12
