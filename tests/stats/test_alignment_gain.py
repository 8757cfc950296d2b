"""What a changed prompt gains: a case by hand, planted gains, and no gain where the best of several is none."""

import numpy as np
import pytest

from stats import alignment_gain, alternative_annotator
from stats.alignment_gain import WordingGain
from stats.arrays import FloatArray
from stats.intervals import Interval
from stats.reasons import Incomputable

N_CLUSTERS, N_OF_CLUSTER = 8, 16
CLUSTERS = np.repeat(np.arange(N_CLUSTERS), N_OF_CLUSTER)


def right_answers(rng: np.random.Generator, push: float = 0.0) -> FloatArray:
    """A judge's hits, where some clusters are harder than others. push : of its ability"""
    ability = rng.normal(scale=0.7, size=N_CLUSTERS)[CLUSTERS] + rng.normal(size=CLUSTERS.size)
    return np.asarray(ability > -0.3 - push, dtype=np.float64)


def best_of(rng: np.random.Generator, n_versions: int, push: float = 0.0) -> WordingGain:
    versions = [right_answers(rng, push) for _ in range(n_versions)]
    rows = alignment_gain.gains([right_answers(rng)] * n_versions, versions, CLUSTERS, rng=rng, n_draws=1000)
    return max(rows, key=lambda row: row.gain)


def is_clear(row: WordingGain) -> bool:
    return isinstance(row.interval, Interval) and row.interval.low > 0


def test_one_version_has_the_t_interval_of_cluster_means() -> None:
    base, version = [0, 0, 1, 0, 1, 1], [1, 0, 1, 1, 1, 1]

    (row,) = alignment_gain.gains([base], [version], [0, 0, 1, 1, 2, 2], rng=np.random.default_rng(1))

    # Means of the clusters .5, .5 and 0: mean 1/3, standard error 1/6, t with two degrees of freedom 4.302653.
    assert (row.base, row.version, row.gain, row.n_units) == (0.5, 5 / 6, pytest.approx(1 / 3), 6)
    assert isinstance(row.interval, Interval)
    assert (row.interval.low, row.interval.high) == (pytest.approx(1 / 3 - 4.302653 / 6), 1), "no gain is above 1"


def test_units_without_one_of_the_two_are_left_out_with_their_clusters() -> None:
    gap = float("nan")

    (row,) = alignment_gain.gains(
        [[0, 0, 1, gap, 0]], [[1, 0, gap, 1, 0]], [0, 1, 2, 3, 4], rng=np.random.default_rng(1)
    )

    assert (row.gain, row.n_units) == (pytest.approx(1 / 3), 3)
    assert isinstance(row.interval, Interval)
    assert row.interval.n_units == 3


def test_what_does_not_vary_or_has_two_clusters_has_no_interval() -> None:
    rng = np.random.default_rng(1)

    alike, few = (
        alignment_gain.gains([[0, 0, 0]], [version], clusters, rng=rng)[0].interval
        for version, clusters in (([1, 1, 1], [0, 1, 2]), ([1, 0, 1], [0, 1, 1]))
    )

    assert isinstance(alike, Incomputable)
    assert isinstance(few, Incomputable)
    assert (alike.code, few.code) == ("clusters_alike", "fewer_than_three_clusters")
    with pytest.raises(Incomputable):
        alignment_gain.gains([[float("nan")]], [[1.0]], [0], rng=rng)


def test_the_order_of_versions_and_names_of_clusters_change_nothing() -> None:
    rng = np.random.default_rng(3)
    base, one, other = (right_answers(rng) for _ in range(3))

    first, second = (
        alignment_gain.gains([base, base], versions, clusters, rng=np.random.default_rng(1))
        for versions, clusters in (([one, other], CLUSTERS), ([other, one], CLUSTERS + 7))
    )

    assert first == second[::-1]


@pytest.mark.parametrize("n_versions", [1, 5])
def test_the_best_of_prompts_that_gain_nothing_is_called_a_gain_in_one_of_twenty_at_most(n_versions: int) -> None:
    rng = np.random.default_rng(n_versions)

    share = np.mean([is_clear(best_of(rng, n_versions)) for _ in range(400)])

    assert share <= 0.05


def test_without_the_correction_the_best_of_five_would_be_called_a_gain_too_often() -> None:
    rng, n_clear = np.random.default_rng(5), 0
    for _ in range(200):
        base = right_answers(rng)
        versions = [right_answers(rng) for _ in range(5)]
        n_clear += any(is_clear(alignment_gain.gains([base], [own], CLUSTERS, rng=rng)[0]) for own in versions)

    assert n_clear / 200 > 0.05


def test_a_planted_gain_comes_out() -> None:
    rng = np.random.default_rng(6)

    gains = [best_of(rng, 1, push=0.6) for _ in range(100)]

    assert np.mean([row.gain for row in gains]) == pytest.approx(0.175, abs=0.02)
    ends = [row.interval for row in gains if isinstance(row.interval, Interval)]
    assert sum(end.low < 0.175 < end.high for end in ends) >= 90


def test_a_judge_chosen_among_several_beats_an_expert_only_by_as_much_more() -> None:
    rng = np.random.default_rng(8)
    people = (rng.random((3, 40)) < 0.5).astype(float)
    judge = np.where(rng.random(40) < 0.8, np.round(people.mean(axis=0)), 1 - people[0])

    one, of_many = (
        alternative_annotator.alt_test(people, judge, epsilon=0.2, score="accuracy", n_tried=n) for n in (1, 10**12)
    )

    assert (one.winning_rate, of_many.winning_rate) == (1, 0)
    assert [person.p for person in one.people] == [person.p for person in of_many.people]
    assert one.advantage_probability == of_many.advantage_probability
