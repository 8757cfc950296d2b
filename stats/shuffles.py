"""Ratings shuffled within each rater, many shuffles at a time: what raters would say who do not look at the unit."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stats.arrays import BoolArray, FloatArray, IntArray

AT_ONCE = 100
WORD = 63  # bits of a number that holds the counts of several items
MOST_ANSWERS = 1_000_000  # of shuffles that are counted together, since each answer is counted for every item and value


@dataclass(frozen=True)
class _Item:
    """One item's answers as they lie in a list of all that a rater judged, rater after rater.

    is_present : which positions of the list hold an answer to this item, shape (n,)
    by_unit : the positions that count, among those present: units with few answers first, those of a unit side by side
    sizes : how many answers a unit has and how many units have so many, from few to many
    """

    is_present: BoolArray
    by_unit: IntArray
    sizes: tuple[tuple[int, int], ...]

    def sums(self, of: npt.NDArray[Any], positions: IntArray) -> npt.NDArray[Any]:
        """Of each shuffle the sums over each unit of what stands in the list, shape (n, K) to (U, B, K).

        Gaps stay where they are. The sums are of the type of what is summed.
        """
        is_whole = bool(self.is_present.all())
        present = positions if is_whole else positions[self.is_present[positions]].reshape(len(positions), -1)
        # Answer by answer, and of each all shuffles: sums over a unit's few answers run along memory.
        ordered = of[present.T.take(self.by_unit, axis=0)]
        parts, start = [np.zeros((0, *ordered.shape[1:]), dtype=of.dtype)], 0
        for n, n_units in self.sizes:
            end = start + n * n_units
            parts.append(ordered[start:end].reshape(n_units, n, *ordered.shape[1:]).sum(axis=1, dtype=of.dtype))
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
    batches, items = _batches(~np.isnan(ratings), is_used, rng, n_shuffles)
    raters, units = _places(~np.isnan(ratings))
    most = max((n for item in items for n, _n_units in item.sizes), default=0)
    # One column for each item and value, so that items with the same gaps are gathered and added up together.
    marks = np.stack([ratings[:, raters, units] == value for value in values], axis=-1).astype(np.min_scalar_type(most))
    alike = _alike(items)
    for positions in batches:
        found: dict[int, FloatArray] = {}
        for numbers in alike:
            of = np.ascontiguousarray(marks[numbers].transpose(1, 0, 2)).reshape(len(raters), -1)
            sums = items[numbers[0]].sums(of, positions)
            by_item = sums.reshape(*sums.shape[:2], len(numbers), len(values)).transpose(2, 1, 0, 3)
            found |= dict(zip(numbers, by_item, strict=True))
        yield [found[n] for n in range(len(items))]


def squares(
    ratings: FloatArray, values: FloatArray, is_used: BoolArray, *, rng: np.random.Generator, n_shuffles: int
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Batches of shuffles as `counts` has them, from the same draws, of items of which all units used have equally many
    answers: sums over the units of the counts, shape (I, B, V), and of their squares over all values, shape (I, B).

    All items' counts of a value lie in one number, each in a few bits that hold the most a unit can have, so that one
    look-up and one addition an answer serve them all; the first value has what the others leave.
    """
    is_given = ~np.isnan(ratings)
    batches, items = _batches(is_given, is_used, rng, n_shuffles)
    raters, units = _places(is_given)
    given = ratings[:, raters, units]
    for positions in batches:
        shape = (len(items), len(positions))
        totals, of_squares = np.zeros((*shape, len(values))), np.zeros(shape)
        for alike in _alike(items):
            ((n, n_units),) = items[alike[0]].sizes
            width = n.bit_length()
            for first in range(0, len(alike), WORD // width):
                together = alike[first : first + WORD // width]
                shifts = np.arange(len(together), dtype=np.uint64) * np.uint64(width)
                marks = [_packed(given[together] == value, shifts) for value in values[1:]]
                packed = [items[alike[0]].sums(of, positions) for of in marks]
                for item, shift in zip(together, shifts, strict=True):
                    fields = ((words >> shift) & np.uint64((1 << width) - 1) for words in packed)
                    found = [field.astype(np.float32) for field in fields]
                    for v, counted in enumerate(found, start=1):
                        totals[item, :, v] = counted.sum(axis=0, dtype=np.float64)
                        of_squares[item] += _squared(counted)
                    n_others = totals[item].sum(axis=-1)
                    totals[item, :, 0] = n * n_units - n_others
                    # Of the first value (n - others)², multiplied out.
                    squared = of_squares[item] if len(found) < 2 else _squared(np.sum(found, axis=0))
                    of_squares[item] += n * n * n_units - 2 * n * n_others + squared
        yield totals, of_squares


def _packed(marks: BoolArray, shifts: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Of each answer the marks of all items in one number, shape (I, n) to (n,)."""
    return np.asarray((marks.astype(np.uint64) << shifts[:, np.newaxis]).sum(axis=0, dtype=np.uint64))


def _squared(found: npt.NDArray[np.float32]) -> FloatArray:
    """Sums of the squares of small whole numbers over the units, shape (U, B) to (B,), exact."""
    return np.asarray(np.einsum("ub,ub->b", found, found, dtype=np.float64), dtype=np.float64)


def totals(
    ratings: FloatArray, is_used: BoolArray, *, rng: np.random.Generator, n_shuffles: int
) -> Iterator[tuple[FloatArray, FloatArray, IntArray]]:
    """Batches of shuffles of one item: sums of its numbers and of their squares, shape (U, B), and n by unit, (U,).

    ratings : shape (R, U)
    is_used : which units to sum over, shape (U,)
    """
    is_given = ~np.isnan(ratings)[np.newaxis]
    batches, (item,) = _batches(is_given, is_used[np.newaxis], rng, n_shuffles)
    given = ratings[_places(is_given)]
    n = np.repeat(*np.array(item.sizes).T)
    for positions in batches:
        sums = item.sums(np.stack([given, given * given], axis=-1), positions)
        yield sums[..., 0], sums[..., 1], n


def _places(is_given: BoolArray) -> tuple[IntArray, IntArray]:
    """Rater and unit of everything that a rater judged in any item, rater after rater. is_given : shape (I, R, U)"""
    raters, units = np.nonzero(is_given.any(axis=0))
    return raters, units


def _batches(
    is_given: BoolArray, is_used: BoolArray, rng: np.random.Generator, n_shuffles: int
) -> tuple[Iterator[IntArray], list[_Item]]:
    """Batches of shuffled positions in the list of all that was judged, shape (B, n), and the items in that list."""
    raters, units = _places(is_given)
    items = [_item(given[raters, units], units, used) for given, used in zip(is_given, is_used, strict=True)]
    of_raters = np.split(np.arange(len(raters)), np.flatnonzero(np.diff(raters)) + 1)

    def draw() -> Iterator[IntArray]:
        # One place for all draws: whoever takes a batch has used it before the next is drawn.
        place = np.empty((min(AT_ONCE, n_shuffles), len(raters)), dtype=np.int64)
        for start in range(0, n_shuffles, AT_ONCE):
            size = min(AT_ONCE, n_shuffles - start)
            drawn = place[:size]
            for own in filter(len, of_raters):
                drawn[:, own[0] : own[-1] + 1] = rng.permuted(np.tile(own, (size, 1)), axis=1)
            n_together = max(1, MOST_ANSWERS // max(1, drawn.shape[1]))
            for first in range(0, size, n_together):
                yield drawn[first : first + n_together]

    return draw(), items


def _item(is_present: BoolArray, units: IntArray, is_used: BoolArray) -> _Item:
    present = units[is_present]
    n_by_unit = np.bincount(present, minlength=is_used.size)
    by_unit = np.lexsort((present, n_by_unit[present]))
    by_unit = by_unit[is_used[present[by_unit]]]
    sizes = np.unique(n_by_unit[is_used & (n_by_unit > 0)], return_counts=True)
    return _Item(is_present, by_unit, tuple(zip(*(part.tolist() for part in sizes), strict=True)))


def _alike(items: list[_Item]) -> list[list[int]]:
    """The numbers of the items that have the same gaps and count the same units, together."""
    groups: dict[tuple[bytes, bytes], list[int]] = {}
    for n, item in enumerate(items):
        groups.setdefault((item.is_present.tobytes(), item.by_unit.tobytes()), []).append(n)
    return list(groups.values())
