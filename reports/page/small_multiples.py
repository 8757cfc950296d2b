"""Small plots on the same axes beside each other: curves, points with intervals, bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import ceil
from textwrap import wrap

from django.utils.translation import gettext

from reports.document.plots import Axis, Curve, Panel, PanelPlot, Point
from reports.page.shapes import LETTER, N_COLOURS, NARROW, WIDE, Drawing, Frame, Plot, Shape, draw_key, draw_sign

TICKS = 36.0  # left of a panel, for the numbers of its upright axis
GAP = 16.0  # between panels
NAME_LINE = 18.0
LABEL_ROOM = 24.0  # that the words beside a point need
EDGE = 8.0  # right of a panel


@dataclass(frozen=True)
class _Box:
    """Where one panel is drawn: the ends of its axes."""

    left: float
    right: float
    top: float
    bottom: float

    def x(self, axis: Axis, value: float) -> float:
        return round(self.left + _share(axis, value) * (self.right - self.left), 1)

    def y(self, axis: Axis, value: float) -> float:
        return round(self.bottom - _share(axis, value) * (self.bottom - self.top), 1)


def _share(axis: Axis, value: float) -> float:
    """How far along the axis, from 0 to 1; what lies beyond an end stands at it."""
    return min(1.0, max(0.0, (value - axis.low) / (axis.high - axis.low)))


def draw_panels(plot: PanelPlot) -> Plot:
    """The plot, wide and narrow."""
    n_wide, n_narrow = (1, 1) if plot.is_single else (4, 2) if plot.is_small else (3, 1)
    wide, narrow = _draw(plot, WIDE, n_columns=n_wide), _draw(plot, NARROW, n_columns=n_narrow)
    by_heading = [tuple(panels) for _, panels in groupby(plot.panels, key=lambda panel: panel.heading)]
    if len(by_heading) < 2 or len(plot.sources) > 1:  # the key stands once, above all of them
        return Plot(wide, narrow)
    parts = [_draw(replace(plot, panels=panels), WIDE, n_columns=n_wide) for panels in by_heading]
    return Plot(wide, narrow, tuple(parts))


def _draw(plot: PanelPlot, frame: Frame, *, n_columns: int) -> Drawing:
    key, y = draw_key(plot.sources, NARROW if frame.label_above else WIDE)
    shapes = list(key)
    width = (frame.width - GAP * (n_columns - 1)) / n_columns
    height = 96.0 if plot.is_small else 340.0 if plot.is_tall else 130.0
    heading = ""
    for row in _rows(plot.panels, n_columns):
        if row[0].heading != heading:
            heading = row[0].heading
            shapes.append(Shape("panel-name", 0, y + 24, text=heading))
            y += 28
        n_lines = max(len(_title(panel, width)) for panel in row)
        top = y + 10 + NAME_LINE * n_lines
        for n, panel in enumerate(row):
            start = n * (width + GAP)
            box = _Box(left=start + TICKS, right=start + width - EDGE, top=top, bottom=top + height)
            name = "item-name" if heading else "panel-name"
            shapes += [
                Shape(name, round(start, 1), round(y + 14 + NAME_LINE * line, 1), text=words)
                for line, words in enumerate(_title(panel, width))
            ]
            shapes += _axes(plot, box)
            shapes += _content(panel, plot, box)
        y = top + height + 34
    return Drawing(frame.width, ceil(y), tuple(shapes))


def _rows(panels: Sequence[Panel], n_columns: int) -> Iterator[list[Panel]]:
    """As many panels side by side as fit; another heading begins another row."""
    row: list[Panel] = []
    for panel in panels:
        if row and (len(row) == n_columns or row[0].heading != panel.heading):
            yield row
            row = []
        row.append(panel)
    if row:
        yield row


def _title(panel: Panel, width: float) -> list[str]:
    return wrap(panel.title, int(width / LETTER), max_lines=2, placeholder=" …")


def _axes(plot: PanelPlot, box: _Box) -> Iterator[Shape]:
    for value, words in plot.y.ticks:
        y = box.y(plot.y, value)
        yield Shape("base" if value == plot.y.low else "grid", d=f"M{box.left:.1f} {y}H{box.right:.1f}")
        yield Shape("tick", round(box.left - 6, 1), y + 4, text=gettext(words), anchor="end")
    for value, words in plot.x.ticks:
        x, edge = box.x(plot.x, value), box.right + EDGE
        is_cut = x + LETTER * len(gettext(words)) / 2 > edge
        place = (round(edge, 1), "end") if is_cut else (x, "middle")
        yield Shape("tick", place[0], box.bottom + 19, text=gettext(words), anchor=place[1])


def _content(panel: Panel, plot: PanelPlot, box: _Box) -> Iterator[Shape]:
    for bar in panel.bars:
        left, right = box.x(plot.x, bar.start), box.x(plot.x, bar.end)
        if bar.height > 0:
            yield Shape("bar", d=f"M{left} {box.bottom}H{right - 1:.1f}V{box.y(plot.y, bar.height)}H{left}z")
    for curve in sorted(panel.curves, key=lambda curve: curve.source is not None):
        yield from _curve(curve, plot, box)
    for point in panel.points:
        yield from _point(point, plot, box)
        if point.label:
            yield _label(point, panel, plot, box)


def _curve(curve: Curve, plot: PanelPlot, box: _Box) -> Iterator[Shape]:
    places = [f"{box.x(plot.x, x)} {box.y(plot.y, y)}" for x, y in curve.points]
    if not places:
        return
    css = "curve thin" if curve.source is None else f"curve line-{curve.source % N_COLOURS + 1}"
    yield Shape(css, d="M" + "L".join(places))
    if curve.source is not None and len(plot.sources) > 1:
        for x, y in curve.points:
            yield draw_sign(curve.source, box.x(plot.x, x), box.y(plot.y, y))


def _point(point: Point, plot: PanelPlot, box: _Box) -> Iterator[Shape]:
    x = box.x(plot.x, point.x)
    if point.low is not None and point.high is not None:
        css = f"interval line-{point.source % N_COLOURS + 1}" + " weak" * point.is_weak
        yield Shape(css, d=f"M{x} {box.y(plot.y, point.low)}V{box.y(plot.y, point.high)}")
    y = box.y(plot.y, point.y)
    yield Shape("not-told-apart", x, y, r=4) if point.is_open else draw_sign(point.source, x, y)


def _label(point: Point, panel: Panel, plot: PanelPlot, box: _Box) -> Shape:
    """The words beside a point: right of it, or left where another point stands there."""
    x, y = box.x(plot.x, point.x), box.y(plot.y, point.y)
    others = [(box.x(plot.x, other.x), box.y(plot.y, other.y)) for other in panel.points if other is not point]
    is_crowded = any(0 <= right - x < LABEL_ROOM and abs(up - y) < LABEL_ROOM / 2 for right, up in others)
    is_crowded = is_crowded or x + LABEL_ROOM > box.right
    return Shape(
        "tick", x - 8 if is_crowded else x + 8, y + 4, text=point.label, anchor="end" if is_crowded else "start"
    )
