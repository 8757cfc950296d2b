"""The top k of a score beside people's: by hand, and what any order gives."""

import numpy as np
import pytest

from stats.top_precision import find_top_shares


def test_the_share_of_the_top_k_is_counted_within_prompts() -> None:
    prompts = ["a"] * 4 + ["b"] * 4
    score = np.array([4.0, 3, 2, 1, 4, 3, 2, 1])
    ratings = np.array([4.0, 3, 2, 1, 1, 2, 3, 4])

    top_by_k = {k: find_top_shares(score, ratings, prompts, k) for k in (1, 2, 3)}

    assert {k: top.shares.tolist() for k, top in top_by_k.items()} == {
        1: [1, 0],
        2: [1, 0],
        3: pytest.approx([1, 2 / 3]),
    }
    assert top_by_k[3].by_chance.tolist() == [0.75, 0.75]


def test_level_ideas_share_the_last_places() -> None:
    score, ratings = np.array([2.0, 1, 1, 0]), np.array([3.0, 2, 2, 2])

    (share,) = find_top_shares(score, ratings, [0] * 4, 2).shares

    # The first is in both; the second and third have half a place each by score, and a third each by ratings.
    assert share == pytest.approx((1 + 2 * 1 / 2 * 1 / 3) / 2)


def test_prompts_with_no_more_than_k_ideas_are_left_out() -> None:
    top = find_top_shares(np.arange(5.0), np.arange(5.0), [0, 0, 1, 1, 1], 2)

    assert top.shares.tolist() == [1]
    assert not len(find_top_shares(np.arange(2.0), np.arange(2.0), [0, 0], 2).shares)


def test_any_order_gives_k_of_n_on_average() -> None:
    rng = np.random.default_rng(7)
    prompts = np.repeat(np.arange(2000), 6)

    top = find_top_shares(rng.random(12000), rng.integers(1, 4, 12000).astype(float), prompts, 3)

    assert top.shares.mean() == pytest.approx(top.by_chance.mean(), abs=0.015)
    assert top.by_chance.mean() == 0.5
