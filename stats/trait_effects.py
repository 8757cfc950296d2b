"""How far a judge's answers go by a trait of the stories, as their length, at equal worth of the stories to people.

People may rate stories with the trait higher themselves, and then so does a judge that follows them. Taken off is what
that lets expect: the trait's difference in people's ratings, times how far the judge's answers move with people's. Of a
judge that always says the same, that answers at random, or that follows people on a narrower scale, nothing is left.
What a few raters say differs from what stories are worth to people: at equal means of three raters, stories of the kind
that people prefer are still worth more, and a fair judge seems to favour them. So how far ratings vary by what stories
are worth is taken from products of different raters' ratings, in which their errors cancel. Beside it stands the
difference at equal ratings as they are, which leaves nothing of a judge that repeats these raters' mean on a narrower
scale; only where both leave out 0 is anything claimed.
Source: Fuller 1987, Measurement Error Models, sections 1.2 and 2.2; Fieller 1954, Some Problems in Interval Estimation;
Kott 2001, The Delete-a-Group Jackknife.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from stats.arrays import BoolArray, FloatArray, IntArray, mean_present
from stats.intervals import Interval, t_quantile
from stats.reasons import Incomputable

FEWEST = 4  # stories, or stories on either side, and clusters: no claim from fewer
FEWEST_RATERS = 3  # without one of them two are left, whose products tell error from worth
MOST_CLUSTERS, MOST_RATERS = 100, 20  # that are left out in turn; of more, groups of them
ALIKE = 1e-9
EFFECT, SLOPE_DENOMINATOR, AT_EQUAL_RATINGS, AMONG_YES, AMONG_NO = range(5)  # the rows of statistics


@dataclass(frozen=True)
class EffectPart:
    """One number, with its interval and p value against 0 for other stories and other raters.

    n_with, n_without : among verdicts of one kind, the judge's about stories with the trait, and without
    """

    value: float
    interval: Interval | Incomputable
    p: float | None = None
    n_with: int = 0
    n_without: int = 0


CONSTANT = EffectPart(0.0, Incomputable("judge_constant"))


@dataclass(frozen=True)
class TraitEffect:
    """What a judge gives stories for a trait, in its own points.

    effect : at equal worth to people, or why it cannot be told
    at_equal_ratings : at equal means of these raters; of verdicts on two kinds of stories the mean of the next two
    among_yes, among_no : of verdicts on two kinds of stories, among those to which most people say Yes, or No
    judge, people : how much more the judge, and people's mean, give for the trait, nothing held equal
    n_stories, n_with : stories compared, and those that have the trait
    """

    effect: EffectPart | Incomputable
    at_equal_ratings: EffectPart | Incomputable
    among_yes: EffectPart | Incomputable
    among_no: EffectPart | Incomputable
    judge: float
    people: float
    n_stories: int
    n_with: int
    n_raters: int

    @property
    def p(self) -> float | None:
        """Against 0, the larger of both, which must point the same way.

        For other stories and other raters, never for these raters alone: their own taste for a source would be laid at
        the judge's door.
        """
        effect, beside = self.effect, self.at_equal_ratings
        if isinstance(effect, Incomputable) or isinstance(beside, Incomputable):
            return None
        if effect.p is None or beside.p is None:
            return None
        return 1.0 if effect.value * beside.value <= 0 else max(effect.p, beside.p)


@dataclass(frozen=True)
class _Answers:
    """What is compared, of items by units. judge : (I, U); people : (I, R, U); trait, cluster, story : (U,)"""

    judge: FloatArray
    people: FloatArray
    trait: FloatArray
    cluster: IntArray
    story: IntArray

    def without_raters(self, is_left_out: BoolArray) -> _Answers:
        return replace(self, people=self.people[:, ~is_left_out])


@dataclass(frozen=True)
class _Spread:
    """Covariances of the statistics when clusters, or raters, are left out in turn, and their degrees of freedom."""

    matrix: FloatArray
    degrees: int


def trait_effect(
    judge: npt.ArrayLike,
    people: npt.ArrayLike,
    trait: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    stories: npt.ArrayLike | None = None,
    are_verdicts: bool = False,
) -> TraitEffect:
    """What a judge gives stories for a trait at equal worth to people; items' own levels are taken off.

    judge : shape (I, U); people : (I, R, U); trait : (U,), nan where a story does not enter; of two kinds 1 and 0
    stories : (U,), of which story each unit is, as one can stand in several groups; None if each is of another
    are_verdicts : of two kinds of stories, whether answers are 1 and 0, and so compared among people's Yes and No
    Raises Incomputable if nothing is shared, if stories do not differ in the trait, or if they are too few.
    """
    answers = _compared(judge, people, trait, clusters, stories)
    is_kind = bool(np.isin(answers.trait, (0, 1)).all())
    compute = partial(_statistics, has_parts=are_verdicts and is_kind)
    n = int(answers.cluster.max()) + 1
    is_left_out = answers.cluster % MOST_CLUSTERS == np.arange(min(n, MOST_CLUSTERS))[:, np.newaxis]
    weights = np.vstack([np.ones(answers.cluster.size), ~is_left_out]).astype(np.float64)
    values, of_judge, of_people = compute(answers, weights)
    if np.isnan(of_people):  # it varies over stories, and within no item
        raise Incomputable("stories_alike_in_it")
    statistics, of_clusters = values[:, 0], _jackknife(values[:, 1:])
    spreads = (of_clusters, _spread_of_raters(answers, compute))
    rows = (AT_EQUAL_RATINGS, AMONG_YES, AMONG_NO)
    at_equal_ratings, yes, no = (_part_or_reason(statistics[row], spreads, row, answers) for row in rows)
    if _is_constant(answers.judge):
        at_equal_ratings, yes, no = (
            part if isinstance(part, Incomputable) else CONSTANT for part in (at_equal_ratings, yes, no)
        )
    n_stories = np.unique(answers.story).size
    return TraitEffect(
        CONSTANT if _is_constant(answers.judge) else _effect(statistics, spreads, answers, of_people),
        at_equal_ratings,
        among_yes=_counted(yes, answers, says_yes=True),
        among_no=_counted(no, answers, says_yes=False),
        judge=of_judge,
        people=of_people,
        n_stories=n_stories,
        n_with=np.unique(answers.story[answers.trait == 1]).size if is_kind else n_stories,
        n_raters=answers.people.shape[1],
    )


def _counted(part: EffectPart | Incomputable, answers: _Answers, *, says_yes: bool) -> EffectPart | Incomputable:
    """The part with how many of the judge's verdicts it compares."""
    if isinstance(part, Incomputable):
        return part
    is_in, has_trait = _says(answers, says_yes=says_yes), answers.trait == 1
    return replace(part, n_with=int(is_in[:, has_trait].sum()), n_without=int(is_in[:, ~has_trait].sum()))


def _compared(
    judge: npt.ArrayLike,
    people: npt.ArrayLike,
    trait: npt.ArrayLike,
    clusters: npt.ArrayLike,
    stories: npt.ArrayLike | None,
) -> _Answers:
    """What judge and people both answered about stories whose trait is known, of raters who answered any of it."""
    own, ratings = np.asarray(judge, dtype=np.float64), np.asarray(people, dtype=np.float64)
    values = np.asarray(trait, dtype=np.float64)
    is_shared = np.isfinite(own) & np.isfinite(ratings).any(axis=1) & np.isfinite(values)
    units = is_shared.any(axis=0)
    if not units.any():
        raise Incomputable("no_unit_with_judge_and_people")
    values = values[units]
    if np.ptp(values) < ALIKE:
        raise Incomputable("stories_alike_in_it")
    of_units = np.arange(units.size) if stories is None else np.asarray(stories)
    cluster, story = (np.unique(labels[units], return_inverse=True)[1] for labels in (np.asarray(clusters), of_units))
    sides = [values == 1, values == 0] if np.isin(values, (0, 1)).all() else [np.isfinite(values)]
    if min(*(np.unique(story[side]).size for side in sides), cluster.max() + 1) < FEWEST:
        raise Incomputable("too_few_to_compare", least=FEWEST)
    shared = is_shared[:, units]
    ratings = np.where(shared[:, np.newaxis], ratings[:, :, units], np.nan)
    has_answers = np.isfinite(ratings).any(axis=(0, 2))
    return _Answers(np.where(shared, own[:, units], np.nan), ratings[:, has_answers], values, cluster, story)


def _statistics(answers: _Answers, weights: FloatArray, *, has_parts: bool) -> tuple[FloatArray, float, float]:
    """The statistics under each row of weights, shape (5, B), and judge's and people's slopes on the trait.

    The first is the effect times the second, which is how far ratings vary by worth.
    """
    sums = [_item_sums(answers, item, weights) for item in range(len(answers.judge))]
    within = {both: sum(_within(of_item, both) for of_item in sums) for both in ("xx", "pp", "xp", "xj", "pj")}
    n = sum(np.maximum(of_item["n"] - 1, 0) for of_item in sums)
    room = np.where(within["xx"] > ALIKE, within["xx"], np.nan)
    judge, people = within["xj"] / room, within["xp"] / room
    shared = (within["pj"] - within["xj"] * people) / np.maximum(n - 1, 1)
    by_worth = _variance_of_worth(sums, people)
    free = within["xx"] * within["pp"] - within["xp"] ** 2
    slope = (within["xj"] * within["pp"] - within["pj"] * within["xp"]) / np.where(free > ALIKE, free, np.nan)
    slope = np.where(within["pp"] > ALIKE, slope, judge)  # where ratings do not vary there is nothing to hold equal
    yes = no = np.full(len(weights), np.nan)
    if has_parts:
        yes, no = (_difference_in_yes(answers, weights, says_yes=says_yes) for says_yes in (True, False))
        slope = (yes + no) / 2
    values = np.stack([judge * by_worth - shared * people, by_worth, slope, yes, no])
    return values, float(judge[0]), float(people[0])


def _item_sums(answers: _Answers, item: int, weights: FloatArray) -> dict[str, FloatArray]:
    """Sums of one item over units under each row of weights, shape (B,); those of raters are of shape (B, R).

    n, x, p, j : units, trait, mean rating, the judge's answer, and products of two; t : units that several rated, with
    pair, the mean product of two raters' ratings. of_raters : the weights of units, ratings and traits of each rater
    """
    ratings = answers.people[item]
    has_rating = np.isfinite(ratings)
    n_of_unit = has_rating.sum(axis=0)
    n, t = ((n_of_unit > least).astype(np.float64) for least in (0, 1))
    # About their means, so that sums of products stay exact.
    own = np.where(has_rating, ratings - ratings[has_rating].mean() if has_rating.any() else 0.0, 0.0)
    x, j = (_centred(values, n) for values in (answers.trait, answers.judge[item]))
    p = own.sum(axis=0) / np.maximum(n_of_unit, 1)
    pair = (own.sum(axis=0) ** 2 - (own**2).sum(axis=0)) / np.maximum(n_of_unit * (n_of_unit - 1), 1)
    units = {"n": n, "x": x, "p": p, "j": j, "xx": x * x, "pp": p * p, "xp": x * p, "xj": x * j, "pj": p * j}
    units |= {"t": t, "tx": t * x, "tp": t * p, "pair": t * pair, "txp": t * x * p, "txx": t * x * x, "tpp": t * p * p}
    weight = has_rating * (t / np.maximum(n_of_unit, 1))
    own *= weight
    units |= {"rr": (own**2).sum(axis=0), "ww": (weight**2).sum(axis=0)}
    units |= {"rx": (own * weight).sum(axis=0) * x, "rxx": units["ww"] * x * x}
    of_raters = {"weights": weights @ weight.T, "ratings": weights @ own.T, "traits": (weights * x) @ weight.T}
    return {name: weights @ row for name, row in units.items()} | of_raters


def _centred(values: FloatArray, n: FloatArray) -> FloatArray:
    """Values about the mean of those that count; 0 elsewhere."""
    counts = n > 0
    return np.where(counts, values - (values[counts].mean() if counts.any() else 0.0), 0.0)


def _within(sums: dict[str, FloatArray], both: str) -> FloatArray:
    """The sum of products of two values about their means in one item."""
    return sums[both] - sums[both[0]] * sums[both[1]] / np.maximum(sums["n"], 1)


def _variance_of_worth(sums: list[dict[str, FloatArray]], people: FloatArray) -> FloatArray:
    """How far ratings vary by what stories are worth beside the trait, shape (B,).

    The mean product of two raters' ratings of one story, less that of two raters' ratings of two stories: errors of
    different raters cancel in both, and how severe raters are in their difference, whether or not they read the same.
    people : the slope of ratings on the trait, which is taken off
    """
    total = n_units = np.zeros(len(people))
    for item in sums:
        t, of_raters = item["t"], item["ratings"] - people[:, np.newaxis] * item["traits"]
        same = item["pair"] - 2 * people * item["txp"] + people**2 * item["txx"]
        of_one_story = item["tpp"] - 2 * people * item["txp"] + people**2 * item["txx"]
        of_both = item["rr"] - 2 * people * item["rx"] + people**2 * item["rxx"]
        products = (item["tp"] - people * item["tx"]) ** 2 - of_one_story - (of_raters**2).sum(axis=1) + of_both
        n_products = t**2 - t - (item["weights"] ** 2).sum(axis=1) + item["ww"]
        others = np.where(n_products > ALIKE, products / np.where(n_products > ALIKE, n_products, 1), 0.0)
        n = np.maximum(t - 1, 0)
        total, n_units = total + n * (same / np.maximum(t, 1) - others), n_units + n
    return np.asarray(total / np.maximum(n_units - 1, 1), dtype=np.float64)


def _difference_in_yes(answers: _Answers, weights: FloatArray, *, says_yes: bool) -> FloatArray:
    """How much more often the judge says Yes to stories with the trait among those on which most people say one thing,
    shape (B,); nan where there are none on one side."""
    is_in, has_trait = _says(answers, says_yes=says_yes), answers.trait == 1
    total = n = np.zeros(len(weights))
    for own, is_so in zip(answers.judge, is_in, strict=True):
        yes = np.where(np.isfinite(own), own, 0.0)
        sides = [(is_so & side).astype(np.float64) for side in (has_trait, ~has_trait)]
        n_first, n_second = (weights @ side for side in sides)
        first, second = (
            weights @ (side * yes) / np.maximum(n_of_side, 1)
            for side, n_of_side in zip(sides, (n_first, n_second), strict=True)
        )
        weight = n_first * n_second / np.maximum(n_first + n_second, 1)
        total, n = total + weight * (first - second), n + weight
    return np.asarray(total / np.where(n > 0, n, np.nan), dtype=np.float64)


def _says(answers: _Answers, *, says_yes: bool) -> BoolArray:
    """Which verdicts are on what most people say Yes to, or No, shape (I, U)."""
    shares = mean_present(answers.people, axis=1)
    return np.asarray(shares > 0.5 if says_yes else shares < 0.5, dtype=np.bool_)


def _spread_of_raters(answers: _Answers, compute: Callable[..., tuple[FloatArray, float, float]]) -> _Spread:
    """Where every rater read in one cluster alone, other clusters are other raters, and nothing is added."""
    n_raters = answers.people.shape[1]
    has_read: BoolArray = np.asarray(np.isfinite(answers.people).any(axis=0), dtype=np.bool_)
    if n_raters < FEWEST_RATERS or all(len(np.unique(answers.cluster[units])) == 1 for units in has_read):
        return _Spread(np.zeros((5, 5)), 1)
    groups, everything = np.arange(n_raters) % MOST_RATERS, np.ones((1, answers.trait.size))
    n_groups = min(n_raters, MOST_RATERS)
    values = [compute(answers.without_raters(groups == group), everything)[0][:, 0] for group in range(n_groups)]
    return _jackknife(np.stack(values, axis=1))


def _jackknife(values: FloatArray) -> _Spread:
    """Of the statistics with each of B parts left out, shape (5, B)."""
    n = values.shape[1]
    deviations = values - values.mean(axis=1, keepdims=True)
    return _Spread((n - 1) / n * deviations @ deviations.T, n - 1)


def _part_or_reason(
    value: float, spreads: tuple[_Spread, _Spread], row: int, answers: _Answers
) -> EffectPart | Incomputable:
    """A statistic with the interval value ± t × its error."""
    variances = [float(spread.matrix[row, row]) for spread in spreads]
    if np.isnan(value):
        return Incomputable("group_too_small")
    reason = _reason_without_spread(variances)
    if reason:
        return EffectPart(float(value), reason)
    degrees, error = _degrees(variances, spreads), sum(variances) ** 0.5
    margin = t_quantile(0.975, degrees) * error
    return EffectPart(float(value), _interval(value - margin, value + margin, answers), _p(value, variances, spreads))


def _effect(
    statistics: FloatArray, spreads: tuple[_Spread, _Spread], answers: _Answers, of_people: float
) -> EffectPart | Incomputable:
    """The ratio of the first two statistics with Fieller's interval, which is open where the second may be 0.

    of_people : the slope of people's ratings on the trait
    """
    if answers.people.shape[1] < FEWEST_RATERS:
        return Incomputable("too_few_raters_for_error", least=FEWEST_RATERS)
    above, below = statistics[EFFECT], statistics[SLOPE_DENOMINATOR]
    variances = [float(spread.matrix[EFFECT, EFFECT]) for spread in spreads]
    if _is_constant(answers.people - of_people * answers.trait):
        return Incomputable("people_rate_alike")
    if below <= ALIKE:
        return Incomputable("people_agree_too_little")
    reason = _reason_without_spread(variances)
    if reason:
        return EffectPart(float(above / below), reason)
    matrix = spreads[0].matrix + spreads[1].matrix
    t = t_quantile(0.975, _degrees(variances, spreads)) ** 2
    square = below**2 - t * matrix[SLOPE_DENOMINATOR, SLOPE_DENOMINATOR]
    if square <= 0:
        return Incomputable("people_agree_too_little")
    middle = above * below - t * matrix[EFFECT, SLOPE_DENOMINATOR]
    root = max(middle**2 - square * (above**2 - t * matrix[EFFECT, EFFECT]), 0.0) ** 0.5
    ends = _interval((middle - root) / square, (middle + root) / square, answers)
    return EffectPart(float(above / below), ends, _p(above, variances, spreads))


def _reason_without_spread(variances: list[float]) -> Incomputable | None:
    if np.isnan(variances).any():
        return Incomputable("no_value_without_a_cluster")
    return Incomputable("resamples_alike") if sum(variances) < ALIKE**2 else None


def _degrees(variances: list[float], spreads: tuple[_Spread, _Spread]) -> float:
    """Satterthwaite's degrees of freedom of a sum of two variances."""
    parts = sum(variance**2 / spread.degrees for variance, spread in zip(variances, spreads, strict=True))
    return float(sum(variances) ** 2 / parts)


def _p(value: float, variances: list[float], spreads: tuple[_Spread, _Spread]) -> float:
    return float(2 * stdtr(_degrees(variances, spreads), -abs(value) / sum(variances) ** 0.5))


def _interval(low: float, high: float, answers: _Answers) -> Interval:
    """For other raters, too, where they are enough to be left out in turn."""
    n = int(answers.cluster.max()) + 1
    if answers.people.shape[1] < FEWEST_RATERS:
        note = f"jackknife interval over {n} clusters, for these raters alone"
        return Interval(float(low), float(high), n, note=note, method="jackknife")
    note = f"jackknife interval over {n} clusters and raters"
    return Interval(float(low), float(high), n, note=note, method="crossed")


def _is_constant(answers: FloatArray) -> bool:
    """Whether all stories are given the same, item by item."""
    return all(np.ptp(own[np.isfinite(own)]) < ALIKE for own in answers if np.isfinite(own).any())
