"""Novelty, surprise and value of ideas in one score, weighted as people's preferences ask, and what is said of it.

Components stand in the columns of an array of shape (U, 3): novelty, surprise, value; each unit is an idea on a prompt.
What is fitted (medians, weights) is fitted on a development split of whole prompts and reported on the others.
Source: Brito da Silva & Marcacini, Caracterização da Capacidade Criativa em Sistemas de IA Generativa, section 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest, rankdata

from stats.arrays import FloatArray, IntArray
from stats.intervals import ALIKE, Interval, draw_clusters, percentile_interval
from stats.judge_scores import spearmans
from stats.neighbours import find_nearest
from stats.reasons import Incomputable

COMPONENTS = ("novelty", "surprise", "value")
STEP = 0.05
TOP = 0.95  # quantile of people's ideas from which one is counted as creative
N_SHUFFLES = 2000


@dataclass(frozen=True)
class MedianScale:
    """Of each component the median and the median absolute deviation from it, shape (3,)."""

    medians: FloatArray
    deviations: FloatArray

    def normalise(self, components: FloatArray) -> FloatArray:
        """z of each component, shape (U, 3)."""
        return np.asarray((components - self.medians) / self.deviations, dtype=np.float64)


@dataclass(frozen=True)
class Composite:
    """A fitted score. rho : of the weights on the development split"""

    scale: MedianScale
    weights: FloatArray
    rho: float

    def score(self, components: FloatArray) -> FloatArray:
        """NSV of each unit, shape (U,)."""
        return _weigh(self.scale.normalise(components), self.weights)


@dataclass(frozen=True)
class HeldOutValue:
    """A number on hold-out with its interval over prompts, or why there is none."""

    value: float
    interval: Interval | Incomputable


@dataclass(frozen=True)
class HeldOutDifference(HeldOutValue):
    """ρ of a score less ρ of another, pooled. p : two-sided, of a sign test over what each prompt's own ρ changes by"""

    p: float


@dataclass(frozen=True)
class HeldOutConcordance:
    """H1: how the score goes with people's mean ratings, by Spearman's correlation.

    pooled : over all units; within : the mean over prompts of that within each, of n_prompts where it has a value
    ceiling : √ICC(k), what a perfect score could reach beside this panel; nan if it is not known
    """

    pooled: HeldOutValue
    within: HeldOutValue | Incomputable
    n_units: int
    n_prompts: int
    ceiling: float


@dataclass(frozen=True)
class FeedbackGain:
    """H2: ideas at the top after feedback less those after as many regenerations, prompts paired.

    with_feedback, without : share of all ideas that are coherent and above the threshold
    difference : of the shares, the mean over prompts, with its interval; the threshold is redrawn with the people
    p : one-sided, of sign flips of the prompts' differences
    """

    threshold: float
    with_feedback: float
    without: float
    difference: HeldOutValue
    p: float
    n_prompts: int


def novelty(
    vectors: npt.ArrayLike,
    prompts: npt.ArrayLike,
    references: npt.ArrayLike,
    reference_prompts: npt.ArrayLike,
    *,
    k: int,
    alpha: float = 0.5,
    own: npt.ArrayLike | None = None,
) -> FloatArray:
    """α · mean cosine distance to the k nearest of its prompt + (1 − α) · to the k nearest of the corpus, shape (U,).

    vectors, references : unit rows, shapes (U, d) and (N, d); prompts : of each, shapes (U,) and (N,)
    own : of each unit its index among the references, -1 for none, shape (U,): nothing is its own neighbour
    Raises TooFewNeighbours if a prompt, or the corpus, has fewer than k others; ValueError if α is not in [0, 1].
    Source: equation 1.
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"α is a share, from 0 to 1, not {alpha:g}.")
    rows, corpus = np.asarray(vectors, dtype=np.float64), np.asarray(references, dtype=np.float64)
    labels, corpus_labels = np.asarray(prompts), np.asarray(reference_prompts)
    places = np.full(len(rows), -1) if own is None else np.asarray(own, dtype=np.int64)
    in_corpus = find_nearest(rows, corpus, k=k, own=places).mean_distances(k)
    in_prompt = np.empty(len(rows))
    for prompt in np.unique(labels):
        units, members = np.flatnonzero(labels == prompt), np.flatnonzero(corpus_labels == prompt)
        position = np.full(len(corpus) + 1, -1)  # the last place is that of none, -1
        position[members] = np.arange(len(members))
        nearest = find_nearest(rows[units], corpus[members], k=k, own=position[places[units]])
        in_prompt[units] = nearest.mean_distances(k)
    return np.asarray(alpha * in_prompt + (1 - alpha) * in_corpus, dtype=np.float64)


def fit_scale(components: FloatArray) -> MedianScale:
    """Median and MAD of each component over these units.

    Raises Incomputable if half of the units have the same value of a component, so that its MAD is 0.
    Source: equation 4.
    """
    medians = np.median(components, axis=0)
    deviations = np.median(np.abs(components - medians), axis=0)
    for name, deviation in zip(COMPONENTS, deviations, strict=True):
        if deviation < ALIKE:
            raise Incomputable("no_deviation", name=name)
    return MedianScale(medians, deviations)


@cache
def simplex() -> FloatArray:
    """All weights of three components that add up to 1 in steps of .05, shape (231, 3)."""
    n = round(1 / STEP)
    return np.array([(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)], dtype=np.float64) / n


def fit(components: FloatArray, ratings: FloatArray, *, removed: str = "") -> Composite:
    """The weights whose score goes best with people's ratings by Spearman's correlation, on a development split.

    Of equally good ones the mean, which is between them and as good or as near as can be said.
    removed : a component whose weight is held at 0
    Raises Incomputable if a MAD is 0, or if the ratings do not vary.
    Source: equations 5 to 7.
    """
    if len(ratings) < 2 or np.ptp(ratings) == 0:
        raise Incomputable("one_side_constant")
    scale = fit_scale(components)
    grid = simplex()
    if removed:
        grid = grid[grid[:, COMPONENTS.index(removed)] == 0]
    rhos = _correlate(_weigh(scale.normalise(components), grid.T), ratings)
    weights = grid[rhos >= rhos.max() - ALIKE].mean(axis=0)
    return Composite(scale, weights, float(rhos.max()))


def _weigh(normalised: FloatArray, weights: FloatArray) -> FloatArray:
    """To nine decimals: scores that differ by less are ties, and how a sum was rounded decides no rank."""
    return np.asarray(np.round(normalised @ weights, 9), dtype=np.float64)


def _correlate(scores: FloatArray, ratings: FloatArray) -> FloatArray:
    """Spearman's correlations of each column with the ratings, shape (U, M) to (M,)."""
    ranks = rankdata(scores, axis=0) - (len(ratings) + 1) / 2
    own = rankdata(ratings) - (len(ratings) + 1) / 2
    room = np.sqrt((ranks**2).sum(axis=0) * (own**2).sum())
    return np.asarray(own @ ranks / np.where(room > 0, room, np.inf), dtype=np.float64)


def remove(composite: Composite, name: str) -> Composite:
    """The score without a component: its weight 0, the others in their proportion.

    Raises Incomputable if it had all the weight.
    """
    weights = composite.weights.copy()
    weights[COMPONENTS.index(name)] = 0.0
    if weights.sum() < ALIKE:
        raise Incomputable("all_weight_on_one", name=name)
    return Composite(composite.scale, weights / weights.sum(), float("nan"))


def ablate(
    composite: Composite,
    components: FloatArray,
    ratings: FloatArray,
    prompts: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> dict[str, HeldOutDifference | Incomputable]:
    """Δ of each component on hold-out: ρ of the whole score less ρ without it. Above 0 it helps. Source: equation 8."""
    score = composite.score(components)
    estimates: dict[str, HeldOutDifference | Incomputable] = {}
    for name in COMPONENTS:
        try:
            without = remove(composite, name).score(components)
        except Incomputable as reason:
            estimates[name] = reason
            continue
        estimates[name] = compare(score, without, ratings, prompts, rng=rng, n_resamples=n_resamples)
    return estimates


def degrade(composite: Composite, name: str, development: FloatArray) -> Composite:
    """The score for a worse measure in the place of a component: its own median and MAD, the weights as they are.

    development : the worse measure of the development split, shape (D,)
    Raises Incomputable if its MAD is 0. Source: section 3.2, after equation 8.
    """
    place = COMPONENTS.index(name)
    medians, deviations = composite.scale.medians.copy(), composite.scale.deviations.copy()
    medians[place] = np.median(development)
    deviations[place] = np.median(np.abs(development - medians[place]))
    if deviations[place] < ALIKE:
        raise Incomputable("no_deviation", name=name)
    return Composite(MedianScale(medians, deviations), composite.weights, float("nan"))


def compare(
    score: FloatArray,
    other: FloatArray,
    ratings: FloatArray,
    prompts: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> HeldOutDifference:
    """ρ of a score less ρ of another one of the same units, with a percentile bootstrap over prompts, however few.

    Raises Incomputable if either does not vary, or the ratings.
    """
    labels, weights = _draw(prompts, rng, n_resamples)
    once = np.ones((1, len(score)))
    value = float(_weighted(score, ratings, once)[0] - _weighted(other, ratings, once)[0])
    if np.isnan(value):
        raise Incomputable("one_side_constant")
    resamples = _weighted(score, ratings, weights) - _weighted(other, ratings, weights)
    changes = within_prompts(score, ratings, prompts) - within_prompts(other, ratings, prompts)
    n_up, n_down = int((changes > ALIKE).sum()), int((changes < -ALIKE).sum())
    p = float(binomtest(n_up, n_up + n_down).pvalue) if n_up + n_down else 1.0
    return HeldOutDifference(value, _percentile(resamples, labels), p)


def within_prompts(score: FloatArray, ratings: FloatArray, prompts: npt.ArrayLike) -> FloatArray:
    """Spearman's correlation within each prompt in the order of their labels, shape (P,); nan where there is none."""
    labels = np.asarray(prompts)
    members = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    return np.array([_weighted(score[own], ratings[own], np.ones((1, len(own))))[0] for own in members])


def concord(
    score: FloatArray,
    ratings: FloatArray,
    prompts: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    reliability: float = float("nan"),
    n_resamples: int = 1000,
) -> HeldOutConcordance:
    """H1 on hold-out: Spearman's correlation pooled and within prompts, prompts resampled.

    reliability : ICC(k) of the panel's mean ratings
    Raises Incomputable if the score or the ratings do not vary.
    """
    labels, weights = _draw(prompts, rng, n_resamples)
    pooled = _weighted(score, ratings, np.ones((1, len(score))))
    if np.isnan(pooled[0]):
        raise Incomputable("one_side_constant")
    rhos = within_prompts(score, ratings, labels)
    return HeldOutConcordance(
        pooled=HeldOutValue(float(pooled[0]), _percentile(_weighted(score, ratings, weights), labels)),
        within=_average_within(rhos, labels, weights),
        n_units=len(score),
        n_prompts=int(np.isfinite(rhos).sum()),
        ceiling=float(np.sqrt(max(reliability, 0.0))) if np.isfinite(reliability) else float("nan"),
    )


def _average_within(rhos: FloatArray, labels: IntArray, weights: FloatArray) -> HeldOutValue | Incomputable:
    """The mean of the prompts' correlations; why there is none where no prompt has one."""
    has_value = np.isfinite(rhos)
    if not has_value.any():
        return Incomputable("no_prompt_with_correlation")
    first = np.unique(labels, return_index=True)[1]
    counts = weights[:, first][:, has_value]
    n_drawn = counts.sum(axis=1)
    means = counts @ rhos[has_value] / np.where(n_drawn > 0, n_drawn, np.nan)
    return HeldOutValue(float(rhos[has_value].mean()), _percentile(means, np.flatnonzero(has_value)))


def _draw(prompts: npt.ArrayLike, rng: np.random.Generator, n_resamples: int) -> tuple[IntArray, FloatArray]:
    """The number of each unit's prompt, shape (U,), and how often each unit enters each resample, shape (B, U)."""
    numbers = np.unique(np.asarray(prompts), return_inverse=True)[1]
    drawn = draw_clusters(int(numbers.max()) + 1, rng, n_resamples)
    return np.asarray(numbers, dtype=np.int64), np.asarray(drawn[:, numbers], dtype=np.float64)


def _weighted(score: FloatArray, ratings: FloatArray, weights: FloatArray) -> FloatArray:
    """Spearman's correlation of each resample, shape (B,)."""
    if len(score) < 2 or np.ptp(score) == 0 or np.ptp(ratings) == 0:
        return np.full(len(weights), np.nan)
    return spearmans(score[np.newaxis], ratings, weights)


def _percentile(resamples: FloatArray, labels: npt.ArrayLike) -> Interval | Incomputable:
    try:
        return percentile_interval(resamples, labels)
    except Incomputable as reason:
        return reason


def compare_feedback(
    people: npt.ArrayLike,
    feedback: Sequence[FloatArray],
    regenerated: Sequence[FloatArray],
    *,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> FeedbackGain:
    """H2: whether feedback brings more ideas above people's 95th percentile than as many regenerations do.

    people : scores of the reference ideas by people
    feedback, regenerated : of each prompt the scores of all its ideas after the confirmatory round, nan for one that
        is not coherent, which counts as not above; as many prompts on either side
    Raises Incomputable with fewer than two prompts, ValueError if prompts do not pair or one has no ideas.
    """
    reference = np.asarray(people, dtype=np.float64)
    if len(feedback) != len(regenerated) or not all(map(len, (*feedback, *regenerated))):
        raise ValueError("Every prompt needs ideas with feedback and ideas without.")
    if len(feedback) < 2:
        raise Incomputable("fewer_than_two_clusters")
    threshold = float(np.quantile(reference, TOP))
    shares = np.stack([_shares(ideas, np.array([threshold]))[:, 0] for ideas in (feedback, regenerated)])
    differences = shares[0] - shares[1]
    drawn = np.quantile(rng.choice(reference, (n_resamples, len(reference))), TOP, axis=1)
    by_threshold = _shares(feedback, drawn) - _shares(regenerated, drawn)
    counts = draw_clusters(len(differences), rng, n_resamples)
    resamples = np.einsum("bg,gb->b", counts, by_threshold) / len(differences)
    return FeedbackGain(
        threshold=threshold,
        with_feedback=float(shares[0].mean()),
        without=float(shares[1].mean()),
        difference=HeldOutValue(float(differences.mean()), _percentile(resamples, np.arange(len(differences)))),
        p=flip_signs(differences, rng=rng),
        n_prompts=len(differences),
    )


def _shares(ideas: Sequence[FloatArray], thresholds: FloatArray) -> FloatArray:
    """Of each prompt the share of all its ideas above each threshold, shape (G, B); nan is above none."""
    return np.array([(np.asarray(own)[:, np.newaxis] > thresholds).mean(axis=0) for own in ideas])


def flip_signs(differences: npt.ArrayLike, *, rng: np.random.Generator, n_shuffles: int = N_SHUFFLES) -> float:
    """One-sided p that paired differences are above 0, shape (G,): how often random signs give as large a mean.

    The differences as they are count as one of the shuffles, so that p is never 0.
    """
    array = np.asarray(differences, dtype=np.float64)
    signs = rng.choice(np.array([-1.0, 1.0]), (n_shuffles, len(array)))
    return float((1 + (signs @ array >= array.sum() - ALIKE).sum()) / (1 + n_shuffles))
