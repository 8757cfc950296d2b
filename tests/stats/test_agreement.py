"""Agreement on published examples, on cases done by hand, and under changes that must not matter."""

from collections.abc import Callable

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stats import agreement
from stats.agreement import Coefficient, Incomputable, TooFewRaters
from stats.arrays import FloatArray
from stats.sums import Level
from tests.stats.examples import (
    FLEISS_1971,
    KRIPPENDORFF_A,
    KRIPPENDORFF_B,
    KRIPPENDORFF_C,
    NAN,
    repeatable,
    scores,
    scores_with_gaps,
)

COEFFICIENTS: dict[str, Callable[[FloatArray], Coefficient]] = {
    "fleiss": agreement.fleiss_kappa,
    "nominal alpha": lambda ratings: agreement.krippendorff_alpha(ratings, "nominal"),
    "ordinal alpha": lambda ratings: agreement.krippendorff_alpha(ratings, "ordinal"),
    "interval alpha": lambda ratings: agreement.krippendorff_alpha(ratings, "interval"),
    "brennan and prediger": lambda ratings: agreement.brennan_prediger(ratings, 5),
    "weighted fleiss": lambda ratings: agreement.weighted_fleiss(ratings, 5),
}
of_all_coefficients = pytest.mark.parametrize("coefficient", COEFFICIENTS.values(), ids=COEFFICIENTS.keys())

# Three raters, four units, one gap: pairs agree 3 of 3, 1 of 3, 1 of 1, 1 of 3.
BY_HAND = np.array([[1, 1, 1, 0], [1, 1, 1, 0], [1, 0, NAN, 1]])


def value_or_reason(coefficient: Callable[[FloatArray], Coefficient], ratings: FloatArray) -> float | str:
    try:
        return round(coefficient(ratings).value, 12)
    except Incomputable as reason:
        return str(reason)


def test_counts_how_many_gave_each_value() -> None:
    table = agreement.counts(BY_HAND, [0, 1])

    assert table.tolist() == [[0, 3], [1, 2], [0, 2], [2, 1]]


def test_counts_refuses_a_rating_that_is_not_among_the_values() -> None:
    with pytest.raises(ValueError, match="not among the values"):
        agreement.counts(BY_HAND, [1, 2])


def test_percent_agreement_by_hand_is_the_mean_over_units() -> None:
    assert agreement.percent_agreement(BY_HAND) == pytest.approx(100 * (1 + 1 / 3 + 1 + 1 / 3) / 4)


def test_percent_agreement_passes_over_units_with_one_rating() -> None:
    alone = np.array([[1], [NAN], [NAN]])

    assert agreement.percent_agreement(np.hstack([BY_HAND, alone])) == agreement.percent_agreement(BY_HAND)


def test_base_rate_is_the_share_of_ratings_with_the_value() -> None:
    assert agreement.base_rate(BY_HAND) == 8 / 11
    assert agreement.base_rate(BY_HAND, 0) == 3 / 11


def test_base_rate_of_no_ratings_is_incomputable() -> None:
    with pytest.raises(Incomputable, match="no ratings"):
        agreement.base_rate([[NAN]])


@pytest.mark.parametrize(
    ("ratings", "level", "published"),
    [
        (KRIPPENDORFF_A, "nominal", 0.095),
        (KRIPPENDORFF_B, "nominal", 0.692),
        (KRIPPENDORFF_C, "nominal", 0.743),
        (KRIPPENDORFF_C, "ordinal", 0.815),
        (KRIPPENDORFF_C, "interval", 0.849),
    ],
)
def test_alpha_of_krippendorff_2011(ratings: FloatArray, level: Level, published: float) -> None:
    assert round(agreement.krippendorff_alpha(ratings, level).value, 3) == published


def test_alpha_says_what_it_rests_on() -> None:
    alpha = agreement.krippendorff_alpha(KRIPPENDORFF_C, "ordinal")

    assert (alpha.name, alpha.n_units, alpha.n_raters) == ("Krippendorff's alpha, ordinal", 11, 4)
    assert alpha.note == "1 of 12 units left out, which have fewer than two ratings"


def test_alpha_refuses_a_level_it_has_no_distance_for() -> None:
    with pytest.raises(ValueError, match="not 'none'"):
        agreement.krippendorff_alpha(KRIPPENDORFF_C, "none")  # type: ignore[arg-type]


def test_alpha_is_incomputable_if_only_a_rating_without_a_partner_differs() -> None:
    with pytest.raises(Incomputable, match="All ratings are the same"):
        agreement.krippendorff_alpha([[1, 1, 2], [1, 1, NAN]], "ordinal")


def test_weighted_fleiss_by_hand() -> None:
    coefficient = agreement.weighted_fleiss([[1, 3, 5], [2, 3, 1]], 5)

    # Neighbours count .9, equals 1, corners 0: observed 1.9/3. Shares 2/6, 1/6, 2/6, 0, 1/6: chance 10/36.
    assert coefficient.value == pytest.approx((1.9 / 3 - 10 / 36) / (1 - 10 / 36))
    assert "chance unweighted" in coefficient.name


def test_weighted_fleiss_counts_from_the_first_point_of_the_scale() -> None:
    from_1 = agreement.weighted_fleiss([[1, 3, 5], [2, 3, 1]], 5)

    assert agreement.weighted_fleiss([[0, 2, 4], [1, 2, 0]], 5, first=0) == from_1


def test_weighted_fleiss_refuses_a_rating_off_the_scale() -> None:
    with pytest.raises(ValueError, match="not among the values"):
        agreement.weighted_fleiss([[1, 6], [1, 2]], 5)


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ([0.2, 0.2, 0.2, 0.2, 0.2], 0.65),  # observed .72, chance .20
        ([0.15, 0.25, 0.25, 0.2, 0.15], 0.70),  # mean 2.95, standard deviation 1.28: as the study's ratings are spread
    ],
)
def test_weighted_fleiss_of_raters_who_answer_at_random_is_about_070(shares: list[float], expected: float) -> None:
    at_random = np.random.default_rng(7).choice([1.0, 2.0, 3.0, 4.0, 5.0], size=(5, 4000), p=shares)

    assert agreement.weighted_fleiss(at_random, 5).value == pytest.approx(expected, abs=0.01)
    assert agreement.krippendorff_alpha(at_random, "ordinal").value == pytest.approx(0, abs=0.02)


def test_chance_floor_gives_the_weighted_fleiss_coefficient_away() -> None:
    rng = np.random.default_rng(7)
    at_random = rng.choice([1.0, 2.0, 3.0, 4.0, 5.0], size=(5, 97), p=[0.15, 0.25, 0.25, 0.2, 0.15])

    weighted = agreement.chance_floor(at_random, lambda r: agreement.weighted_fleiss(r, 5), rng=rng, n_shuffles=200)
    alpha = agreement.alpha_chance_floor(at_random, "ordinal", rng=rng, n_shuffles=200)

    assert weighted.mean == pytest.approx(0.70, abs=0.02)
    assert alpha.mean == pytest.approx(0, abs=0.02)


def test_cohen_kappa_of_the_grant_proposals_in_wikipedia() -> None:
    reader_a = np.repeat([1, 1, 0, 0], [20, 5, 10, 15])
    reader_b = np.repeat([1, 0, 1, 0], [20, 5, 10, 15])

    kappa = agreement.cohen_kappa(reader_a, reader_b)

    assert (round(kappa.value, 12), kappa.n_units, kappa.n_raters, kappa.note) == (0.4, 50, 2, "")


def test_cohen_kappa_leaves_out_units_that_one_side_lacks() -> None:
    kappa = agreement.cohen_kappa([1, 0, 1, 0, NAN], [1, 0, 0, NAN, 1])

    assert kappa.n_units == 3
    assert kappa.value == agreement.cohen_kappa([1, 0, 1], [1, 0, 0]).value


@pytest.mark.parametrize("other", [[1, 0, 1], [0, 0, 0]])
def test_cohen_kappa_is_0_and_says_so_if_one_side_is_constant(other: list[int]) -> None:
    kappa = agreement.cohen_kappa([1, 1, 1], other)

    assert (kappa.value, kappa.note) == (0, "0 because one side always gives the same value")


def test_cohen_kappa_takes_scales_between_whole_numbers() -> None:
    assert agreement.cohen_kappa([0.5, 1, 0.5], [0.5, 1, 0.5]).value == 1


def test_cohen_kappa_has_no_value_if_both_always_say_the_same() -> None:
    with pytest.raises(Incomputable, match="0/0"):
        agreement.cohen_kappa([1, 1, NAN], [1, 1, 0])


def test_cohen_kappa_has_no_value_without_a_unit_rated_by_both() -> None:
    with pytest.raises(Incomputable, match="Nothing was rated by both"):
        agreement.cohen_kappa([1, NAN], [NAN, 1])


def test_brennan_and_prediger_by_hand() -> None:
    kappa = agreement.brennan_prediger(BY_HAND, 2)

    # Agreement (1 + 1/3 + 1 + 1/3) / 4 = 2/3, by chance 1/2.
    assert (round(kappa.value, 12), kappa.n_units, kappa.n_raters) == (round(1 / 3, 12), 4, 3)
    assert agreement.brennan_prediger(BY_HAND, [2, 2, 4, 4]).value == pytest.approx((2 / 3 - 3 / 8) / (1 - 3 / 8))


@repeatable
@given(
    choices=st.lists(st.lists(st.sampled_from([0, 1]), min_size=3, max_size=3), min_size=2, max_size=6), data=st.data()
)
def test_brennan_and_prediger_do_not_ask_which_of_the_two_is_called_first(
    choices: list[list[int]], data: st.DataObject
) -> None:
    ratings = np.array(choices, dtype=float).T
    other_way_round = np.array(data.draw(st.lists(st.booleans(), min_size=len(choices), max_size=len(choices))))

    renamed = np.where(other_way_round, 1 - ratings, ratings)

    assert agreement.brennan_prediger(renamed, 2).value == pytest.approx(agreement.brennan_prediger(ratings, 2).value)


@of_all_coefficients
def test_perfect_agreement_is_1(coefficient: Callable[[FloatArray], Coefficient]) -> None:
    alike = np.tile([1.0, 2.0, 5.0, 3.0, 1.0], (3, 1))

    assert coefficient(alike).value == 1
    assert agreement.percent_agreement(alike) == 100


def test_brennan_and_prediger_have_a_value_even_if_all_ratings_are_the_same() -> None:
    assert agreement.brennan_prediger(np.full((3, 5), 2.0), 5).value == 1


@pytest.mark.parametrize("coefficient", [c for name, c in COEFFICIENTS.items() if name != "brennan and prediger"])
def test_ratings_that_are_all_the_same_have_no_coefficient(coefficient: Callable[[FloatArray], Coefficient]) -> None:
    with pytest.raises(Incomputable, match=r"All ratings are the same.* 0/0"):
        coefficient(np.full((3, 5), 2.0))


@of_all_coefficients
def test_one_rating_a_unit_is_too_few(coefficient: Callable[[FloatArray], Coefficient]) -> None:
    with pytest.raises(TooFewRaters, match="Nothing has two ratings"):
        coefficient(np.array([[1, NAN, 3], [NAN, 2, NAN]]))


@of_all_coefficients
@repeatable
@given(ratings=scores_with_gaps, data=st.data())
def test_renaming_raters_and_units_changes_nothing(
    coefficient: Callable[[FloatArray], Coefficient], ratings: FloatArray, data: st.DataObject
) -> None:
    n_raters, n_units = ratings.shape
    raters, units = data.draw(st.permutations(range(n_raters))), data.draw(st.permutations(range(n_units)))

    assert value_or_reason(coefficient, ratings[raters][:, units]) == value_or_reason(coefficient, ratings)


@repeatable
@given(ratings=scores_with_gaps)
def test_alpha_of_counts_is_what_the_package_gives_for_the_ratings(ratings: FloatArray) -> None:
    assume(not isinstance(value_or_reason(COEFFICIENTS["ordinal alpha"], ratings), str))

    alpha = agreement.krippendorff_alpha(ratings, "ordinal").value

    assert alpha == pytest.approx(krippendorff.alpha(ratings, level_of_measurement="ordinal"), abs=1e-12)


@repeatable
@given(ratings=scores)
def test_fleiss_and_nominal_alpha_differ_only_by_the_small_sample_term(ratings: FloatArray) -> None:
    assume(len(np.unique(ratings)) > 1)

    kappa = agreement.fleiss_kappa(ratings).value
    alpha = agreement.krippendorff_alpha(ratings, "nominal").value

    assert alpha == pytest.approx(kappa + (1 - kappa) / ratings.size, abs=1e-12)


def test_fleiss_chance_floor_equals_the_loop_over_statsmodels() -> None:
    ratings = np.random.default_rng(3).choice([0.0, 1.0, NAN], size=(4, 40), p=[0.5, 0.4, 0.1])

    fast = agreement.fleiss_chance_floor(ratings, rng=np.random.default_rng(5), n_shuffles=150)
    loop = agreement.chance_floor(ratings, agreement.fleiss_kappa, rng=np.random.default_rng(5), n_shuffles=150)

    assert (fast.mean, fast.upper) == pytest.approx((loop.mean, loop.upper), abs=1e-12)
    assert fast.n_shuffles == 150


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_chance_floor_equals_the_loop_over_the_package(level: Level) -> None:
    fast = agreement.alpha_chance_floor(KRIPPENDORFF_C, level, rng=np.random.default_rng(5), n_shuffles=150)
    loop = agreement.chance_floor(
        KRIPPENDORFF_C,
        lambda ratings: agreement.krippendorff_alpha(ratings, level),
        rng=np.random.default_rng(5),
        n_shuffles=150,
    )

    assert (fast.mean, fast.upper) == pytest.approx((loop.mean, loop.upper), abs=1e-12)


def test_chance_floor_shuffles_within_rater_and_leaves_gaps_where_they_are() -> None:
    seen: list[FloatArray] = []

    def look(ratings: FloatArray) -> float:
        seen.append(ratings.copy())
        return 0.0

    agreement.chance_floor(KRIPPENDORFF_C, look, rng=np.random.default_rng(1), n_shuffles=20)

    assert len(seen) == 20
    assert all((np.isnan(ratings) == np.isnan(KRIPPENDORFF_C)).all() for ratings in seen)
    assert all(np.array_equal(np.sort(r, axis=1), np.sort(KRIPPENDORFF_C, axis=1), equal_nan=True) for r in seen)
    assert len({ratings.tobytes() for ratings in seen}) > 1


def test_chance_floor_comes_back_from_its_seed() -> None:
    floors = [agreement.fleiss_chance_floor(FLEISS_1971, rng=np.random.default_rng(seed)) for seed in (1, 1, 2)]

    assert floors[0] == floors[1] != floors[2]
    # Below 0: the published table sorts each patient's diagnoses, so that the first rater leans to low numbers.
    assert -0.03 < floors[0].mean < 0
    assert floors[0].mean < floors[0].upper < agreement.fleiss_kappa(FLEISS_1971).value


def test_chance_floor_of_what_has_no_value_has_none() -> None:
    with pytest.raises(Incomputable, match="No shuffle"):
        agreement.chance_floor(np.ones((2, 3)), agreement.fleiss_kappa, rng=np.random.default_rng(1), n_shuffles=3)
