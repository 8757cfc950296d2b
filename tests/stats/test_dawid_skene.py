"""Dawid and Skene's model: as crowd-kit 1.4.2 has it, and where ratings do not suffice."""

from functools import partial

import numpy as np
import pytest

from stats import dawid_skene
from stats.arrays import FloatArray
from stats.reasons import Incomputable
from tests.stats.conftest import Ttcw
from tests.stats.examples import NAN

# By crowd-kit 1.4.2, DawidSkene(n_iter=400, tol=-1e9).fit(votes), in an environment of its own: it needs transformers
# and pyarrow, half a gigabyte. It adds no answer to a cell but holds each at 1e-10 or above.
as_crowd_kit = partial(dawid_skene.fit, smoothing=1e-10, tolerance=1e-10)
CHOICES = (
    "-1-22-211002210--122012---112-2-21211--2",
    "1-121-20--2222212-2-1-21-1110-110--10--1",
    "1102-0---0---10120-112-20-1--2210--1111-",
    "-21--020-0-2-2012-12-12--1-12--12-2---12",
    "11-0100--0202---21---221--1-20--21211-12",
    "-2-22--1-0-2-10-201002-1---110212-21101-",
)
CHOICE_LABELS = "1112102110022101212102210111202121211112"
CHOICE_SHARES = [0.1676388465, 0.5052849398, 0.3270762137]
CHOICE_RECOGNISED = [
    [1.0000000000, 0.8034445762, 0.9080340627],
    [0.0000000000, 0.7440462686, 0.6166449321],
    [0.5913619828, 0.7662341431, 0.7403746023],
    [0.9999999999, 0.6110088368, 0.8233002149],
    [0.7500000000, 1.0000000000, 0.7272727273],
    [1.0000000000, 0.6417361053, 0.8138430853],
]
TTCW_YES = 0.3212252543948461
TTCW_N_YES = 212
TTCW_SENSITIVITY = [
    0.9286581486,
    0.8442232654,
    0.9881574144,
    0.7996998661,
    0.7143169160,
    0.8492060208,
    0.8322233724,
    0.8592124764,
    0.8627532775,
    0.8990759042,
    0.8184125135,
]
TTCW_SPECIFICITY = [
    0.7145292584,
    0.8733521943,
    0.8759013802,
    0.8422510737,
    0.6542446614,
    0.9176222070,
    0.8192789667,
    1.0000000000,
    0.9811088585,
    0.8061917201,
    0.9677039732,
]


def read_codes(rows: tuple[str, ...]) -> FloatArray:
    return np.array([[NAN if code == "-" else float(code) for code in row] for row in rows])


def simulated(
    seed: int, *, n_units: int, n_raters: int, n_ratings: int, yes: float, accuracy: float
) -> tuple[FloatArray, FloatArray]:
    """Right answers, shape (U,), and those of raters who all give it as often, shape (R, U)."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n_units) < yes).astype(float)
    codes = np.where(rng.random((n_raters, n_units)) < accuracy, truth, 1 - truth)
    codes[rng.random((n_raters, n_units)).argsort(axis=0) >= n_ratings] = NAN
    return truth, codes


def test_a_choice_of_three_is_what_crowd_kit_makes_of_it() -> None:
    model = as_crowd_kit(read_codes(CHOICES), 3)

    assert model.shares == pytest.approx(CHOICE_SHARES, abs=1e-8)
    assert "".join(map(str, model.labels)) == CHOICE_LABELS
    assert np.diagonal(model.confusion, axis1=1, axis2=2) == pytest.approx(np.array(CHOICE_RECOGNISED), abs=1e-8)


@pytest.mark.data
def test_the_verdicts_of_the_release_are_what_crowd_kit_makes_of_them(ttcw: Ttcw) -> None:
    model = as_crowd_kit(np.concatenate(list(ttcw.verdicts), axis=1), 2)

    assert model.shares[1] == pytest.approx(TTCW_YES, abs=1e-9)
    assert (model.labels == 1).sum() == TTCW_N_YES
    assert model.confusion[:, 1, 1] == pytest.approx(TTCW_SENSITIVITY, abs=1e-8)
    assert model.confusion[:, 0, 0] == pytest.approx(TTCW_SPECIFICITY, abs=1e-8)


@pytest.mark.data
def test_the_release_says_something_over_all_tests_and_nothing_of_one(ttcw: Ttcw) -> None:
    pooled = np.concatenate(list(ttcw.verdicts), axis=1)

    model, majority = dawid_skene.fit_identified(pooled, 2), dawid_skene.majority(pooled, 2)

    assert (majority == 1).sum() == 228
    assert (model.labels != majority).sum() == 13
    for test in ttcw.verdicts:
        with pytest.raises(Incomputable) as reason:
            dawid_skene.fit_identified(test, 2)
        assert reason.value.code == "too_few_units_of_raters"


def test_a_tie_goes_to_the_rater_who_agrees_more_with_others() -> None:
    truth, codes = simulated(3, n_units=90, n_raters=5, n_ratings=5, yes=0.5, accuracy=0.95)
    codes[4] = np.random.default_rng(4).integers(0, 2, 90)
    codes[:3, 0], codes[3:, 0] = NAN, [truth[0], 1 - truth[0]]

    model = dawid_skene.fit_identified(codes, 2)

    assert dawid_skene.majority(codes, 2)[0] == -1
    assert model.labels[0] == truth[0]
    assert model.recognised[4].mean() < 0.7 < 0.85 < model.recognised[:4].min()


def test_renaming_raters_units_and_answers_changes_nothing() -> None:
    _truth, codes = simulated(5, n_units=60, n_raters=6, n_ratings=4, yes=0.4, accuracy=0.8)
    plain = dawid_skene.fit(codes, 2)

    turned = dawid_skene.fit(1 - codes[::-1, ::-1], 2)

    assert turned.probabilities[::-1, ::-1] == pytest.approx(plain.probabilities)
    assert turned.confusion[::-1, ::-1, ::-1] == pytest.approx(plain.confusion)


@pytest.mark.parametrize(
    ("codes", "code"),
    [
        (np.full((2, 3), NAN), "no_unit_with_two_ratings"),
        (np.array([[1, NAN], [NAN, 0]]), "no_unit_with_two_ratings"),
        (simulated(1, n_units=80, n_raters=4, n_ratings=2, yes=0.5, accuracy=0.9)[1], "too_few_ratings_of_units"),
        (simulated(1, n_units=48, n_raters=11, n_ratings=3, yes=0.3, accuracy=0.9)[1], "too_few_units_of_raters"),
        (simulated(1, n_units=80, n_raters=5, n_ratings=5, yes=0.03, accuracy=0.99)[1], "too_few_units_of_raters"),
        (np.ones((5, 80)), "too_few_units_of_raters"),
    ],
)
def test_ratings_that_do_not_tell_errors_from_answers_are_refused(codes: FloatArray, code: str) -> None:
    with pytest.raises(Incomputable) as reason:
        dawid_skene.fit_identified(codes, 2)

    assert reason.value.code == code


def test_it_comes_nearer_to_the_truth_where_it_is_given_and_one_rater_guesses() -> None:
    shares = []
    for seed in range(40):
        truth, codes = simulated(seed, n_units=100, n_raters=5, n_ratings=5, yes=0.35, accuracy=0.8)
        codes[:2] = np.random.default_rng([seed, 1]).integers(0, 2, (2, 100))
        model, majority = dawid_skene.fit_identified(codes, 2), dawid_skene.majority(codes, 2)
        shares.append([(model.labels == truth).mean(), (majority == truth).mean()])

    mean_model, mean_majority = np.mean(shares, axis=0)
    assert mean_model > mean_majority + 0.02


def test_a_model_that_has_not_settled_says_so() -> None:
    _truth, codes = simulated(5, n_units=60, n_raters=6, n_ratings=4, yes=0.4, accuracy=0.8)

    with pytest.raises(Incomputable) as reason:
        dawid_skene.fit(codes, 2, most_steps=2)

    assert reason.value.code == "not_settled"
