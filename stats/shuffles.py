"""Ratings shuffled within each rater, many shuffles at a time: what raters would say who do not look at the unit."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stats.arrays import BoolArray, FloatArray, IntArray

AT_ONCE = 100


@dataclass(frozen=True)
class _Item:
    """One item's answers as they lie in a list of all that a rater judged, rater after rater.

    is_present : which positions of the list hold an answer to this item, shape (n,)
    by_unit : the positions that count, among those present: units with few answers first, those of a unit side by side
    sizes : how many answers a unit has and how many units have so many, from few to many
    """

    answers: npt.NDArray[Any]
    is_present: BoolArray
    by_unit: IntArray
    sizes: tuple[tuple[int, int], ...]

    def shuffled(self, positions: IntArray) -> npt.NDArray[Any]:
        """The answers of each shuffle in the order of `by_unit`, shape (answers, B). Gaps stay where they are."""
        present_positions = (
            positions if self.is_present.all() else positions[self.is_present[positions]].reshape(len(positions), -1)
        )
        # A row for an answer and a column for a shuffle, so that sums over a unit's few rows run along memory.
        return self.answers.take(present_positions).T.take(self.by_unit, axis=0)

    def sums(self, of: npt.NDArray[Any]) -> FloatArray:
        """Sums over each unit, shape (answers, B) to (U, B)."""
        parts, start = [np.zeros((0, of.shape[1]))], 0
        for n, n_units in self.sizes:
            end = start + n * n_units
            parts.append(of[start:end].reshape(n_units, n, -1).sum(axis=1, dtype=np.float64))
            start = end
        return np.concatenate(parts)


def counts(
    ratings: FloatArray, values: FloatArray, is_used: BoolArray, *, rng: np.random.Generator, n_shuffles: int
) -> Iterator[list[FloatArray]]:
    """Batches of shuffles: for each item the counts of each value, shape (B at most AT_ONCE, U used, V).

    What a rater said of one unit stays together, so that who is kind to a story in one item is so in all. Every rater
    keeps their own answers and their own gaps, which may differ from item to item.

    ratings : shape (I, R, U); held as the answers alone, since with many raters of few units each, nearly all is gaps
    is_used : which units to count, shape (I, U); a unit without any answer to an item is never counted
    """
    codes = np.searchsorted(values, ratings).astype(np.min_scalar_type(len(values)))
    for positions, shuffled_items in _batches(codes, ~np.isnan(ratings), is_used, rng, n_shuffles):
        batch = [item.shuffled(positions) for item in shuffled_items]
        yield [
            np.stack([item.sums(answers == code).T for code in range(len(values))], axis=-1)
            for item, answers in zip(shuffled_items, batch, strict=True)
        ]


def totals(
    ratings: FloatArray, is_used: BoolArray, *, rng: np.random.Generator, n_shuffles: int
) -> Iterator[tuple[FloatArray, FloatArray, IntArray]]:
    """Batches of shuffles of one item: sums of its numbers and of their squares, shape (U, B), and n by unit, (U,).

    ratings : shape (R, U)
    is_used : which units to sum over, shape (U,)
    """
    cube = ratings[np.newaxis]
    for positions, (item,) in _batches(cube, ~np.isnan(cube), is_used[np.newaxis], rng, n_shuffles):
        answers = item.shuffled(positions)
        n = np.repeat(*np.array(item.sizes).T)
        yield item.sums(answers), item.sums(answers * answers), n


def _batches(
    answers: npt.NDArray[Any], is_given: BoolArray, is_used: BoolArray, rng: np.random.Generator, n_shuffles: int
) -> Iterator[tuple[IntArray, list[_Item]]]:
    raters, units = np.nonzero(is_given.any(axis=0))
    item_arrays = zip(answers, is_given, is_used, strict=True)
    items = [
        _item(values[raters, units], is_present[raters, units], units, is_counted)
        for values, is_present, is_counted in item_arrays
    ]
    of_raters = np.split(np.arange(len(raters)), np.flatnonzero(np.diff(raters)) + 1)
    for start in range(0, n_shuffles, AT_ONCE):
        size = min(AT_ONCE, n_shuffles - start)
        yield np.concatenate([rng.permuted(np.tile(own, (size, 1)), axis=1) for own in of_raters], axis=1), items


def _item(answers: npt.NDArray[Any], is_present: BoolArray, units: IntArray, is_used: BoolArray) -> _Item:
    present = units[is_present]
    n_by_unit = np.bincount(present, minlength=is_used.size)
    by_unit = np.lexsort((present, n_by_unit[present]))
    by_unit = by_unit[is_used[present[by_unit]]]
    sizes = np.unique(n_by_unit[is_used & (n_by_unit > 0)], return_counts=True)
    return _Item(answers, is_present, by_unit, tuple(zip(*(part.tolist() for part in sizes), strict=True)))
