"""The plot of judges beside people, as shapes: each judge with its interval and floor, and the lines of people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from reports.document.plots import Axis, JudgePlot, JudgeRow, PersonMark
from reports.page.shapes import Drawing, Plot, Shape

LETTER = 6.6  # width of a letter of a line's name, in user units
LINE_GAP = 22.0


@dataclass(frozen=True)
class _Frame:
    """Where things go in one of the two drawings; top : of the band of a row"""

    width: int
    left: float
    right: float
    top: float
    row: float

    def x(self, axis: Axis, value: float) -> float:
        share = (value - axis.low) / (axis.high - axis.low)
        return round(self.left + share * (self.right - self.left), 1)


WIDE = _Frame(width=920, left=180, right=740, top=9, row=46)
NARROW = _Frame(width=350, left=4, right=346, top=28, row=64)
BAND = 27.0  # height of a chance floor


def draw_judges(plot: JudgePlot) -> Plot:
    """The plot, wide and narrow."""
    return Plot(_draw(plot, WIDE), _draw(plot, NARROW))


def _draw(plot: JudgePlot, frame: _Frame) -> Drawing:
    top = 6 + LINE_GAP * len(plot.lines)
    bottom = top + frame.row * len(plot.rows)
    shapes = [shape for n, line in enumerate(plot.lines) for shape in _band(line, n, plot.axis, frame, bottom)]
    for value, words in plot.axis.ticks:
        x = frame.x(plot.axis, value)
        shapes.append(Shape("base" if value == 0 else "grid", d=f"M{x} {top:.1f}V{bottom:.1f}"))
        anchor = "start" if x < frame.left + 12 else "end" if x > frame.right - 12 else "middle"
        shapes.append(Shape("tick", x, bottom + 18, text=words, anchor=anchor))
    for n, line in enumerate(plot.lines):
        shapes.append(Shape("person-line", d=f"M{frame.x(plot.axis, line.value)} {_line_top(n):.1f}V{bottom:.1f}"))
    for n, row in enumerate(plot.rows):
        shapes += _row(row, plot.axis, frame, top + frame.row * n)
    shapes += [_name(line, n, plot.axis, frame) for n, line in enumerate(plot.lines)]
    return Drawing(frame.width, ceil(bottom + 24), tuple(shapes))


def _row(row: JudgeRow, axis: Axis, frame: _Frame, y: float) -> Iterator[Shape]:
    is_narrow = frame is NARROW
    baseline = y + (19 if is_narrow else 27)
    longest = 24 if is_narrow else 22
    label = row.label if len(row.label) <= longest else row.label[: longest - 1] + "…"
    yield Shape("item-name", 0, baseline, text=label)
    yield Shape("numbers", frame.width, baseline, text=row.text, anchor="end")
    band = y + frame.top
    if row.floor is not None:
        yield Shape("floor", d=f"M{frame.left} {band:.1f}H{frame.x(axis, row.floor)}v{BAND}H{frame.left}z")
    if row.low is not None and row.high is not None:
        css = "range weak" if row.is_weak else "range"
        yield Shape(css, d=f"M{frame.x(axis, row.low)} {band + 9:.1f}H{frame.x(axis, row.high)}")
    yield Shape("value", frame.x(axis, row.value), band + 9, r=5)
    if row.among_models is not None:
        yield Shape("ring", frame.x(axis, row.among_models), band + 20, r=4)
    yield Shape("grid", d=f"M0 {y + frame.row:.1f}H{frame.width}")


def _band(line: PersonMark, n: int, axis: Axis, frame: _Frame, bottom: float) -> Iterator[Shape]:
    if line.low is not None and line.high is not None:
        low, high = frame.x(axis, line.low), frame.x(axis, line.high)
        yield Shape("person-band", d=f"M{low} {_line_top(n):.1f}H{high}V{bottom:.1f}H{low}z")


def _name(line: PersonMark, n: int, axis: Axis, frame: _Frame) -> Shape:
    words = f"{line.label}, {line.text}"
    half = LETTER * len(words) / 2
    x = round(min(max(frame.x(axis, line.value), half), frame.width - half), 1)
    return Shape("person-name", x, _line_top(n) - 6, text=words, anchor="middle")


def _line_top(n: int) -> float:
    """Where a line begins, below its own name."""
    return LINE_GAP * (n + 1)
