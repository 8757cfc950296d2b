"""How often a judge that answers as these people do would pass the alternative annotator test.

On each unit a person drawn by lot makes room for such a judge, which gives that person's answer. Those who remain are
compared with it as in `stats.alternative_annotator`, both scored against the others that remain.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stats.alternative_annotator import FALSE_DISCOVERY_RATE, MIN_UNITS, Score
from stats.arrays import FloatArray, IntArray, as_ratings, without_gaps
from stats.reasons import Incomputable

MIN_PEOPLE = 3  # of a unit: one makes room, one is compared, and another is there to agree with
N_JUDGES, FEWEST_JUDGES = 200, 50
MOST_COMPARED = 4_000_000  # answers beside judges; of more there are fewer judges
MADE_ROOM = 2  # in place of who scores better
ALIKE = 1e-9  # sum of squares below which all are


@dataclass(frozen=True)
class ExchangeableJudges:
    """What came of the test of each of B judges. winning_rate, advantage : of shape (B,)"""

    winning_rate: FloatArray
    advantage: FloatArray


def draw_places(humans: npt.ArrayLike, *, rng: np.random.Generator, n_judges: int | None = None) -> IntArray:
    """Who makes room for the judge, shape (B, U): which of those who answered that unit, counted from 0 in the order
    of rows of `humans`, shape (R, U). Of a unit without any 0. B : 200, or less of more than 20,000 answers"""
    n = (~np.isnan(as_ratings(humans))).sum(axis=0)
    if n_judges is None:
        n_judges = int(np.clip(MOST_COMPARED // max(n.sum(), 1), FEWEST_JUDGES, N_JUDGES))
    return np.asarray(rng.random((n_judges, len(n))) * n, dtype=np.int64)


def alt_tests(
    humans: npt.ArrayLike,
    places: IntArray,
    *,
    epsilon: float,
    score: Score,
    clusters: npt.ArrayLike | None = None,
) -> ExchangeableJudges:
    """The tests of judges that are drawn from the people: see `stats.alternative_annotator.alt_test`.

    A person is tested on the units where another made room. The standard error is taken for all units of the person,
    since a judge beside the people would take nobody's place.

    Parameters
    ----------
    humans : ratings of shape (R, U), nan where there is none; units of fewer than three people are left out
    places : who makes room, shape (B, U); from `draw_places`
    epsilon, score, clusters : as of `alt_test`

    Raises Incomputable if nobody has 30 units.
    """
    ratings = as_ratings(humans)
    dense = without_gaps(ratings)
    has_answered = ~np.isnan(ratings)
    usable = has_answered.sum(axis=0) >= MIN_PEOPLE
    place_of_row = np.cumsum(has_answered, axis=0, dtype=np.int32) - 1
    labels = np.arange(ratings.shape[1]) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    place_by_unit = np.ascontiguousarray(places.T, dtype=np.int32)
    ps, advantages = [], []
    for row in range(len(ratings)):
        units = np.flatnonzero(has_answered[row] & usable)
        units = units[np.argsort(labels[units], kind="stable")]
        starts = np.flatnonzero(np.diff(labels[units], prepend=-1))
        if len(units) < MIN_UNITS or len(starts) < 2:
            continue
        better = _who_is_nearer(ratings[row, units], dense[:, units], place_of_row[row, units], score)
        drawn = better.T.ravel().take(place_by_unit[units] + len(better) * np.arange(len(units))[:, np.newaxis])
        n_compared = (drawn != MADE_ROOM).sum(axis=0)
        advantages.append((drawn < 1).sum(axis=0) / np.maximum(n_compared, 1))
        ps.append(_ps(drawn, starts, epsilon))
    if not ps:
        raise Incomputable("nobody_to_leave_out", least=MIN_UNITS)
    return ExchangeableJudges(_share_rejected(np.array(ps).T), np.mean(advantages, axis=0))


def _who_is_nearer(own: FloatArray, dense: FloatArray, own_place: IntArray, score: Score) -> npt.NDArray[np.int8]:
    """Of each unit and person who may make room, whether who is tested scores better (1) than the judge, or worse (−1);
    0 if equal, 2 for who is tested. Shape (K, U) as `dense`; own, own_place : shape (U,)"""
    if score == "neg_rmse":
        # Sums of squares less those of the others' answers, which both sides share.
        n_others = (~np.isnan(dense)).sum(axis=0) - 2
        sum_of_others = np.nansum(dense, axis=0) - own - dense
        of_own = own * (n_others * own - 2 * sum_of_others)
        of_judge = dense * (n_others * dense - 2 * sum_of_others)
        better = np.sign(np.nan_to_num(of_judge - of_own))
    elif score == "accuracy":
        n_as_judge = (dense[:, np.newaxis] == dense).sum(axis=0)
        better = np.sign(n_as_judge[own_place, np.arange(len(own))] - n_as_judge)
    else:
        raise ValueError(f"A score is accuracy or neg_rmse, not {score}.")
    better[own_place, np.arange(len(own))] = MADE_ROOM
    return np.asarray(better, dtype=np.int8)


def _ps(drawn: npt.NDArray[np.int8], starts: IntArray, epsilon: float) -> FloatArray:
    """Of each judge the p of the t-test that the mean over clusters is not below ε, shape (U, B) to (B,); 0 or 1 if all
    are alike, nan if they all are ε or there are fewer than two.

    drawn : who scored better, or 2; starts : the first unit of each cluster, shape (C,)
    """
    from scipy import special

    n_clusters = len(starts)
    if n_clusters == len(drawn):
        n_worse, n_better, n = ((drawn == value).sum(axis=0) for value in (-1, 1, MADE_ROOM))
        n = n_clusters - n
        mean = (n_better - n_worse) / np.maximum(n, 1)
        squares = n_worse + n_better - n * mean**2
    else:
        is_compared = drawn != MADE_ROOM
        sums = np.add.reduceat(drawn * is_compared, starts, axis=0, dtype=np.int32)
        counts = np.add.reduceat(is_compared, starts, axis=0, dtype=np.int32)
        n = (counts > 0).sum(axis=0)
        means = sums / np.maximum(counts, 1)
        mean = means.sum(axis=0) / np.maximum(n, 1)
        squares = ((means - mean) ** 2 * (counts > 0)).sum(axis=0)
    squares = np.where(squares < ALIKE, 0.0, squares)
    error = np.sqrt(squares / np.maximum(n - 1, 1) / n_clusters)
    with np.errstate(divide="ignore", invalid="ignore"):
        ps = special.stdtr(n_clusters - 1, (mean - epsilon) / error)
    return np.asarray(np.where(n > 1, ps, np.nan), dtype=np.float64)


def _share_rejected(ps: FloatArray) -> FloatArray:
    """Of each judge the share of people it beats, by Benjamini and Yekutieli; shape (B, R) to (B,)."""
    n_people = ps.shape[1]
    order = np.arange(1, n_people + 1)
    bars = FALSE_DISCOVERY_RATE * order / (n_people * (1 / order).sum())
    passes = np.sort(np.nan_to_num(ps, nan=1.0), axis=1) <= bars
    return np.asarray((passes * order).max(axis=1) / n_people, dtype=np.float64)
