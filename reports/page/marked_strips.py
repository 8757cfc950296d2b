"""All values of a kind on one short axis, with one of them marked: where a story or a rater stands among the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

START, WIDTH = 8, 150  # of the axis within a drawing that is 166 wide
BASE = 18.0  # on which the lines of the others stand
LEAST, MOST = 5.0, 12.0  # heights of a line: of one value, and where most values are


@dataclass(frozen=True)
class MarkedStrip:
    """A drawing. Values at one place are one line, the higher the more they are, so that thousands cost no more.

    lines : of each place how far from the left edge it is, and where its line ends
    value, low, high : of the marked one and its interval; None where there is none
    zero : where nought lies; None if it is no matter
    """

    lines: tuple[tuple[float, float], ...]
    value: float | None
    low: float | None = None
    high: float | None = None
    zero: float | None = None


@dataclass(frozen=True)
class MarkedAxis:
    """From where to where the values of a strip lie."""

    low: float
    high: float

    @classmethod
    def over(cls, *numbers: float | None) -> MarkedAxis:
        """The shortest axis that holds all these numbers."""
        present = [number for number in numbers if number is not None]
        return cls(min(present, default=0.0), max(present, default=0.0))

    def place(self, number: float | None) -> float | None:
        """How far from the left edge a number stands; None where there is none."""
        if number is None:
            return None
        width = self.high - self.low
        share = (min(max(number, self.low), self.high) - self.low) / width if width else 0.5
        return round(START + WIDTH * share, 1)


def draw_strip(
    values: Sequence[float],
    value: float | None,
    axis: MarkedAxis,
    *,
    ends: tuple[float | None, float | None] = (None, None),
    has_zero: bool = False,
) -> MarkedStrip:
    """All the values with that one marked. ends : of its interval"""
    n_by_place = Counter(round(axis.place(number) or 0.0) for number in values)
    most = max(n_by_place.values(), default=1)

    def top(n: int) -> float:
        return round(BASE - LEAST - (MOST - LEAST) * (n - 1) / (most - 1), 1) if most > 1 else BASE - LEAST

    return MarkedStrip(
        lines=tuple((place, top(n)) for place, n in sorted(n_by_place.items())),
        value=axis.place(value),
        low=axis.place(ends[0]),
        high=axis.place(ends[1]),
        zero=axis.place(0.0) if has_zero else None,
    )
