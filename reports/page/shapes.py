"""The shapes that every plot is made of: signs of sources, axes, names of rows, and the two sizes of a drawing.

Sources are told apart by shape first and colour second.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

from django.utils.translation import gettext

from reports.document.plots import Axis

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
    """A plot in both sizes.

    parts : the wide drawing once more, cut between its rows of panels where it has several, so that paper can be too
    """

    wide: Drawing
    narrow: Drawing
    parts: tuple[Drawing, ...] = ()

    @property
    def sheets(self) -> tuple[Drawing, ...]:
        """What a wide page shows, one below the other."""
        return self.parts or (self.wide,)


@dataclass(frozen=True)
class Frame:
    """Where things go in one of the two drawings, or in one column of it.

    left, right : the ends of the axis
    start : where names begin; n_letters : how many of a name fit on a line
    """

    width: int
    left: float
    right: float
    label_above: bool
    row_gap: float
    start: float = 0
    n_letters: int = LONGEST_LABEL

    def x(self, axis: Axis, value: float) -> float:
        share = (value - axis.low) / (axis.high - axis.low)
        return round(self.left + share * (self.right - self.left), 1)


LABEL_LINE = 17
WIDE = Frame(width=920, left=214, right=906, label_above=False, row_gap=12)
NARROW = Frame(width=350, left=8, right=336, label_above=True, row_gap=14)


def label_lines(label: str, frame: Frame) -> list[str]:
    """The name of a row in one line or two."""
    return wrap(label, frame.n_letters, max_lines=2, placeholder=" …")


def row_name(label: str, middle: float, frame: Frame = WIDE) -> Iterator[Shape]:
    """The name of a row left of it, on two lines if it is long."""
    lines = label_lines(label, frame)
    for n, words in enumerate(lines):
        y = round(middle + 5 + LABEL_LINE * (n - (len(lines) - 1) / 2), 1)
        yield Shape("item-name", frame.start, y, text=words)


def axis_lines(axis: Axis, frame: Frame, start: float, end: float) -> Iterator[Shape]:
    for value, _ in axis.ticks:
        css = "base" if value == axis.low else "grid"
        yield Shape(css, d=f"M{frame.x(axis, value)} {start:.1f}V{end:.1f}")


def tick_labels(axis: Axis, frame: Frame, y: float) -> Iterator[Shape]:
    for value, words in axis.ticks:
        yield Shape("tick", frame.x(axis, value), y, text=gettext(words), anchor=anchor_of(value, axis))


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


def draw_key(sources: Sequence[str], frame: Frame) -> tuple[list[Shape], float]:
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


def anchor_of(value: float, axis: Axis) -> str:
    return "start" if value == axis.low else "end" if value == axis.high else "middle"
