"""What nearest neighbours cost beside a bare matrix product, and likelihood under a model of our own. No database."""

import statistics
import time
from collections.abc import Callable

import numpy as np

from stats import kneser_ney
from stats.neighbours import find_nearest

N_QUERIES, N_VECTORS, N_NUMBERS, K = 1_000, 100_000, 384, 25
N_TEXTS, N_WORDS = 2_000, 500
ROUNDS = 5


def run() -> dict[str, float]:
    """Seconds, medians of rounds by turns, so that a neighbour on the machine disturbs both alike."""
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(N_VECTORS, N_NUMBERS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries, own = vectors[:N_QUERIES].copy(), np.arange(N_QUERIES)
    bare, nearest = [], []
    for _ in range(ROUNDS):
        bare.append(_time(lambda: queries @ vectors.T))
        nearest.append(_time(lambda: find_nearest(queries, vectors, k=K, own=own)))
    words = [[f"w{n}" for n in rng.zipf(1.3, N_WORDS) % 20_000] for _ in range(N_TEXTS)]
    return {
        "queries": N_QUERIES,
        "vectors": N_VECTORS,
        "numbers a vector": N_NUMBERS,
        "bare product s": statistics.median(bare),
        f"{K} nearest s": statistics.median(nearest),
        f"{K} nearest / bare product": statistics.median(n / b for n, b in zip(nearest, bare, strict=True)),
        "words of a trigram model": N_TEXTS * N_WORDS,
        "its fit s": _time(lambda: kneser_ney.fit(words)),
        "surprise of 1,000 words ms": 1000 * _surprise_seconds(words),
    }


def _surprise_seconds(texts: list[list[str]]) -> float:
    model = kneser_ney.fit(texts)
    return statistics.median(_time(lambda: model.surprise(texts[0] + texts[1])) for _ in range(ROUNDS))


def _time(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
