"""The plots of a report by name, for their addresses: `ratings`, and `ratings-2` for the second of a section."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

from django.utils.functional import Promise

from reports.document import model
from reports.document.model import Section, find_blocks
from reports.figures import Figure
from reports.figures.judge_plots import JudgePlot
from reports.page import charts, judge_charts
from reports.page.charts import AnyPlot
from reports.page.shapes import Plot
from reports.results import Results

PLOTS = (*get_args(AnyPlot), JudgePlot)


@dataclass(frozen=True)
class NamedPlot:
    """name : in its address; label : what stands beside it in its section, as an item's title"""

    name: str
    figure: Figure[Any]
    plot: Any
    label: str

    @property
    def title(self) -> str:
        return f"{self.figure.title}: {self.label}" if self.label else str(self.figure.title)


def list_plots(figure: Figure[Any], extra: dict[str, Any]) -> list[NamedPlot]:
    """The plots of one section, in its order. extra : what the figure's `context` gave"""
    key = figure.key.replace("_", "-")
    return [
        NamedPlot(key if n == 1 else f"{key}-{n}", figure, plot, label)
        for n, (plot, label) in enumerate(_find_plots(extra, ""), start=1)
    ]


def find_plot(results: Results, name: str) -> NamedPlot | None:
    """The plot of that name, of the sections that the page shows; None if there is none."""
    for figure, result in results.visible:
        if name.startswith(figure.key.replace("_", "-")):
            for named in list_plots(figure, figure.template_context(result, results.head)):
                if named.name == name:
                    return named
    return None


def draw(plot: Any) -> Plot:
    """The plot as shapes, wide and narrow."""
    return judge_charts.draw_judges(plot) if isinstance(plot, JudgePlot) else charts.draw_plot(plot)


def _find_plots(value: Any, label: str) -> Iterator[tuple[Any, str]]:
    if isinstance(value, Section):
        drawings = find_blocks([value], model.Drawing)
        yield from ((drawing.plot, str(drawing.label)) for drawing in drawings)
    elif isinstance(value, PLOTS):
        yield value, label or str(getattr(value, "statistic", ""))
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _find_plots(inner, "")
    elif isinstance(value, tuple | list):
        beside = next(filter(None, map(_label, value)), "") if isinstance(value, tuple) else ""
        for inner in value:
            yield from _find_plots(inner, beside)


def _label(value: Any) -> str:
    """The words that a neighbour of a plot has for it."""
    if isinstance(value, str | Promise):
        return str(value)
    return "" if isinstance(value, PLOTS) else str(getattr(value, "title", "") or "")
