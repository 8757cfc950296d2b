"""The alternative annotator test: may a judge stand in for one of the people?

Each person is left out in turn; who agrees better with the others, the person or the judge? Source: Calderon, Reichart
and Dror, 2025, "The alternative annotator test for LLM-as-a-judge".
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from stats.arrays import BoolArray, FloatArray, as_ratings
from stats.reasons import Incomputable

Score: TypeAlias = Literal["accuracy", "neg_rmse"]

MIN_PEOPLE = 2  # of a unit: one is left out, and another is there to agree with
MIN_UNITS = 30  # of a person who is tested
FALSE_DISCOVERY_RATE = 0.05


@dataclass(frozen=True)
class LeftOut:
    """One person beside the judge, both scored against the others.

    n : units with this person, another person and the judge
    is_tested : whether these are at least 30
    p : of the one-sided t-test that the judge is worse by ε; nan if not tested or 0/0
    is_beaten : whether that is rejected, with the false discovery rate over all tested people held at 5 %
    advantage : share of the units on which the judge scores at least as well as the person; nan without units
    """

    n: int
    is_tested: bool
    p: float
    is_beaten: bool
    advantage: float


@dataclass(frozen=True)
class AlternativeAnnotator:
    """What came of the test.

    winning_rate : share of the tested people whom the judge beats; from a half on it may stand in for one of them
    advantage_probability : mean of the tested people's advantages
    people : one for each row of the ratings, in their order
    """

    winning_rate: float
    advantage_probability: float
    people: tuple[LeftOut, ...]


def alt_test(humans: npt.ArrayLike, judge: npt.ArrayLike, *, epsilon: float, score: Score) -> AlternativeAnnotator:
    """Whether the judge agrees with the remaining people at least as well as each person does.

    Parameters
    ----------
    humans : ratings of shape (R, U), nan where there is none
    judge : shape (U,), nan where there is none; such units are left out, and so are those with one person only
    epsilon : how much better than the judge a person may be, since people cost more; .2 for experts
    score : of somebody on a unit: the share of the others whom they equal, or minus the root mean square difference

    Raises Incomputable if nobody has 30 units, ValueError for shapes that do not fit or an unknown score.
    """
    from statsmodels.stats.multitest import multipletests  # takes a second to import

    ratings, answers = as_ratings(humans), np.asarray(judge, dtype=np.float64)
    if answers.shape != ratings.shape[1:]:
        raise ValueError(f"A judge has one answer a unit; here are {answers.shape} for ratings {ratings.shape}.")
    closeness = _closeness(score)
    usable = (~np.isnan(ratings)).sum(axis=0) >= MIN_PEOPLE
    usable &= ~np.isnan(answers)
    ratings, answers = ratings[:, usable], answers[usable]
    compared = [_compare(row, ratings, answers, closeness) for row in range(len(ratings))]
    is_tested = [len(judge_wins) >= MIN_UNITS for judge_wins, _ in compared]
    if not any(is_tested):
        raise Incomputable("nobody_to_leave_out", least=MIN_UNITS)
    ps = [
        _p(person_wins, judge_wins, epsilon) if tested else math.nan
        for (judge_wins, person_wins), tested in zip(compared, is_tested, strict=True)
    ]
    # A p that is 0/0 is never rejected, and still counts among those that are corrected for.
    tested_ps = np.nan_to_num([p for p, tested in zip(ps, is_tested, strict=True) if tested], nan=1.0)
    rejected = iter(multipletests(tested_ps, alpha=FALSE_DISCOVERY_RATE, method="fdr_by")[0])
    people = tuple(
        LeftOut(
            n=len(judge_wins),
            is_tested=tested,
            p=p,
            is_beaten=bool(next(rejected)) if tested else False,
            advantage=float(judge_wins.mean()) if len(judge_wins) else math.nan,
        )
        for (judge_wins, _), p, tested in zip(compared, ps, is_tested, strict=True)
    )
    tested_people = [person for person in people if person.is_tested]
    return AlternativeAnnotator(
        winning_rate=float(np.mean([person.is_beaten for person in tested_people])),
        advantage_probability=float(np.mean([person.advantage for person in tested_people])),
        people=people,
    )


def _closeness(score: Score) -> Callable[[FloatArray, FloatArray], FloatArray]:
    """How near answers of shape (U,) are to those of others, (R, U): more is nearer, ties are exact.

    Of two scores over the same others only the order matters, so counts and sums of squares are enough; roots and means
    of them would break ties by rounding.
    """
    if score == "accuracy":
        return lambda answers, others: np.asarray((others == answers).sum(axis=0), dtype=np.float64)
    if score == "neg_rmse":
        return lambda answers, others: np.asarray(-np.nansum((others - answers) ** 2, axis=0))
    raise ValueError(f"A score is accuracy or neg_rmse, not {score}.")


def _compare(
    row: int, ratings: FloatArray, answers: FloatArray, closeness: Callable[[FloatArray, FloatArray], FloatArray]
) -> tuple[BoolArray, BoolArray]:
    """Where the judge does at least as well as that person, and where the person as well as the judge."""
    has_answered = ~np.isnan(ratings[row])
    others = np.delete(ratings, row, axis=0)[:, has_answered]
    of_judge = closeness(answers[has_answered], others)
    of_person = closeness(ratings[row, has_answered], others)
    return of_judge >= of_person, of_person >= of_judge


def _p(person_wins: BoolArray, judge_wins: BoolArray, epsilon: float) -> float:
    """Of the t-test that the mean of person minus judge is not below ε: 0 or 1 if all differences are alike."""
    from scipy import stats

    differences = person_wins.astype(np.float64) - judge_wins
    spread = differences.std(ddof=1) / math.sqrt(len(differences))
    distance = differences.mean() - epsilon
    if spread == 0:
        return math.nan if distance == 0 else float(distance > 0)
    return float(stats.t.cdf(distance / spread, len(differences) - 1))
