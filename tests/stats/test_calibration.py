"""A judge's shares of Yes beside people's: what is planted comes back, and a calibrated judge is not blamed."""

import numpy as np
import pytest

from stats import calibration
from stats.arrays import FloatArray
from stats.reasons import Incomputable

N_CLUSTERS, N_OF_CLUSTER, N_PEOPLE, N_REPEATS = 24, 10, 3, 4
CLUSTERS = np.repeat(np.arange(N_CLUSTERS), N_OF_CLUSTER)


def asked_again(rng: np.random.Generator, *, push: float = 1.0, more: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """The judge's shares over repeats and people's, whose share in a level is that level's, pushed apart and moved."""
    shares = rng.integers(0, N_REPEATS + 1, CLUSTERS.size) / N_REPEATS
    chance = np.clip(0.5 + (shares - 0.5) / push - more, 0, 1)
    return shares, rng.binomial(N_PEOPLE, chance) / N_PEOPLE


def test_levels_are_never_always_half_and_what_lies_between() -> None:
    assert calibration.levels([0, 0.25, 0.44, 0.5, 0.6, 1]).tolist() == [0, 1, 1, 2, 3, 4]


def test_a_probability_within_five_points_of_never_half_and_always_is_at_that_level() -> None:
    near = [0.05, 0.051, 0.449, 0.45, 0.55, 0.551, 0.949, 0.95]
    assert calibration.levels(near).tolist() == [0, 1, 1, 2, 2, 3, 3, 4]
    assert calibration.is_sure(near).tolist() == [True, *[False] * 6, True]


def test_a_calibrated_judge_has_a_slope_of_one_and_as_much_error_as_none() -> None:
    rng = np.random.default_rng(1)
    slopes, errors, plain = [], [], []
    for _ in range(200):
        judge, people = asked_again(rng)
        slopes.append(calibration.slope(judge, people))
        errors.append(calibration.error(judge, people, CLUSTERS))
        level = calibration.levels(judge)
        distance = np.array([(people - judge)[level == at].mean() for at in range(5)])
        plain.append(np.sqrt((distance[level] ** 2).mean()))

    assert np.mean(slopes) == pytest.approx(1, abs=0.01)
    assert np.median(errors) < 0.01
    assert np.mean(plain) > 0.025  # what stands without the correction, of a judge without error


def test_a_planted_error_comes_out_at_its_size() -> None:
    rng = np.random.default_rng(2)
    judges = [asked_again(rng, push=2) for _ in range(200)]

    slopes = [calibration.slope(*judge) for judge in judges]
    errors = [calibration.error(*judge, CLUSTERS) for judge in judges]

    # Shares of 0, .25, .5, .75 and 1 are .25, .125, 0, .125 and .25 too far out.
    assert np.mean(slopes) == pytest.approx(0.5, abs=0.01)
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.sqrt(0.4 * 0.25**2 + 0.4 * 0.125**2), abs=0.005)


def test_the_interval_of_the_slope_holds_the_planted_one_in_19_of_20_studies() -> None:
    rng = np.random.default_rng(3)
    held = []
    for _ in range(300):
        judge, people = asked_again(rng, push=2)
        ends = calibration.slope_interval(judge, people, CLUSTERS, rng=np.random.default_rng(4))
        held.append(ends.low <= 0.5 <= ends.high)

    assert 0.92 <= np.mean(held) <= 0.98


@pytest.mark.parametrize("n_repeats", [2, 5])
def test_the_best_slope_is_that_of_a_judge_whose_chances_are_those_of_people(n_repeats: int) -> None:
    rng = np.random.default_rng(5)
    slopes, best = [], []
    for _ in range(200):
        chance = rng.uniform(size=CLUSTERS.size)
        judge, people = (rng.binomial(n, chance) / n for n in (n_repeats, N_PEOPLE))
        slopes.append(calibration.slope(judge, people))
        best.append(calibration.best_slope(judge, np.full(CLUSTERS.size, n_repeats)))

    assert np.mean(slopes) == pytest.approx(n_repeats / (n_repeats + 2), abs=0.02)
    assert np.mean(best) == pytest.approx(n_repeats / (n_repeats + 2), abs=0.01)


def test_a_judge_of_one_share_has_no_slope_and_one_cluster_no_error() -> None:
    with pytest.raises(Incomputable) as alike:
        calibration.slope([0.5, 0.5], [0, 1])
    with pytest.raises(Incomputable) as alone:
        calibration.error([0.5, 1], [0, 1], ["plot", "plot"])

    assert (alike.value.code, alone.value.code) == ("shares_alike", "fewer_than_two_clusters")
