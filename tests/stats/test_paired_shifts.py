"""How far answers move between two readings: by hand, of judges that do not move, and of some made to."""

import numpy as np
import pytest

from stats.arrays import FloatArray
from stats.paired_shifts import paired_shift
from stats.reasons import Incomputable

N_ITEMS, CLUSTERS = 4, np.repeat(np.arange(12), 4)
SHAPE = N_ITEMS, CLUSTERS.size


def draws(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_a_shift_by_hand() -> None:
    before = [[0, 0, 1, np.nan], [0, 1, 1, 0]]
    after = [[1, 1, 1, 1], [1, 1, 0, np.nan]]

    shift = paired_shift(before, after, [1, 2, 3, 4], rng=draws())

    # Changes by cluster: 1 and 1; 1 and 0; 0 and -1. Sums 2, 1, -1: of 8 sets of signs six are as far from 0 as 2.
    assert (shift.value, shift.before, shift.after) == (2 / 6, 3 / 6, 5 / 6)
    assert (shift.changed, shift.n, shift.n_clusters) == (4 / 6, 6, 3)
    assert shift.p == pytest.approx(6 / 8)


def test_totals_of_signs_that_are_equal_count_as_equal() -> None:
    shift = paired_shift(np.zeros((1, 4)), [[3, -1, 1, -1]], np.arange(4), rng=draws())

    totals = [abs(a * 3 + b + c + d) for a in (1, -1) for b in (1, -1) for c in (1, -1) for d in (1, -1)]
    assert shift.p == pytest.approx(np.mean([total >= 2 for total in totals]))


def test_a_judge_that_always_says_the_same_does_not_move_at_all() -> None:
    shift = paired_shift(np.ones(SHAPE), np.ones(SHAPE), CLUSTERS, rng=draws())

    assert (shift.value, shift.changed, shift.p) == (0, 0, None)


def test_nothing_that_was_read_twice_has_no_shift() -> None:
    with pytest.raises(Incomputable) as error:
        paired_shift(np.ones(SHAPE), np.full(SHAPE, np.nan), CLUSTERS, rng=draws())
    assert error.value.code == "nothing_read_twice"


def coin(rng: np.random.Generator, worth: FloatArray, effect: float) -> FloatArray:
    return (rng.random(worth.shape) < 0.4 + effect).astype(float)


def compressed(rng: np.random.Generator, worth: FloatArray, effect: float) -> FloatArray:
    return np.asarray(3 + 0.2 * worth + rng.normal(0, 0.1, worth.shape) + effect)


def opinion(rng: np.random.Generator, worth: FloatArray, effect: float) -> FloatArray:
    """Says Yes more often to better stories, with an opinion of each text that is drawn anew when the text changes."""
    chances = 0.4 + 0.2 * np.tanh(worth + rng.normal(0, 0.5, worth.shape[1]))
    return (rng.random(worth.shape) < chances + effect).astype(float)


@pytest.mark.parametrize("judge", [coin, compressed, opinion])
def test_chance_alone_is_taken_for_a_shift_in_no_more_than_five_percent(judge: object) -> None:
    assert callable(judge)
    rng, n = draws(4), 100
    worths = rng.normal(0, 1, (n, *SHAPE))

    shifts = [paired_shift(judge(rng, w, 0), judge(rng, w, 0), CLUSTERS, rng=rng) for w in worths]

    assert np.mean([(shift.p or 1) < 0.05 for shift in shifts]) <= 0.05 + 2 * (0.05 * 0.95 / n) ** 0.5
    assert abs(np.mean([shift.value for shift in shifts])) < 0.015


@pytest.mark.parametrize("judge", [coin, compressed, opinion])
def test_a_planted_effect_comes_out_at_its_size(judge: object) -> None:
    assert callable(judge)
    rng = draws(5)
    worths = rng.normal(0, 1, (50, *SHAPE))

    shifts = [paired_shift(judge(rng, w, 0), judge(rng, w, 0.2), CLUSTERS, rng=rng) for w in worths]

    assert np.mean([shift.value for shift in shifts]) == pytest.approx(0.2, abs=0.015)
    assert np.mean([(shift.p or 1) < 0.05 for shift in shifts]) > 0.8


def test_renaming_clusters_changes_nothing_and_signs_are_drawn_where_there_are_many() -> None:
    rng = draws(6)
    before, after = rng.random((2, 3, 40))

    shift = paired_shift(before, after, np.arange(40), rng=draws())

    assert shift == paired_shift(before, after, [f"story {n:02}" for n in range(40)], rng=draws())
    assert shift.p is not None
    assert 0 < shift.p <= 1
