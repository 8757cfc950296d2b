"""The alternative annotator test: may a judge stand in for one of the people?

Each person is left out in turn; who agrees better with the others, the person or the judge? Source: Calderon, Reichart
and Dror, 2025, "The alternative annotator test for LLM-as-a-judge".
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from stats.arrays import FloatArray, IntArray, as_ratings, select_units, values_of
from stats.intervals import Interval, mean_interval_of_sums
from stats.reasons import Incomputable

Score: TypeAlias = Literal["accuracy", "neg_rmse"]
Closeness: TypeAlias = Callable[[int], tuple[FloatArray, FloatArray]]

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
class Wins:
    """Where the judge scores at least as well as a person. units : on which the two are compared; is_won : 1 or 0"""

    units: IntArray
    is_won: FloatArray


@dataclass(frozen=True)
class AlternativeAnnotator:
    """What came of the test.

    winning_rate : share of the tested people whom the judge beats; from one half on, it may replace one of them
    advantage_probability : mean of the tested people's advantages
    n_units : that were compared
    people : one for each row of the ratings, in their order
    judge_wins : of each of the people; the advantage probability is the mean over tested people of the means of theirs
    """

    winning_rate: float
    advantage_probability: float
    n_units: int
    people: tuple[LeftOut, ...]
    judge_wins: tuple[Wins, ...]

    def advantage_interval(
        self, clusters: npt.ArrayLike, *, rng: np.random.Generator, n_resamples: int = 1000
    ) -> Interval:
        """The interval of the advantage probability over clusters, of each unit, shape (U,).

        Raises Incomputable if fewer than two clusters were compared, or if all have the same.
        """
        names, cluster_of_unit = np.unique(np.asarray(clusters), return_inverse=True)
        tested = [wins for wins, person in zip(self.judge_wins, self.people, strict=True) if person.is_tested]
        places = [cluster_of_unit[wins.units] for wins in tested]
        counts = np.array([np.bincount(own, minlength=len(names)) for own in places])
        sums = np.array(
            [np.bincount(own, wins.is_won, minlength=len(names)) for own, wins in zip(places, tested, strict=True)]
        )
        is_compared = counts.any(axis=0)
        return mean_interval_of_sums(
            sums[:, is_compared], counts[:, is_compared], rng=rng, n_resamples=n_resamples
        ).clipped(0, 1)


def alt_test(
    humans: npt.ArrayLike,
    judge: npt.ArrayLike,
    *,
    epsilon: float,
    score: Score,
    clusters: npt.ArrayLike | None = None,
    counts_unanswered: bool = False,
    n_tried: int = 1,
) -> AlternativeAnnotator:
    """Whether the judge agrees with the remaining people at least as well as each person does.

    Parameters
    ----------
    humans : ratings of shape (R, U), nan where there is none
    judge : shape (U,), nan where there is none; such units are left out, and so are those with one person only
    epsilon : how much better than the judge a person may be, since people cost more; .2 for experts
    score : of a person on a unit: the share of others with the same rating, or minus the root mean square difference
    clusters : what each unit was sampled with; the t-test is then one of their means
    counts_unanswered : whether units without the judge's answer count as lost by it instead of being left out
    n_tried : judges among which this one was chosen on the same units; each p is multiplied by it (Bonferroni)

    Raises Incomputable if nobody has 30 units, ValueError for shapes that do not fit or an unknown score.
    """
    ratings, answers = as_ratings(humans), np.asarray(judge, dtype=np.float64)
    if answers.shape != ratings.shape[1:]:
        raise ValueError(f"A judge has one answer a unit; here are {answers.shape} for ratings {ratings.shape}.")
    usable = (~np.isnan(ratings)).sum(axis=0) >= MIN_PEOPLE
    if not counts_unanswered:
        usable &= ~np.isnan(answers)
    labels = np.arange(len(answers)) if clusters is None else np.asarray(clusters)
    units = np.flatnonzero(usable)
    ratings, answers, labels = select_units(ratings, usable), select_units(answers, usable), labels[usable]
    closeness = _closeness(score, ratings, answers)
    people, judge_wins = [], []
    for row in range(len(ratings)):
        person, is_won = _leave_out(row, ratings, answers, labels, closeness, epsilon)
        people.append(person)
        judge_wins.append(Wins(units[~np.isnan(ratings[row])], is_won))
    people = _mark_beaten(people, n_tried)
    tested = [person for person in people if person.is_tested]
    return AlternativeAnnotator(
        winning_rate=float(np.mean([person.is_beaten for person in tested])),
        advantage_probability=float(np.mean([person.advantage for person in tested])),
        n_units=int(usable.sum()),
        people=tuple(people),
        judge_wins=tuple(judge_wins),
    )


def _mark_beaten(people: Sequence[LeftOut], n_tried: int) -> list[LeftOut]:
    """The people with whether the judge beats each, corrected for how many are tested. Raises Incomputable for none."""
    from statsmodels.stats.multitest import multipletests  # takes a second to import

    tested = [n for n, person in enumerate(people) if person.is_tested]
    if not tested:
        raise Incomputable("nobody_to_leave_out", least=MIN_UNITS)
    # A p that is 0/0 is never rejected, and still counts among those that are corrected for.
    ps = np.minimum(np.nan_to_num([people[n].p for n in tested], nan=1.0) * n_tried, 1)
    rejected = multipletests(ps, alpha=FALSE_DISCOVERY_RATE, method="fdr_by")[0]
    corrected = list(people)
    for n, is_beaten in zip(tested, rejected, strict=True):
        corrected[n] = replace(people[n], is_beaten=bool(is_beaten))
    return corrected


def _closeness(score: Score, ratings: FloatArray, judge: FloatArray) -> Closeness:
    """A function that says how near the judge and a person (by row) are to the others: more is nearer, ties are exact.

    It gives both for the units that the person judged, each of shape (those,). Of two scores over the same others only
    the order matters, so counts and sums of squares are enough; roots and means of them would break ties by rounding.
    """
    if score == "neg_rmse":

        def distances(row: int) -> tuple[FloatArray, FloatArray]:
            has_answered = ~np.isnan(ratings[row])
            others = np.delete(ratings[:, has_answered], row, axis=0)
            answers = (judge[has_answered], ratings[row, has_answered])
            of_judge, of_person = (-np.nansum((others - own) ** 2, axis=0) for own in answers)
            return of_judge, of_person

        return distances
    if score == "accuracy":
        # Of all raters at once, less the person, since each says the same as a few others of hundreds.
        values = values_of(ratings)
        n_by_value = np.array([(ratings == value).sum(axis=0) for value in values], dtype=np.float64)
        n_by_value = n_by_value.reshape(len(values), ratings.shape[1])  # nobody may have answered
        n_as_judge = (ratings == judge).sum(axis=0, dtype=np.float64)

        def matches(row: int) -> tuple[FloatArray, FloatArray]:
            units = np.flatnonzero(~np.isnan(ratings[row]))
            own = ratings[row, units]
            return n_as_judge[units] - (own == judge[units]), n_by_value[np.searchsorted(values, own), units] - 1

        return matches
    raise ValueError(f"A score is accuracy or neg_rmse, not {score}.")


def _leave_out(
    row: int, ratings: FloatArray, answers: FloatArray, labels: npt.NDArray[Any], closeness: Closeness, epsilon: float
) -> tuple[LeftOut, FloatArray]:
    """That person beside the judge, not yet corrected for how many are tested; and where the judge wins, 1 or 0."""
    has_answered = ~np.isnan(ratings[row])
    of_judge, of_person = closeness(row)
    of_judge[np.isnan(answers[has_answered])] = -np.inf  # an answer that counts as lost
    judge_wins, person_wins = of_judge >= of_person, of_person >= of_judge
    n = len(judge_wins)
    differences = _cluster_means(person_wins.astype(np.float64) - judge_wins, labels[has_answered])
    person = LeftOut(
        n=n,
        is_tested=n >= MIN_UNITS and len(differences) > 1,
        p=_p(differences, epsilon) if n >= MIN_UNITS and len(differences) > 1 else math.nan,
        is_beaten=False,
        advantage=float(judge_wins.mean()) if n else math.nan,
    )
    return person, judge_wins.astype(np.float64)


def _cluster_means(values: FloatArray, labels: npt.NDArray[Any]) -> FloatArray:
    """The mean of the values of each label."""
    places = np.unique(labels, return_inverse=True)[1]
    return np.asarray(np.bincount(places, values) / np.bincount(places))


def _p(differences: FloatArray, epsilon: float) -> float:
    """Of the t-test that their mean is not below ε: 0 or 1 if all are alike, nan if they all are ε."""
    from scipy import stats as scipy_stats

    # scipy's own test warns of lost precision where all are nearly alike.
    spread = differences.std(ddof=1) / math.sqrt(len(differences))
    distance = differences.mean() - epsilon
    if spread == 0:
        return math.nan if distance == 0 else float(distance > 0)
    return float(scipy_stats.t.cdf(distance / spread, len(differences) - 1))
