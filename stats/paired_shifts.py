"""How far a judge's answers move from one reading to another, as from a story as it is to a changed one, in pairs.

Where a change does nothing, either of two answers could as well have been the other, so that the sign of each cluster's
sum is chance: the test tries all signs, and holds its level for judges of every kind, coins and constants among them.
Source: Fisher 1935, The Design of Experiments, section 21; Efron 1969, Student's t-Test under Symmetry Conditions.
"""

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import numpy.typing as npt

from stats import intervals
from stats.arrays import FloatArray, IntArray
from stats.reasons import Incomputable

# Of so many clusters or fewer all signs are tried, of more so many are drawn.
N_ALL_SIGNS, N_DRAWN = 13, 9_999
TOLERANCE = 1e-9  # by which arithmetic sets equal totals apart


@dataclass(frozen=True)
class PairedShift:
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
) -> PairedShift:
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
    return PairedShift(
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
    sums = sums[np.abs(sums) > TOLERANCE]
    if not sums.size:
        return None
    is_drawn = sums.size > N_ALL_SIGNS
    signs = 2 * rng.integers(0, 2, (N_DRAWN, sums.size)) - 1 if is_drawn else _list_signs(sums.size)
    is_as_far = np.abs(signs @ sums) >= abs(sums.sum()) - TOLERANCE
    # Of drawn ones the signs that there are count, too, so that p is never 0.
    return float((is_as_far.sum() + is_drawn) / (len(signs) + is_drawn))


@cache
def _list_signs(n: int) -> IntArray:
    """Every set of n signs, shape (2^n, n)."""
    return np.array(list(product((-1, 1), repeat=n)), dtype=np.int64)
