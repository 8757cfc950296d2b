"""Scores of a filled cloze after QUIET (Zou & Xu, 2026, arXiv:2605.25955): does it satisfy, and does it surprise?

Arrays have axes J judges, C constraints of one group of blanks, N texts, B blanks, D dimensions of an embedding, G
groups of blanks. nan is missing and never counts as 0: where nobody rated a constraint, or a blank is open, its group
is nan.
"""

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from stats.arrays import FloatArray, mean_present

Form: TypeAlias = Literal["A", "B", "C", "D"]
KNOCK_OUT = 1.0  # the most that a broken must can have, of 5
ROUNDING = 1e-12  # what can be left between fills that are the same


def apply_knockout(ratings: npt.ArrayLike, is_broken: npt.ArrayLike, *, most: float = KNOCK_OUT) -> FloatArray:
    """The ratings, at most `most` where a must is broken; both of one shape. Source: section 5.1."""
    raw = np.asarray(ratings, dtype=np.float64)
    return np.where(np.asarray(is_broken, dtype=bool), np.minimum(raw, most), raw)


def satisfaction(ratings: npt.ArrayLike, *, highest: float = 5, bucket: bool = False) -> FloatArray:
    """How far a group's constraints are satisfied, 0 to 1, from shape (..., J, C) to (...).

    Of each constraint the mean over the judges who rated it; of those the mean (soft) or, as a bucket, the least. A
    constraint that nobody rated makes the group nan. Source: sections 4.5 and 5.1.

    ratings : 0 to highest: 5 as in the paper's main results, 1 for its scale of 0, .5 and 1 or for probabilities of
        entailment (compared with a threshold beforehand, if the judgement is to be hard)
    """
    array = np.asarray(ratings, dtype=np.float64) / highest
    if array.ndim < 2:
        raise ValueError("Ratings have two axes at least, judges and constraints.")
    if np.any((array < 0) | (array > 1)):
        raise ValueError(f"Ratings lie between 0 and {highest:g}.")
    mean_by_constraint = mean_present(array, axis=-2)
    return np.asarray(mean_by_constraint.min(axis=-1) if bucket else mean_by_constraint.mean(axis=-1))


def consistency(ratings: npt.ArrayLike, *, highest: float = 5) -> FloatArray:
    """How far the edges of the cascade hold, 0 to 1, from shape (..., J, E) to (...): a score of its own.

    Source: section 4.4, where it is defined and left out of the total.
    """
    return satisfaction(ratings, highest=highest)


def surprises(embeddings: npt.ArrayLike, is_reference: npt.ArrayLike) -> FloatArray:
    """How far each fill lies from what was usual for its blank, from shape (N, B, D) to (N, B).

    One minus the cosine to the centroid of the reference's fills of that blank, divided by the largest such distance
    within the reference. Texts of the reference lie between 0 and 1; others can lie above. Where all fills of the
    reference are the same, that fill is 0 and any other nan. Source: sections 4.2 and 5.3, where all texts are.

    is_reference : shape (N,), the texts that say what is usual; they are stored with the result
    """
    array = np.asarray(embeddings, dtype=np.float64)
    reference = np.asarray(is_reference, dtype=bool)
    if array.ndim != 3 or reference.shape != array.shape[:1]:
        raise ValueError("Embeddings have three axes, texts, blanks and dimensions; the reference has one, texts.")
    if not reference.any():
        raise ValueError("The reference holds no text.")
    units = _unit(array)
    is_there = ~np.isnan(units[reference]).any(axis=-1, keepdims=True)
    # The direction of the sum is that of the mean.
    centroids = _unit(np.where(is_there, units[reference], 0.0).sum(axis=0))
    distances = np.maximum(1 - (units * centroids).sum(axis=-1), 0.0)
    largest = np.where(np.isnan(distances), -np.inf, distances)[reference].max(axis=0)
    relative = distances / np.where(largest > ROUNDING, largest, np.nan)
    return np.where((largest <= ROUNDING) & (distances <= ROUNDING), 0.0, relative)


def group_means(values: npt.ArrayLike, groups: npt.ArrayLike) -> FloatArray:
    """The mean over the blanks of each group, from shape (N, B) to (N, G), groups ascending.

    groups : shape (B,), the group of each blank
    """
    array, names = np.asarray(values, dtype=np.float64), np.asarray(groups)
    return np.stack([array[:, names == name].mean(axis=1) for name in np.unique(names)], axis=1)


def scores(satisfied: npt.ArrayLike, surprising: npt.ArrayLike, *, form: Form = "C", weight: float = 1.0) -> FloatArray:
    """The score of each group of blanks, both of one shape, say (N, G); the total is its sum over the groups.

    A: satisfied^1.5 x surprising; B: their harmonic mean, 0 if either is; C, the main one: satisfied x (1 + weight x
    surprising); D: their geometric mean. Source: sections 4.3 and 4.5; reproduces Table 3 from Tables 1 and 2.

    weight : the paper's lambda, used by C alone
    """
    a, b = np.broadcast_arrays(np.asarray(satisfied, dtype=np.float64), np.asarray(surprising, dtype=np.float64))
    if form == "A":
        return np.asarray(a**1.5 * b)
    if form == "B":
        return np.asarray(2 * a * b / np.where(a + b == 0, 1.0, a + b))
    if form == "D":
        return np.asarray(np.sqrt(a * b))
    return np.asarray(a * (1 + weight * b))


def _unit(vectors: FloatArray) -> FloatArray:
    """The vectors at length 1; one without length is nan."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, np.nan), dtype=np.float64)
