"""Whether a judge that is asked the same again and again has begun to answer otherwise.

A judge that has not changed draws each of its answers anew from the same chances, so that of any one call any of its
checks could as well have come last. So which of them did is drawn again for each call apart (a permutation test,
exact whatever the chances are and however few the checks).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

# A reply without an answer to that question is unlike any answer.
Answer = Hashable | None
# So many ways in which checks could have come last are looked at one by one; of more, so many are drawn.
MOST_WAYS = 1_000_000
N_DRAWS = 9_999
TIE = 1e-9


@dataclass(frozen=True)
class DriftTest:
    """How the latest check lies beside those before it.

    n_answers : of the latest that were compared
    n_checks : the most earlier checks that any of them was compared with
    distance : mean over pairs of a latest answer and an earlier one to the same question: 0 equal, 1 other (of numbers
        the difference as a part of the range of all answers to that question)
    floor : the same among the earlier checks; None of one alone
    p : in how many of all ways in which checks could have come last, the last lies as far from the others, or farther
    least_p : the least that p could have been, with so many calls and earlier checks
    """

    n_answers: int
    n_checks: int
    distance: float
    floor: float | None
    p: float
    least_p: float


def compare_checks(calls: Sequence[Sequence[Mapping[str, Answer]]], *, seed: int) -> DriftTest | None:
    """How the latest check lies beside those before it; None where no call was answered in it and an earlier one.

    calls : for each call the replies to it, the latest first: answers by question. What is asked in one call is
        drawn together, since its answers may hang together. Calls that the latest check did not get answered are to be
        left out.
    seed : of the draws, another one for each check
    """
    tables = [table for replies in calls if len(replies) > 1 and (table := _measure(replies)) is not None]
    if not tables:
        return None
    latest = sum(float(table.apart[0].sum()) for table in tables)
    p, least_p = _find_share([table.apart.sum(axis=1) for table in tables], latest, seed=seed)
    n_answers = sum(table.apart.shape[1] for table in tables)
    among = [value for table in tables if table.among is not None for value in table.among]
    return DriftTest(
        n_answers=n_answers,
        n_checks=max(len(table.apart) for table in tables) - 1,
        distance=latest / n_answers,
        floor=float(np.mean(among)) if among else None,
        p=p,
        least_p=least_p,
    )


def _find_share(distances: Sequence[np.ndarray], latest: float, *, seed: int) -> tuple[float, float]:
    """In what share of ways the checks that came last lie as far as the latest do together, and the least it could be.

    distances : for each call that of each of its checks
    """
    n_ways = math.prod(len(of_call) for of_call in distances)
    if n_ways <= MOST_WAYS:
        totals = np.zeros(1)
        for of_call in distances:
            totals = np.add.outer(totals, of_call).ravel()
        return float(np.mean(totals >= latest - TIE)), 1 / n_ways
    rng = np.random.default_rng(seed)
    drawn = sum(of_call[rng.integers(0, len(of_call), size=N_DRAWS)] for of_call in distances)
    return float(1 + np.sum(drawn >= latest - TIE)) / (1 + N_DRAWS), 1 / (1 + N_DRAWS)


@dataclass(frozen=True)
class _Table:
    """Of one call. apart, shape (checks, questions) : the mean distance of each answer from the other checks'
    among, shape (questions,) : the mean distance among the earlier checks; None of one alone"""

    apart: np.ndarray
    among: np.ndarray | None


def _measure(replies: Sequence[Mapping[str, Answer]]) -> _Table | None:
    questions = sorted({question for reply in replies for question in reply})
    if not questions:
        return None
    n = len(replies)
    distances = np.stack([_distances([reply.get(question) for reply in replies]) for question in questions], axis=2)
    among = distances[1:, 1:].sum(axis=(0, 1)) / ((n - 1) * (n - 2)) if n > 2 else None
    return _Table(apart=distances.sum(axis=1) / (n - 1), among=among)


def _distances(answers: Sequence[Answer]) -> np.ndarray:
    """Between all answers to one question, shape (checks, checks), 0 to 1."""
    numbers = [float(answer) for answer in answers if _is_number(answer)]  # type: ignore[arg-type]
    span = max(numbers) - min(numbers) if numbers else 0.0
    return np.array([[_distance(one, other, span) for other in answers] for one in answers])


def _distance(one: Answer, other: Answer, span: float) -> float:
    if _is_number(one) and _is_number(other):
        return abs(float(one) - float(other)) / span if span else 0.0  # type: ignore[arg-type]
    return float(one != other)


def _is_number(answer: Answer) -> bool:
    return isinstance(answer, int | float) and not isinstance(answer, bool)
