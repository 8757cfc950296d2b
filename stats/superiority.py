"""How often a value of one group is larger than one of another. Needs no library, for pages that show it at once."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from stats.reasons import Incomputable


def superiority(a: Sequence[float], b: Sequence[float]) -> float:
    """The share of all pairs of a value of a and one of b in which that of a is larger, a tie counting half: 0 to 1.

    Source: Vargha & Delaney 2000, A; Cliff's delta is 2 A - 1. Raises Incomputable without a value on either side.
    """
    if not a or not b:
        raise Incomputable("no_scores")
    ordered = sorted(b)
    n_below_or_half = sum(bisect_left(ordered, value) + bisect_right(ordered, value) for value in a)
    return n_below_or_half / 2 / len(a) / len(b)
