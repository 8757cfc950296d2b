"""What a judge goes by beside the story: planted effects come back, and what is held equal is."""

import numpy as np
import pytest

from stats import judge_biases
from stats.arrays import FloatArray
from stats.intervals import Interval
from stats.reasons import Incomputable

U = 60
CLUSTERS = [f"g{n // 4}" for n in range(U)]


def ratings(*, by_length: float = 0.0, seed: int = 1) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Judge (1, U), three people (1, 3, U) who rate longer stories higher, and words; the judge adds its own share."""
    rng = np.random.default_rng(seed)
    words = rng.integers(100, 3000, U).astype(float)
    worth = rng.normal(0, 1, U) + 0.5 * np.log2(words)
    people = worth + rng.normal(0, 0.01, (1, 3, U))
    judge = people.mean(axis=1) + by_length * np.log2(words)
    return judge, people, words


def test_a_planted_slope_on_length_comes_back_though_people_rate_longer_stories_higher_too() -> None:
    judge, people, words = ratings(by_length=0.3)

    slope = judge_biases.verbosity(judge, people, words, CLUSTERS, rng=np.random.default_rng(1))

    assert slope.judge == pytest.approx(0.3)
    assert abs(slope.people) < 0.02
    assert (slope.n_units, slope.n_people) == (U, 3)


def test_a_judge_that_does_as_people_do_has_no_slope() -> None:
    judge, people, words = ratings()

    slope = judge_biases.verbosity(
        judge + 0.1 * np.sin(np.arange(U)), people, words, CLUSTERS, rng=np.random.default_rng(1)
    )

    assert isinstance(slope.interval, Interval)
    assert slope.interval.low < 0 < slope.interval.high


def test_stories_of_one_length_are_a_reason() -> None:
    judge, people, _words = ratings()

    with pytest.raises(Incomputable) as error:
        judge_biases.verbosity(judge, people, np.full(U, 500.0), CLUSTERS, rng=np.random.default_rng(1))

    assert error.value.code == "lengths_or_ratings_alike"


def test_repeats_vary_as_computed_by_hand() -> None:
    # Of 1 and 2, and of 4 and 4; what was read once has no variance.
    variances = judge_biases.repeat_variances(np.array([[1, 4, 2], [2, 4, np.nan]]))

    assert variances[:2].tolist() == [0.5, 0]
    assert np.isnan(variances[2])
    with pytest.raises(Incomputable):
        judge_biases.repeat_variances([[1.0, 2.0]])
