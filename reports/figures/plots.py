"""The data of a plot: rows, marks and axes. `reports.page.charts` draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

from django.utils.formats import get_format
from django.utils.translation import gettext_noop


@dataclass(frozen=True)
class Mark:
    """A value of one source with its interval, which is drawn broken where it is weak."""

    source: int
    value: float | None
    low: float | None
    high: float | None
    is_weak: bool = False


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
class StripPlot:
    """One dot for every story, a row for every source."""

    values_by_row: Sequence[tuple[str, Sequence[float]]]
    axis: Axis


PERCENT = Axis(0, 100, ((0, "0"), (25, "25"), (50, "50"), (75, "75"), (100, gettext_noop("100 %"))))


def scale_axis(low: float, high: float) -> Axis:
    """An axis with a tick at every whole number, or at every few of them."""
    step = max(1, ceil((high - low) / 7))
    ticks = [float(n) for n in range(ceil(low), floor(high) + 1, step)]
    if ticks and ticks[-1] != high:
        ticks[-1] = high
    point = get_format("DECIMAL_SEPARATOR")
    return Axis(low, high, tuple((tick, f"{tick:g}".replace(".", point)) for tick in ticks))
