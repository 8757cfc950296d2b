"""How a judge's verdicts stand to those of the experts. Verdicts are 1 (Yes), 0 (No), nan (none, or not readable)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stats.agreement import Coefficient, base_rate, cohen_kappa
from stats.arrays import FloatArray, as_ratings, values_of
from stats.comparisons import balanced_accuracy
from stats.reasons import Incomputable, value_or_reason


@dataclass(frozen=True)
class MajorityAgreement:
    """A judge beside the experts' majority, over the units for which both have a verdict.

    kappa, balanced_accuracy : or the reason why there is none
    yes_rate, majority_yes_rate : shares between 0 and 1, over those same units
    n : units compared
    n_missing : units with a majority for which the judge has no verdict; never counted as No
    n_undecided : units without a majority
    """

    kappa: Coefficient | Incomputable
    balanced_accuracy: float | Incomputable
    yes_rate: float
    majority_yes_rate: float
    n: int
    n_missing: int
    n_undecided: int


def majority(ratings: npt.ArrayLike) -> FloatArray:
    """What more than half of a unit's raters say, from shape (R, U) to (U,); nan for a tie or no verdict.

    Raises ValueError for anything but 0, 1 and nan.
    """
    array = as_ratings(ratings)
    if not np.isin(array[~np.isnan(array)], [0, 1]).all():
        raise ValueError("A majority is taken of verdicts 0 and 1.")
    n = (~np.isnan(array)).sum(axis=0)
    n_yes = np.nansum(array, axis=0)
    return np.where(2 * n_yes > n, 1.0, np.where(2 * n_yes < n, 0.0, np.nan))


def majority_option(ratings: npt.ArrayLike) -> FloatArray:
    """What more than half of a unit's raters chose, from shape (R, U) to (U,); nan where none has so many."""
    array = as_ratings(ratings)
    n = (~np.isnan(array)).sum(axis=0)
    options = np.full(array.shape[1], np.nan)
    for value in values_of(array):
        options[2 * (array == value).sum(axis=0) > n] = value
    return options


def compare_with_majority(judge: npt.ArrayLike, majority: npt.ArrayLike) -> MajorityAgreement:
    """The judge's verdicts against the majority's, both of shape (U,).

    Raises Incomputable if no unit has both.
    """
    verdicts, truth = np.asarray(judge, dtype=np.float64), np.asarray(majority, dtype=np.float64)
    decided, answered = ~np.isnan(truth), ~np.isnan(verdicts)
    is_comparable = decided & answered
    if not is_comparable.any():
        raise Incomputable("no_unit_with_verdict_and_majority")
    return MajorityAgreement(
        kappa=value_or_reason(lambda: cohen_kappa(verdicts, truth)),
        balanced_accuracy=value_or_reason(lambda: balanced_accuracy(truth, verdicts)),
        yes_rate=base_rate(verdicts[is_comparable]),
        majority_yes_rate=base_rate(truth[is_comparable]),
        n=int(is_comparable.sum()),
        n_missing=int((decided & ~answered).sum()),
        n_undecided=int((~decided).sum()),
    )
