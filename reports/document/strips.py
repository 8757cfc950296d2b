"""Coefficients drawn in the cells of a table, on one axis."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor

from reports.document.values import Estimate, Floor, Interval

Coefficient = tuple[Estimate, Interval, Floor]
START, WIDTH = 8, 150  # of the axis within a cell that is 166 wide


@dataclass(frozen=True, kw_only=True)
class Strip:
    """A coefficient drawn in a cell: how far from the left edge each of its parts stands.

    floor : the 97.5th percentile of the chance floor; low, high : the ends of the interval
    title, description : the same in words
    """

    floor: float | None
    zero: float
    low: float | None
    high: float | None
    value: float | None
    is_weak: bool
    coefficient: Estimate
    interval: Interval
    chance: Floor


@dataclass(frozen=True)
class StripAxis:
    """The axis that all cells of a column share; its ends are multiples of .2."""

    low: float
    high: float

    @classmethod
    def over(cls, coefficients: Iterable[Coefficient]) -> StripAxis:
        """The shortest axis from −.2 or below to .8 or above that holds all of these."""
        numbers = [
            number
            for value, ends, chance in coefficients
            for number in (value.value, ends.low, ends.high, chance.upper)
            if number is not None
        ]
        low, high = min(numbers, default=0), max(numbers, default=0)
        return cls(min(-0.2, floor(low * 5) / 5), max(0.8, ceil(high * 5) / 5))

    def draw(self, coefficient: Coefficient) -> Strip:
        value, ends, chance = coefficient
        return Strip(
            floor=self._x(chance.upper),
            zero=self._x(0) or 0,
            low=self._x(ends.low),
            high=self._x(ends.high),
            value=self._x(value.value),
            is_weak=ends.is_weak,
            coefficient=value,
            interval=ends,
            chance=chance,
        )

    def _x(self, number: float | None) -> float | None:
        if number is None:
            return None
        return round(START + WIDTH * (number - self.low) / (self.high - self.low), 1)
