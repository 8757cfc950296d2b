"""Gwet's coefficients and intraclass correlations, on published examples and by hand."""

from typing import SupportsFloat

import numpy as np
import pytest

from stats import reliability
from stats.agreement import chance_floor
from stats.arrays import FloatArray
from stats.reasons import Incomputable, TooFewRaters
from stats.resamples import Resamples
from tests.stats.conftest import Ttcw
from tests.stats.examples import FLEISS_1971, KRIPPENDORFF_C, NAN

# Shrout & Fleiss 1979, Psychological Bulletin 86(2), table 2: six targets, four judges.
SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float
).T


def one_way(ratings: FloatArray) -> reliability.IntraclassMaterial:
    """Complete ratings as if it were not known who gave which."""
    material = reliability.read_material(ratings)
    return reliability.IntraclassMaterial(material.ratings, "one-way", material.is_used)


def test_intraclass_reproduces_shrout_and_fleiss_where_the_same_raters_rated_all() -> None:
    value = reliability.intraclass(SHROUT_FLEISS)

    assert (value.design, value.k) == ("two-way", 4)
    assert (value.single.name, round(value.single.value, 2)) == ("ICC(A,1)", 0.29)
    assert (value.average.name, round(value.average.value, 2)) == ("ICC(A,k)", 0.62)
    assert (value.single.n_units, value.single.n_raters) == (6, 4)


def test_the_one_way_form_reproduces_shrout_and_fleiss() -> None:
    material = one_way(SHROUT_FLEISS)

    single, average, k = material.values(material.parts().sum(axis=0))

    assert (round(float(single), 2), round(float(average), 2), float(k)) == (0.17, 0.44, 4)


def test_where_raters_differ_by_unit_the_form_is_one_way_with_unequal_numbers_of_ratings() -> None:
    ratings = np.array([[1.0, NAN, 5], [2, 3, NAN], [NAN, 4, 5], [NAN, NAN, 6]])

    value = reliability.intraclass(ratings)

    # By hand: units (1 2), (3 4), (5 5 6); grand mean 26/7; k = (7 - 17/7) / 2.
    groups = [[1, 2], [3, 4], [5, 5, 6]]
    grand = 26 / 7
    between = sum(len(g) * (np.mean(g) - grand) ** 2 for g in groups) / 2
    within = sum(sum((x - np.mean(g)) ** 2 for x in g) for g in groups) / 4
    k = (7 - 17 / 7) / 2
    assert (value.design, value.single.name, value.average.name) == ("one-way", "ICC(1,1)", "ICC(1,k)")
    assert value.k == pytest.approx(k)
    assert value.single.value == pytest.approx((between - within) / (between + (k - 1) * within))
    assert value.average.value == pytest.approx((between - within) / between)


def test_a_few_units_without_all_raters_are_left_out_and_counted() -> None:
    ratings = np.random.default_rng(3).normal(size=(3, 30))
    ratings[0, :2] = NAN

    value = reliability.intraclass(ratings)

    assert (value.design, value.single.n_units, value.single.note) == ("two-way", 28, "2 of 30 units left out")


def test_adding_a_number_to_all_changes_no_intraclass_correlation() -> None:
    shifted = reliability.intraclass(SHROUT_FLEISS + 1e6)

    assert shifted.single.value == pytest.approx(reliability.intraclass(SHROUT_FLEISS).single.value, abs=1e-9)


def test_intraclass_says_why_it_has_no_value() -> None:
    with pytest.raises(TooFewRaters):
        reliability.intraclass([[1.0, 2.0, 3.0]])
    with pytest.raises(Incomputable, match="do not vary"):
        reliability.intraclass(np.ones((3, 5)))


@pytest.mark.parametrize("ratings", [[[1, 3, 2], [3, 1, 2]], [[1, 2, np.nan], [2, 1, 1], [np.nan, np.nan, 2]]])
def test_stories_whose_means_are_alike_have_no_value_rather_than_nan(ratings: list[list[float]]) -> None:
    with pytest.raises(Incomputable, match="means hardly differ"):
        reliability.intraclass(ratings)


@pytest.mark.parametrize("is_crossed", [True, False])
def test_floors_are_of_ratings_shuffled_within_each_rater(is_crossed: bool) -> None:
    rng = np.random.default_rng(5)
    ratings = rng.integers(1, 6, size=(4, 20)).astype(float)
    if not is_crossed:
        ratings[rng.random(ratings.shape) < 0.4] = NAN

    def single(shuffled: FloatArray) -> SupportsFloat:
        return reliability.intraclass(shuffled).single

    def average(shuffled: FloatArray) -> SupportsFloat:
        return reliability.intraclass(shuffled).average

    floors = reliability.intraclass_floors(ratings, rng=np.random.default_rng(1), n_shuffles=600)
    forms = [
        chance_floor(
            ratings,
            form,
            rng=np.random.default_rng(2),
            n_shuffles=600,
        )
        for form in (single, average)
    ]

    assert [floor.upper for floor in floors] == pytest.approx([form.upper for form in forms], abs=0.06)
    assert floors[0].mean == pytest.approx(forms[0].mean, abs=0.02)


def test_intervals_hold_the_value_and_say_what_they_rest_on() -> None:
    rng = np.random.default_rng(7)
    ratings = rng.normal(size=40) + rng.normal(size=(4, 40))
    clusters = [f"c{n // 2}" for n in range(40)]

    single, average = reliability.intraclass_intervals(ratings, Resamples(clusters, rng=rng))

    value = reliability.intraclass(ratings)
    assert single.low < value.single.value < single.high
    assert average.low < value.average.value < average.high
    assert (single.n_units, single.method) == (20, "jackknife")
    # Of equal resamples the mean of four is more reliable than one.
    assert average.low > single.low


def test_gwet_reproduces_irrcac_on_krippendorffs_example() -> None:
    plain = reliability.gwet_ac(KRIPPENDORFF_C, [1, 2, 3, 4, 5])
    near = reliability.gwet_ac(KRIPPENDORFF_C, [1, 2, 3, 4, 5], "ordinal")

    # irrCAC 0.4.4: CAC(table, weights=…).gwet(); Gwet's Handbook prints .775.
    assert (plain.name, near.name) == ("Gwet's AC1", "Gwet's AC2, ordinal weights")
    assert [plain.value, near.value] == pytest.approx([0.77544407, 0.89893977])
    assert (plain.n_units, plain.n_raters) == (11, 4)


def test_ac1_stays_high_where_kappa_collapses() -> None:
    # Two raters, a hundred units: both Yes 94 times, each alone three times. Agreement .94; pi = .97.
    ratings = np.array([[1.0] * 94 + [0] * 3 + [1] * 3, [1.0] * 94 + [1] * 3 + [0] * 3])

    value = reliability.gwet_ac(ratings, [0, 1]).value

    chance = 2 * 0.97 * 0.03
    assert value == pytest.approx((0.94 - chance) / (1 - chance))


def test_all_answers_alike_are_full_agreement_and_one_possible_answer_is_none() -> None:
    assert reliability.gwet_ac(np.ones((3, 4)), [0, 1]).value == 1
    with pytest.raises(Incomputable, match="Only one answer"):
        reliability.gwet_ac(np.ones((3, 4)), [1])
    with pytest.raises(TooFewRaters):
        reliability.gwet_ac([[1.0, 0.0]], [0, 1])


def test_gwets_floor_is_of_answers_shuffled_within_each_rater() -> None:
    values = [1, 2, 3, 4, 5]
    (floor,) = reliability.gwet_floors(FLEISS_1971[np.newaxis], values, rng=np.random.default_rng(1), n_shuffles=600)
    slow = chance_floor(
        FLEISS_1971, lambda r: reliability.gwet_ac(r, values), rng=np.random.default_rng(2), n_shuffles=600
    )

    assert [floor.mean, floor.upper] == pytest.approx([slow.mean, slow.upper], abs=0.02)


@pytest.mark.data
def test_counts_of_yes_on_the_release_have_the_one_way_form(ttcw: Ttcw) -> None:
    totals = ttcw.verdicts.sum(axis=0)

    value = reliability.intraclass(totals)

    by_story = [column[np.isfinite(column)] for column in totals.T]
    means = np.array([story.mean() for story in by_story])
    between = 3 * means.var(ddof=1)
    within = np.mean([story.var(ddof=1) for story in by_story])
    assert (value.single.name, value.k, value.single.n_units) == ("ICC(1,1)", 3, 48)
    assert value.single.value == pytest.approx((between - within) / (between + 2 * within))
    assert value.average.value == pytest.approx(1 - within / between)


def test_a_shuffle_in_which_nothing_but_rounding_is_left_to_divide_by_has_no_value() -> None:
    """Of one such shuffle, the mean of the floor was −7 × 10¹⁴."""
    ratings = np.array([[2.5, 2.5, 3.5, 2.0], [4.0, 1.5, 4.5, 2.5], [3.0, 3.0, 1.5, 4.5]])

    _single, average = reliability.intraclass_floors(ratings, rng=np.random.default_rng([5, 1]), n_shuffles=200)

    assert average.n_shuffles < 200
    assert average.mean == pytest.approx(-1.0534, abs=1e-4)
