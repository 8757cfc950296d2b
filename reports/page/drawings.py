"""The plots of a report by name, for their addresses: `ratings`, and `ratings-2` for the second of a section."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from reports.document.model import DocumentSection, DrawnPlot, find_blocks
from reports.figures import Figure
from reports.results import Results


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


def list_plots(figure: Figure[Any], description: Iterable[DocumentSection]) -> list[NamedPlot]:
    """The plots of one figure, in the order of its description."""
    return [
        NamedPlot(figure.slug if n == 1 else f"{figure.slug}-{n}", figure, drawn.plot, str(drawn.label))
        for n, drawn in enumerate(find_blocks(description, DrawnPlot), start=1)
    ]


def find_plot(results: Results, name: str) -> NamedPlot | None:
    """The plot of that name, of the sections that the page shows; None if there is none."""
    for figure, _result in results.visible:
        if name.startswith(figure.slug):
            for named in list_plots(figure, results.describe(figure, results.head)):
                if named.name == name:
                    return named
    return None
