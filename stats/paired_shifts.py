"""How far a judge's answers move from one reading to another, as from a story as it is to a changed one, in pairs.

Where a change does nothing, either of two answers could as well have been the other, so that the sign of each cluster's
sum is chance: the test tries all signs, and holds its level for judges of every kind, coins and constants among them.
Source: Fisher 1935, The Design of Experiments, section 21; Efron 1969, Student's t-Test under Symmetry Conditions.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats as scipy_stats

from stats import intervals
from stats.arrays import FloatArray
from stats.reasons import Incomputable

# Of so many clusters or fewer all signs are tried, of more as many are drawn.
N_ALL_SIGNS = 13
N_DECIMALS = 9


@dataclass(frozen=True)
class Shift:
    """How far answers move from one reading to another.

    value : the mean of all differences
    before, after : the means of the answers that are compared
    changed : the share of answers that are not the same
    n : pairs of answers; n_clusters : in which they stand
    p : two-sided, against no effect, for other stories; None where no cluster's sum moved, which tests nothing
    """

    value: float
    before: float
    after: float
    changed: float
    n: int
    n_clusters: int
    p: float | None


def paired_shift(
    before: npt.ArrayLike, after: npt.ArrayLike, clusters: npt.ArrayLike, *, rng: np.random.Generator
) -> Shift:
    """How far answers move from one reading to another, over those that both have.

    before, after : shape (I, U), nan where there is no answer; clusters : shape (U,)
    Raises Incomputable if no answer stands in both.
    """
    first, second = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    changes = second - first
    is_pair = np.isfinite(changes)
    if not is_pair.any():
        raise Incomputable("nothing_read_twice")
    sums, _counts = intervals.cluster_sums(changes, clusters)
    return Shift(
        value=float(changes[is_pair].mean()),
        before=float(first[is_pair].mean()),
        after=float(second[is_pair].mean()),
        changed=float((changes[is_pair] != 0).mean()),
        n=int(is_pair.sum()),
        n_clusters=int(sums.shape[1]),
        p=_sign_p(sums.sum(axis=0), rng),
    )


def _sign_p(sums: FloatArray, rng: np.random.Generator) -> float | None:
    """sums : of the differences in each cluster, shape (G,); those that are 0 have no sign"""
    sums = np.round(sums, N_DECIMALS)  # whole differences stay whole, so that equal totals count as equal
    sums = sums[sums != 0]
    if not sums.size:
        return None
    if sums.size == 1:
        return 1.0
    tried = scipy_stats.permutation_test(
        (sums,), np.sum, permutation_type="samples", n_resamples=2**N_ALL_SIGNS, vectorized=True, random_state=rng
    )
    return min(float(tried.pvalue), 1.0)
