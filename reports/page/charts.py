"""Plots as shapes for a template to draw: inline SVG, once for wide screens and once for narrow ones.

Sources are told apart by shape first and colour second. All numbers come from the results; the table beside each plot
says the same.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

from reports.document.plots import (
    Axis,
    DifferenceMark,
    DifferencePlot,
    DotPlot,
    JudgePlot,
    PanelPlot,
    PlotRow,
    RadarPlot,
    StackPlot,
    StripPlot,
)
from reports.page.judge_charts import draw_judges
from reports.page.radar import draw_radar
from reports.page.shapes import (
    LABEL_LINE,
    N_COLOURS,
    NARROW,
    WIDE,
    Drawing,
    Frame,
    Plot,
    Shape,
    anchor_of,
    axis_lines,
    draw_key,
    draw_sign,
    label_lines,
    row_name,
    tick_labels,
)
from reports.page.small_multiples import draw_panels
from reports.page.stacks import draw_stacks

AnyPlot = DotPlot | RadarPlot | StripPlot | DifferencePlot | StackPlot | PanelPlot | JudgePlot
NUMBERS_FROM = 736.0  # beside the rows of a wide plot of differences
MOST_SOURCES = 5  # in one row; of more each has a row of its own, with its name


def draw_plot(plot: AnyPlot) -> Plot:
    """The plot as shapes."""
    return DRAW_BY_KIND[type(plot)](plot)


def _draw_differences(plot: DifferencePlot) -> Plot:
    return Plot(_differences(plot, replace(WIDE, right=NUMBERS_FROM)), _differences(plot, NARROW))


def draw_dots(rows: Sequence[PlotRow], sources: Sequence[str], axis: Axis) -> Plot:
    """Each row's values of every source on one axis, with intervals; of more than five sources a panel for each row."""
    if len(sources) <= MOST_SOURCES:
        return Plot(_dots(rows, sources, axis, WIDE), _dots(rows, sources, axis, NARROW))
    n = len(list(_columns(WIDE)))
    parts = [_dot_panels(rows[start : start + n], sources, axis, WIDE) for start in range(0, len(rows), n)]
    wide, narrow = (_dot_panels(rows, sources, axis, frame) for frame in (WIDE, NARROW))
    return Plot(wide, narrow, tuple(parts))


def _dots(rows: Sequence[PlotRow], sources: Sequence[str], axis: Axis, frame: Frame) -> Drawing:
    key, top = draw_key(sources, frame)
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
        n_lines = 0 if frame.label_above else len(label_lines(row.label, frame))
        gap = max(frame.row_gap, ((LABEL_LINE + 2) * n_lines - span) / 2)
        start, y = y, y + span + 2 * gap
        shapes += axis_lines(axis, frame, start, y)
        shapes += _marks(row, axis, frame, start + gap, step)
        if not frame.label_above:
            shapes += row_name(row.label, round((start + y) / 2, 1))
        shapes.append(Shape("grid", d=f"M0 {y:.1f}H{frame.width}"))
    for at in (ticks_y, y + 18):
        shapes += tick_labels(axis, frame, at)
    return Drawing(frame.width, ceil(y + 26), tuple(shapes))


def _dot_panels(rows: Sequence[PlotRow], sources: Sequence[str], axis: Axis, frame: Frame) -> Drawing:
    """A panel for every row, two side by side on wide screens; in each a line for every source, beside its name."""
    columns = [frame] if frame.label_above else list(_columns(frame))
    shapes: list[Shape] = []
    top = bottom = 0.0
    for n, row in enumerate(rows):
        column = columns[n % len(columns)]
        top = bottom if column is columns[0] else top
        panel, end = _dot_panel(row, sources, axis, column, top)
        shapes += panel
        bottom = max(bottom, end)
    return Drawing(frame.width, ceil(bottom), tuple(shapes))


def _columns(frame: Frame) -> Iterator[Frame]:
    for start in (0.0, 470.0):
        yield replace(frame, start=start, left=start + 160, right=start + 436, n_letters=21)


def _dot_panel(row: PlotRow, sources: Sequence[str], axis: Axis, frame: Frame, top: float) -> tuple[list[Shape], float]:
    """One row's values, source by source, and where the panel ends."""
    shapes = [Shape("panel-name", frame.start, top + 20, text=row.label)]
    y = start = top + 30
    marks: list[Shape] = []
    for mark in row.marks:
        name = sources[mark.source]
        if frame.label_above:
            height, at = 40.0, y + 30
            # No line of the axis goes through the words above it.
            marks += [Shape("item-name", frame.start, y + 15, text=name), *axis_lines(axis, frame, y + 20, y + height)]
        else:
            height = max(26.0, (LABEL_LINE + 2) * len(label_lines(name, frame)))
            at = y + height / 2
            marks += row_name(name, at, frame)
        marks += _marks(replace(row, marks=(replace(mark, source=0),)), axis, frame, at, 0)
        y += height
    lines = () if frame.label_above else axis_lines(axis, frame, start, y)
    shapes += [*lines, *marks, *tick_labels(axis, frame, y + 18)]
    return shapes, y + 34


def _marks(row: PlotRow, axis: Axis, frame: Frame, y: float, step: float) -> Iterator[Shape]:
    for index, mark in enumerate(row.marks):
        at = round(y + step * index, 1)
        if mark.low is not None and mark.high is not None:
            css = f"interval line-{mark.source % N_COLOURS + 1}" + " weak" * mark.is_weak
            yield Shape(css, d=f"M{frame.x(axis, mark.low)} {at}H{frame.x(axis, mark.high)}")
        if mark.value is not None:
            yield draw_sign(mark.source, frame.x(axis, mark.value), at)


def draw_strips(values_by_row: Sequence[tuple[str, Sequence[float]]], axis: Axis) -> Plot:
    """One dot for every story, a row for every source; equal values are stacked."""
    return Plot(_strips(values_by_row, axis, WIDE), _strips(values_by_row, axis, NARROW))


def _strips(values_by_row: Sequence[tuple[str, Sequence[float]]], axis: Axis, frame: Frame) -> Drawing:
    shapes: list[Shape] = []
    y = 22.0
    for index, (name, values) in enumerate(values_by_row):
        if frame.label_above:
            shapes.append(Shape("item-name", 0, y + 17, text=name))
            y += 24
        stacked = list(_stacked([frame.x(axis, value) for value in values]))
        height = 20.0 + 9 * max((level for _, level in stacked), default=0)
        if not frame.label_above:
            height = max(height, _height_of(name, frame))
        shapes += axis_lines(axis, frame, y, y + height)
        base = y + (height + 9 * max((level for _, level in stacked), default=0)) / 2
        shapes += [draw_sign(index, x, base - 9 * level) for x, level in stacked]
        if not frame.label_above:
            shapes += row_name(name, round(y + height / 2, 1))
        y += height
        shapes.append(Shape("grid", d=f"M0 {y:.1f}H{frame.width}"))
    for at in (14.0, y + 18):
        shapes += tick_labels(axis, frame, at)
    return Drawing(frame.width, ceil(y + 26), tuple(shapes))


def _differences(plot: DifferencePlot, frame: Frame) -> Drawing:
    """A row for every source: a disc where it is told apart from the reference, a ring where it is not."""
    shapes: list[Shape] = []
    zero, start, y = frame.x(plot.axis, 0), 24.0, 24.0
    heights = [34.0 if frame.label_above else max(34.0, _height_of(mark.label, frame)) for mark in plot.marks]
    end = start + sum(heights) + (24 * len(heights) if frame.label_above else 0)
    # No line goes through the names where they stand above their rows.
    spans = [(start + 58 * n + 24, start + 58 * (n + 1)) for n in range(len(heights))]
    for top, bottom in spans if frame.label_above else [(start, end)]:
        if plot.margin:
            low, high = (
                frame.x(plot.axis, max(plot.axis.low, min(plot.axis.high, m))) for m in (-plot.margin, plot.margin)
            )
            shapes.append(Shape("floor", d=f"M{low} {top}H{high}V{bottom}H{low}z"))
        for value, _words in plot.axis.ticks:
            if value:
                shapes.append(Shape("grid", d=f"M{frame.x(plot.axis, value)} {top}V{bottom}"))
        shapes.append(Shape("base", d=f"M{zero} {top}V{bottom}"))
    for mark, height in zip(plot.marks, heights, strict=True):
        if frame.label_above:
            shapes.append(Shape("item-name", 0, y + 17, text=mark.label))
            y += 24
        middle = y + height / 2
        shapes += _difference(mark, plot.axis, frame, middle)
        if not frame.label_above:
            shapes += row_name(mark.label, middle)
            shapes.append(Shape("numbers", frame.width, middle + 5, text=mark.text, anchor="end"))
        y += height
        shapes.append(Shape("grid", d=f"M0 {y:.1f}H{frame.width}"))
    for at in (14.0, end + 18):
        shapes += [
            Shape("tick", frame.x(plot.axis, value), at, text=words, anchor=anchor_of(value, plot.axis))
            for value, words in plot.axis.ticks
        ]
    return Drawing(frame.width, ceil(end + 26), tuple(shapes))


def _height_of(name: str, frame: Frame) -> float:
    """What the name of a row needs, so that it touches neither its neighbours nor the lines between them."""
    return (LABEL_LINE + 2.0) * len(label_lines(name, frame)) + 2


def _difference(mark: DifferenceMark, axis: Axis, frame: Frame, y: float) -> Iterator[Shape]:
    if mark.low is not None and mark.high is not None:
        yield Shape(
            "interval line-1" + " weak" * mark.is_weak, d=f"M{frame.x(axis, mark.low)} {y}H{frame.x(axis, mark.high)}"
        )
    css = "told-apart" if mark.is_clear else "not-told-apart"
    yield Shape(css, frame.x(axis, mark.value), y, r=4.5)


def _stacked(places: Sequence[float]) -> Iterator[tuple[float, int]]:
    """Each position with how many dots lie under it: dots closer than their own width are put on top of each other."""
    last: dict[int, float] = {}
    for x in sorted(places):
        level = next(n for n in range(len(places)) if x - last.get(n, -100) >= 9)
        last[level] = x
        yield x, level


DRAW_BY_KIND: dict[type, Callable[[Any], Plot]] = {
    DotPlot: lambda plot: draw_dots(plot.rows, plot.sources, plot.axis),
    RadarPlot: draw_radar,
    StripPlot: lambda plot: draw_strips(plot.values_by_row, plot.axis),
    DifferencePlot: _draw_differences,
    StackPlot: draw_stacks,
    PanelPlot: draw_panels,
    JudgePlot: draw_judges,
}
