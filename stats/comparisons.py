"""How two sets of scores go together. Columns have shape (U,); a unit where either is missing (nan) is left out."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats as scipy_stats
from sklearn.metrics import recall_score

from stats import shuffles
from stats.agreement import Floor, floor_of
from stats.arrays import FloatArray, IntArray, as_pairs, as_ratings, without_gaps, without_noise
from stats.reasons import Incomputable, TooFewRaters

ALIKE = 1e-12  # a variance below is none


@dataclass(frozen=True)
class Correlation:
    """A correlation with its name and the number of pairs of values it rests on."""

    value: float
    name: str
    n: int
    note: str = ""

    def __float__(self) -> float:
        return self.value


def pearson(a: npt.ArrayLike, b: npt.ArrayLike) -> Correlation:
    """Pearson's r. Raises Incomputable below two pairs or if one side is constant."""
    first, second = _varying(a, b)
    return Correlation(float(scipy_stats.pearsonr(first, second).statistic), "Pearson's r", first.size)


def spearman(a: npt.ArrayLike, b: npt.ArrayLike) -> Correlation:
    """Spearman's rho, ties at their mid-rank. Raises Incomputable below two pairs or if one side is constant."""
    first, second = _varying_beyond_noise(a, b)
    rho = scipy_stats.spearmanr(first, second).statistic
    return Correlation(float(rho), "Spearman's rho", first.size)


def kendall_tau(a: npt.ArrayLike, b: npt.ArrayLike) -> Correlation:
    """Kendall's tau-b, corrected for ties. Raises Incomputable below two pairs or if one side is constant."""
    first, second = _varying_beyond_noise(a, b)
    tau = scipy_stats.kendalltau(first, second).statistic
    return Correlation(float(tau), "Kendall's tau-b", first.size)


def pairs_pearson(totals: npt.ArrayLike) -> Correlation:
    """How far two raters of a story agree on its total: Pearson's r over all ordered pairs of raters of each story.

    Both orders of a pair enter, so that it does not matter who is called first. Pairs of one story are not independent:
    an interval comes from a bootstrap over stories or groups.

    totals : shape (R, U), nan where rater r did not judge unit u
    Raises TooFewRaters if no unit has two totals, Incomputable if all totals are the same.
    Source: Chakrabarty et al. 2024, Art or Artifice?, section 5.4 (.69 on aggregate scores).
    """
    array = without_gaps(as_ratings(totals))
    row, column = np.nonzero(~np.eye(len(array), dtype=np.bool_))
    first, second = as_pairs(array[row].ravel(), array[column].ravel())
    if not first.size:
        raise TooFewRaters("no_unit_with_two_totals")
    n_units = int(((~np.isnan(array)).sum(axis=0) >= 2).sum())
    note = f"ordered pairs of raters of {n_units} units; pairs of one unit are not independent"
    return Correlation(pearson(first, second).value, "Pearson's r over pairs of raters", first.size, note)


def pairs_pearson_resamples(totals: npt.ArrayLike, weights: IntArray) -> FloatArray:
    """`pairs_pearson` of each resample, shape (B,); nan where all totals are the same.

    weights : how often each unit enters each resample, shape (B, U)
    """
    return pairs_pearson_of(weights @ pairs_pearson_parts(as_ratings(totals)))


def pairs_pearson_floor(totals: npt.ArrayLike, *, rng: np.random.Generator, n_shuffles: int = 1000) -> Floor:
    """The chance floor of `pairs_pearson`: totals shuffled within each rater, who keeps their own gaps.

    Raises TooFewRaters if no unit has two totals, Incomputable if it has no value in any shuffle.
    """
    array = as_ratings(totals)
    is_used = (~np.isnan(array)).sum(axis=0) >= 2
    if not is_used.any():
        raise TooFewRaters("no_unit_with_two_totals")
    values = []
    for sums, squares, n in shuffles.totals(array, is_used, rng=rng, n_shuffles=n_shuffles):
        # `_pair_sums` added up over the units, without writing them out.
        n_others = (n - 1).astype(np.float64)
        of_products = np.einsum("bu,bu->b", sums, sums) - squares.sum(axis=1)
        n_pairs = np.full(len(of_products), float(n @ (n - 1)))
        values.append(pairs_pearson_of(np.stack([n_pairs, sums @ n_others, squares @ n_others, of_products], axis=-1)))
    return floor_of(np.concatenate(values))


def pairs_pearson_parts(totals: FloatArray) -> FloatArray:
    """What each unit adds to `pairs_pearson`, shape (R, U) to (U, 4): see `pairs_pearson_of`."""
    n, squares = (~np.isnan(totals)).sum(axis=0), np.nansum(totals**2, axis=0)
    return _pair_sums(n, np.nansum(totals, axis=0), squares)


def _pair_sums(n: IntArray, sums: FloatArray, squares: FloatArray) -> FloatArray:
    """Of the ordered pairs of raters of each unit: their number, and the sums of x, x² and xy; last axis 4."""
    return np.stack([n * (n - 1) + 0 * sums, (n - 1) * sums, (n - 1) * squares, sums**2 - squares], axis=-1)


def pairs_pearson_of(parts: FloatArray) -> FloatArray:
    """Pearson's r of pairs that stand in both orders, from their summed parts, shape (…, 4) to (…)."""
    n = np.where(parts[..., 0] > 0, parts[..., 0], np.nan)
    mean = parts[..., 1] / n
    variance = parts[..., 2] / n - mean**2
    return np.asarray((parts[..., 3] / n - mean**2) / np.where(variance > ALIKE, variance, np.nan), dtype=np.float64)


def balanced_accuracy(truth: npt.ArrayLike, predicted: npt.ArrayLike) -> float:
    """The mean over the true values of how often each was predicted: .5 for a judge who always says Yes.

    Raises Incomputable if the truth does not vary.
    """
    true, answers = as_pairs(truth, predicted)
    labels = np.unique(true)
    if len(labels) < 2:
        raise Incomputable("truth_constant")
    # Codes, since scikit-learn takes floats for measurements. Macro recall is balanced accuracy without its warning
    # about predictions that are never true, which are simply wrong.
    codes = np.unique(np.concatenate([true, answers]), return_inverse=True)[1]
    true_codes, answer_codes = codes[: true.size], codes[true.size :]
    return float(recall_score(true_codes, answer_codes, labels=np.unique(true_codes), average="macro"))


def _varying(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    first, second = as_pairs(a, b)
    if first.size < 2:
        raise Incomputable("fewer_than_two_pairs")
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        raise Incomputable("one_side_constant")
    return first, second


def _varying_beyond_noise(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """The same without the noise of rounding; a side that varies by nothing else is constant."""
    first, second = _varying(a, b)
    return _varying(without_noise(first), without_noise(second))
