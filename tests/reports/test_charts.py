"""Plots as shapes: every value where the axis says, nothing outside the drawing."""

import re
from collections.abc import Callable
from itertools import pairwise

import pytest

from reports.document.plots import (
    PERCENT,
    Axis,
    DifferenceMark,
    DifferencePlot,
    Mark,
    PlotRow,
    difference_axis,
    scale_axis,
)
from reports.document.strips import Coefficient, StripAxis
from reports.document.values import Estimate, Floor, Interval
from reports.page import charts
from reports.page.shapes import Drawing

SOURCES = ["The New Yorker", "Claude 1.3", "GPT-3.5", "GPT-4", "Another", "And another"]


def dots(n_sources: int = 3, *, label: str = "Ending") -> charts.Plot:
    marks = tuple(Mark(n, 25.0 * n, max(0, 25.0 * n - 10), min(100, 25.0 * n + 10)) for n in range(n_sources))
    return charts.draw_dots([PlotRow(label, "Fluency", marks)], SOURCES[:n_sources], PERCENT)


def places(drawing: Drawing, css: str) -> list[float]:
    """Where the marks of a source stand: first in the key, then in the plot."""
    return [shape.x or float(re.findall(r"M([\d.]+)", shape.d)[0]) for shape in drawing.shapes if shape.css == css]


@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_a_value_stands_where_the_ticks_say(size: str) -> None:
    drawing = getattr(dots(), size)

    tick = {shape.text: shape.x for shape in drawing.shapes if shape.css == "tick"}
    assert places(drawing, "source-1")[-1] == tick["0"]
    assert places(drawing, "source-3")[-1] == tick["50"]


@pytest.mark.parametrize("n", [1, 2, 4, 5])
@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_nothing_stands_outside_the_drawing(size: str, n: int) -> None:
    drawing = getattr(dots(n), size)

    assert all(0 <= shape.x <= drawing.width and 0 <= shape.y <= drawing.height for shape in drawing.shapes)
    numbers = [float(y) for shape in drawing.shapes for y in re.findall(r"M[\d.]+ ([\d.]+)", shape.d)]
    assert numbers
    assert max(numbers) <= drawing.height


def test_a_missing_value_has_no_mark_and_a_missing_interval_no_line() -> None:
    row = PlotRow("Ending", "", (Mark(0, None, None, None), Mark(1, 50.0, None, None)))

    drawing = charts.draw_dots([row], SOURCES[:2], PERCENT).wide

    assert len(places(drawing, "source-1")) == 1  # in the key only
    assert len(places(drawing, "source-2")) == 2
    assert not [shape for shape in drawing.shapes if shape.css.startswith("interval")]


def test_six_sources_have_six_different_signs() -> None:
    signs = {
        (shape.css, bool(shape.r), re.sub(r"^M[\d. -]+", "", shape.d))
        for shape in (charts.draw_sign(n, 50, 50) for n in range(6))
    }

    assert len(signs) == 6


def test_long_names_stand_on_two_lines() -> None:
    drawing = dots(label="Language Proficiency and Literary Devices").wide

    names = [shape.text for shape in drawing.shapes if shape.css == "item-name"]
    assert names == ["Language Proficiency and", "Literary Devices"]


def test_long_names_of_sources_in_a_panel_keep_clear_of_those_above_and_below() -> None:
    names = ["A model with a long name, 70B", "Another model with a long name", "Short", "People", "Six", "Seven"]
    row = PlotRow("Ending", "", tuple(Mark(n, 50.0, 40.0, 60.0) for n in range(6)))

    drawing = charts.draw_dots([row], names, PERCENT).wide

    lines = sorted(shape.y for shape in drawing.shapes if shape.css == "item-name")
    assert len(lines) == 8
    assert min(after - before for before, after in pairwise(lines)) >= charts.LABEL_LINE


def test_equal_values_are_stacked_not_hidden() -> None:
    drawing = charts.draw_strips([("Claude", [3.0, 3.0, 3.0, 8.0])], scale_axis(0, 14)).wide

    marks = [(shape.x, shape.y) for shape in drawing.shapes if shape.r]
    assert len(set(marks)) == 4
    assert len({x for x, _ in marks}) == 2


def differences(names: list[str]) -> charts.Plot:
    marks = [DifferenceMark(name, 10.0, 5, 15, is_clear=True, is_weak=False) for name in names]
    return charts.draw_plot(DifferencePlot(marks, difference_axis([0, 15])))


def strips(names: list[str]) -> charts.Plot:
    return charts.draw_strips([(name, [3.0]) for name in names], scale_axis(0, 14))


@pytest.mark.parametrize("draw", [strips, differences])
def test_a_name_on_two_lines_touches_neither_its_neighbours_nor_the_lines_between(
    draw: Callable[[list[str]], charts.Plot],
) -> None:
    drawing = draw(["Amateurs", "Claude 3.5 Sonnet of October (2024-10-22)", "Gemini"]).wide

    names = [shape.y for shape in drawing.shapes if shape.css == "item-name"]
    rules = [float(re.findall(r"M0 ([\d.]+)H", shape.d)[0]) for shape in drawing.shapes if shape.d.startswith("M0 ")]
    assert len(names) == 4
    assert all(b - a >= 17 for a, b in pairwise(names))
    assert rules[0] <= names[1] - 13, "below the line above, by the height of a letter"
    assert names[2] + 4 <= rules[1]


def test_beside_a_difference_stand_its_numbers_and_no_line_goes_through_them() -> None:
    mark = DifferenceMark("Claude", -12.0, -20, -4, is_clear=True, is_weak=False, text="−12.0 (−20.0 to −4.0)")
    drawing = charts.draw_plot(DifferencePlot([mark], difference_axis([-20, 10]))).wide

    (numbers,) = [shape for shape in drawing.shapes if shape.css == "numbers"]
    assert numbers.text == mark.text
    lines = [float(line[1]) for shape in drawing.shapes if (line := re.match(r"M([\d.]+) [\d.]+V", shape.d))]
    assert max(lines) < numbers.x - 7.4 * len(mark.text)


def test_panels_of_many_sources_are_cut_between_their_rows_so_that_they_can_be_printed() -> None:
    marks = tuple(Mark(n, 50.0, None, None) for n in range(6))
    rows = [PlotRow(f"Test {n}", "Fluency", marks) for n in range(1, 6)]

    plot = charts.draw_dots(rows, SOURCES, PERCENT)

    panels = [[s.text for s in sheet.shapes if s.css == "panel-name"] for sheet in plot.sheets]
    assert panels == [["Test 1", "Test 2"], ["Test 3", "Test 4"], ["Test 5"]]
    assert sum(sheet.height for sheet in plot.sheets) == plot.wide.height
    assert dots().sheets == (dots().wide,)


@pytest.mark.parametrize("draw", [strips, differences])
def test_no_line_of_the_axis_goes_through_a_name_above_its_row(draw: Callable[[list[str]], charts.Plot]) -> None:
    drawing = draw(["Amateurs", "Gemini"]).narrow

    names = [shape.y for shape in drawing.shapes if shape.css == "item-name"]
    spans = [re.fullmatch(r"M[\d.]+ ([\d.]+)V([\d.]+)", shape.d) for shape in drawing.shapes]
    lines = [(float(span[1]), float(span[2])) for span in spans if span]
    assert len(names) == 2
    assert lines
    assert not [name for name in names for top, bottom in lines if top < name < bottom or top < name - 10 < bottom]


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [(1, 5, [1, 2, 3, 4, 5]), (0, 14, [0, 2, 4, 6, 8, 10, 12, 14]), (0, 13, [0, 2, 4, 6, 8, 10, 13])],
)
def test_a_scale_has_whole_ticks_from_end_to_end(low: float, high: float, ticks: list[float]) -> None:
    axis = scale_axis(low, high)

    assert (axis.low, axis.high, [tick for tick, _ in axis.ticks]) == (low, high, ticks)


def test_a_cell_places_the_coefficient_between_the_ends_of_all_rows() -> None:
    def coefficient(value: float | None, low: float | None, high: float | None, upper: float | None) -> Coefficient:
        return Estimate(value=value), Interval(low=low, high=high), Floor(mean=None, upper=upper)

    coefficients = [coefficient(0.8, 0.6, 0.95, 0.1), coefficient(None, None, None, None)]
    axis = StripAxis.over(coefficients)
    first, second = map(axis.draw, coefficients)

    assert (axis.low, axis.high) == (-0.2, 1.0)
    assert [first.zero, first.value] == [33.0, 133.0]
    assert (second.value, second.low, second.floor) == (None, None, None)


def test_an_axis_from_low_to_high_fills_the_frame() -> None:
    axis = Axis(1, 5, ())

    assert [charts.WIDE.x(axis, 1), charts.WIDE.x(axis, 5)] == [charts.WIDE.left, charts.WIDE.right]
