"""The data of a plot: rows, marks and axes. `reports.page.charts` draws it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from django.utils.formats import get_format
from django.utils.translation import gettext_noop

if TYPE_CHECKING:
    from reports.document.values import Interval


@dataclass(frozen=True)
class Mark:
    """A value of one source with its interval, which is drawn broken where it is weak."""

    source: int
    value: float | None
    low: float | None
    high: float | None
    is_weak: bool = False

    @classmethod
    def of(cls, source: int, value: float | None, ends: Interval | None) -> Mark:
        """The mark of a value with that interval, or without one."""
        if ends is None:
            return cls(source, value, None, None)
        return cls(source, value, ends.low, ends.high, ends.is_weak)


@dataclass(frozen=True)
class PlotRow:
    label: str
    dimension: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Axis:
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class DotPlot:
    """Each row's values of every source on one axis, with intervals."""

    rows: Sequence[PlotRow]
    sources: Sequence[str]
    axis: Axis


@dataclass(frozen=True)
class RadarPlot:
    """The same around a centre, which is the lower end of the axis; without intervals, for which there is no room."""

    rows: Sequence[PlotRow]
    sources: Sequence[str]
    axis: Axis


@dataclass(frozen=True)
class StripPlot:
    """One dot for every story, a row for every source."""

    values_by_row: Sequence[tuple[str, Sequence[float]]]
    axis: Axis


@dataclass(frozen=True)
class DifferenceMark:
    """How far a source is from the reference.

    is_clear : whether the two are told apart, after correction; text : the same in numbers, where there is room
    """

    label: str
    value: float
    low: float | None
    high: float | None
    is_clear: bool
    is_weak: bool
    text: str = ""


@dataclass(frozen=True)
class DifferencePlot:
    """Differences from one reference, the largest first. margin : planned, drawn on both sides of 0"""

    marks: Sequence[DifferenceMark]
    axis: Axis
    margin: float | None = None


@dataclass(frozen=True)
class StackRow:
    """The parts of a whole, in percent, in the order of the plot's. n : what they are of, in words"""

    label: str
    n: str
    shares: tuple[float, ...]


@dataclass(frozen=True)
class StackPlot:
    """Rows of 100 percent, each divided into the same parts."""

    rows: Sequence[StackRow]
    parts: Sequence[str]


@dataclass(frozen=True)
class Point:
    """A value at a position, with its interval. is_open : drawn as a ring; label : beside it"""

    x: float
    y: float
    source: int = 0
    low: float | None = None
    high: float | None = None
    is_weak: bool = False
    is_open: bool = False
    label: str = ""


@dataclass(frozen=True)
class Curve:
    """Positions joined by lines. source : None for what the others are held against, drawn thin"""

    points: tuple[tuple[float, float], ...]
    source: int | None = 0


@dataclass(frozen=True)
class HistogramBar:
    start: float
    end: float
    height: float


@dataclass(frozen=True)
class Panel:
    """One of several small plots on the same axes. heading : begins a row of panels, where it is another"""

    title: str
    curves: tuple[Curve, ...] = ()
    points: tuple[Point, ...] = ()
    bars: tuple[HistogramBar, ...] = ()
    heading: str = ""


@dataclass(frozen=True)
class PanelPlot:
    """Small plots beside each other.

    is_small : four side by side on wide screens and two on narrow ones; is_single : one, as wide as there is room
    is_tall : higher than most, where points lie close
    """

    panels: Sequence[Panel]
    sources: Sequence[str]
    x: Axis
    y: Axis
    is_small: bool = False
    is_single: bool = False
    is_tall: bool = False


@dataclass(frozen=True)
class JudgeRow:
    """One judge.

    floor : the end of its chance floor
    among_models : its value among models' stories
    text : its numbers, as they are read
    """

    label: str
    value: float
    low: float | None
    high: float | None
    is_weak: bool
    floor: float | None
    among_models: float | None
    text: str

    @property
    def is_above_floor(self) -> bool:
        return self.low is not None and self.floor is not None and self.low > self.floor


@dataclass(frozen=True)
class PersonMark:
    """What one of the people has, with its interval."""

    label: str
    value: float
    low: float | None
    high: float | None
    text: str
    sentence: str


@dataclass(frozen=True)
class JudgePlot:
    """Judges from the best down, on one axis with lines of people."""

    rows: Sequence[JudgeRow]
    lines: Sequence[PersonMark]
    axis: Axis
    statistic: str

    @property
    def best(self) -> JudgeRow:
        return self.rows[0]

    @property
    def n_above_floor(self) -> int:
        return sum(row.is_above_floor for row in self.rows)

    @property
    def has_ring(self) -> bool:
        return any(row.among_models is not None for row in self.rows)


PERCENT = Axis(0, 100, ((0, "0"), (25, "25"), (50, "50"), (75, "75"), (100, gettext_noop("100 %"))))

SHARES = Axis(0, 100, ((0, "0"), (50, "50"), (100, "100")))


def scale_axis(low: float, high: float) -> Axis:
    """An axis with a tick at every whole number, or at every few of them."""
    step = max(1, ceil((high - low) / 7))
    ticks = [float(n) for n in range(ceil(low), floor(high) + 1, step)]
    if ticks and ticks[-1] != high:
        ticks[-1] = high
    point = get_format("DECIMAL_SEPARATOR")
    return Axis(low, high, tuple((tick, f"{tick:g}".replace(".", point)) for tick in ticks))


def difference_axis(ends: Sequence[float]) -> Axis:
    """An axis that holds 0 and all of these, with a signed tick at every round number."""
    low, high = min([*ends, 0.0]), max([*ends, 0.0])
    span = (high - low) or 1.0
    size = 10.0 ** floor(log10(span / 4))
    step = next(size * n for n in (1, 2, 5, 10) if span / (size * n) <= 6)
    first, last = floor(low / step), ceil(high / step)
    point = get_format("DECIMAL_SEPARATOR")
    ticks = [
        (n * step, f"{n * step:+g}".replace(".", point).replace("-", "−") if n else "0") for n in range(first, last + 1)
    ]
    return Axis(first * step, last * step, tuple(ticks))


def ends_of(marks: Iterable[Mark | DifferenceMark]) -> list[float]:
    """The numbers that an axis must reach: of each mark its value and the ends of its interval."""
    return [n for mark in marks for n in (mark.value, mark.low, mark.high) if n is not None]


def value_axis(ends: Sequence[float], *, most: int = 6) -> Axis:
    """An axis from a round number below all of these to one above, with a tick at every few.

    most : steps between ticks that there may be if the ends are round, four or more
    """
    low, high = min(ends), max(ends)
    span = (high - low) or abs(high) or 1.0
    size = 10.0 ** floor(log10(span / 4))
    step = next(size * n for n in (1, 2, 5, 10) if span / (size * n) <= most)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    last += first == last
    point = get_format("DECIMAL_SEPARATOR")
    ticks = [(n * step, f"{n * step:g}".replace(".", point).replace("-", "−")) for n in range(first, last + 1)]
    return Axis(first * step, last * step, tuple(ticks))


def count_axis(most: int) -> Axis:
    """An axis from 0 to at least this many, with ticks at whole numbers only."""
    axis = value_axis([0.0, float(most)])
    return replace(axis, ticks=tuple(tick for tick in axis.ticks if abs(tick[0] - round(tick[0])) < 1e-9))


def spaced(ticks: tuple[tuple[float, str], ...], *, apart: float = 0.12) -> tuple[tuple[float, str], ...]:
    """The ticks without those that stand closer to the one before than this part of the axis."""
    span = ticks[-1][0] - ticks[0][0] if ticks else 0.0
    kept: list[tuple[float, str]] = []
    for tick in ticks:
        if not kept or tick[0] - kept[-1][0] >= apart * span:
            kept.append(tick)
    return tuple(kept)
