"""The nearest of many vectors to each of some, by a matrix product in blocks; no index is built."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stats.arrays import FloatArray, IntArray
from stats.reasons import Incomputable

# References and queries at a time: their products take 32 MB, however many there are of either.
BLOCK, QUERY_BLOCK = 4096, 1024


@dataclass(frozen=True)
class Neighbours:
    """The nearest references of each query, the nearest first.

    indices : shape (Q, k), into the references
    distances : shape (Q, k), cosine distances, 0 to 2
    """

    indices: IntArray
    distances: FloatArray

    def mean_distances(self, k: int) -> FloatArray:
        """The mean distance to the k nearest, shape (Q,). Raises ValueError if fewer were looked for."""
        if not 1 <= k <= self.distances.shape[1]:
            raise ValueError(f"The {self.distances.shape[1]} nearest were looked for, not {k}.")
        return np.asarray(self.distances[:, :k].mean(axis=1), dtype=np.float64)


class TooFewNeighbours(Incomputable):
    """There are fewer references than neighbours asked for, a query itself not counted."""

    def __init__(self, k: int, n: int) -> None:
        super().__init__("too_few_neighbours", k=k, n=n)


def find_nearest(
    queries: npt.ArrayLike, references: npt.ArrayLike, *, k: int, own: npt.ArrayLike | None = None
) -> Neighbours:
    """The k references that are nearest to each query by cosine distance.

    queries, references : unit rows, shapes (Q, d) and (N, d); float32 stays float32
    own : for each query the index of the same thing among the references, -1 for none, shape (Q,): nothing is its own
        neighbour
    Of equally near ones, up to rounding, the one with the lower index comes first, however the references are cut into
    blocks.
    Raises TooFewNeighbours; ValueError if the rows have different sizes.
    """
    rows, others = _as_rows(queries), _as_rows(references)
    if rows.shape[1] != others.shape[1]:
        raise ValueError(f"Vectors of {rows.shape[1]} numbers are not compared with vectors of {others.shape[1]}.")
    places = np.full(len(rows), -1) if own is None else np.asarray(own, dtype=np.int64)
    n_available = len(others) - int((places >= 0).any())
    if not 1 <= k <= n_available:
        raise TooFewNeighbours(k, n_available)
    noise = np.sqrt(np.finfo(np.result_type(rows, others)).eps) * 1e-3
    indices, distances = np.empty((len(rows), k), dtype=np.int64), np.empty((len(rows), k))
    for start in range(0, len(rows), QUERY_BLOCK):
        part = slice(start, start + QUERY_BLOCK)
        nearest = _find_among(rows[part], others, places[part], _Nearest(len(rows[part]), k, noise=float(noise)))
        indices[part], distances[part] = nearest.indices, np.clip(1 - nearest.products, 0, 2)
    return Neighbours(indices, distances)


def _find_among(
    rows: npt.NDArray[np.floating], others: npt.NDArray[np.floating], places: IntArray, nearest: _Nearest
) -> _Nearest:
    """What is nearest to these rows, of all others, but not the one at a row's own place."""
    for start in range(0, len(others), BLOCK):
        products = rows @ others[start : start + BLOCK].T
        inside = np.flatnonzero((places >= start) & (places < start + BLOCK))
        products[inside, places[inside] - start] = -np.inf
        nearest.add(products, start)
    return nearest


def _as_rows(vectors: npt.ArrayLike) -> npt.NDArray[np.floating]:
    array = np.asarray(vectors)
    if array.ndim != 2:
        raise ValueError(f"Vectors have two axes, texts and numbers; these have {array.ndim}.")
    return array if array.dtype == np.float32 else array.astype(np.float64, copy=False)


class _Nearest:
    """The k largest products of each query so far. Most of a block lies below the smallest of them and is passed by."""

    def __init__(self, n: int, k: int, *, noise: float) -> None:
        self.k, self.noise = k, noise
        self.products = np.full((n, k), -np.inf)
        self.indices = np.full((n, k), -1, dtype=np.int64)

    def add(self, products: npt.NDArray[np.floating], start: int) -> None:
        """Take what is nearer from the products of a block, shape (Q, n), whose first reference has that index."""
        least = self.products[:, -1]
        if np.isneginf(least).any() and products.shape[1] > self.k:
            least = np.maximum(least, np.partition(products, -self.k, axis=1)[:, -self.k])
        queries, columns = np.nonzero(products >= (least - self.noise).astype(products.dtype)[:, None])
        if not len(queries):
            return
        # Only queries with a nearer neighbour are sorted again.
        touched = np.unique(queries)
        candidates = np.concatenate([products[queries, columns].astype(np.float64), self.products[touched].ravel()])
        indices = np.concatenate([columns + start, self.indices[touched].ravel()])
        owners = np.concatenate([queries, np.repeat(touched, self.k)])
        order = np.lexsort((indices, -np.round(candidates / self.noise), owners))
        owners, candidates, indices = owners[order], candidates[order], indices[order]
        rank = np.arange(len(owners)) - np.searchsorted(owners, owners)
        chosen = rank < self.k
        self.products[owners[chosen], rank[chosen]] = candidates[chosen]
        self.indices[owners[chosen], rank[chosen]] = indices[chosen]
