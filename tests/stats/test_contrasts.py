"""Contrasts of two sources: scipy's and statsmodels' values on cases done by hand, the release's, and invariants."""

import numpy as np
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import ttost_ind, ttost_paired

from stats import contrasts, intervals
from stats.arrays import FloatArray
from stats.contrasts import Contrast
from stats.reasons import Incomputable
from tests.stats.conftest import SOURCES, Ttcw

NAN = np.nan
# Student 1908, Biometrika 6(1), p. 20: hours of sleep gained with two drugs by the same ten people. R prints for the
# paired test t = -4.0621, df = 9, p = .002833, 95 % interval -2.4598858 to -.7001142 (data "sleep").
DRUG_1 = np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0])
DRUG_2 = np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])


def contrast(first: FloatArray, second: FloatArray, test: str = "default") -> Contrast:
    return contrasts.contrast(first, second, test=test, rng=np.random.default_rng(1))


def ends(row: Contrast) -> tuple[float, float]:
    return row.interval.low, row.interval.high


def test_paired_means_reproduce_the_sleep_data() -> None:
    row = contrast(DRUG_1, DRUG_2, "means")

    assert (row.difference, *ends(row)) == pytest.approx((-1.58, -2.4598858, -0.7001142), abs=1e-6)
    assert (row.p, row.n, row.is_paired) == (pytest.approx(0.002833, abs=1e-6), (10,), True)


@pytest.mark.parametrize(
    "changes",
    [
        [1.0, 1, -2, 3, 3],
        [0.0, 1, -2, 3, 4, 5],
        [0.0, 0, -1, -1, 2, 2, -3],
        [4.0, 4, 4, 4, 4, 5, 5],
        [0.0, 0, 0, 0, 1],
        [1.5, 2, -3, 4, 5],
    ],
)
def test_few_values_of_which_some_are_equal_have_the_p_that_scipy_takes_long_for(changes: list[float]) -> None:
    paired = contrast(np.array(changes), np.zeros(len(changes)))

    assert paired.p == pytest.approx(scipy_stats.wilcoxon(changes).pvalue, abs=1e-12)


def test_differences_that_are_equal_but_for_their_last_bits_are_tied() -> None:
    first = np.array([200 / 9, 100 * 2 / 3, 400 / 9])
    second = np.array([100 / 3, 100 / 3, 700 / 9])
    assert len({abs(change) for change in first - second}) == 3  # of which two are 100 / 3

    row = contrast(first, second)

    assert row.p == 1  # signs of ranks 1, 2.5, 2.5: none of the eight sums is nearer to 0 than the one found, -1


def test_groups_that_are_equal_but_for_their_last_bits_are_tied() -> None:
    first = np.array([0.1 + 0.2, 0.3, 1.0, NAN, NAN, NAN])
    second = np.array([NAN, NAN, NAN, 0.3, 0.1 + 0.2, 0.5])

    assert contrast(first, second, "ranks").effect == pytest.approx(1 / 9)  # of nine pairs 3 more, 2 less, 4 tied


def test_the_default_is_wilcoxon_where_clusters_pair_and_welch_where_they_do_not() -> None:
    apart = np.concatenate([DRUG_1, np.full(10, NAN)]), np.concatenate([np.full(10, NAN), DRUG_2])

    paired, unpaired = contrast(DRUG_1, DRUG_2), contrast(*apart)

    assert paired.p == pytest.approx(scipy_stats.wilcoxon(DRUG_1 - DRUG_2).pvalue)
    assert (unpaired.test, unpaired.effect_name, unpaired.n) == ("Welch's t-test", "Hedges' g", (10, 10))
    # R: t.test(extra ~ group, sleep) prints p = .07939, 95 % interval -3.3654832 to .2054832.
    assert (unpaired.p, *ends(unpaired)) == pytest.approx((0.07939, -3.3654832, 0.2054832), abs=1e-5)


def test_ranks_of_unpaired_clusters_give_mann_whitney_and_cliffs_delta() -> None:
    first, second = np.array([3.0, 4, 5, NAN, NAN, NAN]), np.array([NAN, NAN, NAN, 1, 2, 4])

    row = contrast(first, second, "ranks")

    # Of nine pairs the first is larger in seven, equal in one, smaller in one.
    assert (row.effect, row.effect_name) == (pytest.approx(6 / 9), "Cliff's delta")
    assert row.p == pytest.approx(scipy_stats.mannwhitneyu([3, 4, 5], [1, 2, 4]).pvalue)


@pytest.mark.parametrize("margin", [0.5, 1.0, 2.3, 2.5, 4.0])
def test_p_of_a_difference_beyond_the_margin_is_statsmodels_two_one_sided_tests(margin: float) -> None:
    apart = np.concatenate([DRUG_1, np.full(10, NAN)]), np.concatenate([np.full(10, NAN), DRUG_2])

    paired, unpaired = contrast(DRUG_1, DRUG_2), contrast(*apart)

    by_pairs = ttost_paired(DRUG_1, DRUG_2, -margin, margin)[0] < 0.05
    by_groups = ttost_ind(DRUG_1, DRUG_2, -margin, margin, usevar="unequal")[0] < 0.05
    assert (paired.estimate.p_within(margin) < 0.05) == by_pairs
    assert (unpaired.estimate.p_within(margin) < 0.05) == by_groups


def test_holm_and_benjamini_hochberg_by_hand_leave_out_what_has_no_p() -> None:
    # Holm: 3 x .01, then 2 x .02, then .04, none below the one before. BH: .03, 3/2 x .02, .04.
    assert contrasts.adjust([0.02, None, 0.01, 0.04], "holm") == pytest.approx([0.04, None, 0.03, 0.04])
    assert contrasts.adjust([0.02, None, 0.01, 0.04], "fdr_bh") == pytest.approx([0.03, None, 0.03, 0.04])
    assert contrasts.adjust([None], "holm") == [None]


def test_cluster_means_by_hand() -> None:
    values, clusters = [1.0, 3.0, NAN, 5.0, 9.0], ["a", "a", "b", "c", "c"]
    units = np.array([True, True, True, True, False])

    means = contrasts.cluster_means(values, clusters, units)

    assert means.tolist() == pytest.approx([2.0, NAN, 5.0], nan_ok=True)


def test_clusters_of_one_source_alone_are_left_out_and_counted() -> None:
    row = contrast(np.array([1.0, 2, 4, 9]), np.array([0.0, 0, 1, NAN]))

    assert (row.difference, row.n, row.n_left_out) == (pytest.approx(2.0), (3,), 1)


@pytest.mark.parametrize(
    ("first", "second"),
    [([1.0, 2.0], [0.0, 1.0]), ([1.0, NAN], [NAN, 2.0]), ([1.0, 1.0, NAN, NAN], [NAN, NAN, 2.0, 2.0])],
    ids=["all alike", "one cluster each", "constant groups"],
)
def test_what_cannot_be_compared_says_why(first: list[float], second: list[float]) -> None:
    with pytest.raises(Incomputable):
        contrast(np.array(first), np.array(second))


def test_intervals_end_where_a_difference_is_at_most() -> None:
    apart = np.concatenate([DRUG_1, np.full(10, NAN)]), np.concatenate([np.full(10, NAN), DRUG_2])

    for first, second in ((DRUG_1, DRUG_2), apart):
        row = contrasts.contrast(first, second, most=2.0, rng=np.random.default_rng(1))
        free = contrast(first, second)
        assert row.interval.low == -2.0 > free.interval.low
        assert (row.interval.high, row.p) == (free.interval.high, free.p)


@pytest.mark.parametrize("test", ["default", "means", "ranks"])
def test_turning_a_contrast_round_turns_its_signs_only(test: str) -> None:
    one, other = contrast(DRUG_1, DRUG_2, test), contrast(DRUG_2, DRUG_1, test)

    assert (one.difference, one.estimate.value, one.p) == pytest.approx(
        (-other.difference, -other.estimate.value, other.p)
    )


@pytest.mark.data
def test_the_release_gives_the_differences_that_its_audit_printed(ttcw: Ttcw) -> None:
    percent = 100 * np.nanmean(np.nanmean(ttcw.verdicts, axis=1), axis=0)
    means = {
        name: contrasts.cluster_means(percent, ttcw.group, ttcw.source == index) for index, name in enumerate(SOURCES)
    }

    best, models = contrast(means["NewYorker"], means["Claude"]), contrast(means["Claude"], means["GPT4"])

    assert (round(best.difference, 1), round(models.difference, 1)) == (54.8, 2.2)
    assert ends(best) == pytest.approx((42.3, 67.2), abs=0.1)
    assert ends(models) == pytest.approx((-7.5, 11.9), abs=0.1)
    # The audit resampled groups: 43 to 65, and -5.6 to 10.9.
    for first, second, printed in (("NewYorker", "Claude", (43, 65)), ("Claude", "GPT4", (-5.6, 10.9))):
        changes = means[first] - means[second]
        weights = intervals.resample_weights(np.arange(12), rng=np.random.default_rng(1), n_resamples=10_000)
        resampled = intervals.percentile_interval(weights @ changes / 12, np.arange(12))
        assert (resampled.low, resampled.high) == pytest.approx(printed, abs=1.1)


def test_holm_is_that_of_statsmodels() -> None:
    ps = np.random.default_rng(2).uniform(0, 0.2, 40).round(2)

    assert contrasts.adjust(ps.tolist(), "holm") == multipletests(ps, method="holm")[1].tolist()
