"""Raters beside themselves."""

import numpy as np
import pytest

from stats import repeats
from stats.reasons import Incomputable


def test_the_same_answer_twice_and_how_far_others_are_apart() -> None:
    assert repeats.same_share([1, 2, 3, 4], [1, 2, 5, 3]) == 50
    assert repeats.mean_change([1, 2, 3, 4], [1, 2, 5, 3]) == 0.75


def test_the_floor_keeps_each_raters_own_answers() -> None:
    # One rater says 1 to all, the other half and half: by chance all of the first and half of the second are the same.
    first = [1, 1, 1, 1, 0, 1, 0, 1]
    floor = repeats.same_share_floor(first, first, list("aaaabbbb"), rng=np.random.default_rng(1))

    assert floor.mean == pytest.approx(75, abs=1.5)
    assert floor.upper == 100


def test_nothing_twice_is_a_reason() -> None:
    with pytest.raises(Incomputable, match="Nobody rated a story twice"):
        repeats.same_share([], [])
