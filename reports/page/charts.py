"""Plots as shapes for a template to draw: inline SVG, once for wide screens and once for narrow ones.

Sources are told apart by shape first and colour second. All numbers come from the results; the table beside each plot
says the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor
from textwrap import wrap
from typing import Protocol

from django.utils.translation import gettext

from reports.figures.base import Estimate, Floor, Interval
from reports.figures.plots import Axis, DotPlot, PlotRow, StripPlot

N_COLOURS = 4
LONGEST_LABEL = 28
LETTER = 7.4  # width of a letter of the key, in user units; a little more than it is


@dataclass(frozen=True)
class Shape:
    """One element: text at x, y; a circle of radius r at x, y; or a path."""

    css: str
    x: float = 0
    y: float = 0
    r: float = 0
    d: str = ""
    text: str = ""
    anchor: str = "start"


@dataclass(frozen=True)
class Drawing:
    width: int
    height: int
    shapes: tuple[Shape, ...]


@dataclass(frozen=True)
class Plot:
    wide: Drawing
    narrow: Drawing


@dataclass(frozen=True)
class _Frame:
    """Where things go in one of the two drawings."""

    width: int
    left: float
    right: float
    label_above: bool
    row_gap: float

    def x(self, axis: Axis, value: float) -> float:
        share = (value - axis.low) / (axis.high - axis.low)
        return round(self.left + share * (self.right - self.left), 1)


WIDE = _Frame(width=920, left=214, right=906, label_above=False, row_gap=12)
NARROW = _Frame(width=350, left=8, right=336, label_above=True, row_gap=14)


def draw_plot(plot: DotPlot | StripPlot) -> Plot:
    """The plot as shapes."""
    if isinstance(plot, StripPlot):
        return draw_strips(plot.values_by_row, plot.axis)
    return draw_dots(plot.rows, plot.sources, plot.axis)


def draw_dots(rows: Sequence[PlotRow], sources: Sequence[str], axis: Axis) -> Plot:
    """Each row's values of every source on one axis, with intervals."""
    return Plot(_dots(rows, sources, axis, WIDE), _dots(rows, sources, axis, NARROW))


def _dots(rows: Sequence[PlotRow], sources: Sequence[str], axis: Axis, frame: _Frame) -> Drawing:
    key, top = _key(sources, frame)
    shapes = list(key)
    top += 22
    ticks_y, y, dimension = top, top + 8.0, ""
    step = 8.6
    span = step * (max((len(row.marks) for row in rows), default=1) - 1)
    for row in rows:
        if row.dimension != dimension:
            dimension = row.dimension
            shapes.append(Shape("dimension-label", 0, y + 22, text=dimension))
            y += 28
        if frame.label_above:
            shapes.append(Shape("item-name", 0, y + 17, text=row.label))
            y += 24
        start, y = y, y + span + 2 * frame.row_gap
        shapes += _lines(axis, frame, start, y)
        shapes += _marks(row, axis, frame, start + frame.row_gap, step)
        if not frame.label_above:
            shapes += _row_name(row.label, round((start + y) / 2, 1))
        shapes.append(Shape("grid", d=f"M0 {y:.1f}H{frame.width}"))
    for at in (ticks_y, y + 18):
        shapes += _tick_labels(axis, frame, at)
    return Drawing(frame.width, ceil(y + 26), tuple(shapes))


def _row_name(label: str, middle: float) -> Iterator[Shape]:
    """The name of a row left of it, on two lines if it is long."""
    lines = wrap(label, LONGEST_LABEL, max_lines=2, placeholder=" …")
    for n, words in enumerate(lines):
        yield Shape("item-name", 0, round(middle + 5 + 17 * (n - (len(lines) - 1) / 2), 1), text=words)


def _lines(axis: Axis, frame: _Frame, start: float, end: float) -> Iterator[Shape]:
    for value, _ in axis.ticks:
        css = "base" if value == axis.low else "grid"
        yield Shape(css, d=f"M{frame.x(axis, value)} {start:.1f}V{end:.1f}")


def _tick_labels(axis: Axis, frame: _Frame, y: float) -> Iterator[Shape]:
    for value, words in axis.ticks:
        anchor = "start" if value == axis.low else "end" if value == axis.high else "middle"
        yield Shape("tick", frame.x(axis, value), y, text=gettext(words), anchor=anchor)


def _marks(row: PlotRow, axis: Axis, frame: _Frame, y: float, step: float) -> Iterator[Shape]:
    for index, mark in enumerate(row.marks):
        at = round(y + step * index, 1)
        if mark.low is not None and mark.high is not None:
            css = f"interval line-{mark.source % N_COLOURS + 1}" + " weak" * mark.is_weak
            yield Shape(css, d=f"M{frame.x(axis, mark.low)} {at}H{frame.x(axis, mark.high)}")
        if mark.value is not None:
            yield draw_sign(mark.source, frame.x(axis, mark.value), at)


def draw_sign(source: int, x: float, y: float) -> Shape:
    """The mark of a source: disc, square, diamond, ring; beyond four, triangles in the colours of the first."""
    css = f"source-{source % N_COLOURS + 1}"
    if source == 0:
        return Shape(css, x, y, r=4.5)
    if source == 3:
        return Shape(css, x, y, r=4)
    if source == 1:
        return Shape(css, d=f"M{x - 4.5:.1f} {y - 4:.1f}h9v8h-9z")
    if source == 2:
        return Shape(css, d=f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z")
    up = -1 if source // N_COLOURS % 2 else 1
    return Shape(css, d=f"M{x:.1f} {y + 5.5 * up:.1f}l5.5 {-10 * up}h-11z")


def _key(sources: Sequence[str], frame: _Frame) -> tuple[list[Shape], float]:
    """The signs with their names, in as many lines as they need, and where the last line ends."""
    shapes: list[Shape] = []
    if len(sources) < 2:
        return shapes, 0
    start = 6.0 if frame.label_above else frame.left + 6
    x, y = start, 9.0
    for index, name in enumerate(sources):
        width = 10 + LETTER * len(name) + 22
        if x > start and x + width - 22 > frame.width:
            x, y = start, y + 22
        shapes.append(draw_sign(index, x, y))
        shapes.append(Shape(f"key-{index % N_COLOURS + 1}", x + 10, y + 5, text=name))
        x = round(x + width, 1)
    return shapes, y + 9


def draw_strips(values_by_row: Sequence[tuple[str, Sequence[float]]], axis: Axis) -> Plot:
    """One dot for every story, a row for every source; equal values are stacked."""
    return Plot(_strips(values_by_row, axis, WIDE), _strips(values_by_row, axis, NARROW))


def _strips(values_by_row: Sequence[tuple[str, Sequence[float]]], axis: Axis, frame: _Frame) -> Drawing:
    shapes: list[Shape] = []
    y = 22.0
    for index, (name, values) in enumerate(values_by_row):
        if frame.label_above:
            shapes.append(Shape("item-name", 0, y + 17, text=name))
            y += 24
        stacked = list(_stacked([frame.x(axis, value) for value in values]))
        height = 20 + 9 * max((level for _, level in stacked), default=0)
        shapes += _lines(axis, frame, y, y + height)
        base = y + height - 10
        shapes += [draw_sign(index, x, base - 9 * level) for x, level in stacked]
        if not frame.label_above:
            shapes += _row_name(name, round(y + height / 2, 1))
        y += height
        shapes.append(Shape("grid", d=f"M0 {y:.1f}H{frame.width}"))
    for at in (14.0, y + 18):
        shapes += _tick_labels(axis, frame, at)
    return Drawing(frame.width, ceil(y + 26), tuple(shapes))


def _stacked(places: Sequence[float]) -> Iterator[tuple[float, int]]:
    """Each position with how many dots lie under it: dots closer than their own width are put on top of each other."""
    last: dict[int, float] = {}
    for x in sorted(places):
        level = next(n for n in range(len(places)) if x - last.get(n, -100) >= 9)
        last[level] = x
        yield x, level


class HasCoefficient(Protocol):
    """A row of a table of coefficients."""

    @property
    def coefficient(self) -> Estimate: ...
    @property
    def interval(self) -> Interval: ...
    @property
    def floor(self) -> Floor: ...


@dataclass(frozen=True)
class CoefficientCell:
    """A coefficient drawn in a cell of a table: how far from its left edge, of 166, each of its parts stands.

    floor : the 97.5th percentile of the chance floor; low, high : the ends of the interval
    """

    floor: float | None
    zero: float
    low: float | None
    high: float | None
    value: float | None
    is_weak: bool


@dataclass(frozen=True)
class CoefficientCells:
    """A cell for every row of a table of coefficients, and the ends of their common axis: multiples of .2."""

    rows: tuple[tuple[HasCoefficient, CoefficientCell], ...]
    low: float
    high: float


def draw_cells(rows: Sequence[HasCoefficient]) -> CoefficientCells:
    """The coefficients of a table on one axis."""
    numbers = [n for row in rows for n in _numbers(row) if n is not None]
    low = min(-0.2, floor(min(numbers, default=0) * 5) / 5)
    high = max(0.8, ceil(max(numbers, default=0) * 5) / 5)

    def x(number: float | None) -> float | None:
        return None if number is None else round(8 + 150 * (number - low) / (high - low), 1)

    def cell(row: HasCoefficient) -> CoefficientCell:
        return CoefficientCell(
            floor=x(row.floor.upper),
            zero=x(0) or 0,
            low=x(row.interval.low),
            high=x(row.interval.high),
            value=x(row.coefficient.value),
            is_weak=row.interval.is_weak,
        )

    return CoefficientCells(tuple((row, cell(row)) for row in rows), low, high)


def _numbers(row: HasCoefficient) -> tuple[float | None, ...]:
    """All numbers that must lie within the axis."""
    return row.coefficient.value, row.interval.low, row.interval.high, row.floor.upper
