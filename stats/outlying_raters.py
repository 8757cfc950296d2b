"""Which raters to ask about: who stands apart from all others, or gives one answer where others vary.

Raters differ, so nobody is held against a fixed mark but against how far the others differ among themselves. In
simulated studies of alike raters (severities normal with .4 points beside answers with .8, 5 to 30 raters, 8 to 100
stories) 3.0 % named anybody (82 of 2,700; 4.7 % in the worst of 18 designs); 7 % where severities have a whole point
and Yes is rare.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

from stats.arrays import BoolArray, FloatArray

FEWEST_RATERS = 5  # to say how far raters differ among themselves
FEWEST_STORIES = 5  # of a rater, to say something of the rater
FEWEST_ITEMS = 3  # of a unit, to say that a rater answered all of them alike
ADDED = 2.0  # with half an answer, raters of 14 answers each were named in 10 % of null studies


def apart(values: npt.ArrayLike, *, upper: bool = True, lower: bool = True) -> FloatArray:
    """p of each rater's value beside those of the others, shape (R,), corrected for all raters; nan where it has none.

    Each is held against the mean and standard deviation of the others, as in Grubbs's test; the values of alike raters
    are taken as normal. upper, lower : whether a value may be too high, too low
    Source: Grubbs 1950, Annals of Mathematical Statistics 21; as the t of a value left out, with R - 2 degrees.
    """
    numbers = np.asarray(values, dtype=np.float64)
    ps: FloatArray = np.full(numbers.shape, np.nan)
    present = np.flatnonzero(np.isfinite(numbers))
    if len(present) < FEWEST_RATERS:
        return ps
    for rater in present.tolist():
        others = numbers[present[present != rater]]
        spread = float(others.std(ddof=1)) * np.sqrt(1 + 1 / len(others))
        if spread < 1e-9:  # no measure of how far raters differ
            continue
        distance = float(numbers[rater] - others.mean()) / spread
        tails = (distance if upper else -np.inf), (-distance if lower else -np.inf)
        p = float(student.sf(max(tails), len(others) - 1)) * (2 if upper and lower else 1)
        ps[rater] = min(1.0, p * len(present))
    return ps


def severities(ratings: npt.ArrayLike) -> FloatArray:
    """The mean difference of each rater's ratings from the others' of the same units and items, shape (I, R, U) to
    (R,); nan of a rater with fewer than five such units."""
    return _mean_over_units(_less_others(ratings))


def deviations(ratings: npt.ArrayLike) -> FloatArray:
    """How far each rater's ratings lie from the others' mean once the rater's own severity is taken off, as the
    logarithm of their mean square, shape (I, R, U) to (R,); nan of a rater with fewer than five such units."""
    differences = _less_others(ratings)
    severity = _mean_over_units(differences)
    squares = _mean_over_units((differences - severity[np.newaxis, :, np.newaxis]) ** 2)
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(squares > 0, np.log(squares), np.nan), dtype=np.float64)


def excesses(ratings: npt.ArrayLike, answer: float) -> FloatArray:
    """By how many log odds each rater gives that answer more often than the others to the same units and items, shape
    (I, R, U) to (R,); nan of a rater with fewer than five such units.

    ADDED answers are added on either side, so that always and never have log odds, and of few answers no extreme ones.
    """
    cube = np.asarray(ratings, dtype=np.float64)
    has_answer = np.isfinite(cube)
    is_given = np.where(has_answer, cube == answer, np.nan)
    n = has_answer.sum(axis=1, keepdims=True)
    others = (np.nansum(is_given, axis=1, keepdims=True) - is_given) / np.maximum(n - 1, 1)
    is_shared = has_answer & (n > 1)
    n_answers = is_shared.sum(axis=(0, 2))
    own, of_others = (np.where(is_shared, part, 0.0).sum(axis=(0, 2)) for part in (is_given, others))
    logs = np.log(own + ADDED) - np.log(n_answers - own + ADDED)
    logs -= np.log(of_others + ADDED) - np.log(n_answers - of_others + ADDED)
    n_units = is_shared.any(axis=0).sum(axis=1)
    return np.asarray(np.where(n_units >= FEWEST_STORIES, logs, np.nan), dtype=np.float64)


def constant_answers(ratings: npt.ArrayLike) -> FloatArray:
    """The one answer that each rater gave to every item of every unit, shape (I, R, U) to (R,); nan where there were
    several, or fewer than five units, or where all others gave the same."""
    cube = np.asarray(ratings, dtype=np.float64)
    constants: FloatArray = np.full(cube.shape[1], np.nan)
    for rater in range(cube.shape[1]):
        own = cube[:, rater][np.isfinite(cube[:, rater])]
        is_read = np.isfinite(cube[:, rater]).any(axis=0)
        if is_read.sum() < FEWEST_STORIES or (own != own[0]).any():
            continue
        others = np.delete(cube, rater, axis=1)[:, :, is_read]
        if (others[np.isfinite(others)] != own[0]).any():
            constants[rater] = own[0]
    return constants


def same_answers(ratings: npt.ArrayLike) -> BoolArray:
    """Where a rater gave one answer to all items of a unit, three or more, shape (I, R, U) to (R, U)."""
    cube = np.asarray(ratings, dtype=np.float64)
    has_answer = np.isfinite(cube)
    highest = np.where(has_answer, cube, -np.inf).max(axis=0, initial=-np.inf)
    lowest = np.where(has_answer, cube, np.inf).min(axis=0, initial=np.inf)
    return np.asarray((has_answer.sum(axis=0) >= FEWEST_ITEMS) & (highest == lowest), dtype=np.bool_)


def constant_ps(ratings: npt.ArrayLike) -> FloatArray:
    """p of `apart` by `excesses` of the answer that a rater gave throughout, shape (I, R, U) to (R,); nan of others."""
    constants = constant_answers(ratings)
    ps: FloatArray = np.full(constants.shape, np.nan)
    for answer in np.unique(constants[np.isfinite(constants)]).tolist():
        is_so = constants == answer
        ps[is_so] = apart(excesses(ratings, answer), lower=False)[is_so]
    return ps


def _less_others(ratings: npt.ArrayLike) -> FloatArray:
    """Each rating less the mean of the others' of the same unit and item, shape (I, R, U); nan where nobody else is."""
    cube = np.asarray(ratings, dtype=np.float64)
    n = np.isfinite(cube).sum(axis=1, keepdims=True)
    total = np.nansum(cube, axis=1, keepdims=True)
    return np.asarray(np.where(n > 1, cube - (total - cube) / np.maximum(n - 1, 1), np.nan), dtype=np.float64)


def _mean_over_units(differences: FloatArray) -> FloatArray:
    """The mean of each rater over units of the mean over items, shape (I, R, U) to (R,); nan of fewer than five."""
    n = np.isfinite(differences).sum(axis=0)
    of_unit = np.where(n > 0, np.nansum(differences, axis=0) / np.maximum(n, 1), np.nan)
    n_units = np.isfinite(of_unit).sum(axis=1)
    means = np.nansum(of_unit, axis=1) / np.maximum(n_units, 1)
    return np.asarray(np.where(n_units >= FEWEST_STORIES, means, np.nan), dtype=np.float64)
