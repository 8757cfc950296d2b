"""Rows of 100 percent, each divided into parts: shares of every place, of every option."""

from collections.abc import Iterator
from math import ceil

from reports.document.plots import StackPlot, StackRow
from reports.numbers import decimal
from reports.page.shapes import LETTER, NARROW, WIDE, Drawing, Frame, Plot, Shape, row_name

HEIGHT = 30.0  # of a row
GAP = 1.5  # between parts, so that they are told apart without their shade
N_SHADES, N_PLAIN_SHADES = 11, 6
NARROWEST = 26.0  # part that holds its number


def draw_stacks(plot: StackPlot) -> Plot:
    """The plot, wide and narrow."""
    return Plot(_draw(plot, WIDE), _draw(plot, NARROW))


def _draw(plot: StackPlot, frame: Frame) -> Drawing:
    left = 0.0 if frame.label_above else frame.left
    shapes, y = _key(plot, frame, left)
    y += 14
    for row in plot.rows:
        if frame.label_above:
            shapes.append(Shape("item-name", 0, y + 15, text=row.label))
            shapes.append(Shape("tick", frame.width, y + 15, text=row.n, anchor="end"))
            y += 22
        else:
            shapes += row_name(row.label, y + HEIGHT / 2, frame)
        shapes += _parts(row, left, frame.width - left, y, len(plot.parts))
        y += HEIGHT + 14
    return Drawing(frame.width, ceil(y), tuple(shapes))


def _parts(row: StackRow, left: float, width: float, y: float, n_parts: int) -> Iterator[Shape]:
    """The parts from left to right, each with its percentage where that fits."""
    x = left
    for n, share in enumerate(row.shares):
        size = width * share / 100
        shade = _shade(n, n_parts)
        if size > GAP:
            yield Shape(f"part-{shade}", d=f"M{x:.1f} {y:.1f}h{size - GAP:.1f}v{HEIGHT}h-{size - GAP:.1f}z")
        if size > NARROWEST:
            text = decimal(share, 0)
            yield Shape(f"in-part-{shade}", round(x + size / 2, 1), round(y + 20, 1), text=text, anchor="middle")
        x += size


def _shade(n: int, n_parts: int) -> int:
    """From the darkest, 1, to the lightest: every second where that is enough; beyond eleven neighbours share."""
    if n_parts > N_PLAIN_SHADES:
        return 1 + round(n * (N_SHADES - 1) / (n_parts - 1))
    return 1 + 2 * round(n * (N_PLAIN_SHADES - 1) / max(n_parts - 1, 1))


def _key(plot: StackPlot, frame: Frame, left: float) -> tuple[list[Shape], float]:
    """The parts' names beside their shade, in as many lines as they need, and where the last line ends."""
    shapes: list[Shape] = []
    x, y = left, 4.0
    for n, name in enumerate(plot.parts):
        width = 17 + LETTER * len(name) + 18
        if x > left and x + width - 18 > frame.width:
            x, y = left, y + 22
        shapes.append(Shape(f"part-{_shade(n, len(plot.parts))}", d=f"M{x:.1f} {y}h12v12h-12z"))
        shapes.append(Shape("tick", round(x + 17, 1), y + 11, text=name))
        x = round(x + width, 1)
    return shapes, y + 16
