"""What Chakrabarty et al. 2024, Art or Artifice?, print of their data, and what the release gives where they differ."""

import numpy as np
import pytest

from stats import agreement, agreement_claims, intervals, judgements, rates
from stats.arrays import FloatArray
from stats.comparisons import pairs_pearson
from tests.stats.conftest import SOURCES, Ttcw

pytestmark = pytest.mark.data

# Tests 1 to 14 in the release's order.
KAPPAS = [
    0.4705,
    0.2499,
    0.2765,
    0.4126,
    0.3679,
    0.3396,
    0.3778,
    0.3613,
    0.4483,
    0.4074,
    0.6425,
    0.6484,
    0.3034,
    0.3089,
]
KAPPAS_WITHOUT_GROUP_2 = [
    *[0.4807, 0.2727, 0.2726, 0.3917, 0.3722, 0.3207, 0.3929, 0.4367, 0.4046, 0.4079, 0.6620, 0.6620, 0.3327, 0.3125]
]
KAPPAS_PRINTED = [0.48, 0.27, 0.27, 0.39, 0.37, 0.32, 0.39, 0.44, 0.40, 0.41, 0.66, 0.66, 0.33, 0.31]
PASS_RATES = [
    [8.3, 19.4, 33.3, 91.7],
    [22.2, 33.3, 55.6, 91.7],
    [8.3, 50.0, 58.3, 91.7],
    [8.3, 52.8, 61.1, 94.4],
    [5.6, 36.1, 13.9, 88.9],
    [16.7, 19.4, 36.1, 91.7],
    [11.1, 19.4, 30.6, 88.9],
    [8.3, 16.7, 19.4, 72.2],
    [2.8, 44.4, 19.4, 91.7],
    [2.8, 8.3, 0.0, 63.9],
    [0.0, 19.4, 11.1, 75.0],
    [2.8, 11.1, 5.6, 88.9],
    [16.7, 41.7, 58.3, 94.4],
    [8.3, 16.7, 16.7, 61.1],
]


def pooled(verdicts: FloatArray) -> FloatArray:
    """All tests side by side: shape (14, R, U) to (R, 14 * U)."""
    return np.concatenate(list(verdicts), axis=1)


def test_fleiss_kappa_of_each_test_on_all_48_stories(ttcw: Ttcw) -> None:
    kappas = [agreement.fleiss_kappa(test) for test in ttcw.verdicts]

    assert [round(kappa.value, 4) for kappa in kappas] == KAPPAS
    assert round(float(np.mean([kappa.value for kappa in kappas])), 4) == 0.4011
    assert {(kappa.n_units, kappa.n_raters, kappa.note) for kappa in kappas} == {(48, 11, "3 ratings a unit")}


def test_fleiss_kappa_as_printed_in_table_5_comes_out_without_group_2(ttcw: Ttcw) -> None:
    kappas = [agreement.fleiss_kappa(test[:, ttcw.group != 2]).value for test in ttcw.verdicts]

    assert [round(kappa, 4) for kappa in kappas] == KAPPAS_WITHOUT_GROUP_2
    assert [round(kappa, 2) for kappa in kappas] == KAPPAS_PRINTED
    assert round(float(np.mean(kappas)), 4) == 0.4087


def test_agreement_pooled_over_672_units(ttcw: Ttcw) -> None:
    kappa = agreement.fleiss_kappa(pooled(ttcw.verdicts))
    alpha = agreement.krippendorff_alpha(pooled(ttcw.verdicts), "nominal")

    assert (round(kappa.value, 4), kappa.n_units) == (0.4261, 672)
    assert (round(alpha.value, 4), alpha.n_units) == (0.4264, 672)


def test_agreement_within_the_36_stories_of_models_is_a_different_finding(ttcw: Ttcw) -> None:
    by_model = ttcw.source != SOURCES.index("NewYorker")

    kappas = [agreement.fleiss_kappa(test[:, by_model]).value for test in ttcw.verdicts]

    assert round(float(np.mean(kappas)), 2) == 0.05


def test_a_part_of_agreement_is_shown_to_be_on_which_stories_people_wrote(ttcw: Ttcw) -> None:
    by_model = ttcw.source != SOURCES.index("NewYorker")

    ends = agreement_claims.interval_above_part(ttcw.verdicts, by_model, ttcw.group, rng=np.random.default_rng(1))

    assert (ends.n_units, ends.method) == (12, "jackknife")
    assert 0.2 < ends.low < 0.40 - 0.05 < ends.high < 0.5


@pytest.mark.parametrize(("left_out", "r", "n"), [(None, 0.6868, 288), (2, 0.6905, 264)])
def test_pearson_of_aggregate_scores(ttcw: Ttcw, left_out: int | None, r: float, n: int) -> None:
    correlation = pairs_pearson(rates.totals(ttcw.verdicts)[:, ttcw.group != left_out])

    assert (round(correlation.value, 4), correlation.n) == (r, n)


def test_all_56_pass_rates_of_table_5(ttcw: Ttcw) -> None:
    found = [
        [round(rates.pass_rate(test[:, ttcw.source == source]), 1) for source in range(4)] for test in ttcw.verdicts
    ]

    assert found == PASS_RATES


def test_average_pass_rates_of_table_5_but_for_its_misprint(ttcw: Ttcw) -> None:
    averages = [rates.pass_rate(ttcw.verdicts[:, :, ttcw.source == source]) for source in range(4)]
    passed = rates.tests_passed(ttcw.verdicts)[ttcw.source == SOURCES.index("NewYorker")].mean()

    assert [round(average, 3) for average in averages] == [8.730, 27.778, 29.960, 84.722]  # 27.9 is printed for 27.778
    assert round(float(passed), 1) == 11.9  # section 5.4


def test_experts_and_their_majority_say_yes_as_often_as_counted(ttcw: Ttcw) -> None:
    assert np.nansum(ttcw.verdicts) == 762
    assert np.nansum(judgements.majority(pooled(ttcw.verdicts))) == 228
    assert round(agreement.base_rate(ttcw.verdicts), 3) == 0.378


def test_judge_gpt4_against_the_majority(ttcw: Ttcw) -> None:
    given, unreadable, n_missing = ttcw.judge("gpt4")
    truth = judgements.majority(pooled(ttcw.verdicts))

    whole = judgements.compare_with_majority(given.ravel(), truth)
    by_test = [judgements.compare_with_majority(*pair).kappa for pair in zip(given, truth.reshape(14, 48), strict=True)]

    assert (unreadable, n_missing, whole.n, whole.n_missing, whole.n_undecided) == ([], 0, 672, 0, 0)
    assert round(whole.yes_rate, 3) == 0.792
    assert round(whole.majority_yes_rate, 3) == 0.339
    assert kappa_value(whole.kappa) == 0.068
    assert round(float(np.mean([float(kappa) for kappa in by_test])), 3) == 0.034


def test_judge_gemini_pro_against_the_majority_of_what_is_readable(ttcw: Ttcw) -> None:
    given, unreadable, n_missing = ttcw.judge("gemini-pro")
    truth = judgements.majority(pooled(ttcw.verdicts))

    whole = judgements.compare_with_majority(given.ravel(), truth)
    by_test = [judgements.compare_with_majority(*pair).kappa for pair in zip(given, truth.reshape(14, 48), strict=True)]
    lost = [round(100 * float(np.isnan(given[:, ttcw.source == source]).mean()), 1) for source in range(4)]

    assert (whole.n, whole.n_missing, len(unreadable), n_missing) == (608, 64, 50, 14)
    assert all(answer.startswith("Content Blocked") for answer in unreadable)
    assert dict(zip(SOURCES, lost, strict=True)) == {"GPT3.5": 4.2, "GPT4": 5.4, "Claude": 9.5, "NewYorker": 19.0}
    assert round(whole.yes_rate, 3) == 0.974
    assert kappa_value(whole.kappa) == -0.014
    assert round(float(np.mean([float(kappa) for kappa in by_test])), 3) == -0.021


def test_kappa_interval_over_the_12_groups_says_that_they_are_few(ttcw: Ttcw) -> None:
    interval = intervals.fleiss_kappa_interval(ttcw.verdicts[0], ttcw.group, rng=np.random.default_rng(1))

    assert interval.low < KAPPAS[0] < interval.high
    assert (interval.n_units, interval.method) == (12, "jackknife")
    assert "over 12 clusters" in interval.note


def test_kappa_of_each_test_is_above_its_chance_floor(ttcw: Ttcw) -> None:
    rng = np.random.default_rng(1)

    floors = [agreement.fleiss_chance_floor(test, rng=rng) for test in ttcw.verdicts]

    assert all(abs(floor.mean) < 0.1 for floor in floors)
    assert all(floor.upper < kappa for floor, kappa in zip(floors, KAPPAS, strict=True))


def kappa_value(kappa: agreement.Coefficient | agreement.Incomputable) -> float:
    assert isinstance(kappa, agreement.Coefficient)
    return round(kappa.value, 3)
