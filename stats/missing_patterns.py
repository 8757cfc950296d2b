"""With what missing answers go: with sources, stories, places in a rater's order, or raters; by permutation.

A reading is one rater's work on one story, with how many of its answers are missing. If these are missing completely
at random, but raters may differ in how many they leave out, then readings of one rater are exchangeable: stories within
a group, and whole groups with as many stories, since who leaves a group leaves all that is left of it. Permuting them
so keeps each rater's number. Whether raters differ is another matter: there readings that were ended, whose answers
count, are exchanged among all raters.

Source: Good 2005, Permutation, Parametric and Bootstrap Tests of Hypotheses, chapters 2 and 3; with 1 added to both
counts, Phipson & Smyth 2010, Statistical Applications in Genetics and Molecular Biology 9(1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from stats.arrays import BoolArray, FloatArray, IntArray

ASPECTS = ("source", "story", "place", "rater")
N_DRAWS = 999
MOST_SORTED = 2_000_000  # readings in all draws that are shuffled one by one; of more, they go round in one order
MOST_MOVED = 1_000_000  # readings with missing answers in all draws, for which there are fewer draws
FEWEST_DRAWS = 99
AT_ONCE = 50_000  # of them, so that memory near the processor holds them
ALIKE = 1e-9  # of a statistic, within which two are the same

Statistic = Callable[[IntArray], FloatArray]  # of places of the readings with missing answers, (draws, K) to (draws,)


@dataclass(frozen=True)
class AnswerCounts:
    """What raters were asked of stories, and what of it is missing; each shape (N,).

    n_missing : answers; n_asked : how many were asked for, at least 1
    rater, story : numbers; group : of a rater what was begun and ended together, no two raters' the same number
    source : numbers, -1 where nobody knows
    place : of the story in all that its rater was given to read, ascending; nan where nobody knows
    is_ended : whether the rater ended its group, so that what was answered counts
    """

    n_missing: IntArray
    n_asked: IntArray
    rater: IntArray
    group: IntArray
    story: IntArray
    source: IntArray
    place: FloatArray
    is_ended: BoolArray


@dataclass(frozen=True)
class MissingPattern:
    """Whether answers are missing more often in one place than in others.

    p : of a difference as large, if answers are missing by chance
    label : where more are missing than by chance: a source, a story, a rater; of places 0 for the earlier half, 1 for
        the later
    share, others : of the answers asked for there, and elsewhere, the part that is missing
    """

    p: float
    label: int
    share: float
    others: float


def missing_patterns(readings: AnswerCounts, *, rng: np.random.Generator) -> dict[str, MissingPattern]:
    """What can be tested, by ASPECTS; nothing where no answer is missing.

    About 50 ms for 100,000 answers, 10 a reading.
    """
    if not readings.n_missing.any():
        return {}
    place = _relative_places(readings)
    aspects = _label_by_aspect(readings, place)
    ps = _ps_within_raters(readings, {name: of for name, of in aspects.items() if name != "rater"}, place, rng)
    if "rater" in aspects:
        ps["rater"] = _p_of_raters(readings, rng)
    return {name: _pattern(readings, name, labels, ps[name]) for name, labels in aspects.items()}


def _label_by_aspect(readings: AnswerCounts, place: FloatArray) -> dict[str, IntArray]:
    """Of each aspect that has two sides the label of each reading, shape (N,), -1 for one of neither."""
    halves = np.sign(place).astype(np.int64)
    labels = {
        "source": readings.source,
        "story": readings.story,
        "place": np.where(halves == 0, -1, (halves + 1) // 2),
        "rater": np.where(readings.is_ended, readings.rater, -1),
    }
    return {name: of for name, of in labels.items() if np.unique(of[of >= 0]).size > 1}


def _relative_places(readings: AnswerCounts) -> FloatArray:
    """Where each reading is in its rater's order, from -1 to 1; 0 where nobody knows, shape (N,)."""
    is_known = np.isfinite(readings.place)
    places: FloatArray = np.zeros(is_known.size)
    order = np.lexsort((readings.place[is_known], readings.rater[is_known]))
    _raters, starts, n = np.unique(readings.rater[is_known][order], return_index=True, return_counts=True)
    rank = np.arange(order.size) - np.repeat(starts, n)
    relative = 2 * rank / np.maximum(np.repeat(n, n) - 1, 1) - 1
    sorted_back: FloatArray = np.zeros(order.size)
    sorted_back[order] = np.where(np.repeat(n, n) > 1, relative, 0.0)
    places[is_known] = sorted_back
    return places


# ── within raters ──────────────────────────────────────────────────────────────────────────────────────────────────


def _ps_within_raters(
    readings: AnswerCounts, label_by_aspect: dict[str, IntArray], place: FloatArray, rng: np.random.Generator
) -> dict[str, float]:
    """p of each aspect, by what each rater's missing answers would be elsewhere among the rater's readings."""
    is_told = np.bincount(readings.rater, readings.n_missing)[readings.rater] > 0  # others never change
    order = _in_blocks(readings)
    order = order[is_told[order]]
    n_missing = readings.n_missing[order].astype(np.float64)
    blocks, at = _Blocks.of(readings.rater[order], readings.group[order]), np.flatnonzero(n_missing)
    expected = blocks.mean_of_exchanged(n_missing)
    statistics: dict[str, Statistic] = {
        name: _distance_of(labels[order], n_missing[at], expected)
        if name != "place"
        else _shift_of(place[order], n_missing[at], expected)
        for name, labels in label_by_aspect.items()
    }
    return _ps(statistics, at, blocks.shuffle(at, rng))


def _in_blocks(readings: AnswerCounts) -> IntArray:
    """An order of readings in which each rater's groups stand together, those of the same size beside each other."""
    group = np.unique(readings.group, return_inverse=True)[1]
    return np.asarray(np.lexsort((group, np.bincount(group)[group], readings.rater)), dtype=np.int64)


@dataclass(frozen=True)
class _Blocks:
    """Readings in an order in which a rater's groups of one size, which can be exchanged, stand side by side.

    block : of each reading its group, numbered in that order, shape (N,); row : of each group which it can be exchanged
    with, shape (blocks,)
    """

    block: IntArray
    row: IntArray

    @classmethod
    def of(cls, rater: IntArray, group: IntArray) -> _Blocks:
        is_first = _changes(rater) | _changes(group)
        block = np.cumsum(is_first) - 1
        size = np.bincount(block)
        own = rater[is_first]
        return cls(block, np.cumsum(_changes(own) | _changes(size)) - 1)

    def shuffle(self, at: IntArray, rng: np.random.Generator) -> Iterator[IntArray]:
        """Where the readings at these places come to stand, in parts of shape (draws, at)."""
        starts = np.flatnonzero(_changes(self.block))
        n = len(self.block)
        parts = zip(_shuffled(self.row, self.block[at], n, rng), _shuffled(self.block, at, n, rng), strict=True)
        for blocks, own in parts:
            yield starts[blocks] + own - starts[self.block[at]]

    def mean_of_exchanged(self, values: FloatArray) -> FloatArray:
        """Of each reading the mean over all that it can be exchanged with, shape (N,)."""
        row = self.row[self.block]
        return np.asarray((np.bincount(row, values) / np.bincount(row))[row], dtype=np.float64)


def _shuffled(stratum: IntArray, at: IntArray, n: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Where what is at these places comes to stand if everything is shuffled within strata, parts of (draws, at).

    stratum : ascending; n : readings, by which it is decided how often and how
    Of many readings, each stratum goes round by a random number of places in an order that is drawn once: of these
    permutations, too, each is as likely as what is there.
    """
    if n * N_DRAWS <= MOST_SORTED:
        yield (stratum + rng.random((N_DRAWS, stratum.size))).argsort(axis=1)[:, at]
        return
    size = np.bincount(stratum)
    drawn = (stratum + rng.random(stratum.size)).argsort()
    moved, of = np.unique(stratum[at], return_inverse=True)  # the others hold nothing that is missing
    own_size, own_start = size[moved][of], (np.cumsum(size) - size)[moved][of]
    rank = np.argsort(drawn)[at] - own_start
    n_draws, n_in_part = int(np.clip(MOST_MOVED // at.size, FEWEST_DRAWS, N_DRAWS)), max(1, AT_ONCE // at.size)
    for first in range(0, n_draws, n_in_part):
        n_rows = min(n_in_part, n_draws - first)
        turned = rank + (rng.random((n_rows, moved.size)) * size[moved]).astype(np.int64)[:, of]
        yield drawn[own_start + np.where(turned < own_size, turned, turned - own_size)]


# ── among raters ───────────────────────────────────────────────────────────────────────────────────────────────────


def _p_of_raters(readings: AnswerCounts, rng: np.random.Generator) -> float:
    """p that raters leave out as much as each other of what they ended."""
    rater, n_missing = readings.rater[readings.is_ended], readings.n_missing[readings.is_ended].astype(np.float64)
    at = np.flatnonzero(n_missing)
    if not at.size:
        return 1.0
    statistics = {"rater": _distance_of(rater, n_missing[at], np.full(rater.size, n_missing.mean()))}
    all_alike = np.zeros(rater.size, dtype=np.int64)
    return _ps(statistics, at, _shuffled(all_alike, at, rater.size, rng))["rater"]


# ── statistics ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _distance_of(labels: IntArray, weights: FloatArray, expected: FloatArray) -> Statistic:
    """Σ (M - E)² / E over labels, with M missing where E are expected; labels : of each reading, -1 for none, (N,)"""
    n_labels, of_reading = int(labels.max()) + 2, labels + 1
    mean = np.bincount(of_reading, expected, n_labels)
    is_counted = mean > 0
    is_counted[0] = False

    def distances(places: IntArray) -> FloatArray:
        rows = np.arange(len(places))[:, np.newaxis]
        n = np.bincount(
            (of_reading[places] + n_labels * rows).ravel(), np.tile(weights, len(places)), n_labels * len(places)
        ).reshape(-1, n_labels)
        return np.asarray(((n - mean)[:, is_counted] ** 2 / mean[is_counted]).sum(axis=1), dtype=np.float64)

    return distances


def _shift_of(place: FloatArray, weights: FloatArray, expected: FloatArray) -> Statistic:
    """How much later or earlier in raters' orders answers are missing than expected."""
    return lambda places: np.abs(place[places] @ weights - place @ expected)


def _ps(statistics: Mapping[str, Statistic], at: IntArray, parts: Iterator[IntArray]) -> dict[str, float]:
    """p of each statistic of the readings with missing answers, which stand `at` these places and in `parts` others."""
    own = {name: float(statistic(at[np.newaxis])[0]) for name, statistic in statistics.items()}
    n_as_far, n_draws = dict.fromkeys(own, 0), 0
    for places in parts:
        n_draws += len(places)
        for name, statistic in statistics.items():
            n_as_far[name] += int((statistic(places) >= own[name] * (1 - ALIKE) - ALIKE).sum())
    return {name: (1 + n_as_far[name]) / (1 + n_draws) for name in own}


def _pattern(readings: AnswerCounts, aspect: str, labels: IntArray, p: float) -> MissingPattern:
    """Where most more are missing than raters' own rates let expect, in roots of that; of raters, than all's rate."""
    is_in = labels >= 0
    label, n_by_reading, missing = labels[is_in], readings.n_asked[is_in], readings.n_missing[is_in]
    whole = readings.rater[is_in] if aspect != "rater" else np.zeros_like(label)
    rate = np.bincount(whole, missing) / np.maximum(np.bincount(whole, n_by_reading), 1)
    n_asked, n_missing = np.bincount(label, n_by_reading), np.bincount(label, missing)
    expected = np.bincount(label, n_by_reading * rate[whole])
    excess = np.where(n_asked > 0, (n_missing - expected) / np.sqrt(np.maximum(expected, ALIKE)), -np.inf)
    most = int(np.argmax(excess))
    others = (missing.sum() - n_missing[most]) / (n_by_reading.sum() - n_asked[most])
    return MissingPattern(p, most, float(n_missing[most] / n_asked[most]), float(others))


def _changes(values: IntArray) -> BoolArray:
    """Where a value differs from the one before, and the first, shape (N,)."""
    return np.concatenate([[True], values[1:] != values[:-1]])
