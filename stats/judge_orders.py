"""How a judge's choices in pairs and its orders of groups stand to people's, with what chance alone would give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats as scipy_stats

from stats.agreement import Floor, floor_of
from stats.arrays import FloatArray
from stats.reasons import Incomputable


@dataclass(frozen=True)
class PairChoices:
    """A judge's choices in P pairs, each shown in one order or in both; of shares the mean over the orders.

    right, wrong : the share of orders in which it chose the story that most people prefer, and the other one, shape
        (P,); nan without such a story, or without a choice
    first, second : the share of orders in which it chose the story shown first, and second
    changed : 1 where both orders have an answer and the two differ, 0 where they are the same; nan without both
    """

    right: FloatArray
    wrong: FloatArray
    first: FloatArray
    second: FloatArray
    changed: FloatArray


def pair_choices(chosen: FloatArray, preferred: FloatArray) -> PairChoices:
    """What a judge's choices amount to.

    chosen : shape (P, 2): in the order (0, 1) and in the order (1, 0), which story was chosen, 0 or 1; -1 for neither,
        nan without an answer
    preferred : shape (P,), the story that most people prefer, or nan
    """
    answered = np.isfinite(chosen)
    n = np.where(answered.any(axis=1), answered.sum(axis=1), np.nan)
    at_first = np.array([0.0, 1.0])  # the story that is shown first in each of the two orders
    truth = preferred[:, np.newaxis]
    no_truth = np.where(np.isfinite(preferred), 0.0, np.nan)
    both = answered.all(axis=1)
    return PairChoices(
        right=(chosen == truth).sum(axis=1) / n + no_truth,
        wrong=(chosen == 1 - truth).sum(axis=1) / n + no_truth,
        first=(chosen == at_first).sum(axis=1) / n,
        second=(chosen == 1 - at_first).sum(axis=1) / n,
        changed=np.where(both, chosen[:, 0] != chosen[:, 1], np.nan),
    )


def flip_floor(
    shares: FloatArray, of_the_other: FloatArray, *, rng: np.random.Generator, n_shuffles: int = 1000
) -> Floor:
    """The floor, in percent, of a mean over pairs if in each the chosen side were a coin's, both orders together.

    shares, of_the_other : what a pair contributes as it is and if the other side is chosen, shape (P,); nan left out
    Raises Incomputable if there is no pair.
    """
    present = np.isfinite(shares)
    if not present.any():
        raise Incomputable("no_unit_with_judge_and_people")
    is_flipped = rng.random((n_shuffles, int(present.sum()))) < 0.5
    return floor_of(100 * np.where(is_flipped, of_the_other[present], shares[present]).mean(axis=1))


def group_tau(judge: FloatArray, people: FloatArray) -> float:
    """Kendall's tau-b of two orders of a group, shape (S,); a story that one lacks is left out, nan without a value."""
    present = np.isfinite(judge) & np.isfinite(people)
    first, second = judge[present], people[present]
    if first.size < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(scipy_stats.kendalltau(first, second).statistic)


def group_floor(
    judge: list[FloatArray], people: list[FloatArray], *, rng: np.random.Generator, n_shuffles: int = 1000
) -> Floor:
    """The floor of the mean of `group_tau` if in every group the judge's ranks stood at other stories of the group.

    Raises Incomputable if no group has a value.
    """
    by_group = []
    for ranks, of_people in zip(judge, people, strict=True):
        if np.isnan(group_tau(ranks, of_people)):
            continue
        present = np.isfinite(ranks) & np.isfinite(of_people)
        orders = rng.permuted(np.tile(ranks[present], (n_shuffles, 1)), axis=1)
        taus = {tuple(order): group_tau(order, of_people[present]) for order in np.unique(orders, axis=0)}
        by_group.append([taus[tuple(order)] for order in orders])
    if not by_group:
        raise Incomputable("no_unit_with_judge_and_people")
    return floor_of(np.asarray(np.mean(by_group, axis=0), dtype=np.float64))
