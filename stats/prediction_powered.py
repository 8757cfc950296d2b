"""Means of people's ratings, sharpened by a judge who also rated stories that no person read.

What the judge says of those stories counts as much as it has followed people where both answered, and what it is off by
there is taken away. Sources: Angelopoulos et al., 2023, "Prediction-powered inference", and "PPI++", for the weight.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from stats.arrays import BoolArray, FloatArray
from stats.reasons import Incomputable

MIN_PLANNED = 10  # stories from which it is said how many more are needed
MIN_ALONE = 30  # stories from which a source's own covariances and the normal quantile do
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Ratings:
    """One source's stories, each with its mean rating; stories that share a prompt come as one mean.

    people, judge : shape (n,), of the same stories
    judge_alone : shape (N,), of stories that no person rated
    """

    people: FloatArray
    judge: FloatArray
    judge_alone: FloatArray


@dataclass(frozen=True)
class NeededStories:
    """How many stories people must read for an interval of a wanted width, from people alone and with the judge.

    alone_ends, together_ends : the same at either end of the 95 % interval of the variances
    """

    alone: int
    together: int
    alone_ends: tuple[int, int]
    together_ends: tuple[int, int]


@dataclass(frozen=True)
class Mean:
    """A mean with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class PoweredMean:
    """What people alone say of a source, and what they say together with the judge.

    weight : of the judge, between 0 (it adds nothing) and 1
    n, n_judged : stories with people and the judge, and with the judge only
    """

    people: Mean
    together: Mean
    weight: float
    n: int
    n_judged: int

    @property
    def width_gained(self) -> float:
        """By which share the interval is narrower than that of people alone; below 0 if it is wider."""
        alone = self.people.high - self.people.low
        return 1 - (self.together.high - self.together.low) / alone if alone else 0.0


def as_source(people: npt.ArrayLike, judge: npt.ArrayLike, judge_alone: npt.ArrayLike) -> Ratings:
    """The ratings of a source as arrays.

    Raises ValueError for a missing value (a judge's missing answer is a constant that was set beforehand, never
    dropped) or if people and judge did not rate the same stories, Incomputable with fewer than two stories on a side.
    """
    arrays = [np.asarray(values, dtype=np.float64) for values in (people, judge, judge_alone)]
    if arrays[0].shape != arrays[1].shape or any(array.ndim != 1 for array in arrays):
        raise ValueError(f"People and judge rate the same stories; here are {arrays[0].shape} and {arrays[1].shape}.")
    if any(np.isnan(array).any() for array in arrays):
        raise ValueError("Every story needs a rating; a judge's missing answer is a constant that was set beforehand.")
    if len(arrays[0]) < 2:
        raise Incomputable("fewer_than_two_rated_stories")
    if len(arrays[2]) < 2:
        raise Incomputable("no_story_for_the_judge_alone")
    return Ratings(*arrays)


def read_source(
    people: npt.ArrayLike, judge: npt.ArrayLike, clusters: npt.ArrayLike, units: BoolArray, drawn: Sequence[str]
) -> Ratings:
    """The ratings of one source's stories, those that share a cluster as one.

    people, judge : mean ratings of all stories, shape (U,), nan where there is none
    clusters : shape (U,); units : which stories are of the source, shape (U,)
    drawn : of each story "yes" if it was drawn for people to read and "no" if not, shape (U,)
    Raises Incomputable if the judge lacks a rating, if people have read none or all, or if they read others than were
    drawn.
    """
    of_people, of_judge = np.asarray(people, dtype=np.float64), np.asarray(judge, dtype=np.float64)
    is_rated = np.isfinite(of_people)
    if np.isnan(of_judge[units]).any():
        raise Incomputable("no_constant_for_missing")
    if not is_rated[units].any():
        raise Incomputable("fewer_than_two_rated_stories")
    if is_rated[units].all():
        raise Incomputable("no_story_for_the_judge_alone")
    for word, has_people, is_own in zip(drawn, is_rated, units, strict=True):
        if is_own and word not in ("yes", "no"):
            raise Incomputable("not_drawn_at_random")
        if is_own and (word == "yes") != bool(has_people):
            raise Incomputable("not_read_as_drawn")
    labels, rated = np.asarray(clusters), units & is_rated
    return as_source(
        _cluster_means(of_people, labels, rated),
        _cluster_means(of_judge, labels, rated),
        _cluster_means(of_judge, labels, units & ~is_rated),
    )


def _cluster_means(values: FloatArray, labels: npt.NDArray[np.generic], units: BoolArray) -> FloatArray:
    places = np.unique(labels[units], return_inverse=True)[1]
    return np.asarray(np.bincount(places, values[units]) / np.bincount(places), dtype=np.float64)


def estimate_means(sources: Sequence[Ratings]) -> list[PoweredMean]:
    """The mean of each source, from people alone and with the judge.

    From 30 stories on a source stands for itself, with the normal interval. Below, the weight comes from covariances
    pooled within all sources, and the interval from t(n − 1).
    """
    covariance, variance = _pool(sources)
    return [
        _estimate(source, *_covariances(source), ddof=0)
        if len(source.people) >= MIN_ALONE
        else _estimate(source, covariance, variance, ddof=1)
        for source in sources
    ]


def plan_reading(sources: Sequence[Ratings], half_width: float) -> list[NeededStories | None]:
    """Of each source how many of its stories people must read until the 95 % interval of its mean reaches no farther.

    With y people's mean of a story, j the judge's, and M stories that the judge has read, n stories give people alone a
    variance of var(y) / n, and together with the judge one of var(y - w j) / n + w² var(j) / (M - n), where w is
    cov(y, j) / ((1 + n / (M - n)) var(j)), between 0 and 1, from the covariances of the estimate. Where M stories do
    not do, the judge saves none. How far that can be off: the variances as much smaller or larger as the chi-square
    interval of that of people's ratings has them.
    None from fewer than ten stories, or if all are alike to people: then nobody can tell.
    """
    pooled = _pool(sources)
    return [_plan(source, half_width, pooled) for source in sources]


def _plan(source: Ratings, half_width: float, pooled: tuple[float, float]) -> NeededStories | None:
    from scipy import stats as scipy_stats

    n = len(source.people)
    if n < MIN_PLANNED or np.ptp(source.people) == 0:
        return None
    covariances = pooled if n < MIN_ALONE else _covariances(source)
    ends = (1 + CONFIDENCE) / 2, (1 - CONFIDENCE) / 2
    shares = [(n - 1) / float(scipy_stats.chi2.ppf(end, n - 1)) for end in ends]
    alone, together = _count_needed(source, half_width, *covariances)
    # With variances as much larger, what is wanted is as an interval that is narrower by the root.
    least, most = (_count_needed(source, half_width / math.sqrt(share), *covariances) for share in shares)
    return NeededStories(alone, together, (least[0], most[0]), (least[1], most[1]))


def _count_needed(source: Ratings, half_width: float, covariance: float, variance: float) -> tuple[int, int]:
    """covariance, variance : of people and judge, and of the judge, as the weight has them"""
    n, n_all = len(source.people), len(source.people) + len(source.judge_alone)
    of_people, of_judge = float(np.var(source.people, ddof=1)), float(np.var(_all_judged(source), ddof=1))
    of_both = float(_centre(source.people) @ _centre(source.judge)) / (n - 1)
    largest = (half_width / _quantile(MIN_ALONE)) ** 2  # of variances
    alone = next(
        (k for k in range(2, MIN_ALONE) if of_people / k <= (half_width / _quantile(k)) ** 2),
        max(MIN_ALONE, math.ceil(of_people / largest)),
    )
    for k in range(2, min(alone, n_all - 1)):
        weight = float(np.clip(covariance / ((1 + k / (n_all - k)) * variance), 0, 1)) if variance > 0 else 0.0
        of_rest = of_people - 2 * weight * of_both + weight**2 * of_judge
        if of_rest / k + weight**2 * of_judge / (n_all - k) <= (half_width / _quantile(k)) ** 2:
            return alone, k
    return alone, alone


def _pool(sources: Sequence[Ratings]) -> tuple[float, float]:
    """The covariance of people and judge, and the variance of the judge over all stories, within sources."""
    covariances = sum(float(_centre(s.people) @ _centre(s.judge)) for s in sources)
    squares = sum(float((_centre(_all_judged(s)) ** 2).sum()) for s in sources)
    n_rated, n_judged = sum(len(s.people) - 1 for s in sources), sum(len(_all_judged(s)) - 1 for s in sources)
    return (covariances / n_rated, squares / n_judged) if sources else (0.0, 0.0)


def _covariances(source: Ratings) -> tuple[float, float]:
    """The same of one source alone, with the divisors of the authors' own implementation (n, and n + N − 1)."""
    covariance = float(np.mean(_centre(source.people) * _centre(source.judge)))
    return covariance, float(np.var(_all_judged(source), ddof=1))


def _estimate(source: Ratings, covariance: float, variance: float, *, ddof: int) -> PoweredMean:
    n, n_judged = len(source.people), len(source.judge_alone)
    weight = float(np.clip(covariance / ((1 + n / n_judged) * variance), 0, 1)) if variance > 0 else 0.0
    value = source.people.mean() + weight * (source.judge_alone.mean() - source.judge.mean())
    error = math.sqrt(
        np.var(source.people - weight * source.judge, ddof=ddof) / n
        + weight**2 * np.var(source.judge_alone, ddof=ddof) / n_judged
    )
    error_alone = math.sqrt(np.var(source.people, ddof=ddof) / n)
    quantile = _quantile(n)
    return PoweredMean(
        people=_mean(float(source.people.mean()), error_alone * quantile),
        together=_mean(float(value), error * quantile),
        weight=weight,
        n=n,
        n_judged=n_judged,
    )


@cache
def _quantile(n: int) -> float:
    """Half the width of a 95 % interval in standard errors."""
    from scipy import stats as scipy_stats

    share = (1 + CONFIDENCE) / 2
    return float(scipy_stats.norm.ppf(share) if n >= MIN_ALONE else scipy_stats.t.ppf(share, n - 1))


def _mean(value: float, half_width: float) -> Mean:
    return Mean(value, value - half_width, value + half_width)


def _centre(values: FloatArray) -> FloatArray:
    return np.asarray(values - values.mean())


def _all_judged(source: Ratings) -> FloatArray:
    return np.concatenate([source.judge, source.judge_alone])
