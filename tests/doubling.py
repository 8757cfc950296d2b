"""How the cost of something grows with its size, for what strangers may hand us: never a limit of time."""

import time
from collections.abc import Callable
from math import log2
from typing import TypeVar

Input = TypeVar("Input")
N_TRIES = 3
# Four times the size costs four times as much where it grows evenly, sixteen times where all pairs are tried.
MOST_PER_DOUBLING = 2.8


def seconds_of(function: Callable[[Input], object], value: Input, n_tries: int = N_TRIES) -> float:
    """Seconds of the processor, the least of several tries."""
    tries = []
    for _try in range(n_tries):
        start = time.process_time()
        function(value)
        tries.append(time.process_time() - start)
    return min(tries)


def cost_per_doubling(build: Callable[[int], Input], function: Callable[[Input], object], n: int) -> float:
    """By how much the cost of the function grows where its input is doubled, on the way from n to 4 n.

    What a busy machine adds by chance is taken off by trying again.
    """
    once, fourfold = build(n), build(4 * n)
    least, most = seconds_of(function, once), seconds_of(function, fourfold)
    for _round in range(2):
        if _per_doubling(least, most) <= MOST_PER_DOUBLING:
            break
        most = min(most, seconds_of(function, fourfold))
    return _per_doubling(least, most)


def _per_doubling(least: float, most: float) -> float:
    tick = 1e-3  # below that a clock measures itself
    return float(2 ** (log2(max(most, tick) / max(least, tick)) / 2))
