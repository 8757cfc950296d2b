"""Strengths of what was compared: published seasons, other code's values, and what has none."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from stats import strengths
from stats.reasons import Incomputable
from stats.strengths import Order

# Agresti 2002, Categorical Data Analysis, table 10.10: American League East 1987, wins of the row over the column,
# from Milwaukee to Baltimore.
WINS = np.array(
    [
        *([0, 7, 9, 7, 7, 9, 11], [6, 0, 7, 5, 11, 9, 9], [4, 6, 0, 7, 7, 8, 12], [6, 8, 6, 0, 6, 7, 10]),
        *([6, 2, 6, 7, 0, 7, 12], [4, 4, 5, 6, 6, 0, 6], [2, 4, 1, 3, 1, 7, 0]),
    ]
)


def season() -> list[Order]:
    return [
        Order([[winner], [loser]]) for winner in range(7) for loser in range(7) for _game in range(WINS[winner, loser])
    ]


def material(orders: list[Order], n: int, clusters: list[str] | None = None) -> strengths.Decisions:
    return strengths.decisions(orders, clusters or [f"c{place}" for place in range(len(orders))], n)


def test_pairs_reproduce_the_baseball_season() -> None:
    values = strengths.strengths(material(season(), 7))

    # Agresti's estimates with Baltimore at 0, as BradleyTerry2 prints them.
    assert np.round(values - values[-1], 4).tolist() == [1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0]
    assert values.sum() == pytest.approx(0)


def test_orders_reproduce_choix() -> None:
    orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (2, 0, 1), (0, 1, 2), (1, 2, 0)]

    values = strengths.strengths(material([Order([[one] for one in order]) for order in orders], 3))

    # choix 0.4.1: ilsr_rankings(3, orders).
    assert values.tolist() == pytest.approx([0.4590191137808238, -0.027805971196655913, -0.43121314258416793])


def test_choices_out_of_sets_that_hold_one_twice_are_most_likely_at_their_strengths() -> None:
    rng = np.random.default_rng(2)
    sets = [(0, 1, 2), (0, 0, 1), (1, 2, 2), (0, 2)]
    taken = [(members, members[rng.integers(len(members))]) for members in sets for _time in range(15)]
    orders = []
    for members, winner in taken:
        rest = list(members)
        rest.remove(winner)
        orders.append(Order([[winner]], rest))

    values = strengths.strengths(material(orders, 3))

    def loss(worth: np.ndarray) -> float:
        return float(sum(logsumexp(worth[list(members)]) - worth[winner] for members, winner in taken))

    best = minimize(loss, np.zeros(3), tol=1e-12).x
    assert values == pytest.approx(best - best.mean(), abs=1e-5)


def test_only_the_one_taken_is_told_apart_in_a_choice_out_of_several() -> None:
    orders = [Order([[n % 3]], [m for m in range(3) if m != n % 3]) for n in range(6)]

    assert material(orders, 3).n.sum() == 6
    assert strengths.strengths(material(orders, 3)).tolist() == pytest.approx([0, 0, 0])


def test_no_preference_is_half_a_win_for_each() -> None:
    tied = material([Order([[0], [1]]), Order([[0], [1]]), Order([[0, 1]])], 2)

    # 2.5 of 3 for the first.
    assert tied.wins.sum(axis=0).tolist() == [2.5, 0.5]
    values = strengths.strengths(tied)
    assert values[0] - values[1] == pytest.approx(np.log(2.5 / 0.5))


def test_what_stands_beside_its_own_kind_alone_says_nothing() -> None:
    plain = [Order([[0], [1]]), Order([[1], [0]]), Order([[0], [1]])]

    with_own = strengths.strengths(material([*plain, Order([[0], [0]])], 2))

    assert with_own == pytest.approx(strengths.strengths(material(plain, 2)))


@pytest.mark.parametrize(
    ("orders", "n", "words"),
    [
        ([], 2, "No two of them were compared"),
        ([Order([[0], [0]])], 1, "No two of them were compared"),
        ([Order([[0], [1]]), Order([[1], [0]]), Order([[2], [3]]), Order([[3], [2]])], 4, "fall into 2 sets"),
        ([Order([[0], [1]]), Order([[0], [1]])], 2, "always, or never"),
    ],
)
def test_what_has_no_strengths_says_why(orders: list[Order], n: int, words: str) -> None:
    with pytest.raises(Incomputable, match=words):
        strengths.strengths(material(orders, n))


def test_resamples_are_the_strengths_of_the_clusters_drawn() -> None:
    orders, clusters = season(), [f"c{n % 12}" for n in range(len(season()))]
    whole = material(orders, 7, clusters)
    weights = np.random.default_rng(4).multinomial(12, np.full(12, 1 / 12), size=5).astype(float)

    values = strengths.strength_resamples(whole, weights)

    for row, drawn in zip(values, weights, strict=True):
        repeated = [
            order for order, name in zip(orders, clusters, strict=True) for _n in range(int(drawn[int(name[1:])]))
        ]
        assert row == pytest.approx(strengths.strengths(material(repeated, 7)), abs=1e-8)


def test_a_resample_in_which_one_always_wins_has_no_strengths() -> None:
    pairs = material([Order([[0], [1]]), Order([[0], [1]]), Order([[1], [0]])], 2)

    values = strengths.strength_resamples(pairs, np.array([[1.0, 2, 0], [1, 1, 1]]))

    assert np.isnan(values).tolist() == [[True, True], [False, False]]


def test_intervals_say_what_they_rest_on_or_why_there_are_none() -> None:
    rng = np.random.default_rng(1)
    many = strengths.strength_intervals(
        material(9 * season(), 7, [f"c{n % 120}" for n in range(9 * len(season()))]), rng=rng
    )
    six = strengths.strength_intervals(material(season(), 7, [f"c{n % 6}" for n in range(len(season()))]), rng=rng)
    one = strengths.strength_intervals(material(season(), 7, ["c"] * len(season())), rng=rng)

    assert [(ends.method, ends.n_units) for ends in (many[0], six[0])] == [("percentile", 120), ("jackknife", 6)]  # type: ignore[union-attr]
    assert {str(reason) for reason in one} == {"There are fewer than two clusters to resample."}
