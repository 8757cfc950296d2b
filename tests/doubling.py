"""How the cost of something grows with its size, for what strangers may hand us: never a limit of time."""

import gc
import time
from collections.abc import Callable
from math import inf, log2
from typing import TypeVar

Input = TypeVar("Input")
MOST_ROUNDS = 8
# Four times the size costs four times as much where it grows evenly, sixteen times where all pairs are tried.
MOST_PER_DOUBLING = 2.8


def seconds_of(function: Callable[[Input], object], value: Input) -> float:
    """Seconds of the processor, without those of collecting garbage, which grow with all that the process holds."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        start = time.process_time()
        function(value)
        return time.process_time() - start
    finally:
        if was_enabled:
            gc.enable()


def cost_per_doubling(build: Callable[[int], Input], function: Callable[[Input], object], n: int) -> float:
    """By how much the cost of the function grows where its input is doubled, on the way from n to 4 n.

    Both are measured by turns, and the least of each is taken: what a busy machine adds by chance goes away by trying
    again, and nothing else does.
    """
    once, fourfold = build(n), build(4 * n)
    least = most = inf
    for _round in range(MOST_ROUNDS):
        least, most = min(least, seconds_of(function, once)), min(most, seconds_of(function, fourfold))
        if _per_doubling(least, most) <= MOST_PER_DOUBLING:
            break
    return _per_doubling(least, most)


def _per_doubling(least: float, most: float) -> float:
    tick = 1e-3  # below that a clock measures itself
    return float(2 ** (log2(max(most, tick) / max(least, tick)) / 2))
