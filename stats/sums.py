"""Coefficients as functions of sums over units, so that many resamples cost one matrix product.

Alphas that a report prints come from krippendorff (`stats.agreement`). Intervals and chance floors need them a thousand
times an item, which is what these are for; tests hold the two equal, and kappas to statsmodels and irrCAC. Counts have
shape (..., U, V): how many raters gave unit u the value v. Where a coefficient would be 0/0 it is nan here.
"""

from collections.abc import Sequence
from math import comb
from typing import Literal, TypeAlias

import numpy as np

from stats.arrays import FloatArray, IntArray

Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
ROUNDING = 1e-12


def ordinal_kernel(points: int) -> FloatArray:
    """How far two answers on a scale count as agreement, shape (points, points): 1 on the diagonal, 0 in the corners.

    1 - C(|k - l| + 1, 2) / C(points, 2): the "ordinal" weights of Gwet's Handbook of Inter-Rater Reliability.
    """
    disagreement = [[comb(abs(k - m) + 1, 2) / comb(points, 2) for m in range(points)] for k in range(points)]
    return np.asarray(1 - np.array(disagreement), dtype=np.float64)


def kappa_parts(counts: IntArray | FloatArray, kernel: FloatArray | None = None) -> FloatArray:
    """Per unit what kappas and Gwet's coefficients sum, shape (..., U, V + 3): the share of each value, 1 if anybody
    rated it, agreement, 1 if it has two ratings.

    kernel : how far two values agree, shape (V, V); without one only equal values do
    """
    n = counts.sum(axis=-1, keepdims=True)
    alike = counts if kernel is None else counts @ kernel
    agreeing = (counts * alike).sum(axis=-1, keepdims=True) - n
    has_pair = n >= 2
    parts = (counts / np.maximum(n, 1), n >= 1, np.where(has_pair, agreeing / np.maximum(n * (n - 1), 1), 0), has_pair)
    return np.concatenate(parts, axis=-1, dtype=np.float64)


def kappa_parts_of_alike(totals: FloatArray, squares: FloatArray, n: IntArray) -> FloatArray:
    """Sums of `kappa_parts` over units that all have n ratings, shape (..., V + 3).

    totals : sums over the units of the counts of each value, shape (..., V)
    squares : sums over the units and values of their squares, shape (...); n : one or more, as broadcasts with them
    """
    n_units = totals.sum(axis=-1) / n
    has_pair = n >= 2
    agreeing = np.where(has_pair, (squares - n * n_units) / np.maximum(n * (n - 1), 1), 0)
    shares = totals / np.asarray(n)[..., np.newaxis]
    return np.concatenate([shares, np.stack([n_units, agreeing, n_units * has_pair], axis=-1)], axis=-1)


def kappa_of(sums: FloatArray) -> FloatArray:
    """The kappas of sums of `kappa_parts`, shape (..., V + 3) to (...): agreement over the units with two ratings or
    more, chance from the mean of the shares of all that are rated."""
    shares = sums[..., :-3] / np.maximum(sums[..., [-3]], 1)
    observed = sums[..., -2] / np.maximum(sums[..., -1], 1)
    chance = (shares**2).sum(axis=-1)
    room = np.where((sums[..., -1] > 0) & (chance < 1), 1 - chance, np.nan)
    return np.asarray((observed - chance) / room, dtype=np.float64)


def centre(ratings: FloatArray) -> FloatArray:
    """The ratings less one of those in their middle, so that sums of squares of large numbers keep their digits."""
    present = np.sort(ratings[~np.isnan(ratings)])
    return ratings - present[present.size // 2] if present.size else ratings


def interval_parts_of(ratings: FloatArray) -> FloatArray:
    """Per unit what alpha at the interval level sums, shape (R, U) to (U, 4). It needs no matrix of the values."""
    centred = centre(ratings)
    return interval_parts((~np.isnan(centred)).sum(axis=0), np.nansum(centred, axis=0), np.nansum(centred**2, axis=0))


def interval_parts(n: IntArray, total: FloatArray, squares: FloatArray) -> FloatArray:
    """Per unit: squared differences within it, n, the sum of its ratings and of their squares, shape (...) to (..., 4).

    A unit with fewer than two ratings contributes nothing.
    """
    within = 2 * (n * squares - total**2) / np.maximum(n - 1, 1)
    parts = np.stack(np.broadcast_arrays(within, n, total, squares), axis=-1)
    return np.where(parts[..., 1:2] >= 2, parts, 0.0)


def interval_alpha_of(sums: FloatArray) -> FloatArray:
    """Krippendorff's alphas at the interval level of sums of `interval_parts`, shape (..., 4) to (...)."""
    within, n, total, squares = np.moveaxis(sums, -1, 0)
    expected = 2 * (n * squares - total**2)
    # What rounding leaves of ratings that are all the same is not a variance.
    varying = np.where(expected > ROUNDING * n * squares, expected, np.nan)
    return np.asarray(1 - np.maximum(n - 1, 0) * within / varying, dtype=np.float64)


def coincidences(counts: IntArray | FloatArray) -> FloatArray:
    """Krippendorff's coincidence matrix, shape (..., U, V) to (..., V, V); units with one rating contribute nothing."""
    n = counts.sum(axis=-1, keepdims=True)
    scaled = np.where(n >= 2, counts / np.maximum(n - 1, 1), 0.0)
    pairs = np.swapaxes(scaled, -1, -2) @ counts
    diagonal = np.eye(counts.shape[-1]) * scaled.sum(axis=-2)[..., np.newaxis, :]
    return np.asarray(pairs - diagonal, dtype=np.float64)


def alpha_parts(counts: IntArray) -> FloatArray:
    """The coincidence matrix of each unit, flat: shape (U, V) to (U, V * V). They add up to that of all units."""
    n_units, n_values = counts.shape
    return coincidences(counts[:, np.newaxis, :]).reshape(n_units, n_values * n_values)


def alpha_of(coincidence: FloatArray, values: Sequence[float] | FloatArray, level: Level) -> FloatArray:
    """Krippendorff's alphas of coincidence matrices, shape (..., V, V) to (...)."""
    n_v = coincidence.sum(axis=-1)
    n = n_v.sum(axis=-1)
    distance = _distances(n_v, np.asarray(values, dtype=np.float64), level)
    observed = (coincidence * distance).sum(axis=(-1, -2))
    expected = (n_v[..., :, np.newaxis] * n_v[..., np.newaxis, :] * distance).sum(axis=(-1, -2))
    ratio = np.maximum(n - 1, 0) * observed / np.where(expected > 0, expected, np.nan)
    return np.asarray(1 - ratio, dtype=np.float64)


def _distances(n_v: FloatArray, values: FloatArray, level: Level) -> FloatArray:
    """Squared distances of the values, shape (..., V, V).

    The ordinal distance counts the ratings that lie between two values, half of either end included. That is the
    distance of their mid-ranks, so it depends on the marginals and is recomputed for every resample.
    """
    if level == "nominal":
        return 1 - np.eye(len(values))
    positions = values if level == "interval" else np.cumsum(n_v, axis=-1) - n_v / 2
    return np.asarray((positions[..., :, np.newaxis] - positions[..., np.newaxis, :]) ** 2, dtype=np.float64)
