"""Novelty, surprise and value: cases by hand, planted weights and ablations, and the level of the test of feedback."""

import numpy as np
import pytest

from stats import nsv
from stats.arrays import FloatArray, IntArray
from stats.intervals import Interval
from stats.neighbours import TooFewNeighbours
from stats.reasons import Incomputable

A_PROMPT = 12


def planted(
    weights: tuple[float, float, float], *, n_prompts: int = 40, noise: float = 0.4, seed: int = 1
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Components of other units and middles, ratings by their weighted z with noise, and prompts."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n_prompts * A_PROMPT, 3))
    ratings = z @ np.array(weights) + noise * rng.normal(size=len(z))
    return z * [0.1, 3.0, 0.2] + [0.5, 6.0, 0.5], ratings, np.repeat(np.arange(n_prompts), A_PROMPT)


def split(prompts: IntArray) -> FloatArray:
    """Development: the first half of the prompts."""
    return prompts < prompts.max() / 2


def test_novelty_is_the_mean_of_distances_in_the_prompt_and_in_the_corpus() -> None:
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    prompts = np.array([0, 0, 1, 0])

    near, far, mixed = (
        nsv.novelty(vectors[:1], prompts[:1], vectors, prompts, k=1, alpha=alpha, own=[0]) for alpha in (1, 0, 0.25)
    )

    # Its nearest stand at right angles, in its prompt and in the corpus.
    assert (near[0], far[0], mixed[0]) == (1, 1, 1)
    whole = nsv.novelty(vectors[:1], prompts[:1], vectors, prompts, k=2, alpha=0.25, own=[0])
    assert whole[0] == pytest.approx(0.25 * 1 + 0.75 * 1)
    other = nsv.novelty(vectors[1:2], prompts[1:2], vectors, prompts, k=2, alpha=0.25, own=[1])
    assert other[0] == pytest.approx(0.25 * (1 + 2) / 2 + 0.75 * (1 + 1) / 2)
    as_stranger = nsv.novelty(vectors[:1], prompts[:1], vectors, prompts, k=1, alpha=0.5)
    assert as_stranger[0] == 0
    with pytest.raises(TooFewNeighbours):
        nsv.novelty(vectors[:1], prompts[:1], vectors, prompts, k=3, own=[0])


def test_the_simplex_has_every_weight_in_steps_of_a_twentieth() -> None:
    grid = nsv.simplex()

    assert len(grid) == 231
    assert np.allclose(grid.sum(axis=1), 1)
    assert len(np.unique(grid, axis=0)) == 231


def test_median_and_mad_are_of_the_development_split() -> None:
    scale = nsv.fit_scale(np.array([[1.0, 10, 0], [2, 20, 1], [3, 40, 2], [100, 30, 5], [0, 15, -3]]))

    assert scale.medians.tolist() == [2, 20, 1]
    assert scale.deviations.tolist() == [1, 10, 1]
    assert scale.normalise(np.array([[4.0, 10, 1]])).tolist() == [[2, -1, 0]]


def test_a_component_that_hardly_varies_is_refused_by_name() -> None:
    components, ratings, _prompts = planted((0.5, 0.2, 0.3))
    components[: len(components) // 2 + 1, 1] = 6.0

    with pytest.raises(Incomputable) as error:
        nsv.fit(components, ratings)

    assert "have the same surprise, so that its median absolute deviation is 0" in str(error.value)


def test_planted_weights_and_the_signs_of_ablations_are_recovered() -> None:
    components, ratings, prompts = planted((0.6, 0.0, 0.4))
    is_development = split(prompts)

    composite = nsv.fit(components[is_development], ratings[is_development])
    held_out = components[~is_development], ratings[~is_development], prompts[~is_development]
    ablations = nsv.ablate(composite, *held_out, rng=np.random.default_rng(0))

    assert composite.weights == pytest.approx([0.6, 0.0, 0.4], abs=0.1)
    for name in ("novelty", "value"):
        estimate = ablations[name]
        assert isinstance(estimate, nsv.HeldOutValue)
        assert isinstance(estimate.interval, Interval)
        assert 0 < estimate.interval.low < estimate.value < estimate.interval.high
    surprise = ablations["surprise"]
    assert isinstance(surprise, nsv.HeldOutValue)
    assert surprise.value == pytest.approx(0, abs=0.02)
    # A component that people dislike harms a score that gives it weight.
    components, ratings, prompts = planted((0.6, -0.4, 0.4))
    even = nsv.Composite(nsv.fit_scale(components), np.full(3, 1 / 3), 0.0)
    harmful = nsv.ablate(even, components, ratings, prompts, rng=np.random.default_rng(0))["surprise"]
    assert isinstance(harmful, nsv.HeldOutValue)
    assert isinstance(harmful.interval, Interval)
    assert harmful.interval.high < 0


def test_removing_a_component_keeps_the_proportion_of_the_others() -> None:
    scale = nsv.MedianScale(np.zeros(3), np.ones(3))

    without = nsv.remove(nsv.Composite(scale, np.array([0.5, 0.2, 0.3]), 0.9), "novelty")

    assert without.weights == pytest.approx([0, 0.4, 0.6])
    with pytest.raises(Incomputable, match="so nothing is left without it"):
        nsv.remove(nsv.Composite(scale, np.array([1.0, 0, 0]), 0.9), "novelty")
    components, ratings, _prompts = planted((0.6, 0.0, 0.4))
    assert nsv.fit(components, ratings, removed="novelty").weights[0] == 0


def test_h1_is_told_pooled_and_within_prompts_beside_the_panels_ceiling() -> None:
    rng = np.random.default_rng(3)
    prompts = np.repeat(np.arange(40), A_PROMPT)
    score = rng.normal(size=len(prompts))
    # Prompts differ much in people's ratings, which no score of ideas within them can know.
    ratings = score + 0.5 * rng.normal(size=len(prompts)) + 5 * rng.normal(size=40)[prompts]

    result = nsv.concord(score, ratings, prompts, rng=rng, reliability=0.81)

    assert isinstance(result.within, nsv.HeldOutValue)
    assert result.within.value > 0.8 > 0.4 > result.pooled.value
    assert (result.n_units, result.n_prompts, result.ceiling) == (480, 40, pytest.approx(0.9))
    for estimate in (result.pooled, result.within):
        assert isinstance(estimate.interval, Interval)
        assert estimate.interval.low < estimate.value < estimate.interval.high
    by_hand = [np.corrcoef(ranks(score[prompts == p]), ranks(ratings[prompts == p]))[0, 1] for p in range(40)]
    assert result.within.value == pytest.approx(np.mean(by_hand))


def test_a_pooled_correlation_stands_where_no_prompt_has_one_of_its_own() -> None:
    score = np.arange(20.0)

    result = nsv.concord(score, score, np.arange(20), rng=np.random.default_rng(0))

    assert result.pooled.value == pytest.approx(1)
    assert isinstance(result.within, Incomputable)
    assert (result.within.code, result.n_prompts) == ("no_prompt_with_correlation", 0)


def test_a_degraded_component_has_its_own_middle_and_the_score_its_weights() -> None:
    components, ratings, prompts = planted((0.6, 0.0, 0.4))
    composite = nsv.fit(components, ratings)
    rng = np.random.default_rng(2)
    noise = 100 + 50 * rng.normal(size=len(ratings))

    degraded = nsv.degrade(composite, "novelty", noise)

    assert degraded.weights is composite.weights
    assert (degraded.scale.medians[0], degraded.scale.medians[1:].tolist()) == (
        np.median(noise),
        composite.scale.medians[1:].tolist(),
    )
    worse = degraded.score(np.column_stack([noise, components[:, 1:]]))
    difference = nsv.compare(composite.score(components), worse, ratings, prompts, rng=rng)
    assert isinstance(difference.interval, Interval)
    assert difference.interval.low > 0.2
    assert difference.p < 0.001
    with pytest.raises(Incomputable):
        nsv.degrade(composite, "novelty", np.ones(9))


def ranks(values: FloatArray) -> FloatArray:
    return values.argsort().argsort().astype(np.float64)


def test_h2_counts_all_ideas_and_none_that_is_not_coherent() -> None:
    people = np.arange(100.0)
    feedback = [np.array([99.0, 98.0, np.nan, 0.0]), np.array([97.0, 1.0, 2.0, 3.0])]
    regenerated = [np.array([99.0, 0.0, 0.0, 0.0]), np.array([np.nan, 1.0, 2.0, 3.0])]

    gain = nsv.compare_feedback(people, feedback, regenerated, rng=np.random.default_rng(0))

    assert gain.threshold == pytest.approx(94.05)
    assert (gain.with_feedback, gain.without, gain.n_prompts) == (3 / 8, 1 / 8, 2)
    assert gain.difference.value == 1 / 4
    assert gain.p == pytest.approx(1 / 4, abs=0.05)  # both signs as they are: one in four
    with pytest.raises(ValueError, match="Every prompt needs ideas"):
        nsv.compare_feedback(people, feedback, regenerated[:1], rng=np.random.default_rng(0))


def test_h2_keeps_its_level_and_finds_what_is_planted() -> None:
    """1,000 studies of 20 prompts without any effect, prompts unlike; then with one."""
    rng = np.random.default_rng(5)
    people = rng.normal(size=400)

    def p_value(effect: float) -> float:
        levels = rng.normal(size=20)
        ideas = [[rng.normal(level + shift, 1, 10) for level in levels] for shift in (effect, 0.0)]
        return nsv.compare_feedback(people, *ideas, rng=rng, n_resamples=20).p

    level = np.mean([p_value(0.0) <= 0.05 for _study in range(1000)])
    power = np.mean([p_value(1.0) <= 0.05 for _study in range(100)])

    assert 0.02 < level < 0.065  # of a thousand, within two standard errors above; ties make it cautious
    assert power > 0.9
