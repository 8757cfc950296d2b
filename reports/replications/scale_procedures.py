"""Named procedures for published figures of ratings on a scale; see `reports.replications.procedures`.

Figures by item have the item's key; figures by author have the author's name first. What a procedure needs beside the
evidence (a scale, a seed) stands under `options` in the data file.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import SupportsFloat

import numpy as np
from statsmodels.stats.multitest import multipletests

from reports.replications.procedures import Evidence, Figures, figure_or_reason, mean_of
from stats import agreement, arrays, differences, human_likeness, intervals
from stats.agreement import Floor
from stats.arrays import BoolArray, FloatArray, IntArray
from stats.intervals import Interval
from stats.reasons import Incomputable
from stats.sums import Level

ORDINAL: Level = "ordinal"


def n_stories(evidence: Evidence) -> Figures:
    """Stories with a rating."""
    return {(): float(np.isfinite(evidence.people.values).any(axis=(0, 1)).sum())}


def n_stories_by_author(evidence: Evidence) -> Figures:
    """Stories with a rating, by author."""
    is_rated = np.isfinite(evidence.people.values).any(axis=(0, 1))
    names = np.array(evidence.sources)
    return {(name,): float((is_rated & (names == name)).sum()) for name in _authors(evidence)}


def rating_mean(evidence: Evidence) -> Figures:
    """The mean of all ratings, by author and item."""
    return _by_author_and_item(evidence, _mean)


def rating_sd(evidence: Evidence) -> Figures:
    """The standard deviation of all ratings, with n - 1, by author and item."""
    return _by_author_and_item(evidence, _sd)


def rating_mean_of_people(evidence: Evidence) -> Figures:
    """The mean of all ratings of stories that people wrote, by item."""
    of_people = evidence.people.values[:, :, evidence.is_human]
    return {
        (key,): figure_or_reason(_mean, ratings) for key, ratings in zip(evidence.item_keys, of_people, strict=True)
    }


def percent_agreement(evidence: Evidence) -> Figures:
    """Pairs of ratings that are the same, in 100, by item."""
    return _by_item(evidence, agreement.percent_agreement)


def ordinal_alpha(evidence: Evidence) -> Figures:
    """Krippendorff's ordinal alpha, by item."""
    return _by_item(evidence, lambda ratings: agreement.krippendorff_alpha(ratings, ORDINAL))


def ordinal_alpha_interval(evidence: Evidence, *, seed: int) -> Figures:
    """Both ends of its 95 % interval, by item."""
    return _intervals(evidence, lambda ratings, weights: intervals.alpha_resamples(ratings, ORDINAL, weights), seed)


def ordinal_alpha_floor(evidence: Evidence, *, seed: int) -> Figures:
    """What it is by chance, by item: mean and 97.5 %."""
    return _floors(evidence, lambda ratings, rng: agreement.alpha_chance_floor(ratings, ORDINAL, rng=rng), seed)


def weighted_fleiss(evidence: Evidence, *, points: int) -> Figures:
    """Fleiss' kappa weighted by nearness, by item; no measure of agreement, as `stats.agreement` says"""
    return _by_item(evidence, lambda ratings: agreement.weighted_fleiss(ratings, points))


def mean_weighted_fleiss(evidence: Evidence, *, points: int) -> Figures:
    """The mean of the items' weighted kappas; no figure if an item has none."""
    return {(): mean_of(list(weighted_fleiss(evidence, points=points).values()))}


def weighted_fleiss_interval(evidence: Evidence, *, points: int, seed: int) -> Figures:
    """Both ends of its 95 % interval, by item."""

    def resamples(ratings: FloatArray, weights: IntArray) -> FloatArray:
        return intervals.weighted_fleiss_resamples(ratings, points, weights)

    return _intervals(evidence, resamples, seed)


def weighted_fleiss_floor(evidence: Evidence, *, points: int, seed: int) -> Figures:
    """What it is by chance, by item: mean and 97.5 %."""

    def floor(ratings: FloatArray, rng: np.random.Generator) -> Floor:
        return agreement.chance_floor(ratings, lambda shuffled: agreement.weighted_fleiss(shuffled, points), rng=rng)

    return _floors(evidence, floor, seed)


def ideal_distance_percent(evidence: Evidence) -> Figures:
    """100 × (1 - mean |score - ideal| / 4) of the one item, over all stories."""
    return {(): _percent(human_likeness.ideal_distance_accuracy, evidence.people.values[0], evidence.is_human)}


def ideal_distance_percent_by_author(evidence: Evidence) -> Figures:
    """The same by author."""
    return _by_author(evidence, human_likeness.ideal_distance_accuracy)


def correct_percent(evidence: Evidence) -> Figures:
    """Correct guesses in 100, above the middle for a person and below it for a model; the middle is not correct."""
    return {(): _percent(_correct, evidence.people.values[0], evidence.is_human)}


def correct_percent_by_author(evidence: Evidence) -> Figures:
    """The same by author."""
    return _by_author(evidence, _correct)


def undecided_percent(evidence: Evidence) -> Figures:
    """Guesses in 100 that are the middle of the scale, over all stories."""
    return {(): _percent(_undecided, evidence.people.values[0], evidence.is_human)}


def rating_t_test(evidence: Evidence) -> Figures:
    """p of Student's t-test of all ratings of two authors, as if those of one story were independent."""
    return {
        (pair, key): figure_or_reason(lambda a, b: differences.student(a, b).p, *groups)
        for pair, key, groups in _pairs(evidence, evidence.people.values)
    }


def story_t_test(evidence: Evidence) -> Figures:
    """p of Welch's t-test of the story means of two authors, Holm-adjusted over the pairs of each item."""
    figures: Figures = {
        (pair, key): figure_or_reason(lambda a, b: differences.welch(a, b).p, *groups)
        for pair, key, groups in _pairs(evidence, _story_means(evidence))
    }
    for item in evidence.item_keys:
        family = {at: p for at, p in figures.items() if at[1] == item and not isinstance(p, Incomputable)}
        figures |= dict(zip(family, holm_adjusted(list(family.values())), strict=True))
    return figures


def holm_adjusted(p_values: Sequence[float]) -> list[float]:
    """The p-values of one family of tests, adjusted after Holm 1979, in the order given."""
    return [float(p) for p in multipletests(p_values, method="holm")[1]] if p_values else []


def story_hedges_g(evidence: Evidence) -> Figures:
    """Hedges' g of the story means of two authors, positive if the first is rated higher."""
    return {
        (pair, key): figure_or_reason(differences.hedges_g, *groups)
        for pair, key, groups in _pairs(evidence, _story_means(evidence))
    }


def _authors(evidence: Evidence) -> list[str]:
    """The names of the authors, in order."""
    return sorted(set(evidence.sources))


def _by_item(evidence: Evidence, statistic: Callable[[FloatArray], SupportsFloat]) -> Figures:
    """A statistic of each item's ratings, shape (R, U), by the item's key."""
    cube = evidence.people.values
    return {(key,): figure_or_reason(statistic, ratings) for key, ratings in zip(evidence.item_keys, cube, strict=True)}


def _by_author_and_item(evidence: Evidence, statistic: Callable[[FloatArray], float]) -> Figures:
    """A statistic of one author's ratings on one item, shape (R, U of that author)."""
    return {
        (name, key): figure_or_reason(statistic, ratings)
        for name in _authors(evidence)
        for key, ratings in zip(evidence.item_keys, evidence.of_source(name), strict=True)
    }


def _by_author(evidence: Evidence, share: Callable[..., float]) -> Figures:
    """A share of the one item's ratings in percent, by author."""
    names = np.array(evidence.sources)
    return {
        (name,): _percent(share, evidence.of_source(name)[0], evidence.is_human[names == name])
        for name in _authors(evidence)
    }


def _percent(share: Callable[..., float], *arguments: object) -> float | Incomputable:
    """A share in percent, or the reason why there is none."""
    figure = figure_or_reason(share, *arguments)
    return figure if isinstance(figure, Incomputable) else 100 * figure


def _correct(scores: FloatArray, is_human: BoolArray) -> float:
    """Correct guesses in 1. scores : shape (R, U); is_human : shape (U,)"""
    return human_likeness.count_guesses(scores, is_human).proportion_correct


def _undecided(scores: FloatArray, is_human: BoolArray) -> float:
    """Guesses in 1 that are the middle of the scale. Shapes as for `_correct`."""
    return human_likeness.count_guesses(scores, is_human).n_undecided / int(np.isfinite(scores).sum())


def _mean(ratings: FloatArray) -> float:
    """The mean of the ratings, whatever their shape. Raises Incomputable without any."""
    return float(np.mean(_present(ratings, 1)))


def _sd(ratings: FloatArray) -> float:
    """Their standard deviation, with n - 1. Raises Incomputable for fewer than two."""
    return float(np.std(_present(ratings, 2), ddof=1))


def _present(ratings: FloatArray, least: int) -> FloatArray:
    """The ratings that are there, shape (n,). Raises Incomputable for fewer than `least`."""
    present = ratings[np.isfinite(ratings)]
    if present.size < least:
        raise Incomputable("too_few_ratings", least=least)
    return present


def _story_means(evidence: Evidence) -> FloatArray:
    """The mean rating of each story on each item, shape (I, 1, U); nan where nobody rated it."""
    return arrays.mean_present(evidence.people.values, axis=1)[:, np.newaxis, :]


def _pairs(evidence: Evidence, values: FloatArray) -> list[tuple[str, str, tuple[FloatArray, FloatArray]]]:
    """Every pair of authors on every item: its name, the item's key, and the values of the two."""
    names = np.array(evidence.sources)
    return [
        (f"{a} vs. {b}", key, (of_item[:, names == a], of_item[:, names == b]))
        for a, b in combinations(_authors(evidence), 2)
        for key, of_item in zip(evidence.item_keys, values, strict=True)
    ]


def _intervals(evidence: Evidence, resamples: Callable[[FloatArray, IntArray], FloatArray], seed: int) -> Figures:
    """The 95 % interval of each item, from resampled stories; all items share the resamples."""
    stories = evidence.people.stories
    figures: Figures = {}
    for key, ratings in zip(evidence.item_keys, evidence.people.values, strict=True):
        ends: Interval | Incomputable
        try:
            weights = intervals.resample_weights(stories, rng=np.random.default_rng(seed))
            ends = intervals.percentile_interval(resamples(ratings, weights), stories)
        except Incomputable as reason:
            ends = reason
        figures[key, "low"] = ends if isinstance(ends, Incomputable) else ends.low
        figures[key, "high"] = ends if isinstance(ends, Incomputable) else ends.high
    return figures


def _floors(evidence: Evidence, floor: Callable[[FloatArray, np.random.Generator], Floor], seed: int) -> Figures:
    """What each item's statistic gives when raters do not look at the story: the mean and 97.5 % of shuffles."""
    figures: Figures = {}
    for key, ratings in zip(evidence.item_keys, evidence.people.values, strict=True):
        chance: Floor | Incomputable
        try:
            chance = floor(ratings, np.random.default_rng(seed))
        except Incomputable as reason:
            chance = reason
        figures[key, "mean"] = chance if isinstance(chance, Incomputable) else chance.mean
        figures[key, "97.5 %"] = chance if isinstance(chance, Incomputable) else chance.upper
    return figures


PROCEDURES: dict[str, Callable[..., Figures]] = {
    procedure.__name__: procedure
    for procedure in (
        n_stories,
        n_stories_by_author,
        rating_mean,
        rating_sd,
        rating_mean_of_people,
        percent_agreement,
        ordinal_alpha,
        ordinal_alpha_interval,
        ordinal_alpha_floor,
        weighted_fleiss,
        mean_weighted_fleiss,
        weighted_fleiss_interval,
        weighted_fleiss_floor,
        ideal_distance_percent,
        ideal_distance_percent_by_author,
        correct_percent,
        correct_percent_by_author,
        undecided_percent,
        rating_t_test,
        story_t_test,
        story_hedges_g,
    )
}
