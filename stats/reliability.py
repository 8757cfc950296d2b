"""How reliable ratings are where kappa misleads, and where numbers are averaged: Gwet's AC and intraclass correlations.

Both are functions of sums over units, so that many resamples cost one matrix product (see `stats.sums`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from stats import agreement, shuffles, sums
from stats.agreement import Coefficient, Floor
from stats.arrays import BoolArray, FloatArray, IntArray, as_ratings
from stats.intervals import Interval
from stats.reasons import Incomputable, TooFewRaters
from stats.resamples import Resamples

Weights = Literal["identity", "ordinal"]
Design = Literal["one-way", "two-way"]
NAMES = {"identity": "Gwet's AC1", "ordinal": "Gwet's AC2, ordinal weights"}
CROSSED_FROM = 0.9  # of the units with two ratings, those that all raters rated


def gwet_ac(ratings: npt.ArrayLike, values: npt.ArrayLike, weights: Weights = "identity") -> Coefficient:
    """Gwet's AC1, or AC2 with weights: agreement beyond that of raters who answer some units at random.

    Unlike kappa it does not fall where nearly all answers are the same. Every rated unit enters its chance, units with
    two or more ratings its agreement.

    values : all that could be answered, ascending, shape (V,)

    Raises TooFewRaters if no unit has two ratings, Incomputable if only one answer is possible.
    Source: Gwet 2014, Handbook of Inter-Rater Reliability, 4th edition, chapters 3 and 5; "ordinal" are its weights and
    those of irrCAC, not Krippendorff's distance; reproduces irrCAC on Krippendorff's example (.775; ordinal .899).
    """
    array = as_ratings(ratings)
    table = agreement.counts(array, values)
    n_units = int((table.sum(axis=1) >= 2).sum())
    if not n_units:
        raise TooFewRaters("no_unit_with_two_ratings")
    kernel = _kernel(weights, table.shape[1])
    value = float(gwet_of(sums.kappa_parts(table, kernel).sum(axis=0), kernel))
    n_raters = int(np.isfinite(array).any(axis=1).sum())
    return Coefficient(value, NAMES[weights], n_units, n_raters)


def gwet_of(totals: FloatArray, kernel: FloatArray) -> FloatArray:
    """Gwet's coefficients of sums of `sums.kappa_parts`, shape (..., V + 3) to (...); nan without a unit with two
    ratings."""
    n_values = len(kernel)
    shares = totals[..., :n_values] / np.maximum(totals[..., [n_values]], 1)
    n_pairable = totals[..., -1]
    observed = totals[..., -2] / np.where(n_pairable > 0, n_pairable, np.nan)
    chance = kernel.sum() / (n_values * (n_values - 1)) * (shares * (1 - shares)).sum(axis=-1)
    return np.asarray((observed - chance) / (1 - chance), dtype=np.float64)


def gwet_interval(
    ratings: npt.ArrayLike, values: npt.ArrayLike, resamples: Resamples, *, weights: Weights = "identity"
) -> Interval:
    """The 95 % interval of `gwet_ac` over clusters. Raises Incomputable as `Resamples.interval` does."""
    table = agreement.counts(ratings, values)
    kernel = _kernel(weights, table.shape[1])
    totals = resamples.sums(sums.kappa_parts(table, kernel))
    return resamples.interval(gwet_of(totals, kernel)).clipped(-1, 1)


def gwet_floors(
    ratings: npt.ArrayLike,
    values: npt.ArrayLike,
    *,
    weights: Weights = "identity",
    rng: np.random.Generator,
    n_shuffles: int = 1000,
) -> list[Floor]:
    """The chance floors of several items, shape (I, R, U), from the same shuffles within raters.

    Raises Incomputable if an item has no unit with two ratings.
    """
    cube = np.asarray(ratings, dtype=np.float64)
    domain = np.asarray(values, dtype=np.float64)
    kernel = _kernel(weights, domain.size)
    if weights == "identity":
        batches_of_all = shuffles.kappa_sums(cube, domain, rng=rng, n_shuffles=n_shuffles)
        return [_floor(own) for own in np.concatenate([gwet_of(part, kernel) for part in batches_of_all], axis=1)]
    is_used: BoolArray = np.asarray(np.isfinite(cube).any(axis=1), dtype=np.bool_)
    batches = [
        [gwet_of(_gwet_totals(table, kernel), kernel) for table in tables]
        for tables in shuffles.counts(cube, domain, is_used, rng=rng, n_shuffles=n_shuffles)
    ]
    return [_floor(np.concatenate([batch[n] for batch in batches])) for n in range(len(cube))]


@dataclass(frozen=True)
class Intraclass:
    """The intraclass correlation of one rating, and of the mean of as many as a unit has.

    design : "two-way" where the same raters rated all units, ICC(A,1) and ICC(A,k): absolute agreement, raters random;
        "one-way" where raters differ from unit to unit, ICC(1,1) and ICC(1,k)
    k : ratings a unit; of unequally many the number that the analysis of variance gives
    single, average : with name, units and raters
    """

    design: Design
    k: float
    single: Coefficient
    average: Coefficient


@dataclass(frozen=True)
class IntraclassMaterial:
    """The ratings that enter an intraclass correlation, shape (R, U), and their design.

    is_used : which of the units these are, shape (all units,)
    """

    ratings: FloatArray
    design: Design
    is_used: BoolArray

    def parts(self) -> FloatArray:
        """Per unit what the analysis of variance sums, shape (U, P)."""
        if self.design == "one-way":
            present = np.isfinite(self.ratings)
            return _one_way_parts(present.sum(axis=0), np.nansum(self.ratings, axis=0), _squares(self.ratings))
        totals = self.ratings.sum(axis=0)
        columns = [np.ones(totals.size), totals, totals**2, (self.ratings**2).sum(axis=0), *self.ratings]
        return np.stack(columns, axis=-1)

    def values(self, totals: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Single and average form, and k, of sums of `parts`, shape (..., P) to (...)."""
        return _one_way_of(totals) if self.design == "one-way" else _two_way_of(totals)


def read_material(ratings: npt.ArrayLike) -> IntraclassMaterial:
    """The units that can enter: those that all raters rated, where they are nine in ten of those with two ratings; else
    all with two or more.

    Raises TooFewRaters if fewer than two units have two ratings.
    """
    array = as_ratings(ratings)
    array = array[np.isfinite(array).any(axis=1)]
    n = np.isfinite(array).sum(axis=0)
    has_pair = n >= 2
    if has_pair.sum() < 2:
        raise TooFewRaters("fewer_than_two_units_rated_twice")
    is_complete = has_pair & (n == len(array))
    is_crossed = is_complete.sum() >= max(2, CROSSED_FROM * has_pair.sum())
    is_used = is_complete if is_crossed else has_pair
    used = sums.centre(array[:, is_used])
    return IntraclassMaterial(used, "two-way" if is_crossed else "one-way", is_used)


def intraclass(ratings: npt.ArrayLike) -> Intraclass:
    """The intraclass correlations of numbers, in the form that who rated what allows.

    Raises TooFewRaters if fewer than two units have two ratings, Incomputable if ratings, or the means of units, do not
    vary.
    Source: McGraw & Wong 1996, Psychological Methods 1(1), table 4; reproduces the example of Shrout & Fleiss 1979
    (table 4: .17 and .44 one-way, .29 and .62 two-way).
    """
    array = as_ratings(ratings)
    material = read_material(array)
    single, average, k = (float(part) for part in material.values(material.parts().sum(axis=0)))
    if np.isnan(single):
        raise Incomputable("ratings_do_not_vary")
    if np.isnan(average):  # it is held against the variance between units, which can come out as none
        raise Incomputable("units_alike")
    n_units = material.ratings.shape[1]
    n_raters = int(np.isfinite(material.ratings).any(axis=1).sum())
    letter = "A" if material.design == "two-way" else "1"
    n_rated = int(np.isfinite(array).any(axis=0).sum())
    note = f"{n_rated - n_units} of {n_rated} units left out" if n_rated > n_units else ""
    return Intraclass(
        material.design,
        k,
        Coefficient(single, f"ICC({letter},1)", n_units, n_raters, note),
        Coefficient(average, f"ICC({letter},k)", n_units, n_raters, note),
    )


def intraclass_intervals(ratings: npt.ArrayLike, resamples: Resamples) -> tuple[Interval, Interval]:
    """The 95 % intervals of both forms over clusters, raters held fixed.

    Raises what `read_material` and `Resamples.interval` raise.
    """
    material = read_material(ratings)
    single, average, _k = material.values(resamples.sums(material.parts(), material.is_used))
    return resamples.interval(single).clipped(-1, 1), resamples.interval(average).clipped(-1, 1)


def intraclass_floors(
    ratings: npt.ArrayLike, *, rng: np.random.Generator, n_shuffles: int = 1000
) -> tuple[Floor, Floor]:
    """The chance floors of both forms: the same on numbers shuffled within each rater."""
    material = read_material(ratings)
    used = material.ratings
    everywhere = np.ones(used.shape[1], dtype=np.bool_)
    single, average = [], []
    for totals, squares, n in shuffles.totals(used, everywhere, rng=rng, n_shuffles=n_shuffles):
        if material.design == "one-way":
            parts = _one_way_parts(n, totals, squares).sum(axis=1)
        else:
            # What each rater gave in all is the same in every shuffle.
            moments = np.stack([totals.sum(axis=1), (totals**2).sum(axis=1), squares.sum(axis=1)], axis=-1)
            n_units = np.full((len(moments), 1), used.shape[1], dtype=np.float64)
            by_rater = np.broadcast_to(used.sum(axis=1), (len(moments), len(used)))
            parts = np.concatenate([n_units, moments, by_rater], axis=-1)
        values = material.values(parts)
        single.append(values[0])
        average.append(values[1])
    return _floor(np.concatenate(single)), _floor(np.concatenate(average))


def _kernel(weights: Weights, n_values: int) -> FloatArray:
    if n_values < 2:
        raise Incomputable("one_answer_possible")
    return np.eye(n_values) if weights == "identity" else sums.ordinal_kernel(n_values)


def _gwet_totals(counts: FloatArray, kernel: FloatArray) -> FloatArray:
    """Sums of `sums.kappa_parts` over units that have equally many ratings in each shuffle: (B, U, V) to (B, V + 3)."""
    n = counts[0].sum(axis=-1)
    has_pair = n >= 2
    by_pairs = np.where(has_pair, 1 / np.maximum(n * (n - 1), 1), 0.0)
    agreeing = np.einsum("buv,buv,u->b", counts, counts @ kernel, by_pairs) - (n * by_pairs).sum()
    shares = np.einsum("buv,u->bv", counts, 1 / np.maximum(n, 1))
    n_units = [np.full(len(counts), float(number)) for number in ((n >= 1).sum(), has_pair.sum())]
    return np.concatenate([shares, np.stack([n_units[0], agreeing, n_units[1]], axis=-1)], axis=-1)


def _squares(ratings: FloatArray) -> FloatArray:
    return np.asarray(np.nansum(ratings**2, axis=0), dtype=np.float64)


def _one_way_parts(n: IntArray, totals: FloatArray, squares: FloatArray) -> FloatArray:
    """1, n, n², the sum, its square over n, and the sum of squares of each unit, shape (...) to (..., 6)."""
    return np.stack(np.broadcast_arrays(1.0, n, n**2, totals, totals**2 / n, squares), axis=-1)


def _one_way_of(parts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    m, n, n_squared, total, between_raw, squares = np.moveaxis(np.where(parts[..., :1] > 0, parts, np.nan), -1, 0)
    between = (between_raw - total**2 / n) / np.where(m > 1, m - 1, np.nan)
    within = (squares - between_raw) / np.where(n > m, n - m, np.nan)
    k = (n - n_squared / n) / np.where(m > 1, m - 1, np.nan)
    varies = squares - total**2 / n > sums.ROUNDING * squares
    single = (between - within) / np.where(varies, between + (k - 1) * within, np.nan)
    return single, (between - within) / np.where(varies & (between > 0), between, np.nan), k


def _two_way_of(parts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    drawn = np.where(parts[..., :1] > 0, parts, np.nan)  # a resample can have no unit
    m, total, rows_squared, squares = np.moveaxis(drawn[..., :4], -1, 0)
    by_rater = drawn[..., 4:]
    k = by_rater.shape[-1]
    mean_part = total**2 / (m * k)
    rows = rows_squared / k - mean_part
    columns = (by_rater**2).sum(axis=-1) / m - mean_part
    residual = squares - mean_part - rows - columns
    degrees = np.where(m > 1, m - 1, np.nan)
    ms_rows, ms_columns, ms_residual = rows / degrees, columns / (k - 1), residual / (degrees * (k - 1))
    varies = squares - mean_part > sums.ROUNDING * squares
    over_raters = (ms_columns - ms_residual) / m
    single = ms_rows + (k - 1) * ms_residual + k * over_raters
    average = ms_rows + over_raters
    least = sums.ROUNDING * squares  # what is smaller is rounding, and what it divides has no value
    difference = ms_rows - ms_residual
    return (
        difference / np.where(varies & (single > least), single, np.nan),
        difference / np.where(varies & (average > least), average, np.nan),
        np.full(np.shape(m), float(k)),
    )


def _floor(values: FloatArray) -> Floor:
    computed = values[np.isfinite(values)]
    if not computed.size:
        raise Incomputable("no_shuffle_with_value")
    return Floor(float(computed.mean()), float(np.quantile(computed, 0.975)), computed.size)
