"""Intervals over clusters, for recompute.py, with numpy and scipy. Draws come from the seed of the study.

Below 30 clusters means have t on clusters, from 30 on the percentile bootstrap; coefficients have the jackknife over
clusters below 100. Rates that hardly vary have Wilson's interval with clusters for trials.
"""

import numpy as np
import pandas as pd
from scipy import stats

from tests.independent.judge_coefficients import ALIKE, OF_JUDGES, rank_correlation

N_RESAMPLES = 1000
MANY_CLUSTERS = 100  # from which they are drawn one by one
ENOUGH_FOR_A_MEAN, ENOUGH_FOR_A_COEFFICIENT, ENOUGH_WITH_RARER = 30, 100, 3
ROUNDING = 1e-9  # of sums of shares


def cluster_sums(answers):
    """Sum and number of the answers of each item (column `key`, if there is one) in each cluster, shapes (I, G)."""
    clusters, names = pd.factorize(answers["cluster"], sort=True)
    keys, items = pd.factorize(answers["key"], sort=True) if "key" in answers else (np.zeros_like(clusters), [0])
    numbers = answers["number"].to_numpy(dtype=float)
    is_there = ~np.isnan(numbers)
    sums, counts = np.zeros((2, len(items), len(names)))
    np.add.at(sums, (keys, clusters), np.where(is_there, numbers, 0))
    np.add.at(counts, (keys, clusters), is_there)
    return sums, counts


def count_clusters(function, arguments):
    """How many clusters, or answers where these stand alone, the interval of that function rests on."""
    if function == "welch":
        return min(len(arguments[0]), len(arguments[1]))
    if function in ("of_gwet", "of_intraclass", "of_preference", "of_totals"):
        return len(set(arguments[{"of_intraclass": 4, "of_totals": 1}.get(function, 2)]))
    if function in ("of_mean", "of_rate", "of_outcome", "of_passed", "of_difference", "of_score"):
        return arguments[1 if function == "of_score" else 0]["cluster"].nunique()
    if function in ("of_coefficient", "of_alpha", "of_recalls", "of_kappa"):
        return len(set(arguments[1 if function == "of_recalls" else 2]))
    if function == "of_values":
        return arguments[1].max() + 1
    return arguments[1] if function == "wilson" else len(arguments[0])


def clip(interval, bounds):
    """The ends within bounds, of which None is no bound; None stays None."""
    low, high = (-np.inf if bounds[0] is None else bounds[0]), (np.inf if bounds[1] is None else bounds[1])
    return interval and (min(max(interval[0], low), high), max(min(interval[1], high), low))


def of_mean(answers, seed, bounds=(None, None)):
    """The interval of the mean of the numbers, of several items of the mean of their means; None if there is none."""
    if answers.empty:
        return None
    return clip(mean_of_clusters(*cluster_sums(answers), seed), bounds)


def mean_of_clusters(sums, counts, seed):
    """The interval of the mean of K items' means; None of one cluster, or where all are alike.

    sums, counts : of the numbers of each item in each cluster, shape (K, C)
    """
    n = sums.shape[1]
    if n < 2:
        return None
    if n >= ENOUGH_FOR_A_MEAN:
        weights = draw(n, seed)
        n_values = weights @ counts.T
        return percentile(((weights @ sums.T) / np.where(n_values > 0, n_values, np.nan)).mean(axis=1))
    means = sums.sum(axis=1) / counts.sum(axis=1)
    influence = ((sums - means[:, None] * counts) / counts.sum(axis=1, keepdims=True)).mean(axis=0)
    variance = n / (n - 1) * (influence**2).sum()
    return None if variance < ALIKE**2 else around(means.mean(), variance, n)


def of_rate(answers, seed):
    """The interval of a rate in percent; None if there is none."""
    if answers.empty:
        return None
    sums, counts = cluster_sums(answers)
    n = sums.shape[1]
    if n < 2:
        return None
    rate = (sums.sum(axis=1) / counts.sum(axis=1)).mean()
    rarer = sums if rate <= 0.5 + ROUNDING else counts - sums
    if (rarer > ROUNDING).any(axis=0).sum() < ENOUGH_WITH_RARER:
        return clip(wilson(rate, n), (0, 100))
    return clip(mean_of_clusters(100 * sums, counts, seed), (0, 100))


def of_percents(answers, seed):
    """The interval of the mean of shares in percent: that of a rate; None if there is none."""
    return of_rate(answers.assign(number=answers["number"] / 100), seed)


def of_outcome(answers, seed, bounds, is_percent):
    """The interval of the mean of an outcome, which is a share in percent or a number within these bounds."""
    return of_percents(answers, seed) if is_percent else of_mean(answers, seed, bounds)


def of_passed(answers, seed, n_items):
    """The interval of the mean number of tests passed: that of the rate, times the number of tests."""
    ends = of_rate(answers.assign(number=answers["number"] / n_items), seed)
    return ends and tuple(end * n_items / 100 for end in ends)


def wilson(share, n):
    """Both ends, in percent, of a share of n (Wilson, 1927). share : 0 to 1"""
    z = stats.norm.isf(0.025)
    centre = share + z**2 / (2 * n)
    margin = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return tuple(100 * end / (1 + z**2 / n) for end in (centre - margin, centre + margin))


def around(centre, variance, n):
    """Both ends after Student, with n - 1 degrees of freedom."""
    margin = stats.t.ppf(0.975, n - 1) * variance**0.5
    return centre - margin, centre + margin


def after_student_or_normal(centre, error, n, enough):
    """Both ends from the standard error: of n with n - 1 degrees of freedom, from enough on of the normal."""
    margin = (stats.norm.ppf(0.975) if n >= enough else stats.t.ppf(0.975, n - 1)) * error
    return centre - margin, centre + margin


def generator(seed):
    return seed if isinstance(seed, np.random.Generator) else np.random.default_rng(list(seed))


def draw(n, seed):
    """How often each of n clusters enters each resample, shape (1000, n)."""
    rng = generator(seed)
    if n < MANY_CLUSTERS:
        return rng.multinomial(n, np.full(n, 1 / n), size=N_RESAMPLES)
    drawn = rng.integers(n, size=(N_RESAMPLES, n))
    return np.array([np.bincount(row, minlength=n) for row in drawn])


def percentile(values):
    """The 2.5th and the 97.5th percentile; None where no resample has a value, or all have the same."""
    values = values[~np.isnan(values)]
    if not values.size or np.ptp(values) < ALIKE:
        return None
    return tuple(np.quantile(values, [0.025, 0.975]))


def of_alpha(tables, level, clusters, seed):
    """The interval of Krippendorff's alpha, whatever the level."""
    return of_coefficient(tables, level, clusters, seed, alphas)


def of_kappa(tables, level, clusters, seed):
    """The interval of one item's kappa. Of two answers, where nobody agrees on the rarer of them, it reaches up to the
    kappa of one more unit on which all do."""
    ends, table = of_coefficient(tables, level, clusters, seed), tables[0]
    given = table.loc[:, table.sum() > 0]
    if ends is None or given.shape[1] != 2:
        return ends
    rarer = given.sum().idxmin()
    if given[rarer].max() > 1:
        return ends
    agreed = pd.DataFrame([{column: given.sum(axis=1).max() * (column == rarer) for column in given}])
    whole = pd.concat([given, agreed]).to_numpy(dtype=float)
    high = kappas(whole, None, level, np.ones((1, len(whole))))[0]
    return ends[0], max(ends[1], high)


def of_coefficient(tables, level, clusters, seed, compute=None):
    """The interval of the mean of the items' coefficients, of which each has a table of counts; None if there is none.

    clusters : of each unit, which is each row of the tables
    """
    compute = compute or (kappas if level == "nominal" else alphas)
    labels, cluster_of_unit = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    n = len(labels)
    arrays = [(table.to_numpy(dtype=float), np.array(table.columns, dtype=float)) for table in tables]
    if n < 2 or any(not (array.sum(axis=1) >= 2).any() for array, _ in arrays):
        return None

    def values(weights):
        return np.mean([compute(array, points, level, weights) for array, points in arrays], axis=0)

    return of_values(values, cluster_of_unit, seed, (-1, 1))


def of_trend(table, seed):
    """Of the correlation of ranks of the columns factor and number: its interval, and mean and end of its floor."""
    rng = np.random.default_rng(list(seed))
    x, y = table["factor"].to_numpy(), table["number"].to_numpy()
    clusters = np.unique(table["cluster"].to_numpy(dtype=str), return_inverse=True)[1]
    ends = of_values(lambda weights: rank_correlation(x, y, weights), clusters, rng, (-1, 1))
    shuffled = stats.rankdata(rng.permuted(np.repeat(x[None], N_RESAMPLES, axis=0), axis=1), axis=1)
    ranks = stats.rankdata(y)
    shuffled, ranks = shuffled - shuffled.mean(axis=1, keepdims=True), ranks - ranks.mean()
    rhos = shuffled @ ranks / np.sqrt((shuffled**2).sum(axis=1) * (ranks**2).sum())
    return ends, rhos.mean(), np.quantile(rhos, 0.975)


def of_recalls(answers, clusters, seed):
    """The interval, in percent, of the mean of how often is right what is by people and what is not."""
    labels = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)[0]
    parts = [answers[answers["is_human"] == kind].groupby("cluster")["right"].agg(["sum", "count"]) for kind in (1, 0)]
    parts = [part.reindex(labels, fill_value=0).to_numpy(dtype=float) for part in parts]

    def values(weights):
        recalls = [(weights @ part[:, 0], weights @ part[:, 1]) for part in parts]
        return np.mean([right / np.where(n > 0, n, np.nan) for right, n in recalls], axis=0)

    ends = of_values(values, np.arange(len(labels)), seed, (0, 1))
    return ends and (100 * ends[0], 100 * ends[1])


def of_values(values, cluster_of_unit, seed, bounds):
    """The interval of a coefficient over clusters; None if there is none.

    values : of how often each unit counts, shape (B, U), the coefficient, shape (B,)
    seed : or a generator
    """
    n = cluster_of_unit.max() + 1
    if n < 2:
        return None
    if n >= ENOUGH_FOR_A_COEFFICIENT:
        return clip(percentile(values(draw(n, seed)[:, cluster_of_unit])), bounds)
    whole = values(np.ones((1, cluster_of_unit.size)))[0]
    without = values((cluster_of_unit != np.arange(n)[:, None]).astype(float))
    if np.isnan(whole) or np.isnan(without).any() or np.ptp(without) < ALIKE:
        return None
    return clip(around(whole, (n - 1) / n * ((without - without.mean()) ** 2).sum(), n), bounds)


def kappas(table, _points, _level, weights):
    """Fleiss' kappa in each resample, shape (B,), nan where there is none.

    table : shape (U, V); weights : how often each unit was drawn, shape (B, U)
    """
    n = table.sum(axis=1)
    of_pairs, of_rated = weights * (n >= 2), weights * (n >= 1)
    n_drawn, n_rated = (np.maximum(part.sum(axis=1), 1) for part in (of_pairs, of_rated))
    shares = (of_rated @ (table / np.maximum(n, 1)[:, None])) / n_rated[:, None]
    observed = (of_pairs @ (((table**2).sum(axis=1) - n) / np.maximum(n * (n - 1), 1))) / n_drawn
    return np.where(of_pairs.any(axis=1), kappas_of(shares, observed), np.nan)


def kappas_of(shares, observed):
    """Fleiss' kappas of the shares of values, shape (B, V), and of the share of pairs that agree, shape (B,)."""
    chance = (shares**2).sum(axis=1)
    return (observed - chance) / np.where(chance < 1, 1 - chance, np.nan)


def alphas(table, points, level, weights):
    """Krippendorff's alpha in each resample, shape (B,), nan where there is none.

    table, weights : as for `kappas`; points : the value of each column
    """
    n = table.sum(axis=1, keepdims=True)
    scaled = np.where(n >= 2, table / np.maximum(n - 1, 1), 0.0)
    of_units = scaled[:, :, None] * table[:, None, :] - np.eye(len(points)) * scaled[:, :, None]
    coincidence = (weights @ of_units.reshape(len(table), -1)).reshape(len(weights), len(points), len(points))
    return alphas_of(coincidence, points, level)


def alphas_of(coincidence, points, level):
    """Krippendorff's alphas of coincidence matrices, shape (B, V, V)."""
    n_by_value = coincidence.sum(axis=-1)
    places = (
        np.cumsum(n_by_value, axis=-1) - n_by_value / 2 if level == "ordinal" else np.tile(points, (len(n_by_value), 1))
    )
    distance = (places[:, :, None] - places[:, None, :]) ** 2
    if level == "nominal":
        distance = 1.0 - np.eye(len(points))
    observed = (coincidence * distance).sum(axis=(1, 2))
    expected = (n_by_value[:, :, None] * n_by_value[:, None, :] * distance).sum(axis=(1, 2))
    varying = np.where(expected > 1e-12, expected, np.nan)
    return 1 - np.maximum(n_by_value.sum(axis=-1) - 1, 0) * observed / varying


# ── two groups of stories ──────────────────────────────────────────────────────────────────────────────────────────

EVERY_SIGN = 13  # paired clusters, up to which all signs are tried


def of_changes(changes, seed):
    """The interval of the mean of paired differences, one a cluster."""
    return mean_of_clusters(changes[None, :], np.ones((1, changes.size)), seed)


def without_noise(values):
    """Values of which two that arithmetic makes equal are equal to the last bit, for ranks."""
    return np.round(values / np.abs(values).max(initial=ALIKE), 11)


def around_mean(changes, level):
    """Both ends of Student's interval of the mean change. level : of confidence, 0 to 1"""
    margin = stats.t.ppf((1 + level) / 2, changes.size - 1) * changes.std(ddof=1) / changes.size**0.5
    return changes.mean() - margin, changes.mean() + margin


def p_of_changes(changes, test):
    """Two-sided p of a paired t-test, or of Wilcoxon's signed ranks: over all signs where there are few changes."""
    if test == "paired t-test":
        return 2 * stats.t.sf(abs(changes.mean()) / (changes.std(ddof=1) / changes.size**0.5), changes.size - 1)
    changes = without_noise(changes)
    if changes.size > EVERY_SIGN:
        return stats.wilcoxon(changes).pvalue
    moved = changes[changes != 0]
    ranks = stats.rankdata(np.abs(moved))
    signs = 1 - 2 * (np.arange(2**moved.size)[:, None] >> np.arange(moved.size) & 1)
    return (np.abs(signs @ ranks) >= abs(np.sign(moved) @ ranks) - ALIKE).mean()


def variance_of_difference(first, second):
    """The variance of the difference of two means, and Welch's degrees of freedom."""
    of_first, of_second = first.var(ddof=1) / first.size, second.var(ddof=1) / second.size
    variance = of_first + of_second
    return variance, variance**2 / (of_first**2 / (first.size - 1) + of_second**2 / (second.size - 1))


def welch(first, second, level=0.95):
    """Both ends of the difference of two means, of unequal variances. level : of confidence, 0 to 1"""
    variance, df = variance_of_difference(first, second)
    margin = stats.t.ppf((1 + level) / 2, df) * variance**0.5
    return first.mean() - second.mean() - margin, first.mean() - second.mean() + margin


def p_of_groups(first, second, test):
    """Two-sided p of Welch's t-test, or of Mann and Whitney's."""
    if test.startswith("Mann"):
        of_both = without_noise(np.concatenate([first, second]))
        return stats.mannwhitneyu(of_both[: first.size], of_both[first.size :]).pvalue
    variance, df = variance_of_difference(first, second)
    return 2 * stats.t.sf(abs(first.mean() - second.mean()) / variance**0.5, df)


def effect(first, second, name):
    """Cliff's delta, or Hedges' g: how far the first lies above the second."""
    if name == "Cliff's delta":
        of_both = without_noise(np.concatenate([first, second]))
        return np.sign(of_both[: first.size, None] - of_both[first.size :]).mean()
    df = first.size + second.size - 2
    pooled = ((first.size - 1) * first.var(ddof=1) + (second.size - 1) * second.var(ddof=1)) / df
    return (first.mean() - second.mean()) / pooled**0.5 * (1 - 3 / (4 * df - 1))


# ── a judge beside people ──────────────────────────────────────────────────────────────────────────────────────────


def of_score(statistic, answers, is_pooled, seed, bounds):
    """The interval of a coefficient between the columns judge and people; of several items of the mean of theirs."""
    if answers.empty:
        return None
    cluster_of_answer = np.unique(answers["cluster"].to_numpy(dtype=str), return_inverse=True)[1]
    keys = np.zeros(len(answers)) if is_pooled else answers["key"].to_numpy()
    judge, people = answers["judge"].to_numpy(dtype=float), answers["people"].to_numpy(dtype=float)
    parts = [keys == key for key in np.unique(keys)]
    compute = OF_JUDGES[statistic]

    def values(weights):
        return np.mean([compute(judge[part], people[part], weights[:, part]) for part in parts], axis=0)

    return of_values(values, cluster_of_answer, seed, bounds)


# ── a judge in place of people ─────────────────────────────────────────────────────────────────────────────────────


def quantiles_of(values, most):
    """The different values; of more than so many their quantiles."""
    present = values[np.isfinite(values)]
    different = np.unique(present)
    if len(different) <= most:
        return different
    return np.unique(np.quantile(present, np.linspace(0, 1, most), method="nearest"))


def p_of_less(differences, epsilon):
    """One-sided: that the mean is not below epsilon. What is 0/0 is never rejected."""
    spread, distance = differences.std(ddof=1) / len(differences) ** 0.5, differences.mean() - epsilon
    if spread == 0:
        return float(distance >= 0)
    return stats.t.cdf(distance / spread, len(differences) - 1)


def share_rejected(ps, q):
    """The share of hypotheses rejected by Benjamini and Yekutieli's procedure."""
    ps, n = np.sort(ps), len(ps)
    ranks = np.arange(1, n + 1)
    below = ps <= q * ranks / (n * (1 / ranks).sum())
    return (below.nonzero()[0].max() + 1) / n if below.any() else 0.0
