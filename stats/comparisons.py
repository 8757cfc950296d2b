"""How two sets of scores go together. Columns have shape (U,); a unit where either is missing (nan) is left out."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats as scipy_stats
from sklearn.metrics import recall_score

from stats.arrays import FloatArray, as_pairs, as_ratings
from stats.reasons import Incomputable, TooFewRaters


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
    first, second = _varying(a, b)
    return Correlation(float(scipy_stats.spearmanr(first, second).statistic), "Spearman's rho", first.size)


def kendall_tau(a: npt.ArrayLike, b: npt.ArrayLike) -> Correlation:
    """Kendall's tau-b, corrected for ties. Raises Incomputable below two pairs or if one side is constant."""
    first, second = _varying(a, b)
    return Correlation(float(scipy_stats.kendalltau(first, second).statistic), "Kendall's tau-b", first.size)


def pairs_pearson(totals: npt.ArrayLike) -> Correlation:
    """How far two raters of a story agree on its total: Pearson's r over all ordered pairs of raters of each story.

    Both orders of a pair enter, so that it does not matter who is called first. Pairs of one story are not independent:
    an interval comes from a bootstrap over stories or groups.

    totals : shape (R, U), nan where rater r did not judge unit u
    Raises TooFewRaters if no unit has two totals, Incomputable if all totals are the same.
    Source: Chakrabarty et al. 2024, Art or Artifice?, section 5.4 (.69 on aggregate scores).
    """
    array = as_ratings(totals)
    n_raters = len(array)
    row, column = np.nonzero(~np.eye(n_raters, dtype=np.bool_))
    first, second = as_pairs(array[row].ravel(), array[column].ravel())
    if not first.size:
        raise TooFewRaters("no_unit_with_two_totals")
    n_units = int(((~np.isnan(array)).sum(axis=0) >= 2).sum())
    note = f"ordered pairs of raters of {n_units} units; pairs of one unit are not independent"
    return Correlation(pearson(first, second).value, "Pearson's r over pairs of raters", first.size, note)


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
