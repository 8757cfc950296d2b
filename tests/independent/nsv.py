"""Novelty, surprise and value of ideas in one score, and how it goes with people's ratings; with numpy and scipy.

The three components of each idea are taken from idea_scores.csv, since they rest on texts and vectors of another
study's ideas; all that follows from them and from people's ratings is computed. Components stand in the columns of an
array of shape (U, 3); whole prompts are learnt from or held out.
Source: Brito da Silva & Marcacini, Caracterização da Capacidade Criativa em Sistemas de IA Generativa, section 3.2.
"""

import numpy as np
import pandas as pd
from scipy import stats

from tests.independent import intervals
from tests.independent.floors import cube_of
from tests.independent.intervals import ALIKE, draw, generator, percentile
from tests.independent.judge_coefficients import rank_correlation
from tests.independent.material import NO_TEXTS
from tests.independent.quiet import spearman
from tests.independent.quiet_judges import check_coefficient, weighted_alpha

NSV = 150  # of the seed
COMPONENTS = ("novelty", "surprise", "value")
K, ALPHA = 10, 0.5
STEPS = 20  # in which weights are tried, from 0 to 1
NEAR = 0.1  # within which of the fitted ones weights are near
LEAST_DEVELOPMENT = 7  # prompts
TOP = 0.95  # quantile of people's ideas, above which one is creative
N_FLIPS = 2000
GRID = np.array([(i, j, STEPS - i - j) for i in range(STEPS + 1) for j in range(STEPS + 1 - i)]) / STEPS


class PackagedIdeas:
    """The study's ideas that have all components, and people's ideas of the reference set.

    target : people's mean rating of each idea, nan where there is none or it is a paraphrase, shape (U,)
    is_development : whether its prompt is one of those that were drawn to learn from, shape (U,)
    """

    def __init__(self, package):
        table = package.table("idea_scores")
        numbers = table[[*COMPONENTS, "prompt"]].apply(pd.to_numeric)
        of_study = (table["idea"] != "").to_numpy()
        self.rows = table[of_study]
        self.components, self.people = (
            numbers.loc[side, list(COMPONENTS)].to_numpy() for side in (of_study, ~of_study)
        )
        self.prompts, self.people_prompts = (numbers.loc[side, "prompt"].to_numpy() for side in (of_study, ~of_study))
        originals = package.factor("paraphrase of") if "factor_paraphrase of" in package.stories else {}
        self.original = [originals.get(code, "") for code in self.rows["idea"]]
        self.target = self._mean_ratings(package)
        rated = np.unique(self.prompts[np.isfinite(self.target)])
        n = max(LEAST_DEVELOPMENT, len(rated) // 2)
        self.development = np.sort(generator((package.seed, NSV, 0)).permutation(rated)[:n])
        self.is_development = np.isin(self.prompts, self.development)
        learnt = np.isfinite(self.target) & self.is_development
        self.n_development, self.is_held_out = learnt.sum(), np.isfinite(self.target) & ~self.is_development
        self._fit(learnt)

    def _mean_ratings(self, package):
        """People's mean rating of each idea, to nine decimals, so that equal ones are level; shape (U,)."""
        ratings, units = panel_of(package)
        mean = pd.DataFrame(ratings, columns=[story for _group, story in units]).mean().round(9)
        codes = zip(self.rows["idea"], self.original, strict=True)
        return np.array([np.nan if original else mean.get(code, np.nan) for code, original in codes])

    def _fit(self, learnt):
        """Learn scales and weights from these ideas. learnt : shape (U,)"""
        self.medians = np.median(self.components[learnt], axis=0)
        self.deviations = np.median(np.abs(self.components[learnt] - self.medians), axis=0)
        scores = self.score(self.components[learnt], GRID.T)
        rhos = np.array([stats.spearmanr(column, self.target[learnt]).statistic for column in scores.T])
        self.weights, self.development_rho = GRID[rhos >= rhos.max() - ALIKE].mean(axis=0), rhos.max()
        self.scores = self.score(self.components, self.weights)

    def score(self, components, weights):
        """To nine decimals: what differs by less is a tie, and how a sum was rounded decides no rank."""
        return np.round((components - self.medians) / self.deviations @ weights, 9)


def panel_of(package):
    """The mean over the planned scales of each rater's ratings, shape (R, U), and the units."""
    keys = package.plan["nsv_target"]
    items = [item for key in keys for item in package.items if f"{item['step']}/{item['item']}" == key]
    cube = cube_of(package, items, lambda item: package.answers(item["step"], item["item"]), package.units)
    return cube.mean(axis=0), package.units


def nsv(package, result, check):
    """How far the panel agrees; the score with its weights, and how it goes with the panel on prompts held out."""
    check.leave(result, NO_TEXTS)
    if result["panel"]:
        ratings = panel_of(package)[0][:, :, None]
        stored, level = result["panel"], result["panel"]["distance"]
        check.number("nsv/panel/n_ideas", stored["n_ideas"], np.isfinite(ratings).any(axis=(0, 2)).sum())
        check_coefficient("nsv/panel", stored, ratings, level, check)
        clusters = np.unique(np.array(package.unit_clusters), return_inverse=True)[1]
        table = intervals.of_values(weighted_alpha(ratings, level), clusters, (package.seed, NSV, 2), (-1, 1))
        check.ends("nsv/panel", stored["interval"], table, clusters.max() + 1)
    if not result["scores"] or not len(package.table("idea_scores")):
        return
    ideas, scores = PackagedIdeas(package), result["scores"]
    counts = {"n_development": ideas.n_development, "n_held_out": ideas.is_held_out.sum()}
    seed = package.report["study"]["seed"]
    check.numbers("nsv/setting", scores["setting"], k=K, alpha=ALPHA, seed=seed, **counts)
    check.number("nsv/development_rho", scores["development_rho"], ideas.development_rho)
    for row in scores["weights"]:
        at = COMPONENTS.index(row["component"])
        fitted = {"weight": ideas.weights[at], "median": ideas.medians[at], "deviation": ideas.deviations[at]}
        check.numbers(f"nsv/{row['component']}", row, **fitted)
    columns = {"nsv": ideas.scores, **dict(zip(COMPONENTS, ideas.components.T, strict=True))}
    for row in scores["methods"]:
        if row["method"] in columns:
            method(package, f"nsv/{row['method']}", row, ideas, columns[row["method"]], check)
    top(package, scores["top"], ideas, check)
    ablations(package, scores["ablations"], ideas, check)
    stability(scores["stability"], ideas, scores["confirmatory"] == "within", check)


def within(score, ratings, prompts):
    """Spearman's correlation within each prompt, shape (P,); nan where there is none."""
    values = []
    for prompt in np.unique(prompts):
        own = prompts == prompt
        varies = own.sum() > 1 and np.ptp(score[own]) and np.ptp(ratings[own])
        values.append(rank_correlation(score[own], ratings[own], np.ones((1, own.sum())))[0] if varies else np.nan)
    return np.array(values)


def method(package, place, row, ideas, score, check):
    """Over all ideas on prompts held out, and as the mean over prompts; prompts are drawn anew, however few."""
    chosen = ideas.is_held_out
    score, ratings = score[chosen], ideas.target[chosen]
    labels = np.unique(ideas.prompts[chosen], return_inverse=True)[1]
    n = labels.max() + 1
    drawn = draw(n, (package.seed, NSV, 3))
    rhos = within(score, ratings, labels)
    has_value = np.isfinite(rhos)
    check.numbers(place, row, n=len(score), n_prompts=has_value.sum())
    whole = rank_correlation(score, ratings, np.ones((1, len(score))))[0]
    check.number(f"{place}/pooled", row["pooled"]["value"], whole)
    ends = percentile(rank_correlation(score, ratings, drawn[:, labels] * 1.0))
    check.ends(f"{place}/pooled", row["pooled"]["interval"], ends, n)
    counts = drawn[:, has_value]
    means = counts @ rhos[has_value] / np.where(counts.sum(axis=1) > 0, counts.sum(axis=1), np.nan)
    check.number(f"{place}/within", row["within"]["value"], rhos[has_value].mean())
    check.ends(f"{place}/within", row["within"]["interval"], percentile(means), has_value.sum())


def top(package, rows, ideas, check):
    """Of the first k by score how many are among the first k by ratings; what is level is averaged over all orders."""
    chosen = ideas.is_held_out
    table = pd.DataFrame({"prompt": ideas.prompts[chosen], "nsv": ideas.scores[chosen], "panel": ideas.target[chosen]})
    for row in rows:
        k, place = row["k"], f"nsv/top {row['k']}"
        larger = [own for _prompt, own in table.groupby("prompt") if len(own) > k]
        check.number(f"{place}/n_prompts", row["n_prompts"], len(larger))
        shares = np.array([100 * (in_first(own["nsv"], k) * in_first(own["panel"], k)).sum() / k for own in larger])
        chance = np.mean([100 * k / len(own) for own in larger])
        check.numbers(place, row, value=shares.mean(), chance=chance, k=k)
        numbers = pd.DataFrame({"number": shares, "cluster": range(len(larger))})
        check.interval(place, row["interval"], "of_mean", numbers, (package.seed, NSV, 9, k), (0, 100))


def in_first(values, k):
    """The probability that each is among the first k, where level ones stand in any order."""
    ranks_at_best, ranks_at_worst = (values.rank(ascending=False, method=name) for name in ("min", "max"))
    n_level = ranks_at_worst - ranks_at_best + 1
    return ((k - ranks_at_best + 1) / n_level).clip(0, 1)


def ablations(package, rows, ideas, check):
    """What the correlation loses without a component. What a worse one in its place does rests on texts."""
    chosen, rng = ideas.is_held_out, generator((package.seed, NSV, 4))
    ratings, labels = ideas.target[chosen], np.unique(ideas.prompts[chosen], return_inverse=True)[1]
    for at, component in enumerate(COMPONENTS):
        row = next(row for row in rows if (row["component"], row["by"]) == (component, "removed"))
        weights = np.where(np.arange(3) == at, 0, ideas.weights)
        if weights.sum() < ALIKE:
            continue
        sides = [ideas.scores[chosen], ideas.score(ideas.components, weights / weights.sum())[chosen]]
        drawn = draw(labels.max() + 1, rng)[:, labels] * 1.0
        once = np.ones((1, len(labels)))
        whole, without = ([rank_correlation(side, ratings, w) for w in (once, drawn)] for side in sides)
        changes = within(sides[0], ratings, labels) - within(sides[1], ratings, labels)
        n_up, n_down = (changes > ALIKE).sum(), (changes < -ALIKE).sum()
        p = stats.binomtest(n_up, n_up + n_down).pvalue if n_up + n_down else 1
        place = f"nsv/without {component}"
        check.numbers(place, row, value=whole[0][0] - without[0][0], p=p)
        if row["interval"]["low"] is not None:
            check.ends(place, row["interval"], percentile(whole[1] - without[1]), labels.max() + 1)


def stability(rows, ideas, is_within, check):
    """The confirmatory correlation with all other weights, and with those near the fitted ones; and paraphrases."""
    chosen = ideas.is_held_out
    ratings, prompts = ideas.target[chosen], ideas.prompts[chosen] * is_within
    rhos = []
    for weights in GRID:
        values = within(ideas.score(ideas.components, weights)[chosen], ratings, prompts)
        rhos.append(np.nanmean(values) if np.isfinite(values).any() else np.nan)
    rhos, is_near = np.array(rhos), np.abs(GRID - ideas.weights).max(axis=1) <= NEAR + 1e-9
    for row in rows:
        place = f"nsv/stability/{row['what']}"
        if row["what"] in ("near_weights", "all_weights"):
            values = pd.Series(rhos[is_near] if row["what"] == "near_weights" else rhos).dropna()
            spread = {"sd": values.std(), "lowest": values.min(), "highest": values.max()} if len(values) > 1 else {}
            check.numbers(place, row, value=values.mean(), n=len(values), **spread)
        elif row["what"] == "paraphrases":
            at = {code: n for n, code in enumerate(ideas.rows["idea"])}
            pairs = [(at[of], n) for n, of in enumerate(ideas.original) if of in at and not ideas.is_development[n]]
            first, second = (ideas.scores[list(places)] for places in zip(*pairs, strict=True))
            check.numbers(place, row, value=spearman(first, second), n=len(pairs))


# ── ideas after feedback ───────────────────────────────────────────────────────────────────────────────────────────


def nsv_feedback(package, result, check):
    """Of ideas after each round of feedback, and of as many without, how many are coherent and above people's top."""
    if not len(package.table("idea_scores")):
        check.leave(result, NO_TEXTS)
        return
    if (result["why"] or {}).get("code") == "references_sealed":
        check.leave(result, NO_TEXTS)
        return
    ideas = PackagedIdeas(package)
    people = ideas.score(ideas.people, ideas.weights)[~np.isin(ideas.people_prompts, ideas.development)]
    check.number("nsv_feedback/n_people", result["n_people"], len(people))
    recipes, rounds = (factor_of(package, ideas, name) for name in ("recipe", "round"))
    is_generated = np.isin(recipes, ["nsv-feedback", "nsv-generation"])
    coherent = ideas.rows["coherent"].to_numpy()
    if not result["rounds"]:
        return
    check.number("nsv_feedback/threshold", result["threshold"], np.quantile(people, TOP))
    n_unknown = (is_generated & (coherent == "")).sum()
    check.number("nsv_feedback/unknown", result["n_without_coherence"], n_unknown)
    sources = np.array([package.source_by_story.get(code, "") for code in ideas.rows["idea"]])
    numbers = np.array([int(text) if text.isdigit() else 0 for text in rounds])
    with_feedback = ~ideas.is_development & (recipes == "nsv-feedback") & (numbers > 0)
    without = ~ideas.is_development & (recipes == "nsv-generation")
    systems = sorted(set(sources[with_feedback]) & set(sources[without]))
    for row in result["rounds"]:
        is_of = np.isin(sources, [row["source"]] if row["source"] else systems)
        sides = with_feedback & is_of & (numbers == row["round"]), without & is_of
        check.number("nsv_feedback/round", row["round"], numbers[sides[0]].max())
        seed = (package.seed, NSV, 7, [*systems, ""].index(row["source"]))
        one_round(package, row, ideas, people, coherent == "yes", sides, seed, check)


def factor_of(package, ideas, name):
    levels = package.factor(name)
    return np.array([levels.get(code, "") for code in ideas.rows["idea"]])


def one_round(package, row, ideas, people, is_coherent, sides, seed, check):
    """Prompts that have both kinds are paired; the threshold is drawn anew with the people."""
    place = f"nsv_feedback/{row['source']} {row['round']}"
    prompts = np.intersect1d(*(ideas.prompts[side] for side in sides))
    scores = np.where(is_coherent, ideas.scores, -np.inf)
    members = [[np.flatnonzero(side & (ideas.prompts == prompt)) for prompt in prompts] for side in sides]
    counts = [sum(map(len, side)) for side in members]
    check.numbers(place, row, n_prompts=len(prompts), n_with=counts[0], n_without=counts[1])

    def shares(thresholds):
        return [np.array([(scores[own][:, None] > thresholds).mean(axis=0) for own in side]) for side in members]

    of_both = [part[:, 0] for part in shares(np.array([np.quantile(people, TOP)]))]
    differences = of_both[0] - of_both[1]
    check.numbers(place, row, share_with=100 * of_both[0].mean(), share_without=100 * of_both[1].mean())
    check.number(f"{place}/difference", row["difference"]["value"], 100 * differences.mean())
    rng = generator(seed)
    n_draws = intervals.N_RESAMPLES
    drawn = shares(np.quantile(rng.choice(people, (n_draws, len(people))), TOP, axis=1))
    resamples = np.einsum("bg,gb->b", draw(len(prompts), rng), drawn[0] - drawn[1]) / len(prompts)
    ends = percentile(resamples)
    check.ends(place, row["difference"]["interval"], ends and [100 * end for end in ends], len(prompts))
    flips = rng.choice(np.array([-1.0, 1.0]), (N_FLIPS, len(differences))) @ differences
    check.number(f"{place}/p", row["p"], (1 + (flips >= differences.sum() - ALIKE).sum()) / (1 + N_FLIPS))
    gains = [ideas.scores[a].mean() - ideas.scores[b].mean() for a, b in zip(*members, strict=True)]
    table = pd.DataFrame({"number": gains, "cluster": [f"{n:06}" for n in range(len(gains))]})
    check.number(f"{place}/gain", row["gain"]["value"], np.mean(gains))
    check.interval(f"{place}/gain", row["gain"]["interval"], "of_mean", table, (package.seed, NSV, 8))
