"""NSV from rated ideas to a score: split by prompt, a model of preferences, medians, MADs and weights, then hold-out.

Axes: U ideas, P ideas of reference by people, d numbers of an embedding. Everything is fitted on the development
prompts; the value of an idea there comes from a model that has not seen its prompt, so that its weight is not inflated.
Source: Brito da Silva & Marcacini, Caracterização da Capacidade Criativa em Sistemas de IA Generativa, section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from stats import nsv, preference_model
from stats.arrays import BoolArray, FloatArray, IntArray
from stats.nsv import Composite
from stats.preference_model import HeldOut, LinearPreference
from stats.reasons import Incomputable, value_or_reason

LEAST_PROMPTS = 12  # seven to learn from, so that each fold leaves five, and five to try it on
LEAST_DEVELOPMENT = 7
MOST_PAIRS = 200  # of a prompt; more of the same ideas teach little and take long
N_SPLITS = 5  # of the stability over seeds
NEAR_WEIGHTS = 0.1  # within which of the fitted ones weights are perturbed


@dataclass(frozen=True)
class IdeaPairs:
    """Pairs of ideas of one prompt, one of them preferred.

    chosen, rejected : places of ideas, shape (Q,); shares : of votes for the chosen one, above .5, shape (Q,)
    """

    chosen: IntArray
    rejected: IntArray
    shares: FloatArray

    def select(self, is_in: BoolArray) -> IdeaPairs:
        return IdeaPairs(self.chosen[is_in], self.rejected[is_in], self.shares[is_in])


@dataclass(frozen=True)
class IdeaMaterial:
    """What is known of ideas before anything is fitted.

    prompts : number of each idea's prompt, shape (U,)
    target : people's mean rating, shape (U,); nan where nobody rated
    measures : novelty and surprise, shape (U, 2); people : the same of ideas of reference by people, shape (P, 2)
    centred : vectors less the mean of the references of their prompt, shape (U, d); people_centred : shape (P, d)
    pairs : that value is learnt from, of all prompts
    value, people_value : in the place of what is learnt, shapes (U,) and (P,)
    """

    prompts: IntArray
    target: FloatArray
    measures: FloatArray
    centred: FloatArray
    people: FloatArray
    people_centred: FloatArray
    pairs: IdeaPairs
    value: FloatArray | None = None
    people_value: FloatArray | None = None

    @property
    def is_rated(self) -> BoolArray:
        return np.isfinite(self.target)


@dataclass(frozen=True)
class FittedScore:
    """A fitted score with what it was fitted on.

    is_development : whether an idea's prompt is one to learn from, shape (U,); of others all may be reported
    components : novelty, surprise, value, shape (U, 3); people : shape (P, 3)
    n_pairs : that value was learnt from, 0 if it was not; preferences : how it does on pairs of hold-out
    """

    is_development: BoolArray
    composite: Composite
    components: FloatArray
    people: FloatArray
    n_pairs: int
    preferences: HeldOut | Incomputable

    @property
    def scores(self) -> FloatArray:
        """NSV of each idea, shape (U,)."""
        return self.composite.score(self.components)

    @property
    def people_scores(self) -> FloatArray:
        return self.composite.score(self.people)


def draw_development(material: IdeaMaterial, *, rng: np.random.Generator) -> IntArray:
    """The prompts to learn from: half of those with rated ideas. Raises Incomputable with fewer than twelve."""
    names = np.unique(material.prompts[material.is_rated])
    if len(names) < LEAST_PROMPTS:
        raise Incomputable("too_few_rated_prompts", n=len(names), least=LEAST_PROMPTS)
    return np.sort(rng.permutation(names)[: max(LEAST_DEVELOPMENT, len(names) // 2)])


def list_pairs(order: FloatArray, prompts: IntArray, *, rng: np.random.Generator) -> IdeaPairs:
    """Ideas of one prompt of which one stands higher, at most 200 a prompt. order : shape (U,), nan where not known"""
    chosen, rejected = [], []
    for prompt in np.unique(prompts):
        members = np.flatnonzero((prompts == prompt) & np.isfinite(order))
        pairs = [(a, b) for a, b in combinations(members, 2) if order[a] != order[b]]
        if len(pairs) > MOST_PAIRS:
            pairs = [pairs[n] for n in np.sort(rng.choice(len(pairs), MOST_PAIRS, replace=False))]
        for a, b in pairs:
            first, second = (a, b) if order[a] > order[b] else (b, a)
            chosen.append(first)
            rejected.append(second)
    return IdeaPairs(np.array(chosen, dtype=np.int64), np.array(rejected, dtype=np.int64), np.ones(len(chosen)))


def fit(
    material: IdeaMaterial, development: IntArray, *, rng: np.random.Generator, is_shuffled: bool = False
) -> FittedScore:
    """Preferences, medians, MADs and weights of the development prompts.

    is_shuffled : chance says which idea of a pair is preferred, or has which value: the negative control of value
    Raises Incomputable if no pair is preferred, if the ratings do not tell ideas apart, or if a MAD is 0.
    """
    is_development = np.isin(material.prompts, development)
    find_value = _learn_value if material.value is None else _take_value
    value = find_value(material, is_development, rng=rng, is_shuffled=is_shuffled)
    components = np.column_stack([material.measures, value.of_ideas])
    learnt_from = material.is_rated & is_development
    return FittedScore(
        is_development=is_development,
        composite=nsv.fit(components[learnt_from], material.target[learnt_from]),
        components=components,
        people=np.column_stack([material.people, value.of_people]),
        n_pairs=value.n_pairs,
        preferences=value.preferences,
    )


@dataclass(frozen=True)
class _Value:
    """The third component, of ideas, shape (U,), and of people's references, shape (P,)."""

    of_ideas: FloatArray
    of_people: FloatArray
    n_pairs: int
    preferences: HeldOut | Incomputable


def _learn_value(
    material: IdeaMaterial, is_development: BoolArray, *, rng: np.random.Generator, is_shuffled: bool
) -> _Value:
    """By a model of the pairs of development; what it learnt from has the value of models that had not seen it."""
    pairs = material.pairs.select(is_development[material.pairs.chosen])
    if not len(pairs.chosen):
        raise Incomputable("no_pair_to_learn_from")
    differences = material.centred[pairs.chosen] - material.centred[pairs.rejected]
    if is_shuffled:
        differences = differences * rng.choice([-1.0, 1.0], len(differences))[:, np.newaxis]
    pair_prompts = material.prompts[pairs.chosen]
    model = preference_model.fit(differences, pair_prompts, pairs.shares, rng=rng)
    rewards = material.centred @ model.weights
    has_pairs = np.isin(material.prompts, pair_prompts)
    rewards[has_pairs] = preference_model.cross_fit(
        differences,
        pair_prompts,
        material.centred[has_pairs],
        material.prompts[has_pairs],
        shares=pairs.shares,
        leniency=model.leniency,
        rng=rng,
    )
    others = material.pairs.select(~is_development[material.pairs.chosen])
    margins = model.margins(material.centred[others.chosen] - material.centred[others.rejected])
    return _Value(
        of_ideas=_to_share(rewards, model),
        of_people=_to_share(material.people_centred @ model.weights, model),
        n_pairs=len(pairs.chosen),
        preferences=value_or_reason(
            lambda: preference_model.evaluate(margins, material.prompts[others.chosen], rng=rng)
        ),
    )


def _take_value(
    material: IdeaMaterial, is_development: BoolArray, *, rng: np.random.Generator, is_shuffled: bool
) -> _Value:
    """As imported; if shuffled, permuted among the ideas of each prompt."""
    values = np.array(material.value, dtype=np.float64)
    for prompt in np.unique(material.prompts) if is_shuffled else ():
        members = np.flatnonzero(material.prompts == prompt)
        values[members] = values[rng.permutation(members)]
    others = material.pairs.select(~is_development[material.pairs.chosen])
    margins = values[others.chosen] - values[others.rejected]
    return _Value(
        of_ideas=values,
        of_people=np.asarray(material.people_value, dtype=np.float64),
        n_pairs=0,
        preferences=value_or_reason(
            lambda: preference_model.evaluate(margins, material.prompts[others.chosen], rng=rng)
        ),
    )


def _to_share(rewards: FloatArray, model: LinearPreference) -> FloatArray:
    """g in [0, 1]: σ of the reward beyond the mean of its prompt's references, divided by the temperature."""
    return np.asarray(1 / (1 + np.exp(-np.clip(rewards / model.temperature, -500, 500))), dtype=np.float64)


def refit(fitted: FittedScore, material: IdeaMaterial, name: str, column: FloatArray) -> FittedScore:
    """The score with another measure of a component, shape (U,): medians, MADs and weights recomputed, not preferences.

    Raises as `fit`.
    """
    components = fitted.components.copy()
    components[:, nsv.COMPONENTS.index(name)] = column
    learnt_from = material.is_rated & fitted.is_development
    composite = nsv.fit(components[learnt_from], material.target[learnt_from])
    return replace(fitted, components=components, composite=composite)


def degraded_scores(fitted: FittedScore, name: str, column: FloatArray, learnt_from: BoolArray) -> FloatArray:
    """NSV of each idea with a worse measure in the place of a component, shape (U,).

    column : the worse measure, shape (U,); learnt_from : the rated ideas of development, shape (U,)
    """
    components = fitted.components.copy()
    components[:, nsv.COMPONENTS.index(name)] = column
    return nsv.degrade(fitted.composite, name, column[learnt_from]).score(components)


def held_out_rho(fitted: FittedScore, material: IdeaMaterial, *, is_within: bool) -> float:
    """Spearman's correlation of the score with people on hold-out, nan if it has no value; pooled unless within."""
    chosen = material.is_rated & ~fitted.is_development
    scores, target, prompts = fitted.scores[chosen], material.target[chosen], material.prompts[chosen]
    if not is_within:
        return float(nsv.within_prompts(scores, target, np.zeros(len(scores)))[0])
    rhos = nsv.within_prompts(scores, target, prompts)
    return float(np.nanmean(rhos)) if np.isfinite(rhos).any() else float("nan")


def rhos_of_weights(fitted: FittedScore, material: IdeaMaterial, *, is_within: bool) -> tuple[FloatArray, BoolArray]:
    """The same of every weights of the grid, shape (231,), and which of them are near the fitted ones."""
    rhos = [
        held_out_rho(
            replace(fitted, composite=replace(fitted.composite, weights=weights)), material, is_within=is_within
        )
        for weights in nsv.simplex()
    ]
    distance = np.abs(nsv.simplex() - fitted.composite.weights).max(axis=1)
    return np.array(rhos), np.asarray(distance <= NEAR_WEIGHTS + 1e-9)


def rhos_of_splits(material: IdeaMaterial, *, rng: np.random.Generator, is_within: bool) -> FloatArray:
    """The same when all is done again on other splits, shape (5,); nan where one of them has no value."""
    rhos = np.full(N_SPLITS, np.nan)
    for n in range(N_SPLITS):
        try:
            fitted = fit(material, draw_development(material, rng=rng), rng=rng)
        except Incomputable:
            continue
        rhos[n] = held_out_rho(fitted, material, is_within=is_within)
    return rhos
