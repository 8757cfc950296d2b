"""Resamples of clusters that serve many statistics."""

import numpy as np
import pytest

from stats import intervals
from stats.reasons import Incomputable
from stats.resamples import Resamples


def test_a_resample_draws_as_many_clusters_as_there_are_and_each_equally_often() -> None:
    drawn = Resamples([f"c{n}" for n in range(100)], rng=np.random.default_rng(1), n_resamples=4000)

    assert set(drawn.weights.sum(axis=1)) == {100}
    assert drawn.weights.mean(axis=0) == pytest.approx(np.ones(100), abs=0.08)
    # Each is drawn binomially: variance 100 × 1/100 × 99/100.
    assert drawn.weights.var(axis=0).mean() == pytest.approx(0.99, abs=0.03)


def test_sums_are_over_the_units_of_the_clusters_drawn() -> None:
    drawn = Resamples(["a", "a", "b"], rng=np.random.default_rng(1))
    parts = np.array([[1.0], [2.0], [4.0]])

    assert drawn.sums(parts).tolist() == [[7], [4], [3]]
    assert drawn.sums(parts[1:], np.array([False, True, True])).tolist() == [[6], [4], [2]]


def test_few_clusters_take_the_jackknife_and_one_has_no_interval() -> None:
    values = np.arange(6.0)
    few = Resamples(list("abcdef"), rng=np.random.default_rng(1))
    means = few.sums(np.stack([values, np.ones(6)], axis=-1))

    ends = few.interval(means[:, 0] / means[:, 1])

    # The jackknife of a mean is its t interval.
    plain = intervals.mean_interval(values, list("abcdef"), rng=np.random.default_rng(1))
    assert [ends.low, ends.high] == pytest.approx([plain.low, plain.high])
    assert ends.method == "jackknife"
    one = Resamples(["a", "a"], rng=np.random.default_rng(1))
    with pytest.raises(Incomputable, match="fewer than two clusters"):
        one.interval(np.ones(1))
