"""What is seen in a plot, in words, for whoever does not see it: how many values, which is highest and which lowest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reports.document.phrases import plain
from reports.document.plots import (
    DifferencePlot,
    DotPlot,
    JudgePlot,
    Panel,
    PanelPlot,
    RadarPlot,
    StackPlot,
    StripPlot,
)
from reports.numbers import decimal, whole
from reports.page.charts import AnyPlot

Place = tuple[str, float]  # what a value is of, and how much it is


def describe_plot(plot: AnyPlot) -> str:
    """One sentence on the values that the plot has marks for; "" where it has none."""
    places = list(PLACES_BY_KIND[type(plot)](plot))
    if not places:
        return ""
    amounts = [amount for _where, amount in places]
    highest, lowest = max(amounts), min(amounts)
    n_decimals = _decimals(highest, lowest)
    if highest == lowest:
        counted = ngettext("%(n)s value: %(value)s.", "%(n)s values, all %(value)s.", len(places))
        return counted % {"n": whole(len(places)), "value": decimal(highest, n_decimals)}
    return _("%(n)s values: the highest is %(high)s (%(at_high)s), the lowest %(low)s (%(at_low)s).") % {
        "n": whole(len(places)),
        "high": decimal(highest, n_decimals),
        "at_high": _where(places, highest),
        "low": decimal(lowest, n_decimals),
        "at_low": _where(places, lowest),
    }


def _where(places: Sequence[Place], amount: float) -> str:
    """What has just that much: the first, and how many more."""
    names = [name for name, other in places if other == amount]
    if len(names) == 1:
        return names[0]
    more = ngettext("%(name)s and %(n)s more", "%(name)s and %(n)s more", len(names) - 1)
    return more % {"name": names[0], "n": whole(len(names) - 1)}


def _decimals(highest: float, lowest: float) -> int:
    """As many as tell values apart: none of percents, two of coefficients."""
    largest = max(abs(highest), abs(lowest), highest - lowest)
    return 0 if largest >= 20 else 1 if largest > 5 else 2


def _name(*parts: Any) -> str:
    return ", ".join(filter(None, (plain(part) for part in parts)))


def _of_dots(plot: DotPlot | RadarPlot) -> Iterator[Place]:
    for row in plot.rows:
        for mark in row.marks:
            if mark.value is not None:
                source = plot.sources[mark.source] if len(plot.sources) > 1 else ""
                yield _name(row.label, source), mark.value


def _of_strips(plot: StripPlot) -> Iterator[Place]:
    for name, values in plot.values_by_row:
        for value in values:
            yield _name(name), value


def _of_differences(plot: DifferencePlot) -> Iterator[Place]:
    for mark in plot.marks:
        yield _name(mark.label), mark.value


def _of_stacks(plot: StackPlot) -> Iterator[Place]:
    for row in plot.rows:
        for part, share in zip(plot.parts, row.shares, strict=True):
            yield _name(row.label, part), share


def _of_panels(plot: PanelPlot) -> Iterator[Place]:
    for panel in plot.panels:
        for source, label, value in _marks_of(panel):
            named = plot.sources[source] if source is not None and source < len(plot.sources) else ""
            yield _name(panel.heading, panel.title, named, label), value


def _marks_of(panel: Panel) -> Iterator[tuple[int | None, str, float]]:
    """Of each point its source, label and value; of a panel without points those of bars or curves."""
    if panel.points:
        for point in panel.points:
            yield point.source, point.label, point.y
    elif panel.bars:
        for bar in panel.bars:
            yield None, "", bar.height
    else:
        for curve in panel.curves:
            if curve.source is not None:  # the others are what it is held against
                for _x, y in curve.points:
                    yield curve.source, "", y


def _of_judges(plot: JudgePlot) -> Iterator[Place]:
    for row in plot.rows:
        yield _name(row.label), row.value


PLACES_BY_KIND: dict[type, Callable[[Any], Iterator[Place]]] = {
    DotPlot: _of_dots,
    RadarPlot: _of_dots,
    StripPlot: _of_strips,
    DifferencePlot: _of_differences,
    StackPlot: _of_stacks,
    PanelPlot: _of_panels,
    JudgePlot: _of_judges,
}
