"""A judge's choices in pairs and orders of groups, by hand."""

from itertools import permutations

import numpy as np
import pytest

from stats import judge_orders

NAN = float("nan")


def test_pairs_by_hand() -> None:
    # Right in both orders; first both times; one order only, wrong; neither and right; no majority; nothing at all.
    chosen = np.array([[0, 0], [0, 1], [1, NAN], [-1, 1], [1, 1], [NAN, NAN]])
    preferred = np.array([0, 0, 0, 1, NAN, 0])

    choices = judge_orders.pair_choices(chosen, preferred)

    np.testing.assert_array_equal(choices.right, [1, 0.5, 0, 0.5, NAN, NAN])
    np.testing.assert_array_equal(choices.wrong, [0, 0.5, 1, 0, NAN, NAN])
    np.testing.assert_array_equal(choices.first, [0.5, 1, 0, 0.5, 0.5, NAN])
    np.testing.assert_array_equal(choices.second, [0.5, 0, 1, 0, 0.5, NAN])
    np.testing.assert_array_equal(choices.changed, [0, 1, NAN, 1, 0, NAN])


def test_the_floor_of_pairs_flips_both_orders_of_a_pair_together() -> None:
    right = np.ones(40)

    floor = judge_orders.flip_floor(right, 1 - right, rng=np.random.default_rng(1))

    assert floor.mean == pytest.approx(50, abs=1)
    # A binomial of 40 pairs; orders flipped each for itself would make it narrower.
    assert floor.upper == pytest.approx(65, abs=2.6)


def test_the_floor_of_rankings_is_that_of_all_orders_of_a_group() -> None:
    people = np.array([1.0, 2, 3, 4])

    floor = judge_orders.group_floor([people], [people], rng=np.random.default_rng(1))

    taus = [judge_orders.group_tau(np.array(order), people) for order in permutations(people)]
    assert np.mean(taus) == pytest.approx(0)
    assert floor.mean == pytest.approx(0, abs=0.06)
    assert floor.upper in taus


def test_a_story_that_was_not_ranked_is_left_out_and_one_alone_has_no_value() -> None:
    assert judge_orders.group_tau(np.array([1, NAN, 2]), np.array([1.0, 2, 3])) == 1
    assert np.isnan(judge_orders.group_tau(np.array([1, NAN, NAN]), np.array([1.0, 2, 3])))
