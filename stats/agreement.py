"""How far raters agree. Units carry their ratings; a rater who has not judged a unit has nan there."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import SupportsFloat, get_args

import krippendorff
import numpy as np
import numpy.typing as npt
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss_kappa

from stats import shuffles, sums
from stats.arrays import FloatArray, IntArray, as_pairs, as_ratings, values_of
from stats.reasons import Incomputable, TooFewRaters
from stats.sums import Level


@dataclass(frozen=True)
class Coefficient:
    """A value with what must be reported with it: its name and form, and the data it is based on.

    n_units : units that entered
    n_raters : different raters among their ratings
    note : what a reader must know before believing it; empty if nothing
    """

    value: float
    name: str
    n_units: int
    n_raters: int
    note: str = ""

    def __float__(self) -> float:
        return self.value


@dataclass(frozen=True)
class Floor:
    """What a statistic gives when raters answer without looking at the unit: mean and 97.5th percentile of shuffles."""

    mean: float
    upper: float
    n_shuffles: int


def counts(ratings: npt.ArrayLike, values: npt.ArrayLike) -> IntArray:
    """How many raters gave each unit each value, shape (U, V).

    Raises ValueError if a rating is not among the values.
    """
    array = as_ratings(ratings)
    table = _counted(array, np.asarray(values, dtype=np.float64))
    if table.sum() != (~np.isnan(array)).sum():
        raise ValueError("Some ratings are not among the values to count.")
    return table


def percent_agreement(ratings: npt.ArrayLike) -> float:
    """How many of 100 pairs of raters of a unit agree: the mean over units with two or more ratings.

    Raises TooFewRaters if no unit has two ratings.
    """
    table, _ = _pairable(as_ratings(ratings))
    return float(100 * sums.kappa_parts(table)[:, -2].mean())


def base_rate(ratings: npt.ArrayLike, value: float = 1.0) -> float:
    """The share of ratings that are this value (1 is Yes), between 0 and 1.

    Raises Incomputable if there are no ratings.
    """
    array = np.asarray(ratings, dtype=np.float64)
    present = array[~np.isnan(array)]
    if not present.size:
        raise Incomputable("no_ratings")
    return float((present == value).mean())


def fleiss_kappa(ratings: npt.ArrayLike, raters: IntArray | None = None) -> Coefficient:
    """Fleiss' kappa generalised to unequally many ratings: agreement over all units with two or more, chance from the
    mean of the shares of all units that are rated. Where all have as many it is that of Fleiss.

    raters : who gave each rating, by number, shape (R, U), where a row is not one rater's
    Raises TooFewRaters if no unit has two ratings, Incomputable if all ratings are the same.
    Source: Gwet 2014, Handbook of Inter-Rater Reliability, 4th edition, chapter 2; reproduces irrCAC. Fleiss 1971,
    Psychological Bulletin 76(5), 378-382; reproduces its example (30 patients, 6 raters: .430).
    """
    array = as_ratings(ratings)
    table = _counted(array, values_of(array))
    _refuse_too_few(table)
    _refuse_one_value(table, "Fleiss' kappa")
    n = table.sum(axis=1)
    is_used = n >= 2
    least, most, n_units = int(n[is_used].min()), int(n.max()), int(is_used.sum())
    ratings_each = f"{least} ratings a unit" if least == most else f"{least} to {most} ratings a unit"
    note = "; ".join(filter(None, [ratings_each, _left_out(array, n_units)]))
    value = float(sums.kappa_of(sums.kappa_parts(table).sum(axis=0)))
    n_raters = _n_raters(array[:, is_used], None if raters is None else raters[:, is_used])
    return Coefficient(value, "Fleiss' kappa", n_units, n_raters, note)


def fleiss_kappa_of_complete_units(ratings: npt.ArrayLike) -> Coefficient:
    """Fleiss' kappa in its first form, over the units that have the usual number of ratings alone; the note says so.

    It is for what was published in that form. Raises what `fleiss_kappa` raises.
    """
    array = as_ratings(ratings)
    complete = _complete_units(array)
    used = array[:, complete]
    table, _ = _pairable(used)
    _refuse_one_value(table, "Fleiss' kappa")
    n_per_unit, n_left_out = int(table[0].sum()), int((~complete).sum())
    note = f"{n_per_unit} ratings a unit"
    if n_left_out:
        note += f"; {n_left_out} of {array.shape[1]} units left out, which have more or fewer"
    value = float(statsmodels_fleiss_kappa(table, method="fleiss"))
    return Coefficient(value, "Fleiss' kappa, complete units", len(table), _n_raters(used), note)


def kappa_parts(ratings: npt.ArrayLike) -> FloatArray:
    """What each unit adds to `fleiss_kappa`, as `sums.kappa_parts` has it, shape (R, U) to (U, V + 3).

    Raises TooFewRaters if no unit has two ratings.
    """
    array = as_ratings(ratings)
    table = _counted(array, values_of(array))
    _refuse_too_few(table)
    return sums.kappa_parts(table)


def kappa_with_one_agreed(ratings: npt.ArrayLike) -> float | None:
    """`fleiss_kappa` with one more unit on which all agree on the rarer of two answers; None where a unit has it twice,
    or there are not two.
    """
    array = as_ratings(ratings)
    table = _counted(array, values_of(array))
    if table.shape[1] != 2:
        return None
    rarer = int(table.sum(axis=0).argmin())
    if (table[:, rarer] > 1).any():
        return None
    agreed = np.eye(2)[rarer] * table.sum(axis=1).max()
    return float(sums.kappa_of(sums.kappa_parts(np.vstack([table, agreed])).sum(axis=0)))


def krippendorff_alpha(ratings: npt.ArrayLike, level: Level, raters: IntArray | None = None) -> Coefficient:
    """Krippendorff's alpha over all units with two or more ratings, with the distance of the level of measurement.

    raters : who gave each rating, by number, shape (R, U), where a row is not one rater's
    Raises TooFewRaters if no unit has two ratings, Incomputable if all ratings that can be paired are the same.
    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability; reproduces its sections A to D.
    """
    if level not in get_args(Level):
        raise ValueError(f"Alpha is computed at level {', '.join(get_args(Level))}, not {level!r}.")
    array = as_ratings(ratings)
    table, values = _pairable(array)
    _refuse_one_value(table, "Krippendorff's alpha")
    if level == "interval":
        # The package wants memory for units × values², which numbers typed freely have too many of.
        value = float(sums.interval_alpha_of(sums.interval_parts_of(array).sum(axis=0)))
    else:
        value = float(krippendorff.alpha(value_counts=table, value_domain=values, level_of_measurement=level))
    is_used = _n_ratings(array) >= 2
    n_raters = _n_raters(array[:, is_used], None if raters is None else raters[:, is_used])
    return Coefficient(value, f"Krippendorff's alpha, {level}", len(table), n_raters, _left_out(array, len(table)))


def brennan_prediger(ratings: npt.ArrayLike, n_values: npt.ArrayLike) -> Coefficient:
    """Brennan and Prediger's kappa: agreement beyond that of raters who take all possible answers equally often.

    It is for answers whose names mean nothing from unit to unit, such as which story of a pair is better: other
    coefficients would depend on which of the two is called the first.

    n_values : how many answers are possible, one number or one of each unit, shape (U,)

    Raises TooFewRaters if no unit has two ratings.
    Source: Brennan & Prediger 1981, Educational and Psychological Measurement 41(3), 687-699; with two possible answers
    it is the S of Bennett, Alpert & Goldstein 1954.
    """
    array = as_ratings(ratings)
    is_used = _n_ratings(array) >= 2
    table, _ = _pairable(array)
    observed = float(sums.kappa_parts(table)[:, -2].mean())
    expected = float((1 / np.broadcast_to(np.asarray(n_values, dtype=np.float64), is_used.shape)[is_used]).mean())
    value = (observed - expected) / (1 - expected)
    note = _left_out(array, len(table))
    return Coefficient(value, "Brennan and Prediger's kappa", len(table), _n_raters(array[:, is_used]), note)


def weighted_fleiss(ratings: npt.ArrayLike, points: int, *, first: int = 1) -> Coefficient:
    """Fleiss' kappa with agreement weighted by nearness on the scale, but chance agreement not.

    No measure of agreement: near answers count as agreement, while chance is what equal answers alone
    would give, so raters who answer at random score far above 0 (.65 if they spread evenly over five points, .70 at a
    standard deviation of 1.3). It is here because a published study reports it as
    Krippendorff's alpha; show it with its chance floor. Units with two or more ratings enter.

    points, first : the scale, five points from 1 unless told

    Raises ValueError for a rating off the scale; TooFewRaters; Incomputable if all ratings are the same.
    Source: Harel-Canada et al. 2024, Measuring Psychological Depth in Language Models, table 1.
    """
    array = as_ratings(ratings)
    table = counts(array, np.arange(first, first + points))
    table = table[table.sum(axis=1) >= 2]
    _refuse_too_few(table)
    _refuse_one_value(table, "The weighted Fleiss coefficient")
    value = float(sums.kappa_of(sums.kappa_parts(table, sums.ordinal_kernel(points)).sum(axis=0)))
    used = array[:, _n_ratings(array) >= 2]
    name = "Fleiss coefficient, agreement weighted, chance unweighted"
    return Coefficient(value, name, len(table), _n_raters(used), _left_out(array, len(table)))


def cohen_kappa(a: npt.ArrayLike, b: npt.ArrayLike) -> Coefficient:
    """Cohen's kappa of two raters over the units that both rated. Shapes (U,), nan where missing.

    If one side is constant it is 0 whatever the other says, and the note says so; such a 0 enters means.

    Raises Incomputable if they share no unit, or if both always give the same one value (0/0).
    """
    first, second = as_pairs(a, b)
    if not first.size:
        raise Incomputable("no_shared_unit")
    n_values = len(np.unique(first)), len(np.unique(second))
    if n_values == (1, 1) and first[0] == second[0]:
        raise Incomputable("both_constant")
    if 1 in n_values:
        return Coefficient(0.0, "Cohen's kappa", first.size, 2, "0 because one side always gives the same value")
    codes = np.unique(np.concatenate([first, second]), return_inverse=True)[1]
    value = float(cohen_kappa_score(codes[: first.size], codes[first.size :]))
    return Coefficient(value, "Cohen's kappa", first.size, 2)


def chance_floor(
    ratings: npt.ArrayLike,
    statistic: Callable[[FloatArray], SupportsFloat],
    *,
    rng: np.random.Generator,
    n_shuffles: int = 1000,
) -> Floor:
    """The statistic on ratings shuffled within each rater, who keep their own answers and their own gaps.

    Raises Incomputable if the statistic is so for every shuffle.
    """
    values = []
    for batch in _shuffled(as_ratings(ratings), rng, n_shuffles):
        for shuffled in batch:
            try:
                values.append(float(statistic(shuffled)))
            except Incomputable:
                values.append(np.nan)
    return floor_of(np.array(values))


def fleiss_chance_floor(ratings: npt.ArrayLike, *, rng: np.random.Generator, n_shuffles: int = 1000) -> Floor:
    """`chance_floor` of `fleiss_kappa`, many shuffles at a time; from the same seed the same to rounding."""
    return mean_fleiss_chance_floor(as_ratings(ratings)[np.newaxis], rng=rng, n_shuffles=n_shuffles)


def mean_fleiss_chance_floor(ratings: npt.ArrayLike, *, rng: np.random.Generator, n_shuffles: int = 1000) -> Floor:
    """The chance floor of the mean of several items' kappas, shape (I, R, U).

    All of a rater's answers about a unit are shuffled as one, since they go together: a mean of items shuffled each for
    itself would look steadier than it is. It is not the mean of the items' own floors either.

    Raises TooFewRaters if an item has no unit with two ratings; Incomputable if no shuffle gives every item a kappa.
    """
    return fleiss_chance_floors(ratings, rng=rng, n_shuffles=n_shuffles)[1]()


def fleiss_chance_floors(
    ratings: npt.ArrayLike, *, rng: np.random.Generator, n_shuffles: int = 1000
) -> tuple[list[Callable[[], Floor]], Callable[[], Floor]]:
    """The chance floor of each of several items' kappas, and that of their mean, all from the same shuffles.

    Each is called to be had, and raises Incomputable if no shuffle gives it a value. ratings : shape (I, R, U)
    Raises TooFewRaters if an item has no unit with two ratings.
    """
    cube = np.asarray(ratings, dtype=np.float64)
    if not (np.isfinite(cube).sum(axis=1) >= 2).any(axis=1).all():
        raise TooFewRaters("no_unit_with_two_ratings")
    values = values_of(cube)
    batches = [sums.kappa_of(totals) for totals in shuffles.kappa_sums(cube, values, rng=rng, n_shuffles=n_shuffles)]
    kappas = np.concatenate(batches, axis=1)
    return [partial(floor_of, own) for own in kappas], partial(floor_of, kappas.mean(axis=0))


def alpha_chance_floor(
    ratings: npt.ArrayLike, level: Level, *, rng: np.random.Generator, n_shuffles: int = 1000
) -> Floor:
    """`chance_floor` of `krippendorff_alpha`, many shuffles at a time; from the same seed the same to rounding."""
    array = as_ratings(ratings)
    values, is_used = values_of(array), _n_ratings(array) >= 2
    if not is_used.any():
        raise TooFewRaters("no_unit_with_two_ratings")
    if level == "interval":
        totals = shuffles.totals(sums.centre(array), is_used, rng=rng, n_shuffles=n_shuffles)
        alphas = [sums.interval_alpha_of(sums.interval_parts(n, s, squares).sum(axis=1)) for s, squares, n in totals]
        return floor_of(np.concatenate(alphas))
    cube, used = array[np.newaxis], is_used[np.newaxis]
    alphas = [
        sums.alpha_of(sums.coincidences(table), values, level)
        for (table,) in shuffles.counts(cube, values, used, rng=rng, n_shuffles=n_shuffles)
    ]
    return floor_of(np.concatenate(alphas))


def floor_of(values: FloatArray, *, better: int = 1) -> Floor:
    """The floor of shuffles' values, shape (B,), nan where there is none.

    better : 1 if more is better; -1 if less is, and then the upper end is the 2.5th percentile
    Raises Incomputable if there is no value.
    """
    computed = values[~np.isnan(values)]
    if not computed.size:
        raise Incomputable("no_shuffle_with_value")
    end = 0.975 if better > 0 else 0.025
    return Floor(float(computed.mean()), float(np.quantile(computed, end)), computed.size)


def _complete_units(ratings: FloatArray) -> npt.NDArray[np.bool_]:
    """Which units have the usual number of ratings: the commonest number of two or more; of two as common, the larger.

    The commonest and not the largest, so that one rating too many on one unit does not throw out all others.

    Raises TooFewRaters if no unit has two ratings.
    """
    n = _n_ratings(ratings)
    if not (n >= 2).any():
        raise TooFewRaters("no_unit_with_two_ratings")
    sizes, n_units = np.unique(n[n >= 2], return_counts=True)
    usual = sizes[n_units == n_units.max()].max()
    return np.asarray(n == usual, dtype=np.bool_)


def _n_ratings(ratings: FloatArray) -> IntArray:
    return np.asarray((~np.isnan(ratings)).sum(axis=0), dtype=np.int64)


def _n_raters(ratings: FloatArray, raters: IntArray | None = None) -> int:
    """How many different raters gave these; raters : of each rating, where a row is not one rater's."""
    is_given = ~np.isnan(ratings)
    return int(is_given.any(axis=1).sum() if raters is None else np.count_nonzero(np.bincount(raters[is_given])))


def _counted(ratings: FloatArray, values: FloatArray) -> IntArray:
    """Counts of shape (..., U, V) from ratings of shape (..., R, U), value by value to spare memory."""
    columns = [(ratings == value).sum(axis=-2) for value in values]
    empty = np.zeros((*ratings.shape[:-2], ratings.shape[-1], 0), dtype=np.int64)
    return np.stack(columns, axis=-1) if columns else empty


def _pairable(ratings: FloatArray) -> tuple[IntArray, FloatArray]:
    """The counts of units with two or more ratings, and the values counted."""
    values = values_of(ratings)
    table = _counted(ratings, values)
    table = table[table.sum(axis=1) >= 2]
    _refuse_too_few(table)
    return table, values


def _refuse_too_few(table: IntArray) -> None:
    if not (table.sum(axis=-1) >= 2).any():
        raise TooFewRaters("no_unit_with_two_ratings")


def _refuse_one_value(table: IntArray, name: str) -> None:
    if (table.sum(axis=0) > 0).sum() == 1:
        raise Incomputable("all_ratings_alike", name=name)


def _left_out(ratings: FloatArray, n_used: int) -> str:
    n_units = ratings.shape[1]
    return (
        ""
        if n_used == n_units
        else f"{n_units - n_used} of {n_units} units left out, which have fewer than two ratings"
    )


def _shuffled(ratings: FloatArray, rng: np.random.Generator, n_shuffles: int) -> Iterator[FloatArray]:
    """Batches of ratings shuffled within rater, shape (at most shuffles.AT_ONCE, R, U), n_shuffles in all."""
    for start in range(0, n_shuffles, shuffles.AT_ONCE):
        size = min(shuffles.AT_ONCE, n_shuffles - start)
        batch = np.repeat(ratings[np.newaxis], size, axis=0)
        for rater, row in enumerate(ratings):
            present = np.flatnonzero(~np.isnan(row))
            batch[:, rater, present] = rng.permuted(batch[:, rater, present], axis=1)
        yield batch
