"""Intervals: the fast ones equal the loop, clusters stay together, and few clusters are said to be few."""

import re
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from stats import agreement, intervals
from stats.agreement import Incomputable
from stats.arrays import FloatArray, IntArray
from stats.sums import Level
from tests.stats.examples import FLEISS_1971, NAN

GROUPS = np.repeat(np.arange(12), 4)
N_RESAMPLES = 150


def yes_no(seed: int) -> FloatArray:
    """Verdicts of three raters on 48 units, which agree more than by chance."""
    rng = np.random.default_rng(seed)
    return (rng.random((3, 48)) < rng.random(48)).astype(float)


def scale(seed: int) -> FloatArray:
    """Scores of five raters on 48 units, one in five missing."""
    rng = np.random.default_rng(seed)
    scores = np.clip(np.round(rng.normal(3, 1, 48) + rng.normal(0, 0.7, (5, 48))), 1, 5)
    return np.where(rng.random((5, 48)) < 0.2, NAN, scores)


def loop(
    ratings: FloatArray, statistic: Callable[[FloatArray], agreement.Coefficient], clusters: IntArray = GROUPS
) -> intervals.Interval:
    def of_units(units: IntArray) -> float:
        return statistic(ratings[:, units]).value

    return intervals.bootstrap(of_units, clusters, rng=np.random.default_rng(9), n_resamples=N_RESAMPLES)


def assert_equal_to_rounding(one: intervals.Interval, other: intervals.Interval) -> None:
    assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-12)
    assert (one.n_units, one.note, one.n_left_out) == (other.n_units, other.note, other.n_left_out)


def test_fleiss_interval_equals_the_loop_over_statsmodels() -> None:
    ratings = yes_no(1)

    fast = intervals.fleiss_kappa_interval(ratings, GROUPS, rng=np.random.default_rng(9), n_resamples=N_RESAMPLES)

    assert_equal_to_rounding(fast, loop(ratings, agreement.fleiss_kappa))


def test_fleiss_resamples_hold_units_with_fewer_ratings() -> None:
    ratings = yes_no(1)
    ratings[0, :4] = NAN
    weights = intervals.resample_weights(GROUPS, rng=np.random.default_rng(9), n_resamples=5)

    kappas = intervals.fleiss_kappa_resamples(ratings, weights)

    drawn = [np.repeat(np.arange(48), row) for row in weights]
    assert kappas == pytest.approx([agreement.fleiss_kappa(ratings[:, units]).value for units in drawn], abs=1e-12)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_interval_equals_the_loop_over_the_package(level: Level) -> None:
    ratings = scale(1)

    fast = intervals.alpha_interval(ratings, level, GROUPS, rng=np.random.default_rng(9), n_resamples=N_RESAMPLES)

    assert_equal_to_rounding(fast, loop(ratings, lambda r: agreement.krippendorff_alpha(r, level)))


def test_weighted_fleiss_interval_equals_the_loop() -> None:
    ratings = scale(1)

    fast = intervals.weighted_fleiss_interval(ratings, 5, GROUPS, rng=np.random.default_rng(9), n_resamples=N_RESAMPLES)

    assert_equal_to_rounding(fast, loop(ratings, lambda r: agreement.weighted_fleiss(r, 5)))


def test_resamples_without_a_value_are_left_out_and_counted_in_both_ways() -> None:
    ratings, clusters = np.zeros((3, 100)), np.arange(100)
    ratings[0, :1] = 1

    fast = intervals.coefficient_interval(
        partial(intervals.fleiss_kappa_resamples, ratings),
        clusters,
        rng=np.random.default_rng(9),
        n_resamples=N_RESAMPLES,
    )

    assert 0 < fast.n_left_out < N_RESAMPLES
    assert f"{fast.n_left_out} of {N_RESAMPLES} resamples left out" in fast.note
    assert_equal_to_rounding(fast, loop(ratings, agreement.fleiss_kappa, clusters))


def test_where_one_cluster_holds_all_that_differs_leaving_it_out_tells_nothing() -> None:
    ratings = np.zeros((3, 48))
    ratings[0, :4] = 1

    with pytest.raises(Incomputable, match="Without one of the clusters"):
        intervals.fleiss_kappa_interval(ratings, GROUPS, rng=np.random.default_rng(9))


def test_an_interval_of_what_never_has_a_value_has_none() -> None:
    with pytest.raises(Incomputable, match="No resample"):
        intervals.fleiss_kappa_interval(np.ones((3, 48)), GROUPS, rng=np.random.default_rng(1))


def test_alpha_interval_of_no_ratings_has_no_value() -> None:
    with pytest.raises(Incomputable, match="No resample"):
        intervals.alpha_interval(np.full((3, 48), NAN), "ordinal", GROUPS, rng=np.random.default_rng(1))


def test_clusters_are_drawn_whole_and_as_many_as_there_are() -> None:
    clusters = np.array(["b", "a", "b", "c", "c", "c"])

    weights = intervals.resample_weights(clusters, rng=np.random.default_rng(1), n_resamples=200)

    assert weights.shape == (200, 6)
    assert (weights[:, 0] == weights[:, 2]).all()
    assert (weights[:, 3] == weights[:, 4]).all()
    assert (weights[:, [0, 1, 3]].sum(axis=1) == 3).all()
    assert weights[:, [0, 1, 3]].mean(axis=0) == pytest.approx([1, 1, 1], abs=0.2)


def test_one_cluster_cannot_be_resampled() -> None:
    with pytest.raises(Incomputable, match="fewer than two clusters"):
        intervals.resample_weights(["a", "a"], rng=np.random.default_rng(1))


@pytest.mark.parametrize(
    ("n_clusters", "said"), [(10, "nearer 91 %"), (12, "nearer 91 %"), (29, "nearer 93 %"), (30, "")]
)
def test_below_30_clusters_a_percentile_interval_says_how_much_less_it_covers(n_clusters: int, said: str) -> None:
    weights = intervals.resample_weights(range(n_clusters), rng=np.random.default_rng(1))

    interval = intervals.percentile_interval(weights @ np.arange(n_clusters) / n_clusters, range(n_clusters))

    assert interval.n_units == n_clusters
    assert said in interval.note if said else not interval.note


@pytest.mark.parametrize("n_clusters", [2, 3, 5, 8, 12, 20])
def test_the_coverage_that_is_said_is_that_of_simulated_studies(n_clusters: int) -> None:
    rng, n_studies = np.random.default_rng(3), 1000
    means = rng.normal(size=(n_studies, n_clusters))
    n_hits = 0
    for study in means:
        weights = intervals.resample_weights(range(n_clusters), rng=rng, n_resamples=300)
        ends = intervals.percentile_interval(weights @ study / n_clusters, range(n_clusters))
        n_hits += ends.low <= 0 <= ends.high

    said = re.search(r"nearer (\d+) %", ends.note)

    assert said
    assert 100 * n_hits / n_studies == pytest.approx(int(said[1]), abs=4)


def test_data_that_do_not_vary_have_no_interval_rather_than_a_point() -> None:
    with pytest.raises(Incomputable, match="the same value"):
        intervals.fleiss_kappa_interval(np.tile([0.0, 1.0], (3, 6)), range(12), rng=np.random.default_rng(1))
    with pytest.raises(Incomputable, match="the same value"):
        intervals.fleiss_kappa_interval(np.tile([0.0, 1.0], (3, 2)), range(4), rng=np.random.default_rng(1))
    with pytest.raises(Incomputable, match="the same mean"):
        intervals.mean_interval(np.ones((3, 12)), range(12), rng=np.random.default_rng(1))


def test_the_interval_of_a_mean_is_as_wide_as_the_textbook_says() -> None:
    values = np.random.default_rng(2).normal(size=400)

    interval = intervals.bootstrap(lambda units: values[units].mean(), range(400), rng=np.random.default_rng(1))

    margin = 1.96 * values.std() / 20
    assert (interval.low, interval.high) == pytest.approx((values.mean() - margin, values.mean() + margin), abs=0.015)
    assert (interval.level, interval.note, interval.n_left_out) == (0.95, "", 0)


def test_units_that_hang_together_make_the_interval_wider() -> None:
    values = np.repeat(np.random.default_rng(2).normal(size=40), 10)

    def width(clusters: IntArray) -> float:
        interval = intervals.bootstrap(lambda units: values[units].mean(), clusters, rng=np.random.default_rng(1))
        return interval.high - interval.low

    assert width(np.repeat(np.arange(40), 10)) > 2.5 * width(np.arange(400))


def test_the_interval_comes_back_from_its_seed() -> None:
    found = [
        intervals.fleiss_kappa_interval(np.tile(FLEISS_1971, 4), range(120), rng=np.random.default_rng(seed))
        for seed in (1, 1, 2)
    ]

    assert found[0] == found[1] != found[2]
    assert found[0].low < 0.430 < found[0].high


def test_below_30_clusters_the_interval_of_a_mean_is_students() -> None:
    ratings = [[3.4, 3.5, 3.6]]

    ends = intervals.mean_interval(ratings, ["a", "b", "c"], rng=np.random.default_rng(1))

    # t(2) is 4.3027; the standard error .1 / sqrt(3).
    assert (ends.low, ends.high) == pytest.approx((3.5 - 0.2484, 3.5 + 0.2484), abs=1e-4)
    assert (ends.n_units, ends.method, ends.note) == (3, "t", "t interval over 3 clusters")


def test_a_cluster_with_more_values_weighs_more_as_in_the_linearised_ratio() -> None:
    values = [[1.0, 2.0, 4.0, 4.0], [np.nan, 2.0, 5.0, np.nan]]

    ends = intervals.mean_interval(values, ["a", "a", "b", "b"], rng=np.random.default_rng(1))

    # Cluster sums 5 of 3 and 13 of 3: mean 3, residuals -4 and 4, variance 2 * 32 / 36, t(1) 12.706.
    margin = 12.7062 * (2 * 32 / 36) ** 0.5
    assert (ends.low, ends.high) == pytest.approx((3 - margin, 3 + margin), rel=1e-4)


@pytest.mark.parametrize("n_clusters", [3, 10])
def test_students_interval_holds_the_mean_in_95_of_100_studies(n_clusters: int) -> None:
    studies = np.random.default_rng(3).normal(size=(1000, n_clusters))

    ends = [intervals.mean_interval(study, range(n_clusters), rng=np.random.default_rng(1)) for study in studies]

    assert np.mean([one.low <= 0 <= one.high for one in ends]) == pytest.approx(0.95, abs=0.02)


def test_from_30_clusters_the_interval_of_a_mean_is_the_percentile_one() -> None:
    values = np.random.default_rng(2).normal(size=40)

    ends = intervals.mean_interval(values, range(40), rng=np.random.default_rng(1))

    margin = 1.96 * values.std() / 40**0.5
    assert (ends.method, ends.note) == ("percentile", "")
    assert (ends.low, ends.high) == pytest.approx((values.mean() - margin, values.mean() + margin), abs=0.05)


def test_clusters_without_a_value_and_items_without_any_do_not_count() -> None:
    items = np.array([[[1.0, 2.0, NAN]], [[NAN, NAN, NAN]]])

    ends = intervals.mean_interval(items, ["a", "b", "c"], rng=np.random.default_rng(1))

    assert ends == intervals.mean_interval([1.0, 2.0], ["a", "b"], rng=np.random.default_rng(1))
    assert ends.n_units == 2


def test_below_100_clusters_a_coefficient_has_the_jackknife_interval() -> None:
    ratings, clusters = yes_no(1)[:, :20], np.repeat(np.arange(5), 4)

    ends = intervals.fleiss_kappa_interval(ratings, clusters, rng=np.random.default_rng(1))

    whole = agreement.fleiss_kappa(ratings).value
    without = np.array([agreement.fleiss_kappa(ratings[:, clusters != n]).value for n in range(5)])
    margin = 2.7764 * (4 / 5 * ((without - without.mean()) ** 2).sum()) ** 0.5
    assert (ends.low, ends.high) == pytest.approx((whole - margin, min(whole + margin, 1)), abs=1e-4)
    assert (ends.method, ends.n_units) == ("jackknife", 5)
    assert ends.note.startswith("jackknife interval")


def test_an_interval_is_kept_within_the_range_of_its_statistic() -> None:
    assert intervals.Interval(-3, 107, 3).clipped(0, 100) == intervals.Interval(0, 100, 3)


@pytest.mark.parametrize("n", [99, 100, 400])
def test_clusters_are_drawn_alike_however_many_there_are(n: int) -> None:
    weights = intervals.resample_weights(np.repeat(np.arange(n), 2), rng=np.random.default_rng(1), n_resamples=2000)

    assert weights.shape == (2000, 2 * n)
    assert (weights[:, ::2] == weights[:, 1::2]).all()
    assert (weights[:, ::2].sum(axis=1) == n).all()
    # Each is drawn Binomial(n, 1/n) times: mean 1, variance 1 - 1/n.
    assert np.abs(weights.mean(axis=0) - 1).max() < 5 / 2000**0.5
    assert weights.var(axis=0).mean() == pytest.approx(1 - 1 / n, abs=0.02)


@pytest.mark.parametrize("n_clusters", [40, 150])
def test_draws_are_kept_and_the_generator_goes_on_as_if_it_had_drawn(n_clusters: int) -> None:
    first, again, other = np.random.default_rng(3), np.random.default_rng(3), np.random.default_rng(4)

    draws = intervals.draw_clusters(n_clusters, first)

    assert intervals.draw_clusters(n_clusters, again) is draws
    assert first.random() == again.random()
    assert not np.array_equal(intervals.draw_clusters(n_clusters, other), draws)
    assert (draws.sum(axis=1) == n_clusters).all()
    assert not draws.flags.writeable


def test_the_interval_of_a_mean_kappa_is_that_of_joint_resamples() -> None:
    items = [yes_no(1), yes_no(2)]

    fast = intervals.mean_fleiss_kappa_interval(items, GROUPS, rng=np.random.default_rng(9), n_resamples=N_RESAMPLES)

    def means(weights: IntArray) -> FloatArray:
        kappas = [intervals.fleiss_kappa_resamples(ratings, weights) for ratings in items]
        return np.asarray(np.mean(kappas, axis=0), dtype=np.float64)

    assert_equal_to_rounding(fast, intervals.coefficient_interval(means, GROUPS, rng=np.random.default_rng(9)))


def test_where_nobody_agrees_on_the_rarer_answer_kappa_may_be_as_high_as_with_one_unit_more() -> None:
    ratings = np.zeros((3, 24))
    ratings[0, 3] = ratings[1, 9] = ratings[2, 20] = 1
    with_one = np.concatenate([ratings, np.ones((3, 1))], axis=1)

    ends = intervals.fleiss_kappa_interval(ratings, np.repeat(np.arange(12), 2), rng=np.random.default_rng(1))

    assert ends.high == pytest.approx(float(agreement.fleiss_kappa(with_one)))
    assert ends.low < float(agreement.fleiss_kappa(ratings)) < 0
    assert ends.note.endswith(intervals.NONE_AGREED)
    assert agreement.kappa_with_one_agreed(with_one) is None
    assert agreement.kappa_with_one_agreed(np.tile([0.0, 1.0, 2.0], (3, 4))) is None
