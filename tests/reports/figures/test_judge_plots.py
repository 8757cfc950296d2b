"""Judges on one axis with one of the people: who is clear of the floor, where everything stands, and what is lost."""

import re

import pytest

from reports.document.plots import JudgePlot
from reports.document.values import Floor, Interval
from reports.figures.judges.outcomes import Outcomes, SourceOutcomes
from reports.figures.judges.person_lines import PersonLine
from reports.figures.judges.plots import judge_plot
from reports.figures.judges.scores import JudgeScores, Score, ScorePart
from reports.page import judge_charts
from reports.page.shapes import Drawing


def outcomes(**lost_by_source: int) -> Outcomes:
    """A hundred answers expected of each source."""
    rows = tuple(
        SourceOutcomes(
            source=source, answered=100 - n, declined=n, unreadable=0, missing=0, expected=100, lost_percent=n
        )
        for source, n in lost_by_source.items()
    )
    return Outcomes(answered=0, declined=0, unreadable=0, missing=0, expected=100, lost_percent=0, by_source=rows)


def part(name: str, value: float | None, low: float = 0, high: float = 0, floor: float | None = None) -> ScorePart:
    ends = Interval(low=low, high=high, n_resampled=12)
    return ScorePart(part=name, value=value, n=9, interval=ends, floor=Floor(mean=0, upper=floor))


def judge(name: str, *parts: ScorePart, statistic: str = "kappa", lines: tuple[PersonLine, ...] = ()) -> JudgeScores:
    return JudgeScores(
        judge=name,
        n_people=3,
        person_lines=lines,
        scores=(Score(statistic=statistic, parts=parts),),
        items=(),
        outcomes=outcomes(),
    )


EXPERT = PersonLine(against="pairwise", value=0.43, interval=Interval(low=0.35, high=0.49, n_resampled=12))


@pytest.fixture
def plot() -> JudgePlot:
    made = judge_plot(
        [
            judge("low", part("all", -0.02, -0.07, 0.03, floor=0.06), lines=(EXPERT,)),
            judge("high", part("all", 0.13, 0.08, 0.18, floor=0.05), part("models", 0.06)),
            judge("none", part("all", None)),
        ]
    )
    assert made is not None
    return made


def test_judges_stand_from_the_best_down_and_one_without_a_value_is_left_to_the_table(plot: JudgePlot) -> None:
    assert [(row.label, row.text, row.is_above_floor) for row in plot.rows] == [
        ("high", ".13 (.08 to .18)", True),
        ("low", "−.02 (−.07 to .03)", False),
    ]
    assert (plot.best.label, plot.n_above_floor, plot.has_ring) == ("high", 1, True)
    assert [line.sentence for line in plot.lines] == ["One person has .43 with another."]


@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_everything_stands_where_the_ticks_say_and_within_the_drawing(plot: JudgePlot, size: str) -> None:
    drawing: Drawing = getattr(judge_charts.draw_judges(plot), size)
    x_by_tick = {shape.text: shape.x for shape in drawing.shapes if shape.css == "tick"}

    def x(value: float) -> float:
        return x_by_tick["0"] + (x_by_tick[".40"] - x_by_tick["0"]) * value / 0.4

    assert [shape.x for shape in drawing.shapes if shape.css == "value"] == pytest.approx([x(0.13), x(-0.02)], abs=0.2)
    assert [shape.x for shape in drawing.shapes if shape.css == "ring"] == pytest.approx([x(0.06)], abs=0.2)
    (line,) = [shape.d for shape in drawing.shapes if shape.css == "person-line"]
    assert float(re.findall(r"M([\d.]+)", line)[0]) == pytest.approx(x(0.43), abs=0.2)
    assert all(0 <= shape.x <= drawing.width and 0 <= shape.y <= drawing.height for shape in drawing.shapes)


def test_percentages_end_at_a_hundred() -> None:
    plot = judge_plot([judge("turned", part("all", 87.5, 73.1, 100.0, floor=70.8), statistic="accuracy")])

    assert plot is not None
    assert (plot.axis.high, plot.axis.ticks[-1], plot.best.text) == (100, (100, "100 %"), "87.5 % (73.1 to 100.0)")


def test_without_a_value_there_is_no_plot() -> None:
    assert judge_plot([]) is None
    assert judge_plot([judge("none", part("all", None))]) is None


def test_a_loss_is_uneven_from_five_points_between_sources() -> None:
    assert outcomes(a=4, b=8, c=0).uneven is not None
    most, least = outcomes(a=19, b=4, c=5).uneven or (None, None)
    assert most is not None
    assert least is not None
    assert (most.source, least.source) == ("a", "b")
    assert outcomes(a=9, b=5).uneven is None
    assert outcomes().uneven is None
    assert [row.heat for row in outcomes(a=0, b=1, c=6, d=16).by_source] == [1, 2, 3, 4]
