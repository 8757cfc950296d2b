"""Which pairs a score has right, by hand; the floor of coins."""

import numpy as np
import pytest

from stats.reasons import Incomputable
from stats.score_pairs import flip_floor, pairs_right


def test_a_pair_is_right_where_the_preferred_story_has_more_and_half_where_scores_tie() -> None:
    right = pairs_right([2, -1, 2, 0, np.nan, 3], [0, 1, 1, 0, 0, np.nan])

    assert right.tolist()[:4] == [1.0, 1.0, 0.0, 0.5]
    assert np.isnan(right[4:]).all()


def test_the_floor_is_that_of_a_coin_for_each_pair_without_a_tie() -> None:
    floor = flip_floor([1.0] * 100, rng=np.random.default_rng(1), n_shuffles=20_000)
    tied = flip_floor([0.5] * 9 + [1.0], rng=np.random.default_rng(1))

    # Of 100 tosses the 97.5th percentile is 60.
    assert floor.mean == pytest.approx(50, abs=0.2)
    assert floor.upper == 60
    assert tied.upper == 55
    with pytest.raises(Incomputable):
        flip_floor([np.nan], rng=np.random.default_rng(1))
