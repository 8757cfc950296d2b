"""Intervals of means for the same raters, and for other raters, too."""

from functools import cache

import numpy as np
from recompute.values import N_RESAMPLES, interval

from stats import intervals, rates, variance_components


def outcome_interval(package, table, units):
    """The interval of an outcome's mean over these units, shape (U,)."""
    return mean_ends(package, table.values[units], table.clusters[units], table.bounds, table.is_percent)


def outcome_intervals(package, table, units):
    """The same, and that for other raters."""
    arrays = table.values[units], table.ratings[:, units], table.clusters[units]
    return mean_intervals(package, *arrays, table.bounds, is_percent=table.is_percent)


def mean_ends(package, values, clusters, bounds, is_percent):
    return interval(same_raters, package, values, clusters, bounds, is_percent)


def same_raters(package, values, clusters, bounds, is_percent):
    rng = package.resampling()
    if is_percent:
        return rates.percent_interval(values, clusters, rng=rng, n_resamples=N_RESAMPLES)
    return intervals.mean_interval(values, clusters, rng=rng, n_resamples=N_RESAMPLES).clipped(*bounds)


def mean_intervals(package, values, ratings, clusters, bounds, *, is_percent=False):
    """values : shape (U,) or (R, U), nan where there is none; ratings : of each rater, shape (R, U)"""
    is_present = np.isfinite(values)
    n_values = is_present if values.ndim == 1 else is_present.sum(axis=0)

    @cache
    def narrow():
        return same_raters(package, values, clusters, bounds, is_percent)

    def wide():
        cells = variance_components.cell_means(ratings, clusters, np.ones(clusters.size, dtype=bool))
        sizes = np.bincount(np.unique(clusters, return_inverse=True)[1], n_values.astype(float))
        ends = variance_components.mean_interval(cells, float(values[is_present].mean()), sizes=sizes)
        return variance_components.widened(ends, narrow()).clipped(*bounds)

    return interval(narrow), interval(wide)
