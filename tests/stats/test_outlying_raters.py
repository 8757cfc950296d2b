"""Raters who stand apart: as Grubbs has it, on planted ones, and how often alike raters are named."""

import numpy as np
import pytest
from scipy import stats as reference

from stats import outlying_raters
from stats.arrays import FloatArray
from tests.stats.examples import NAN


def alike(seed: int, *, n_raters: int, n_ratings: int, n_units: int, n_items: int, yes: bool) -> FloatArray:
    """Ratings on five points, or verdicts, of raters who differ in severity alone, shape (I, R, U)."""
    rng = np.random.default_rng(seed)
    values = 3 + rng.normal(0, 0.4, (1, n_raters, 1)) + rng.normal(0, 0.7, (1, 1, n_units))
    values = values + rng.normal(0, 0.4, (n_items, 1, 1)) + rng.normal(0, 0.9, (n_items, n_raters, n_units))
    values = (values > 3).astype(float) if yes else np.clip(np.round(values), 1, 5)
    values[:, rng.random((n_raters, n_units)).argsort(axis=0) >= n_ratings] = NAN
    return values


def least_p(ratings: FloatArray, *, yes: bool) -> float:
    """The least p of the three that the report looks at, corrected for them."""
    severities = outlying_raters.excesses(ratings, 1.0) if yes else outlying_raters.severities(ratings)
    ps = [
        outlying_raters.apart(severities),
        outlying_raters.apart(outlying_raters.deviations(ratings), lower=False),
        outlying_raters.constant_ps(ratings),
    ]
    return 3 * float(np.nanmin([*np.concatenate(ps), 1.0]))


def test_p_is_that_of_grubbs() -> None:
    values = np.array([1.2, 0.8, 1.1, 0.9, 1.0, 1.05, 2.0])

    ps = outlying_raters.apart(values)

    # G = max |x - mean| / s; t² = n (n - 2) G² / ((n - 1)² - n G²), with n - 2 degrees of freedom.
    n, g = len(values), abs(values - values.mean()).max() / values.std(ddof=1)
    t = np.sqrt(n * (n - 2) * g**2 / ((n - 1) ** 2 - n * g**2))
    assert ps[-1] == pytest.approx(min(1.0, n * 2 * reference.t.sf(t, n - 2)))
    assert ps.argmin() == 6
    assert outlying_raters.apart(values, upper=False)[-1] == 1.0


def test_of_four_raters_or_of_raters_who_do_not_differ_nothing_is_said() -> None:
    assert np.isnan(outlying_raters.apart([1.0, 2.0, 1.5, 9.0])).all()
    assert np.isnan(outlying_raters.apart([1.0, 1.0, 1.0, 1.0, 1.0, 9.0])[-1])


@pytest.mark.parametrize("yes", [True, False])
@pytest.mark.parametrize(
    "design",
    [
        {"n_raters": 6, "n_ratings": 6, "n_units": 30, "n_items": 5},
        {"n_raters": 10, "n_ratings": 3, "n_units": 48, "n_items": 6},
    ],
)
def test_of_studies_of_alike_raters_at_most_one_in_twenty_names_anybody(design: dict[str, int], *, yes: bool) -> None:
    n_named = sum(least_p(alike(seed, **design, yes=yes), yes=yes) <= 0.05 for seed in range(200))

    # 17 of 200 is the 97.5th percentile of so many at 5 %.
    assert n_named <= 17


def test_who_gives_one_answer_throughout_is_found_and_nobody_else() -> None:
    ratings = alike(4, n_raters=8, n_ratings=8, n_units=20, n_items=4, yes=False)
    ratings[:, 2] = 3

    ps = outlying_raters.constant_ps(ratings)

    assert outlying_raters.constant_answers(ratings)[2] == 3
    assert ps[2] < 0.001
    assert np.isnan(np.delete(ps, 2)).all()


def test_one_answer_that_all_give_is_nothing_to_ask_about() -> None:
    assert np.isnan(outlying_raters.constant_answers(np.zeros((3, 8, 10)))).all()


def test_a_severe_rater_is_found() -> None:
    ratings = alike(7, n_raters=10, n_ratings=10, n_units=40, n_items=5, yes=False)
    ratings[:, 0] = np.clip(ratings[:, 0] - 3, 1, 5)

    assert np.nanargmin(outlying_raters.apart(outlying_raters.severities(ratings))) == 0
    assert least_p(ratings, yes=False) < 0.02


def test_a_rater_who_tosses_dice_is_found() -> None:
    ratings = alike(6, n_raters=10, n_ratings=10, n_units=40, n_items=5, yes=False)
    ratings[:, 1] = np.random.default_rng(1).integers(1, 6, ratings[:, 1].shape)

    assert np.nanargmin(outlying_raters.apart(outlying_raters.deviations(ratings), lower=False)) == 1
    assert least_p(ratings, yes=False) < 0.001


def test_severity_is_the_mean_difference_from_the_others_by_hand() -> None:
    ratings = np.array([[[1.0, 2, 3, 4, 5], [2.0, 3, 4, 5, NAN], [3.0, 4, 5, NAN, NAN]]])

    severities = outlying_raters.severities(ratings)

    # Less 2.5, 3.5, 4.5 and 5: units 1 to 4, one too few; only five make a number.
    assert np.isnan(severities).all()
    ratings = np.concatenate([ratings, ratings], axis=2)
    assert outlying_raters.severities(ratings)[0] == pytest.approx(-(1.5 * 3 + 1) / 4)
