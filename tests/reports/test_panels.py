"""Plots of many sources: panels, rows and parts whose names never lie on each other, nor outside the drawing."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from reports.document import plots
from reports.document.plots import PERCENT, Curve, Mark, Panel, PanelPlot, PlotRow, Point, StackPlot, StackRow
from reports.page import charts
from reports.page.shapes import LETTER, Drawing
from reports.page.stacks import draw_stacks
from reports.page.standalone import read_styles

EIGHT = ["GPT-4", "People, intermediate", "People, advanced", "Llama-2-7B", "Llama-2-13B", "Vicuna-33B", "Ann", "Bea"]
sizes = pytest.mark.parametrize("size", ["wide", "narrow"])


def eight_dots() -> charts.Plot:
    marks = tuple(Mark(n, 10.0 * n, max(0, 10.0 * n - 8), 10.0 * n + 8) for n in range(8))
    return charts.draw_dots([PlotRow(name, "", marks) for name in ("Ending", "Coherence", "Pace")], EIGHT, PERCENT)


def eight_panels() -> charts.Plot:
    curve = Curve(((1.0, 20.0), (3.0, 60.0), (5.0, 100.0)))
    panels = [
        Panel(name, curves=(curve,), points=(Point(3, 60, low=50, high=70),), heading="Empathy") for name in EIGHT
    ]
    return charts.draw_plot(PanelPlot(panels, [], plots.scale_axis(1, 5), plots.SHARES, is_small=True))


def eight_stacks() -> charts.Plot:
    rows = [StackRow(name, "n = 36", (70.0, 20.0, 8.0, 2.0)) for name in EIGHT]
    return charts.draw_plot(StackPlot(rows, ["first", "2", "3", "last"]))


DRAWN = pytest.mark.parametrize(
    "plot", [eight_dots(), eight_panels(), eight_stacks()], ids=["dots", "panels", "stacks"]
)


def texts_collide(drawing: Drawing) -> list[tuple[str, str]]:
    """Texts of one line that lie on each other, by how wide their letters may be."""
    boxes = []
    for shape in (shape for shape in drawing.shapes if shape.text):
        width = LETTER * len(shape.text)
        left = shape.x - {"start": 0, "middle": width / 2, "end": width}[shape.anchor]
        boxes.append((round(shape.y), left, left + width, shape.text))
    return [(a[3], b[3]) for a, b in pairwise(sorted(boxes)) if a[0] == b[0] and a[2] > b[1]]


@DRAWN
@sizes
def test_nothing_stands_outside_the_drawing(plot: charts.Plot, size: str) -> None:
    drawing = getattr(plot, size)

    assert all(0 <= shape.x <= drawing.width and 0 <= shape.y <= drawing.height for shape in drawing.shapes)
    numbers = [tuple(map(float, at)) for s in drawing.shapes for at in re.findall(r"M([\d.]+) ([\d.]+)", s.d)]
    assert numbers
    assert all(x <= drawing.width and y <= drawing.height for x, y in numbers)


@sizes
def test_counts_of_bars_are_whole_and_the_numbers_below_them_are_not_cut(size: str) -> None:
    bars = (plots.HistogramBar(-200.0, -100.0, 1.0), plots.HistogramBar(100.0, 200.0, 1.0))
    axis = plots.difference_axis([-200.0, 200.0])

    drawing = getattr(charts.draw_plot(PanelPlot([Panel("", bars=bars)], [], axis, plots.count_axis(1))), size)

    ticks = [shape for shape in drawing.shapes if shape.css == "tick"]
    assert [shape.text for shape in ticks if shape.anchor == "end"] == ["0", "1", "+200"]
    assert all(
        shape.x + LETTER * len(shape.text) * {"middle": 0.5, "end": 0}[shape.anchor] <= drawing.width for shape in ticks
    )


@DRAWN
@sizes
def test_no_name_lies_on_another(plot: charts.Plot, size: str) -> None:
    drawing = getattr(plot, size)

    assert {"GPT-4", "Bea"} <= {shape.text for shape in drawing.shapes}
    assert texts_collide(drawing) == []


def test_eight_sources_have_a_line_each_in_a_panel_for_every_row() -> None:
    drawing = eight_dots().wide

    assert [shape.text for shape in drawing.shapes if shape.css == "panel-name"] == ["Ending", "Coherence", "Pace"]
    assert sum(shape.css == "source-1" for shape in drawing.shapes) == 24


def test_parts_of_a_row_fill_it_and_say_their_share_where_it_fits() -> None:
    drawing = eight_stacks().wide

    inside = [shape.text for shape in drawing.shapes if shape.css.startswith("in-part")][:3]
    assert inside == ["70", "20", "8"]
    assert len({shape.css for shape in drawing.shapes if shape.css.startswith("part-")}) == 4


@pytest.mark.parametrize("n", [2, 6, 7, 8, 11])
def test_parts_of_a_row_are_lighter_and_lighter_and_none_looks_like_another(n: int) -> None:
    styles = read_styles()
    row = StackRow("Ann", "n = 9", tuple(100 / n for _ in range(n)))

    drawing = draw_stacks(StackPlot([row], [str(place) for place in range(1, n + 1)])).wide

    parts = [shape.css for shape in drawing.shapes if shape.css.startswith("part-")]
    shades = [float(styles[css].get("fill-opacity", 1)) for css in parts]
    assert shades == sorted(set(shades), reverse=True) * 2
    assert all(f"in-{css}" in styles for css in parts)


@pytest.mark.parametrize("ends", [[0.2, 17.0], [2.5, 3.9], [3.0, 3.0], [0.0], [-0.4, 0.1]])
def test_a_value_axis_holds_all_values(ends: list[float]) -> None:
    axis = plots.value_axis(ends)

    assert axis.low <= min(ends)
    assert axis.high >= max(ends)
    assert axis.high > axis.low


def test_small_panels_are_cut_between_their_headings_so_that_they_can_be_printed() -> None:
    panels = [Panel(f"Source {n}", heading=heading) for heading in ("Empathy", "Engagement") for n in range(5)]
    plot = PanelPlot(panels, [], plots.scale_axis(1, 5), plots.SHARES, is_small=True)

    sheets = charts.draw_plot(plot).sheets

    names = [[shape.text for shape in sheet.shapes if shape.css == "panel-name"] for sheet in sheets]
    assert names == [["Empathy"], ["Engagement"]]
    of_two = charts.draw_plot(replace(plot, sources=["A", "B"]))
    assert of_two.sheets == (of_two.wide,), "their key stands above all"
