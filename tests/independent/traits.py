"""What a judge gives stories for a trait at equal worth to people: by least squares and by pairs of ratings, with numpy
and scipy, computed anew without each cluster and without each rater."""

import numpy as np
from scipy import stats

MOST_CLUSTERS, MOST_RATERS, FEWEST, FEWEST_RATERS = 100, 20, 4, 3
TINY = 1e-9
NAMES = ("above", "by_worth", "held", "yes", "no")


def of_trait(judge, people, trait, clusters, stories, are_verdicts=False):
    """judge : shape (items, units); people : (items, raters, units); trait, clusters, stories : (units,)

    Nothing is nan.

    None if there is too little; else numbers by the names that the report gives them, with both ends of intervals.
    """
    is_shared = ~np.isnan(judge) & ~np.isnan(people).all(axis=1) & ~np.isnan(trait)
    units = is_shared.any(axis=0)
    if not units.any() or np.ptp(trait[units]) < TINY:
        return None
    judge = np.where(is_shared, judge, np.nan)[:, units]
    people = np.where(is_shared[:, None], people, np.nan)[:, :, units]
    people = people[:, ~np.isnan(people).all(axis=(0, 2))]
    trait, cluster = trait[units], np.unique(clusters[units], return_inverse=True)[1]
    is_kind = bool(set(trait) <= {0, 1})
    stories = np.asarray(stories)[units]
    parts_of_units = [trait == 1, trait == 0] if is_kind else [trait == trait]
    sides = [len(set(stories[part])) for part in parts_of_units]
    if min(*sides, cluster.max() + 1) < FEWEST:
        return None
    parts = are_verdicts and is_kind
    statistics = Statistics(judge, people, trait, parts)
    whole = statistics.of(np.ones(trait.size, dtype=bool))
    if np.isnan(whole["people"]):  # no item has stories that differ in it
        return None
    n_groups = min(cluster.max() + 1, MOST_CLUSTERS)
    without = [statistics.of(cluster % MOST_CLUSTERS != group) for group in range(n_groups)]
    spreads = [spread(without), spread_of_raters(judge, people, trait, cluster, parts)]
    row = {"n": sides[0], "people": whole["people"], "n_raters": people.shape[1], "n_clusters": cluster.max() + 1}
    row |= {"n_beside": sides[1]} if is_kind else {}
    is_constant = all(np.ptp(own[~np.isnan(own)]) < TINY for own in judge if (~np.isnan(own)).any())
    for name in NAMES[2:]:
        row[name] = by_t(whole[name], NAMES.index(name), spreads, is_constant)
    row["effect"] = (0.0, None, None) if is_constant else by_ratio(whole, spreads, people.shape[1])
    for name, says_yes in (("yes", True), ("no", False)):
        is_in = statistics.says(says_yes)
        row[f"n_{name}"] = [is_in[:, trait == 1].sum(), is_in[:, trait != 1].sum()]
    return row


class Statistics:
    def __init__(self, judge, people, trait, has_parts):
        self.judge, self.people, self.trait, self.has_parts = judge, people, trait, has_parts
        n = (~np.isnan(people)).sum(axis=1)
        self.means = np.nansum(people, axis=1) / np.where(n > 0, n, np.nan)
        self.centres = [np.nanmean(of_item) if (~np.isnan(of_item)).any() else 0 for of_item in people]

    def says(self, says_yes):
        return ~np.isnan(self.judge) & ((self.means > 0.5) if says_yes else (self.means < 0.5))

    def of(self, is_in):
        """The numbers over some of the units."""
        has = ~np.isnan(self.judge) & ~np.isnan(self.means) & is_in
        items, units = np.nonzero(has)
        levels = (items[:, None] == np.unique(items)).astype(float)
        x, p, j = self.trait[units], self.means[has], self.judge[has]
        x, p, j = (values - levels @ ((levels.T @ values) / levels.sum(axis=0)) for values in (x, p, j))
        if x @ x < TINY:
            return dict.fromkeys((*NAMES, "people"), np.nan)
        slope_j, slope_p = (x @ j) / (x @ x), (x @ p) / (x @ x)
        shared = (j - slope_j * x) @ (p - slope_p * x) / max(len(x) - levels.shape[1] - 1, 1)
        by_worth = self.variance_of_worth(has, slope_p)
        held = slope_j
        if p @ p > TINY:
            is_free = (x @ x) * (p @ p) - (x @ p) ** 2 > TINY
            held = np.linalg.lstsq(np.stack([x, p], axis=1), j, rcond=None)[0][0] if is_free else np.nan
        yes = no = np.nan
        if self.has_parts:
            yes, no = (self.among(is_in, says_yes) for says_yes in (True, False))
            held = (yes + no) / 2
        above = slope_j * by_worth - shared * slope_p
        return {"above": above, "by_worth": by_worth, "held": held, "yes": yes, "no": no, "people": slope_p}

    def variance_of_worth(self, has, slope):
        total = n_units = 0
        for item, ratings in enumerate(self.people):
            own = self.trait[~np.isnan(self.judge[item]) & ~np.isnan(self.means[item])]
            errors = ratings - self.centres[item] - slope * (self.trait - (own.mean() if own.size else 0))
            errors = np.where(has[item], errors, np.nan)
            n = (~np.isnan(errors)).sum(axis=0)
            raters, units = np.nonzero(~np.isnan(errors) & (n > 1))
            n_rated = len(np.unique(units))
            if n_rated < 2:
                continue
            values, weights = errors[raters, units], 1 / n[units]
            is_other = raters[:, None] != raters
            is_same_unit = units[:, None] == units
            products, of_both = np.outer(values, values), np.outer(weights, weights)
            same = (products / (n[units] * (n[units] - 1)))[is_other & is_same_unit].sum() / n_rated
            apart = is_other & ~is_same_unit
            room = of_both[apart].sum()
            total += (n_rated - 1) * (same - ((products * of_both)[apart].sum() / room if room > TINY else 0))
            n_units += n_rated - 1
        return total / max(n_units - 1, 1)

    def among(self, is_in, says_yes):
        """The difference among what most people say Yes to, or No, item by item, by how much either side has."""
        differences, weights = [], []
        for own, is_so in zip(self.judge, self.says(says_yes) & is_in, strict=True):
            first, second = own[is_so & (self.trait == 1)], own[is_so & (self.trait == 0)]
            if len(first) and len(second):
                differences.append(first.mean() - second.mean())
                weights.append(len(first) * len(second) / (len(first) + len(second)))
        return np.average(differences, weights=weights) if weights else np.nan


def spread(rows):
    """The covariances of the numbers over what was left out in turn, and their degrees of freedom."""
    values = np.array([[row[name] for name in NAMES] for row in rows])
    n = len(values)
    deviations = values - values.mean(axis=0)
    return (n - 1) / n * deviations.T @ deviations, n - 1


def spread_of_raters(judge, people, trait, cluster, has_parts):
    n = people.shape[1]
    read = [np.unique(cluster[~np.isnan(people[:, rater]).all(axis=0)]) for rater in range(n)]
    if n < FEWEST_RATERS or all(len(clusters) == 1 for clusters in read):
        return np.zeros((5, 5)), 1
    everything = np.ones(trait.size, dtype=bool)
    groups = np.arange(n) % MOST_RATERS
    rows = [
        Statistics(judge, people[:, groups != group], trait, has_parts).of(everything)
        for group in range(min(n, MOST_RATERS))
    ]
    return spread(rows)


def tested(value, at, spreads):
    """t, the variance, and p; None where it does not vary."""
    variances = np.array([matrix[at, at] for matrix, _degrees in spreads])
    if np.isnan(variances).any() or variances.sum() < TINY**2:
        return None
    degrees = variances.sum() ** 2 / sum(v**2 / n for v, (_matrix, n) in zip(variances, spreads, strict=True))
    p = 2 * stats.t.sf(abs(value) / variances.sum() ** 0.5, degrees)
    return stats.t.ppf(0.975, degrees), variances.sum(), p


def by_t(value, at, spreads, is_constant):
    """Value, both ends, and p."""
    if np.isnan(value):
        return None
    test = tested(value, at, spreads)
    if is_constant:
        return 0.0, None, None
    if test is None:
        return value, None, None
    t, variance, p = test
    return value, (value - t * variance**0.5, value + t * variance**0.5), p


def by_ratio(whole, spreads, n_raters):
    """The same of the first number divided by the second: all ratios that a t test of their difference leaves."""
    above, below = whole["above"], whole["by_worth"]
    if n_raters < FEWEST_RATERS or below <= TINY:
        return None
    test = tested(above, 0, spreads)
    if test is None:
        return above / below, None, None
    t, _variance, p = test
    matrix = spreads[0][0] + spreads[1][0]
    polynomial = [below**2, -2 * above * below, above**2] - t**2 * np.array(
        [matrix[1, 1], -2 * matrix[0, 1], matrix[0, 0]]
    )
    if polynomial[0] <= 0:
        return None
    return above / below, tuple(sorted(np.roots(polynomial).real)), p
