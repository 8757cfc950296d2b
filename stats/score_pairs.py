"""How often a score puts the story of a pair first that people prefer, and what it would by chance."""

import numpy as np
import numpy.typing as npt

from stats.agreement import Floor, floor_of
from stats.arrays import FloatArray
from stats.reasons import Incomputable


def pairs_right(differences: npt.ArrayLike, preferred: npt.ArrayLike) -> FloatArray:
    """1 where the better-scored story is the preferred one, 0 where it is not, .5 for a tie of scores; shape (U,).

    differences : the first story's score less the second's, more being better; nan without a score
    preferred : 0 for the first story, 1 for the second; nan where people prefer neither
    """
    scores, truth = np.asarray(differences, dtype=np.float64), np.asarray(preferred, dtype=np.float64)
    right = np.where(scores == 0, 0.5, np.where((scores < 0) == (truth == 1), 1.0, 0.0))
    return np.where(np.isfinite(scores) & np.isfinite(truth), right, np.nan)


def flip_floor(right: npt.ArrayLike, *, rng: np.random.Generator, n_shuffles: int = 1000) -> Floor:
    """The percentage that is right where the better-scored side of each pair is drawn by a coin; ties stay ties.

    right : from `pairs_right`
    Raises Incomputable if no pair has a value.
    """
    values = np.asarray(right, dtype=np.float64)
    values = values[np.isfinite(values)]
    if not values.size:
        raise Incomputable("fewer_than_two_pairs")
    n_ties = int((values == 0.5).sum())
    heads = rng.binomial(values.size - n_ties, 0.5, size=n_shuffles)
    return floor_of(100 * (heads + 0.5 * n_ties) / values.size)
