"""How often one side gives one value where the other gives another. Such counts add up: over the units of a cluster, so
that resamples are one matrix product, and over items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from stats.arrays import BoolArray, FloatArray, IntArray

AT_ONCE = 200_000  # units that are shuffled together
FIELD = np.uint64(4)  # bits in which an item's marks are counted
MOST, N_TOGETHER = 15, 16  # that fit in them, and items in a number of 64 bits


def by_cluster(
    first: FloatArray, second: FloatArray, values: FloatArray, cluster_of_unit: IntArray, n_clusters: int
) -> FloatArray:
    """The tables of each item and cluster, shape (I, G, V first, V second), over the units that both sides answered.

    first, second : shape (I, U), nan where there is no answer
    values : all that either says, ascending
    """
    n_items, n_values = len(first), len(values)
    items, units = np.nonzero(np.isfinite(first) & np.isfinite(second))
    cells = items * n_clusters + cluster_of_unit[units]
    for side in (first, second):
        cells = cells * n_values + np.searchsorted(values, side[items, units])
    counts = np.bincount(cells, minlength=n_items * n_clusters * n_values**2)
    return counts.reshape(n_items, n_clusters, n_values, n_values).astype(np.float64)


def resampled(tables: FloatArray, weights: FloatArray | IntArray) -> FloatArray:
    """The tables of each resample of clusters, shapes (I, G, V, V) and (B, G) to (I, B, V, V)."""
    flat = tables.reshape(*tables.shape[:2], -1)
    return (np.asarray(weights, dtype=np.float64) @ flat).reshape(len(tables), len(weights), *tables.shape[2:])


def shuffled(
    first: FloatArray,
    second: FloatArray,
    values: FloatArray,
    *,
    strata: Sequence[str] | None,
    rng: np.random.Generator,
    n_shuffles: int,
) -> Iterator[FloatArray]:
    """Batches of the tables if the first side's answers stood at other units, shape (I, B, V, V), n_shuffles in all.

    All answers of the first side about a unit move together; its gaps stay, of each item where they are.
    """
    present = ~np.isnan(first)
    places, batches = moved_units(present, strata=strata, rng=rng, n_shuffles=n_shuffles, at_once=AT_ONCE)
    beside = second[:, places]
    is_whole: BoolArray = np.asarray(present[:, places].all(axis=1), dtype=np.bool_)
    numbers = np.flatnonzero(is_whole)
    blocks = [numbers[start : start + N_TOGETHER] for start in range(0, len(numbers), N_TOGETHER)]
    whole = [(items, _WholeItems.of(first[items], beside[items], values)) for items in blocks]
    # Of small whole numbers in single precision every sum is exact, at half the memory.
    with_gaps = [
        (item, is_present, is_present[places], [(first[item] == value).astype(np.float32) for value in values[1:]])
        for item, is_present in enumerate(present)
        if not is_whole[item]
    ]
    for origins in batches:
        tables = np.empty((len(first), len(origins), len(values), len(values)))
        for items, block in whole:
            tables[items] = block.tables(origins)
        for item, is_present, is_here, says in with_gaps:
            units = origins[is_present[origins]].reshape(len(origins), -1)
            of_second = (beside[item, is_here, np.newaxis] == values).astype(np.float32)
            for n, own in enumerate(says, start=1):
                tables[item, :, n] = own.take(units) @ of_second
            tables[item, :, 0] = of_second.sum(axis=0, dtype=np.float64) - tables[item, :, 1:].sum(axis=1)
        yield tables


@dataclass(frozen=True)
class _WholeItems:
    """Items without gaps of the first side: all items' marks lie in one number, four bits each, so that one look-up a
    unit serves them all, and fifteen units are added up before any field is read.

    says : where the first side says each value but the first, of each unit, (V - 1, U)
    beside : where the second says each value, at each place, (V, A)
    n_beside : how often it does, (I, V)
    """

    says: tuple[npt.NDArray[np.uint64], ...]
    beside: tuple[npt.NDArray[np.uint64], ...]
    n_beside: IntArray

    @classmethod
    def of(cls, first: FloatArray, second: FloatArray, values: FloatArray) -> _WholeItems:
        """first : shape (I, U); second : of the unit at each place, shape (I, A)"""
        marks = [second == value for value in values]
        n_beside = np.stack([mark.sum(axis=1) for mark in marks], axis=-1)
        says = tuple(_packed(first == value) for value in values[1:])
        return cls(says, tuple(_packed(mark) for mark in marks), n_beside)

    def tables(self, origins: IntArray) -> FloatArray:
        """Of shuffles, shape (B, A) to (I, B, V, V)."""
        n_items, n_values = self.n_beside.shape
        tables = np.empty((n_items, len(origins), n_values, n_values))
        for n, of_first in enumerate(self.says, start=1):
            moved = of_first.take(origins)
            for v, of_second in enumerate(self.beside):
                tables[:, :, n, v] = _count_fields(moved & of_second, n_items)
        tables[:, :, 0] = self.n_beside[:, np.newaxis] - tables[:, :, 1:].sum(axis=2)
        return tables


def _packed(marks: BoolArray) -> npt.NDArray[np.uint64]:
    """Of each unit the marks of all items in one number, shape (I, U) to (U,)."""
    shifts = FIELD * np.arange(len(marks), dtype=np.uint64)[:, np.newaxis]
    return np.asarray((marks.astype(np.uint64) << shifts).sum(axis=0, dtype=np.uint64))


def _count_fields(packed: npt.NDArray[np.uint64], n_items: int) -> IntArray:
    """How often each item is marked, shape (B, U) to (I, B)."""
    n, n_units = packed.shape
    n_sums = n_units // MOST
    sums = packed[:, : n_sums * MOST].reshape(n, MOST, n_sums).sum(axis=1, dtype=np.uint64)
    rest = packed[:, n_sums * MOST :].sum(axis=1, keepdims=True, dtype=np.uint64)
    fields = np.concatenate([sums, rest], axis=1)
    by_item = [((fields >> FIELD * np.uint64(item)) & np.uint64(MOST)).sum(axis=1) for item in range(n_items)]
    return np.asarray(by_item, dtype=np.int64).reshape(n_items, n)


def moved_units(
    present: BoolArray, *, strata: Sequence[str] | None, rng: np.random.Generator, n_shuffles: int, at_once: int
) -> tuple[IntArray, Iterator[IntArray]]:
    """Where each answer stands, shape (A,), and batches of shuffles: from which unit it comes, shape (B, A).

    present : what is answered, shape (I, U); only units with some answer move
    strata : of each unit, what it only changes places within
    at_once : about how many units a batch may hold
    """
    answered = np.flatnonzero(present.any(axis=0))
    labels = np.zeros(present.shape[1]) if strata is None else np.unique(np.asarray(strata), return_inverse=True)[1]
    places = answered[np.argsort(labels[answered], kind="stable")]
    edges = [0, *(np.flatnonzero(np.diff(labels[places])) + 1).tolist(), places.size]  # of the strata

    def draw() -> Iterator[IntArray]:
        # Each stratum has draws of its own, so that it does not matter how many shuffles are drawn at once.
        children = rng.spawn(len(edges) - 1)
        size = max(1, at_once // max(places.size, 1))
        for start in range(0, n_shuffles, size):
            origins = np.tile(places, (min(size, n_shuffles - start), 1))
            for (start_of, end_of), child in zip(pairwise(edges), children, strict=True):
                child.permuted(origins[:, start_of:end_of], axis=1, out=origins[:, start_of:end_of])
            yield origins

    return places, draw()


def kappas(tables: FloatArray) -> FloatArray:
    """Cohen's kappas, shape (..., V, V) to (...); 0 where one side is constant, nan where both always give the same one
    value (0/0)."""
    n = tables.sum(axis=(-2, -1))
    safe = np.where(n > 0, n, np.nan)
    observed = np.einsum("...ii->...", tables) / safe
    chance = (tables.sum(axis=-2) * tables.sum(axis=-1)).sum(axis=-1) / safe**2
    return np.asarray((observed - chance) / np.where(chance < 1, 1 - chance, np.nan), dtype=np.float64)


def balanced_accuracies(tables: FloatArray) -> FloatArray:
    """The mean over what the second side says of how often the first says it too, shape (..., V, V) to (...); nan where
    the second says one thing only."""
    of_second = tables.sum(axis=-2)
    recalls = np.einsum("...ii->...i", tables) / np.where(of_second > 0, of_second, np.nan)
    n_values = (of_second > 0).sum(axis=-1)
    return np.asarray(np.nansum(recalls, axis=-1) / np.where(n_values > 1, n_values, np.nan), dtype=np.float64)


def shares_alike(tables: FloatArray) -> FloatArray:
    """The shares of units of which both say the same, shape (..., V, V) to (...)."""
    n = tables.sum(axis=(-2, -1))
    return np.asarray(np.einsum("...ii->...", tables) / np.where(n > 0, n, np.nan), dtype=np.float64)


def percents_alike(tables: FloatArray) -> FloatArray:
    """The percentages of units of which both say the same, shape (..., V, V) to (...)."""
    n = tables.sum(axis=(-2, -1))
    return np.asarray(100.0 * np.einsum("...ii->...", tables) / np.where(n > 0, n, np.nan), dtype=np.float64)
