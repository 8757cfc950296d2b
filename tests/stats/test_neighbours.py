"""The nearest vectors, against all distances sorted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stats import neighbours
from stats.neighbours import TooFewNeighbours, find_nearest


def unit_rows(n: int, d: int, seed: int = 1) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(n, d))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_three_vectors_by_hand() -> None:
    rows = [[1.0, 0.0], [0.6, 0.8], [-1.0, 0.0]]

    nearest = find_nearest(rows, rows, k=2, own=[0, 1, 2])

    assert nearest.indices.tolist() == [[1, 2], [0, 2], [1, 0]]
    np.testing.assert_allclose(nearest.distances, [[0.4, 2], [0.4, 1.6], [1.6, 2]])
    np.testing.assert_allclose(nearest.mean_distances(2), [1.2, 1.0, 1.8])


@given(st.integers(1, 9), st.integers(1, 40), st.integers(0, 2**16))
def test_blocks_give_what_sorting_all_distances_gives(k: int, block: int, seed: int) -> None:
    # Few different vectors, so that many are equally near.
    rows = unit_rows(6, 3, seed)[np.random.default_rng(seed).integers(0, 6, 30)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "BLOCK", block)
        patch.setattr(neighbours, "QUERY_BLOCK", block)
        nearest = find_nearest(rows, rows, k=k, own=np.arange(30))

    distances = np.round(1 - rows @ rows.T, 9)
    np.fill_diagonal(distances, np.inf)
    assert nearest.indices.tolist() == np.argsort(distances, axis=1, kind="stable")[:, :k].tolist()


def test_single_precision_stays_what_it_is() -> None:
    rows = unit_rows(500, 16).astype(np.float32)

    nearest = find_nearest(rows[:20], rows, k=5, own=np.arange(20))

    expected = find_nearest(rows[:20].astype(float), rows.astype(float), k=5, own=np.arange(20))
    np.testing.assert_array_equal(nearest.indices, expected.indices)
    np.testing.assert_allclose(nearest.distances, expected.distances, atol=1e-6)


def test_too_few_others_and_other_sizes_are_refused() -> None:
    rows = unit_rows(3, 4)

    assert find_nearest(rows, rows, k=3).indices[:, 0].tolist() == [0, 1, 2]
    with pytest.raises(TooFewNeighbours, match="Others to be near to: 2, and 3 are asked for"):
        find_nearest(rows, rows, k=3, own=[0, 1, 2])
    with pytest.raises(ValueError, match="Vectors of 4 numbers are not compared with vectors of 3"):
        find_nearest(rows, rows[:, :3], k=1)
