"""Intervals of coefficients over clusters that are drawn one by one, for recompute.py, with numpy and scipy."""

from functools import partial

import numpy as np

from tests.independent.intervals import (
    ALIKE,
    ENOUGH_FOR_A_COEFFICIENT,
    around,
    clip,
    draw,
    of_values,
    percentile,
)

TOO_ALIKE = 1e-12  # a variance below is none


def places_of(clusters):
    """The clusters as numbers from 0, of each unit."""
    return np.unique(np.asarray(clusters, dtype=str), return_inverse=True)[1]


def of_gwet(table, is_ordinal, clusters, seed):
    """Of Gwet's AC1, or AC2. table : how many raters gave each unit each value, shape (U, V)"""
    n, q = table.sum(axis=1), table.shape[1]
    distance = np.abs(np.subtract.outer(np.arange(q), np.arange(q)))
    alike = 1 - distance * (distance + 1) / (q * (q - 1)) if is_ordinal else np.eye(q)
    is_pair = n >= 2
    observed = np.where(is_pair, ((table * (table @ alike)).sum(axis=1) - n) / np.maximum(n * (n - 1), 1), 0)
    shares = table / np.maximum(n, 1)[:, None]

    def values(weights):
        n_pairs, n_rated = weights @ is_pair, weights @ (n >= 1)
        p = (weights @ shares) / np.maximum(n_rated, 1)[:, None]
        chance = alike.sum() / (q * (q - 1)) * (p * (1 - p)).sum(axis=1)
        agree = (weights @ observed) / np.where(n_pairs > 0, n_pairs, np.nan)
        return (agree - chance) / (1 - chance)

    return of_values(values, places_of(clusters), seed, (-1, 1))


def of_difference(answers, seed):
    """Of the mean of `words` of what is right, less that of what is not."""
    labels = np.unique(answers["cluster"].to_numpy(dtype=str), return_inverse=True)[1]
    is_right, words = answers["is_right"].to_numpy(dtype=bool), answers["words"].to_numpy(dtype=float)

    def values(weights):
        means = []
        for is_in in (is_right, ~is_right):
            n = weights[:, is_in].sum(axis=1)
            means.append((weights[:, is_in] @ words[is_in]) / np.where(n > 0, n, np.nan))
        return means[0] - means[1]

    return of_values(values, labels, seed, (None, None))


def of_totals(totals, clusters, seed):
    """Of Pearson's r over the ordered pairs of raters of each unit. totals : shape (raters, units)"""
    return of_values(partial(correlations_of_pairs, totals[None]), places_of(clusters), seed, (-1, 1))


def correlations_of_pairs(totals, weights=1):
    """Shape (B or 1, raters, units), and how often each unit counts, shape (B, units): r of each of B."""
    n = (~np.isnan(totals)).sum(axis=1)
    first, squares = np.nansum(totals, axis=1), np.nansum(totals**2, axis=1)
    n_pairs = (weights * n * (n - 1)).sum(axis=1)
    n_pairs = np.where(n_pairs > 0, n_pairs, np.nan)
    mean = (weights * (n - 1) * first).sum(axis=1) / n_pairs
    variance = (weights * (n - 1) * squares).sum(axis=1) / n_pairs - mean**2
    covariance = (weights * (first**2 - squares)).sum(axis=1) / n_pairs - mean**2
    return covariance / np.where(variance > TOO_ALIKE, variance, np.nan)


def of_preference(table, chances, clusters, seed):
    """Of Brennan and Prediger's kappa. chances : one by how many stories could be chosen, of each unit"""
    n = table.sum(axis=1)
    is_pair = n >= 2
    agreeing = np.where(is_pair, ((table**2).sum(axis=1) - n) / np.maximum(n * (n - 1), 1), 0)

    def values(weights):
        n_pairs = weights @ is_pair
        n_pairs = np.where(n_pairs > 0, n_pairs, np.nan)
        observed, chance = weights @ agreeing / n_pairs, weights @ (chances * is_pair) / n_pairs
        return (observed - chance) / (1 - chance)

    return of_values(values, places_of(clusters), seed, (-1, 1))


def of_intraclass(ratings, is_crossed, form, which, clusters, seed):
    """Of an intraclass correlation. ratings : shape (U, R); which : of all units these are; clusters : of all units"""
    places = places_of(clusters)
    ratings = ratings - np.nanmean(ratings)

    def values(weights):
        return np.array([one_icc(ratings, row, is_crossed, form) for row in weights[:, which]])

    return of_values(values, places, seed, (-1, 1))


def one_icc(ratings, weights, is_crossed, form):
    """The coefficient where each unit counts as often as its weight says; nan where there is none."""
    is_in = ~np.isnan(ratings)
    n, m = is_in.sum(axis=1), weights.sum()
    if m < 2:
        return np.nan
    means = np.nansum(ratings, axis=1) / n
    total = (weights * n).sum()
    mean = (weights * n * means).sum() / total
    between = (weights * n * (means - mean) ** 2).sum()
    within = (weights * np.nansum((ratings - means[:, None]) ** 2, axis=1)).sum()
    if between + within <= 1e-12 * max(1e-300, (weights * np.nansum(ratings**2, axis=1)).sum()):
        return np.nan
    if is_crossed:
        k = ratings.shape[1]
        columns = m * (((weights @ ratings) / m - mean) ** 2).sum()
        rows, columns_ms = between / (m - 1), columns / (k - 1)
        rest = (within - columns) / ((m - 1) * (k - 1))
        over = (columns_ms - rest) / m
        room = rows + over if form == "average" else rows + (k - 1) * rest + k * over
    else:
        k = (total - (weights * n**2).sum() / total) / (m - 1)
        rows, rest = between / (m - 1), within / (total - m) if total > m else np.nan
        room = rows if form == "average" else rows + (k - 1) * rest
    # Of a single rating one way, what is below is a sum of squares whatever its size.
    least = 1e-12 * (weights * np.nansum(ratings**2, axis=1)).sum() if is_crossed else 0
    is_value = room > least or (not is_crossed and form == "single")
    return (rows - rest) / room if is_value else np.nan


def of_items(answers, clusters, seed):
    """The intervals of r of every two columns (i, j), of each with the rest and of its mean r with the others."""
    places, n_items = places_of(clusters), answers.shape[1]
    n = places.max() + 1
    is_drawn = n >= ENOUGH_FOR_A_COEFFICIENT
    weights = draw(n, seed) if is_drawn else np.vstack([np.ones((1, n)), 1 - np.eye(n)])
    values = {}
    for row in weights.astype(float)[:, places]:
        for name, value in item_correlations(answers, row, n_items):
            values.setdefault(name, []).append(value)
    return {name: ends_of(np.array(numbers), n, is_drawn) for name, numbers in values.items()}


def of_alpha(answers, clusters, seed):
    """The interval of Cronbach's alpha of the columns."""
    places, n_items = places_of(clusters), answers.shape[1]
    n = places.max() + 1
    is_drawn = n >= ENOUGH_FOR_A_COEFFICIENT
    weights = draw(n, seed) if is_drawn else np.vstack([np.ones((1, n)), 1 - np.eye(n)])
    values = []
    for row in weights.astype(float)[:, places]:
        deviations = answers - row @ answers / max(1, row.sum())
        own, whole = row @ deviations**2, row @ deviations.sum(axis=1) ** 2
        values.append(n_items / (n_items - 1) * (1 - own.sum() / whole) if whole > 1e-9 else np.nan)
    return ends_of(np.array(values), n, is_drawn, least=None)


def item_correlations(answers, weights, n_items):
    """Every correlation of one resample by its name, as `items.correlations` names them; nan where there is none.

    answers : shape (N, I), without nan; weights : how often each row counts, shape (N,)
    """
    mean = weights @ answers / max(1, weights.sum())
    covariance = (answers - mean).T @ ((answers - mean) * weights[:, None])
    spread = np.sqrt(np.where(np.diag(covariance) > 1e-9, np.diag(covariance), np.nan))
    matrix = covariance / np.outer(spread, spread)
    for i in range(n_items):
        others = np.arange(n_items) != i
        of_rest = covariance[others][:, others].sum()
        room = spread[i] * np.sqrt(of_rest) if of_rest > 1e-9 else np.nan
        yield ("with_rest", i), covariance[i, others].sum() / room
        of_others = matrix[i, others]
        has_value = np.isfinite(of_others).any()
        yield ("with_others", i), np.nanmean(of_others) if has_value else np.nan
        for j in range(i + 1, n_items):
            yield (i, j), matrix[i, j]


def ends_of(values, n, is_drawn, least=-1):
    """Both ends from the values in resamples; of fewer clusters from that of all, then without each."""
    if n < 2:
        return None
    if is_drawn:
        return clip(percentile(values), (least, 1))
    without = values[1:]
    if np.isnan(values).any() or np.ptp(without) < ALIKE:
        return None
    return clip(around(values[0], (n - 1) / n * ((without - without.mean()) ** 2).sum(), n), (least, 1))
