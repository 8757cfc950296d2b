"""What each rater does to a panel's results: how strict they are beside the others, and agreement without them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stats import sums
from stats.arrays import FloatArray, IntArray, as_ratings, values_of
from stats.reasons import Incomputable
from stats.sums import Level


@dataclass(frozen=True)
class RaterDifferences:
    """How far a rater's ratings of a unit lie from the mean of the others' of the same unit, one entry a pair.

    raters, units : indices, shape (P,), by rater and unit
    values : the mean over the items that the rater and somebody else answered, own less others'
    others : the mean of the others', over the same items
    """

    raters: IntArray
    units: IntArray
    values: FloatArray
    others: FloatArray


def differences(ratings: npt.ArrayLike) -> RaterDifferences:
    """Each rater less the co-raters, unit by unit.

    ratings : shape (I, R, U), nan where there is none

    Raises Incomputable if no unit has two ratings.
    """
    cube = np.asarray(ratings, dtype=np.float64)
    n_items, _n_raters, n_units = cube.shape
    items, raters, units = np.nonzero(np.isfinite(cube))
    numbers = cube[items, raters, units]
    cells = items * n_units + units
    n = np.bincount(cells, minlength=n_items * n_units)[cells]
    total = np.bincount(cells, weights=numbers, minlength=n_items * n_units)[cells]
    is_shared = n >= 2
    if not is_shared.any():
        raise Incomputable("no_unit_with_two_ratings")
    others = (total - numbers)[is_shared] / (n[is_shared] - 1)
    pairs, pair_of = np.unique(raters[is_shared] * n_units + units[is_shared], return_inverse=True)
    n_by_pair = np.bincount(pair_of)
    mean_others = np.bincount(pair_of, weights=others) / n_by_pair
    own = np.bincount(pair_of, weights=numbers[is_shared]) / n_by_pair
    return RaterDifferences(pairs // n_units, pairs % n_units, own - mean_others, mean_others)


def fleiss_without_each(ratings: npt.ArrayLike) -> FloatArray:
    """`agreement.fleiss_kappa` of the ratings without each rater in turn, shape (R,).

    nan where no unit has two ratings left, or all that is left is the same.
    """
    array = as_ratings(ratings)
    table, raters, units, reduced = _tables(array, values_of(array))
    kappas = sums.kappa_of(_without(sums.kappa_parts(table), sums.kappa_parts(reduced), raters, units, len(array)))
    # Counted, since what rounding leaves of a value that nobody else gave is not a value.
    n_by_value = _without(table, reduced, raters, units, len(array))
    return np.where((n_by_value > 0).sum(axis=1) > 1, kappas, np.nan)


def alpha_without_each(ratings: npt.ArrayLike, level: Level) -> FloatArray:
    """Krippendorff's alpha of the ratings without each rater in turn, shape (R,); nan where it has no value."""
    array = as_ratings(ratings)
    values = values_of(array)
    if level == "interval":
        return _interval_alpha_without_each(array)
    table, raters, units, reduced = _tables(array, values)
    n_values = len(values)
    totals = _without(sums.alpha_parts(table), sums.alpha_parts(reduced), raters, units, len(array))
    alphas = sums.alpha_of(totals.reshape(len(array), n_values, n_values), values, level)
    pairable = np.where(table.sum(axis=1, keepdims=True) >= 2, table, 0)
    pairable_reduced = np.where(reduced.sum(axis=1, keepdims=True) >= 2, reduced, 0)
    # Counted, since what rounding leaves of a value that nobody else gave is not a value.
    n_by_value = _without(pairable, pairable_reduced, raters, units, len(array))
    return np.where((n_by_value > 0).sum(axis=1) > 1, alphas, np.nan)


def brennan_prediger_without_each(ratings: npt.ArrayLike, n_values: npt.ArrayLike) -> FloatArray:
    """`agreement.brennan_prediger` of the ratings without each rater in turn, shape (R,); nan where nothing is left."""
    array = as_ratings(ratings)
    table, raters, units, reduced = _tables(array, values_of(array))
    expected = 1 / np.broadcast_to(np.asarray(n_values, dtype=np.float64), table.shape[:1])

    def parts(counts: IntArray, chance: FloatArray) -> FloatArray:
        agreeing, has_pair = sums.kappa_parts(counts)[:, -2], counts.sum(axis=1) >= 2
        return np.stack([agreeing, np.where(has_pair, chance, 0.0), has_pair], axis=-1)

    totals = _without(parts(table, expected), parts(reduced, expected[units]), raters, units, len(array))
    n = np.where(totals[:, 2] > 0, totals[:, 2], np.nan)
    return np.asarray((totals[:, 0] - totals[:, 1]) / n / (1 - totals[:, 1] / n), dtype=np.float64)


def _tables(array: FloatArray, values: FloatArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Counts of each unit, shape (U, V); rater and unit of each rating, (A,); the unit's counts without it, (A, V)."""
    raters, units = np.nonzero(np.isfinite(array))
    codes = np.searchsorted(values, array[raters, units])
    table = np.zeros((array.shape[1], len(values)), dtype=np.int64)
    np.add.at(table, (units, codes), 1)
    reduced = table[units]
    reduced[np.arange(len(codes)), codes] -= 1
    return table, raters, units, reduced


def _without(
    parts: npt.NDArray[np.float64] | IntArray,
    parts_reduced: npt.NDArray[np.float64] | IntArray,
    raters: IntArray,
    units: IntArray,
    n_raters: int,
) -> FloatArray:
    """Sums over units without each rater, shape (R, P), from what units give with and without each rating."""
    change = np.zeros((n_raters, parts.shape[1]))
    np.add.at(change, raters, parts_reduced - parts[units])
    return np.asarray(parts.sum(axis=0) + change, dtype=np.float64)


def _interval_alpha_without_each(array: FloatArray) -> FloatArray:
    centred = sums.centre(array)
    raters, units = np.nonzero(np.isfinite(centred))
    numbers = centred[raters, units]
    n, total = np.isfinite(centred).sum(axis=0), np.nansum(centred, axis=0)
    squares = np.nansum(centred**2, axis=0)
    reduced = sums.interval_parts(n[units] - 1, total[units] - numbers, squares[units] - numbers**2)
    return sums.interval_alpha_of(_without(sums.interval_parts(n, total, squares), reduced, raters, units, len(array)))
