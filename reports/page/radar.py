"""Means of several items on one scale around a centre: the shape that papers print, beside a table with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from textwrap import wrap

from django.utils.translation import gettext

from reports.document.plots import RadarPlot
from reports.page.shapes import N_COLOURS, NARROW, WIDE, Drawing, Frame, Plot, Shape, draw_key, draw_sign

LINE = 17.0  # of a name
SIDEWAYS = 0.2  # from this cosine on a name stands beside its end, else above or below it


@dataclass(frozen=True)
class Web:
    """Where things go: the centre, the length of a spoke, and how many letters of a name fit on a line."""

    x: float
    y: float
    radius: float
    n_spokes: int
    n_letters: int

    def at(self, spoke: int, share: float) -> tuple[float, float]:
        """The place on a spoke, the first of which points up; share : 0 in the centre, 1 at the end"""
        angle = 2 * pi * spoke / self.n_spokes - pi / 2
        return round(self.x + self.radius * share * cos(angle), 1), round(self.y + self.radius * share * sin(angle), 1)

    def ring(self, shares: Sequence[float]) -> str:
        """A closed line through the places on all spokes."""
        places = (self.at(n, share) for n, share in enumerate(shares))
        return "M" + "L".join(f"{x} {y}" for x, y in places) + "z"


def draw_radar(plot: RadarPlot) -> Plot:
    return Plot(_draw(plot, WIDE, radius=180.0, n_letters=28), _draw(plot, NARROW, radius=92.0, n_letters=11))


def _draw(plot: RadarPlot, frame: Frame, *, radius: float, n_letters: int) -> Drawing:
    key, top = draw_key(plot.sources, frame)
    web = Web(frame.width / 2, top + 60 + radius, radius, len(plot.rows), n_letters)
    shapes = [*key, *_grid(plot, web)]
    for source in range(max(len(plot.sources), 1)):
        values = [mark.value for row in plot.rows for mark in row.marks if mark.source == source]
        shares = [_share(plot, value) for value in values if value is not None]
        if len(shares) == len(plot.rows):
            shapes.append(Shape(f"curve line-{source % N_COLOURS + 1}", d=web.ring(shares)))
            shapes += (draw_sign(source, *web.at(n, share)) for n, share in enumerate(shares))
    return Drawing(frame.width, int(web.y + radius + 60), tuple(shapes))


def _share(plot: RadarPlot, value: float) -> float:
    return (value - plot.axis.low) / (plot.axis.high - plot.axis.low)


def _grid(plot: RadarPlot, web: Web) -> Iterator[Shape]:
    for value, _words in plot.axis.ticks:
        if share := _share(plot, value):
            yield Shape("web", d=web.ring([share] * web.n_spokes))
    for n, row in enumerate(plot.rows):
        x, y = web.at(n, 1)
        yield Shape("web", d=f"M{web.x} {web.y}L{x} {y}")
        yield from _name(row.label, n, web)
    for value, words in plot.axis.ticks:
        x, y = web.at(0, _share(plot, value))
        yield Shape("tick", x - 6, y + 4, text=gettext(words), anchor="end")


def _name(label: str, spoke: int, web: Web) -> Iterator[Shape]:
    """The name of an item at the end of its spoke, on as many lines as it needs."""
    lines = wrap(label, web.n_letters, max_lines=3, placeholder=" …", break_long_words=False)
    x, y = web.at(spoke, 1 + 14 / web.radius)
    across = (x - web.x) / web.radius
    anchor = "start" if across > SIDEWAYS else "end" if across < -SIDEWAYS else "middle"
    rise = len(lines) - 1 if anchor == "middle" and y < web.y else (len(lines) - 1) / 2 if anchor != "middle" else 0
    for n, words in enumerate(lines):
        yield Shape("item-name", x, round(y + 5 + LINE * (n - rise), 1), text=words, anchor=anchor)
