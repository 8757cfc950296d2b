"""Novelty, surprise and value of ideas in one score, how it goes with people's ratings, and ideas after feedback.

The three components of each idea are taken from idea_scores.csv, since they rest on texts and vectors of another
study's ideas; all that follows from them and from people's ratings is computed.
"""

from functools import cached_property

import numpy as np
import pandas as pd
from recompute.values import (
    N_RESAMPLES,
    NO_TEXTS,
    Left,
    ends_of,
    estimate,
    interval,
    mean_interval,
    or_none,
    why,
)

from stats import agreement, arrays, comparisons, intervals, nsv_procedure, reliability, spreads, top_precision
from stats import nsv as scores_of_ideas
from stats.reasons import Incomputable, value_or_reason

NSV = 150  # of the seed
K, ALPHA = 10, 0.5
TOP = 9  # of the seed
WITH, WITHOUT = "nsv-feedback", "nsv-generation"


class PackagedIdeas:
    """The study's ideas that have all components, the score fitted on half of the prompts, and people's ideas beside.

    ratings : of the panel over all units, shape (R, units); target : people's mean rating of each idea, shape (U,)
    """

    def __init__(self, package):
        table, self.package, self.ratings = package.table("idea_scores"), package, panel_of(package)[0]
        numbers = table[[*scores_of_ideas.COMPONENTS, "prompt"]].apply(pd.to_numeric).to_numpy(dtype=float)
        is_of_study = (table["idea"] != "").to_numpy()
        self.codes, self.coherent = list(table["idea"][is_of_study]), table["coherent"][is_of_study].to_numpy()
        ideas, people = numbers[is_of_study], numbers[~is_of_study]
        self.prompts, self.people_prompts = ideas[:, 3].astype(int), people[:, 3].astype(int)
        self.originals = self.factor("paraphrase of")
        mean = np.round(arrays.mean_present(self.own_ratings, axis=0), 9)
        none, empty = nsv_procedure.IdeaPairs(*np.empty((2, 0), dtype=int), np.empty(0)), np.empty((0, 0))
        self.material = nsv_procedure.IdeaMaterial(
            prompts=self.prompts,
            target=np.where(self.originals == "", mean, np.nan),
            measures=ideas[:, :2],
            centred=empty,
            people=people[:, :2],
            people_centred=empty,
            pairs=none,
            value=ideas[:, 2],
            people_value=people[:, 2],
        )
        self.development = nsv_procedure.draw_development(self.material, rng=package.rng(NSV, 0))
        self.fitted = nsv_procedure.fit(self.material, self.development, rng=package.rng(NSV, 1))
        self.is_held_out = self.material.is_rated & ~self.fitted.is_development

    @cached_property
    def own_ratings(self):
        """Of each idea, over the groups in which raters read it, shape (R, U)."""
        stories = np.array([story for _group, story in self.package.units], dtype=object)
        return np.stack([arrays.mean_present(self.ratings[:, stories == code], axis=1) for code in self.codes], axis=1)

    def factor(self, name):
        """The level of each idea, shape (U,)."""
        levels = self.package.factors.get(name, {})
        return np.array([levels.get(code, "") for code in self.codes], dtype=object)


def panel_of(package):
    """The mean over the planned scales of each rater's ratings, shape (R, units), and the clusters."""
    items = [item for key in package.plan["nsv_target"] for item in package.items if "/".join(item.key) == key]
    cube = package.cube(items)
    return cube.values.mean(axis=0), package.clusters(cube.units)


def nsv(package):
    """How far the panel agrees; the score with its weights, and how it goes with the panel on prompts held out."""
    stored, result = package.report["nsv"], {"scores": Left(NO_TEXTS)}
    if stored["panel"]:
        (ratings, clusters), distance = panel_of(package), stored["panel"]["distance"]
        ends = (intervals.alpha_interval, ratings, distance, clusters)
        result["panel"] = estimate(agreement.krippendorff_alpha, ratings, distance) | {
            "n_ideas": np.isfinite(ratings).any(axis=0).sum(),
            "interval": interval(*ends, rng=package.rng(NSV, 2)),
        }
    if stored["scores"] and len(package.table("idea_scores")):
        result["scores"] = scores(package, PackagedIdeas(package), stored["scores"])
    return result


def scores(package, ideas, stored):
    fitted, composite = ideas.fitted, ideas.fitted.composite
    columns = {"nsv": fitted.scores} | dict(zip(scores_of_ideas.COMPONENTS, fitted.components.T, strict=True))
    methods, removed = [], ablations(package, ideas)
    for row in stored["methods"]:
        score = columns.get(row["method"])
        methods.append(Left(NO_TEXTS) if score is None else method(package, ideas, row["method"], score))
    of_composite = (composite.weights, composite.scale.medians, composite.scale.deviations)
    weights = [
        {"component": name, "weight": weight, "median": middle, "deviation": deviation}
        for name, weight, middle, deviation in zip(scores_of_ideas.COMPONENTS, *of_composite, strict=True)
    ]
    setting = {name: Left(NO_TEXTS) for name in stored["setting"] if name.startswith("n_")} | {
        "k": K,
        "alpha": ALPHA,
        "seed": package.report["study"]["seed"],
        "n_development": (ideas.material.is_rated & fitted.is_development).sum(),
        "n_held_out": ideas.is_held_out.sum(),
    }
    return {
        "setting": setting,
        "weights": weights,
        "development_rho": composite.rho,
        "ceiling": ceiling(ideas),
        "methods": methods,
        "top": [first_of(package, ideas, row["k"]) for row in stored["top"]],
        "preferences": Left(NO_TEXTS),
        "ablations": [
            removed[row["component"]] if row["by"] == "removed" else Left(NO_TEXTS) for row in stored["ablations"]
        ],
        "stability": [stability(ideas, row, stored["confirmatory"] == "within") for row in stored["stability"]],
    }


def ceiling(ideas):
    try:
        icc = float(reliability.intraclass(ideas.own_ratings[:, ideas.is_held_out]).average)
    except Incomputable:
        return None
    return np.sqrt(max(icc, 0.0))


def held_out(value):
    if isinstance(value, Incomputable):
        return {"value": None, "why": why(value), "interval": ends_of(value)}
    return {"value": value.value, "interval": ends_of(value.interval)}


def on_hold_out(ideas, score):
    chosen = ideas.is_held_out
    return score[chosen], ideas.material.target[chosen], ideas.prompts[chosen]


def method(package, ideas, name, score):
    options = {"rng": package.rng(NSV, 3), "n_resamples": N_RESAMPLES}
    both = value_or_reason(lambda: scores_of_ideas.concord(*on_hold_out(ideas, score), **options))
    if isinstance(both, Incomputable):
        return {"method": name, "n": 0, "n_prompts": 0, "pooled": held_out(both), "within": held_out(both)}
    counts = {"method": name, "n": both.n_units, "n_prompts": both.n_prompts}
    return counts | {"pooled": held_out(both.pooled), "within": held_out(both.within)}


def first_of(package, ideas, k):
    """Of the k ideas of a prompt that the score ranks first, how many percent the panel does."""
    top = top_precision.find_top_shares(*on_hold_out(ideas, ideas.fitted.scores), k)
    percents, n = 100 * top.shares, len(top.shares)
    ends = mean_interval(percents, np.arange(n), package.rng(NSV, TOP, k), (0, 100))
    return {"k": k, "value": percents.mean(), "interval": ends, "chance": 100 * top.by_chance.mean(), "n_prompts": n}


def ablations(package, ideas):
    """What the correlation loses without a component. What a worse one in its place does rests on texts."""
    options = {"rng": package.rng(NSV, 4), "n_resamples": N_RESAMPLES}
    sides = on_hold_out(ideas, ideas.fitted.components)
    lost = scores_of_ideas.ablate(ideas.fitted.composite, *sides, **options)
    return {name: held_out(value) | {"component": name, "p": getattr(value, "p", None)} for name, value in lost.items()}


def stability(ideas, stored, is_within):
    """The confirmatory correlation with all other weights, and with those near the fitted ones; and paraphrases."""
    if stored["what"] == "paraphrases":
        places = {code: n for n, code in enumerate(ideas.codes)}
        is_new = ~ideas.fitted.is_development
        pairs = [(places[of], n) for n, of in enumerate(ideas.originals) if of in places and is_new[n]]
        sides = (ideas.fitted.scores[list(side)] for side in zip(*pairs, strict=True))
        return {"what": "paraphrases", "value": estimate(comparisons.spearman, *sides)["value"], "n": len(pairs)}
    if stored["what"] not in ("near_weights", "all_weights"):
        return Left(NO_TEXTS)
    rhos, is_near = nsv_procedure.rhos_of_weights(ideas.fitted, ideas.material, is_within=is_within)
    values = rhos[is_near] if stored["what"] == "near_weights" else rhos
    summary = spreads.summarise(values[np.isfinite(values)])
    ends = {"sd": summary.sd, "lowest": summary.lowest, "highest": summary.highest} if summary.n > 1 else {}
    return {"value": summary.mean, "n": summary.n} | ends


# ── ideas after feedback ───────────────────────────────────────────────────────────────────────────────────────────


def nsv_feedback(package):
    """Of ideas after each round of feedback, and of those without, how many are coherent and above people's top."""
    stored = package.report["nsv_feedback"]
    if not len(package.table("idea_scores")) or (stored["why"] or {}).get("code") == "references_sealed":
        return Left(NO_TEXTS)
    ideas = PackagedIdeas(package)
    people = ideas.fitted.people_scores[~np.isin(ideas.people_prompts, ideas.development)]
    if not stored["rounds"]:
        return {"n_people": people.size}
    recipes, rounds = (ideas.factor(name) for name in ("recipe", "round"))
    numbers = np.array([int(text) if text.isdigit() else 0 for text in rounds])
    sources, is_usable = np.array([package.source_of(code) for code in ideas.codes]), ~ideas.fitted.is_development
    feedback, others = is_usable & (recipes == WITH) & (numbers > 0), is_usable & (recipes == WITHOUT)
    systems, rows = sorted(set(sources[feedback]) & set(sources[others])), []
    for source in ["", *(systems if len(systems) > 1 else [])]:
        is_of = np.isin(sources, [source] if source else systems)
        for number in range(1, max(numbers[feedback]) + 1):
            sides = feedback & is_of & (numbers == number), others & is_of
            row = one_round(package, ideas, sides, people, [*systems, ""].index(source))
            rows += [{"source": source, "round": number} | row] if row else []
    n_unknown = (np.isin(recipes, [WITH, WITHOUT]) & (ideas.coherent == "")).sum()
    threshold = np.quantile(people, scores_of_ideas.TOP)
    return {"n_people": people.size, "threshold": threshold, "n_without_coherence": n_unknown, "rounds": rows}


def one_round(package, ideas, sides, people, salt):
    """Prompts that have both kinds are paired; None unless two have."""
    prompts, scores = np.intersect1d(*(ideas.prompts[side] for side in sides)), ideas.fitted.scores
    if len(prompts) < 2:
        return None
    members = [[np.flatnonzero(side & (ideas.prompts == prompt)) for prompt in prompts] for side in sides]
    counted = np.where(ideas.coherent == "yes", scores, np.nan)
    options = {"rng": package.rng(NSV, 7, salt), "n_resamples": N_RESAMPLES}
    gain = scores_of_ideas.compare_feedback(people, *([counted[own] for own in side] for side in members), **options)
    changes = np.array([scores[a].mean() - scores[b].mean() for a, b in zip(*members, strict=True)])
    difference = held_out(gain.difference)
    for name in ("low", "high"):
        difference["interval"][name] = or_none(difference["interval"][name]) and 100 * difference["interval"][name]
    return {
        "n_prompts": len(prompts),
        **dict(zip(("n_with", "n_without"), (sum(map(len, side)) for side in members), strict=True)),
        "share_with": 100 * gain.with_feedback,
        "share_without": 100 * gain.without,
        "difference": difference | {"value": 100 * gain.difference.value},
        "p": gain.p,
        "gain": {
            "value": changes.mean(),
            "interval": mean_interval(changes, np.arange(len(changes)), package.rng(NSV, 8)),
        },
    }
