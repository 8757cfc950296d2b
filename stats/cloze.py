"""Scores of a filled cloze after QUIET (Zou & Xu, 2026, arXiv:2605.25955): does it satisfy, and does it surprise?

Arrays have axes J judges, C constraints, N texts, B blanks, D dimensions of an embedding, G groups of blanks, F forms
of the score. nan is missing and never counts as 0: where nobody rated a constraint, or a blank is open, its group
is nan.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from stats.arrays import BoolArray, FloatArray, IntArray, mean_present

Form: TypeAlias = Literal["A", "B", "C", "D"]
KNOCK_OUT = 1.0  # the most that a broken must can have, of 5
ROUNDING = 1e-12  # what can be left between fills that are the same
FENCE = 1.5  # interquartile ranges beyond the upper quartile, from where a text is an outlier


@dataclass(frozen=True)
class NamedForm:
    """A form of the score. weight : the paper's lambda, which C alone has"""

    name: str
    form: Form
    weight: float = 1.0


# The six that are set side by side; the first is the main one.
FORMS = (
    NamedForm("C1", "C", 1.0),
    NamedForm("C0.5", "C", 0.5),
    NamedForm("C1.5", "C", 1.5),
    NamedForm("A", "A"),
    NamedForm("B", "B"),
    NamedForm("D", "D"),
)


def apply_knockout(ratings: npt.ArrayLike, is_broken: npt.ArrayLike, *, most: float = KNOCK_OUT) -> FloatArray:
    """The ratings, at most `most` where a must is broken; both of one shape. Source: section 5.1."""
    raw = np.asarray(ratings, dtype=np.float64)
    return np.where(np.asarray(is_broken, dtype=bool), np.minimum(raw, most), raw)


def score_checks(is_met: npt.ArrayLike, is_required: npt.ArrayLike, *, highest: float = 5) -> FloatArray:
    """The score of a constraint from its checks: the share that is met times highest, at most 1 without a required one.

    The paper announces a score "by rule" (section 6.4) and prints none; this one is ours, with the paper's knock-out.

    is_met : 1 or 0, nan where there is no answer, shape (..., C); the score is nan unless all are answered
    is_required : shape (C,)
    """
    is_met_by_check = np.asarray(is_met, dtype=np.float64)
    is_broken = ((is_met_by_check == 0) & np.asarray(is_required, dtype=bool)).any(axis=-1)
    return apply_knockout(
        highest * is_met_by_check.mean(axis=-1), is_broken & np.isfinite(is_met_by_check).all(axis=-1)
    )


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


def satisfaction_by_group(
    ratings: npt.ArrayLike, groups: npt.ArrayLike, *, highest: float = 5, bucket: bool = False
) -> FloatArray:
    """`satisfaction` of each group of constraints, from shape (N, J, C) to (N, G), groups ascending.

    groups : shape (C,), the group of each constraint
    """
    array, names = np.asarray(ratings, dtype=np.float64), np.asarray(groups)
    parts = [satisfaction(array[..., names == name], highest=highest, bucket=bucket) for name in np.unique(names)]
    return np.stack(parts, axis=-1)


def surprises(embeddings: npt.ArrayLike, is_reference: npt.ArrayLike) -> FloatArray:
    """How far each fill lies from what was usual for its blank, from shape (N, B, D) to (N, B).

    One minus the cosine to the centroid of the reference's fills of that blank, divided by the largest such distance
    within the reference. Texts of the reference lie between 0 and 1; others can lie above. Where all fills of the
    reference are the same, that fill is 0 and any other nan. Source: sections 4.2 and 5.3, where all texts are.

    is_reference : shape (N,), the texts that say what is usual; they are stored with the result
    """
    return relative(distances(embeddings, is_reference), is_reference)


def distances(embeddings: npt.ArrayLike, is_reference: npt.ArrayLike, *, leave_one_out: bool = False) -> FloatArray:
    """One minus the cosine of each fill to the centroid of the reference's fills of that blank, (N, B, D) to (N, B).

    leave_one_out : a text of the reference is held against the others of it, so that nobody moves their own centroid;
        nan where there are no others
    Source: section 4.2; leaving one out is ours.
    """
    array = np.asarray(embeddings, dtype=np.float64)
    reference = np.asarray(is_reference, dtype=bool)
    if array.ndim != 3 or reference.shape != array.shape[:1]:
        raise ValueError("Embeddings have three axes, texts, blanks and dimensions; the reference has one, texts.")
    if not reference.any():
        raise ValueError("The reference holds no text.")
    units = _unit(array)
    of_reference = np.where(reference[:, np.newaxis, np.newaxis] & ~np.isnan(units), units, 0.0)
    sums = of_reference.sum(axis=0)
    # The direction of the sum is that of the mean.
    centroids = _unit(sums - of_reference) if leave_one_out else _unit(sums)
    return np.asarray(np.maximum(1 - (units * centroids).sum(axis=-1), 0.0))


def relative(raw: npt.ArrayLike, is_reference: npt.ArrayLike) -> FloatArray:
    """Distances divided by the largest of the reference at that blank, both of shape (N, B). Source: section 5.3."""
    values, reference = np.asarray(raw, dtype=np.float64), np.asarray(is_reference, dtype=bool)
    largest = np.where(np.isnan(values), -np.inf, values)[reference].max(axis=0)
    shares = values / np.where(largest > ROUNDING, largest, np.nan)
    return np.where((largest <= ROUNDING) & (values <= ROUNDING), 0.0, shares)


def find_outliers(raw: npt.ArrayLike, is_reference: npt.ArrayLike) -> BoolArray:
    """Which texts of the reference lie far from all others of it: shape (N, B) to (N,).

    By Tukey's fence: the mean distance of a text lies more than 1.5 interquartile ranges above the upper quartile of
    the reference's. Source: section 6.3, 4, which asks for it without a rule; the rule is ours.
    """
    values, reference = np.asarray(raw, dtype=np.float64), np.asarray(is_reference, dtype=bool)
    means = mean_present(values, axis=1)
    present = means[reference & np.isfinite(means)]
    if not present.size:
        return np.zeros(len(values), dtype=bool)
    lower, upper = np.quantile(present, [0.25, 0.75])
    return np.asarray(reference & (means > upper + FENCE * (upper - lower) + ROUNDING))


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


def totals(satisfied: npt.ArrayLike, surprising: npt.ArrayLike, form: NamedForm = FORMS[0]) -> FloatArray:
    """The total of each text, from shapes (N, G) to (N,); nan where a group has no score. Source: section 4.5."""
    return np.asarray(scores(satisfied, surprising, form=form.form, weight=form.weight).sum(axis=-1))


def ranks(values: npt.ArrayLike) -> IntArray:
    """The rank of each, 1 the highest; equal ones share the better rank, and what has no value is 0. Shape (N,)."""
    array = np.asarray(values, dtype=np.float64)
    is_better = array[np.newaxis, :] > array[:, np.newaxis] + ROUNDING
    return np.where(np.isfinite(array), 1 + is_better.sum(axis=1), 0)


def filling_order(saves: Iterable[tuple[int, str]]) -> list[int]:
    """The blanks in the order in which they were first filled. saves : a blank and its text, oldest first"""
    return list(dict.fromkeys(blank for blank, text in saves if text.strip()))


def count_changes(saves: Iterable[tuple[int, str]]) -> dict[int, int]:
    """How often each filled blank was filled otherwise after something else had been done in between.

    What is saved while somebody is still writing at it belongs to one filling. Blanks never filled are left out.

    saves : a blank and its text, oldest first; "" if it was cleared
    """
    latest_by_blank: dict[int, str] = {}
    n_by_blank: dict[int, int] = {}
    for blank, of_blank in groupby(saves, key=lambda save: save[0]):
        before, *_, (_blank, now) = latest_by_blank.get(blank, ""), *of_blank
        latest_by_blank[blank] = now
        if now.strip():
            n_by_blank.setdefault(blank, 0)
        if before.strip() and before != now:
            n_by_blank[blank] += 1
    return n_by_blank


def _unit(vectors: FloatArray) -> FloatArray:
    """The vectors at length 1; one without length is nan."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, np.nan), dtype=np.float64)
