"""Ratings shuffled within each rater, many shuffles at a time: what raters would say who do not look at the unit."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from stats import sums
from stats.arrays import BoolArray, FloatArray, IntArray

AT_ONCE = 100
WORD = 63  # bits of a number that holds the counts of several items
CODE = 10  # bits of the counts of a few items that are looked up together, which has a thousand different values
MOST_ANSWERS = 200_000  # of shuffles that are counted together, so that they stay near the processor
N_KEPT, MOST_KEPT = 10, 1_000_000  # batches of shuffles that are kept, and the places in each; of four bytes


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
        """Of each shuffle the sums over each unit of what stands in the list, shape (n,) or (n, K) to (B, U) or
        (B, U, K), units with few answers first.

        Gaps stay where they are. The sums are of the type of what is summed.
        """
        is_whole = bool(self.is_present.all())
        present = positions if is_whole else positions[self.is_present[positions]].reshape(len(positions), -1)
        moved = of.take(present, axis=0)
        parts, start = [np.zeros((len(positions), 0, *of.shape[1:]), dtype=of.dtype)], 0
        for n, n_units in self.sizes:
            # First answers of all units, then second ones: each look-up stays within one shuffle.
            by_answer = self.by_unit[start : start + n * n_units].reshape(n_units, n).T
            total = moved.take(by_answer[0], axis=1)
            for answers in by_answer[1:]:
                total += moved.take(answers, axis=1)
            parts.append(total)
            start += n * n_units
        return np.concatenate(parts, axis=1)


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
    alike = [
        (numbers, np.ascontiguousarray(marks[numbers].transpose(1, 0, 2)).reshape(len(raters), -1))
        for numbers in _alike(items)
    ]
    for positions in batches:
        counts_by_item: dict[int, FloatArray] = {}
        for numbers, of in alike:
            by_unit = items[numbers[0]].sums(of, positions)
            by_item = by_unit.reshape(*by_unit.shape[:2], len(numbers), len(values)).transpose(2, 0, 1, 3)
            counts_by_item |= dict(zip(numbers, by_item, strict=True))
        yield [counts_by_item[n] for n in range(len(items))]


def kappa_sums(
    ratings: FloatArray, values: FloatArray, *, rng: np.random.Generator, n_shuffles: int
) -> Iterator[FloatArray]:
    """Batches of shuffles as `counts` has them, from the same draws: of each item the sums over all units of
    `sums.kappa_parts`, shape (I, B, V + 3).

    Gaps stay where they are, so that units with equally many answers stay so, and are summed together.
    """
    n = (~np.isnan(ratings)).sum(axis=1)
    parts = [(item, size) for item, own in enumerate(n) for size in np.unique(own[own > 0]).tolist()]
    items, sizes = np.array(parts, dtype=np.int64).reshape(-1, 2).T
    is_used = n[items] == sizes[:, np.newaxis]
    for totals, of_squares in _squares(ratings, values, items, is_used, rng=rng, n_shuffles=n_shuffles):
        by_size = sums.kappa_parts_of_alike(totals, of_squares, sizes[:, np.newaxis])
        together = np.zeros((len(ratings), *by_size.shape[1:]))
        np.add.at(together, items, by_size)
        yield together


def _squares(
    ratings: FloatArray,
    values: FloatArray,
    of_items: IntArray,
    is_used: BoolArray,
    *,
    rng: np.random.Generator,
    n_shuffles: int,
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Batches of shuffles of parts of items, in each of which all units used have equally many answers: sums over these
    of the counts, shape (P, B, V), and of their squares over all values, shape (P, B).

    All counts of a value lie in one number, each in a few bits that hold the most a unit can have, so that one look-up
    and one addition an answer serve them all; the first value has what the others leave.

    of_items : of which item each part is, shape (P,); is_used : its units, shape (P, U)
    """
    is_given = ~np.isnan(ratings)
    batches, items = _batches(is_given, is_used, rng, n_shuffles, of_items)
    raters, units = _places(is_given)
    given = ratings[:, raters, units][of_items]
    blocks: list[tuple[list[int], list[IntArray]]] = []
    for alike in _alike(items):
        width = items[alike[0]].sizes[0][0].bit_length()
        for first in range(0, len(alike), WORD // width):
            together = alike[first : first + WORD // width]
            blocks.append((together, [_packed(given[together] == value, width) for value in values[1:]]))
    for positions in batches:
        shape = (len(items), len(positions))
        totals, of_squares = np.zeros((*shape, len(values))), np.zeros(shape)
        for together, marks in blocks:
            ((n, n_units),) = items[together[0]].sizes
            width = n.bit_length()
            packed = [items[together[0]].sums(of, positions) for of in marks]
            for v, words in enumerate(packed, start=1):
                totals[together, :, v], squared = _moments(words, len(together), width)
                of_squares[together] += squared
            n_others = totals[together].sum(axis=-1)
            totals[together, :, 0] = n * n_units - n_others
            # Of the first value (n - others)², multiplied out.
            whole = of_squares[together]
            squared = whole if len(packed) < 2 else _moments(np.sum(packed, axis=0), len(together), width)[1]
            of_squares[together] += n * n * n_units - 2 * n * n_others + squared
        yield totals, of_squares


def _packed(marks: BoolArray, width: int) -> IntArray:
    """Of each answer the marks of all items in one number, each in so many bits, shape (I, n) to (n,)."""
    shifts = width * np.arange(len(marks))
    return np.asarray((marks.astype(np.int64) << shifts[:, np.newaxis]).sum(axis=0), dtype=np.int64)


def _moments(packed: IntArray, n_items: int, width: int) -> tuple[FloatArray, FloatArray]:
    """Sums over the units of the counts that are packed, and of their squares, shape (B, U) to (I, B) each, exact.

    Bits of a few items together are counted as one code: there are few different ones, and of each code the counts and
    squares are known.
    """
    totals, of_squares = np.zeros((2, n_items, len(packed)))
    for first in range(0, n_items, max(1, CODE // width)):
        shifts = width * np.arange(min(max(1, CODE // width), n_items - first))
        n_codes = 1 << (width * len(shifts))
        codes = packed >> (width * first) & (n_codes - 1)
        codes += n_codes * np.arange(len(packed))[:, np.newaxis]
        n_by_code = np.bincount(codes.ravel(), minlength=n_codes * len(packed)).reshape(-1, n_codes).astype(np.float64)
        counts = (np.arange(n_codes) >> shifts[:, np.newaxis] & ((1 << width) - 1)).astype(np.float64)
        totals[first : first + len(shifts)] = counts @ n_by_code.T
        of_squares[first : first + len(shifts)] = counts**2 @ n_by_code.T
    return totals, of_squares


def totals(
    ratings: FloatArray, is_used: BoolArray, *, rng: np.random.Generator, n_shuffles: int
) -> Iterator[tuple[FloatArray, FloatArray, IntArray]]:
    """Batches of shuffles of one item: sums of its numbers and of their squares, shape (B, U), and n by unit, (U,).

    ratings : shape (R, U)
    is_used : which units to sum over, shape (U,)
    """
    is_given = ~np.isnan(ratings)[np.newaxis]
    batches, (item,) = _batches(is_given, is_used[np.newaxis], rng, n_shuffles)
    given = ratings[_places(is_given)]
    n = np.repeat(*np.array(item.sizes).T)
    for positions in batches:
        yield item.sums(given, positions), item.sums(given * given, positions), n


def _places(is_given: BoolArray) -> tuple[IntArray, IntArray]:
    """Rater and unit of everything that a rater judged in any item, rater after rater. is_given : shape (I, R, U)"""
    raters, units = np.nonzero(is_given.any(axis=0))
    return raters, units


def _batches(
    is_given: BoolArray,
    is_used: BoolArray,
    rng: np.random.Generator,
    n_shuffles: int,
    of_items: IntArray | None = None,
) -> tuple[Iterator[IntArray], list[_Item]]:
    """Batches of shuffled positions in the list of all that was judged, shape (B, n), and the items in that list.

    of_items : of which item each row of `is_used` is; without it, of each in turn
    """
    raters, units = _places(is_given)
    given = is_given[:, raters, units]
    given = given if of_items is None else given[of_items]
    items = [_item(own, units, used) for own, used in zip(given, is_used, strict=True)]
    n_by_rater = tuple(np.unique(raters, return_counts=True)[1].tolist())
    n_together = max(1, MOST_ANSWERS // max(1, len(raters)))

    def draw() -> Iterator[IntArray]:
        # One buffer for all draws: each batch is used before the next is drawn.
        place = np.empty((min(AT_ONCE, n_shuffles), len(raters)), dtype=np.int64)
        for start in range(0, n_shuffles, AT_ONCE):
            drawn = _draw(n_by_rater, rng, place[: n_shuffles - start])
            for first in range(0, len(drawn), n_together):
                yield drawn[first : first + n_together]

    return draw(), items


def _draw(n_by_rater: tuple[int, ...], rng: np.random.Generator, place: IntArray) -> IntArray:
    """The numbers of all that was judged, each rater's in another order in every row of `place`, which may be used.

    The last few are kept: drawing takes longer than counting, and most chance floors of a report are over the same
    readings from the same seed. The generator is left as if it had drawn.
    """
    if place.size > MOST_KEPT:
        return _permute(n_by_rater, rng, place)
    drawn, after = _drawn(n_by_rater, len(place), json.dumps(rng.bit_generator.state))
    rng.bit_generator.state = after
    place[:] = drawn
    return place


@lru_cache(maxsize=N_KEPT)
def _drawn(n_by_rater: tuple[int, ...], size: int, state: str) -> tuple[npt.NDArray[np.int32], Mapping[str, Any]]:
    """The draws of a generator of `default_rng` in that state, and its state afterwards."""
    rng = np.random.default_rng()
    rng.bit_generator.state = json.loads(state)
    place = np.empty((size, sum(n_by_rater)), dtype=np.int64)
    return _permute(n_by_rater, rng, place).astype(np.int32), rng.bit_generator.state


def _permute(n_by_rater: tuple[int, ...], rng: np.random.Generator, place: IntArray) -> IntArray:
    start = 0
    for n in n_by_rater:
        of_rater = place[:, start : start + n]
        of_rater[:] = np.arange(start, start + n)
        rng.permuted(of_rater, axis=1, out=of_rater)
        start += n
    return place


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
