"""The summary of a report, on one screen: who leads, how sure that is, whether raters agree, and judges with them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import Any

from reports.document.leaderboard import Gauge, Leader, Leaderboard
from reports.document.model import Head, Phrase
from reports.document.plots import value_axis
from reports.document.values import Interval
from reports.figures import Figure
from reports.figures.base import Statement
from reports.numbers import coefficient, interval, whole
from reports.page.context import find_headline, highlights
from reports.page.outline import find_leader
from reports.page.statements import held_percent
from reports.results import Results

MOST_LEADERS = 13
MOST_GAUGES = 3
WIDTH = 200  # of a drawing, in its own units
EDGE = 14
JUDGES = "judges"


@dataclass(frozen=True)
class DrawnLine:
    """A value with its interval, by its place from the left edge. upper : the end of the band of chance"""

    name: Phrase
    words: str
    ends: Interval | None
    x: float
    low: float | None
    high: float | None
    is_weak: bool
    zero: float
    upper: float | None = None
    places: int = 2
    letters: str = ""

    @property
    def description(self) -> str:
        """What is drawn, in words."""
        ends = self.ends
        return self.words if ends is None or ends.low is None else f"{self.words} ({interval(ends, self.places)})"


@dataclass(frozen=True)
class DrawnBoard:
    """A leaderboard as it is drawn. figure : that it is out of; n_left : sources that do not fit"""

    board: Leaderboard
    figure: Figure[Any]
    lines: tuple[DrawnLine, ...]
    ticks: tuple[tuple[float, str], ...]
    n_left: int

    @property
    def has_letters(self) -> bool:
        return any(leader.letters for leader in self.board.leaders)


@dataclass(frozen=True)
class JudgeStatement:
    statement: Statement
    n_others: int


@dataclass(frozen=True)
class ReportSummary:
    """board : None where nothing leads, as in a sealed study; lead_difference : in words, "" where nothing is compared
    n_gauges : how many there are, of which the first are drawn; gauge_words : whether raters agree
    has_judges : whether any has answered, and may be compared with people; judge : None where none could be tested
    held_percent : of 100 intervals how many hold, by simulation
    n_findings, n_planned : how many are stated, and how many of them were planned
    """

    board: DrawnBoard | None
    lead_difference: str
    gauges: tuple[DrawnLine, ...]
    gauge_ticks: tuple[tuple[float, str], ...]
    n_gauges: int
    gauge_words: str
    has_judges: bool
    judge: JudgeStatement | None
    highlights: list[tuple[str, str]]
    held_percent: int | None
    n_findings: int
    n_planned: int
    has_plan: bool

    @classmethod
    def of(cls, results: Results, head: Head) -> ReportSummary:
        board = _board(results, head)
        gauges = [gauge for figure, result in results.visible for gauge in figure.gauges(result)]
        lines, ticks = _draw_gauges(gauges[:MOST_GAUGES])
        ends = [line.ends for line in board.lines] if board else []
        statements = [s for figure, result in results.visible for s in figure.statements(result, head)]
        return cls(
            board=board,
            lead_difference=find_headline(results)[1],
            gauges=lines,
            n_gauges=len(gauges),
            gauge_words=" ".join(words for figure, result in results.visible for words in figure.gauge_words(result)),
            gauge_ticks=ticks,
            has_judges=_has_judges(results),
            judge=_judge(results, head),
            highlights=highlights(results),
            held_percent=held_percent(ends),
            n_findings=len(statements),
            n_planned=sum(statement.is_planned for statement in statements),
            has_plan=results.study.has_plan,
        )


def _board(results: Results, head: Head) -> DrawnBoard | None:
    figure = find_leader(results, head)
    board = figure.leaderboard(results.figures[figure.key], head) if figure else None
    if figure is None or board is None:
        return None
    leaders = board.leaders[:MOST_LEADERS]
    least, most = board.bounds or (-inf, inf)
    numbers = [number for leader in leaders for number in _numbers(leader.value, leader.ends)]
    axis = value_axis([min(max(number, least), most) for number in numbers], most=4)
    place = _Place(axis.low, axis.high)
    lines = tuple(_line(leader, leader.words, place) for leader in leaders)
    ticks = tuple((place.x(number), words) for number, words in axis.ticks)
    return DrawnBoard(board, figure, lines, ticks, len(board.leaders) - len(leaders))


def _draw_gauges(gauges: list[Gauge]) -> tuple[tuple[DrawnLine, ...], tuple[tuple[float, str], ...]]:
    """On one axis that goes on to full agreement."""
    if not gauges:
        return (), ()
    low = min(0.0, *(number for gauge in gauges for number in _numbers(gauge.value, gauge.ends)))
    place = _Place(low, 1.0)
    lines = tuple(_line(gauge, coefficient(gauge.value), place, upper=gauge.upper) for gauge in gauges)
    ticks = ((number, coefficient(number) if number % 1 else whole(number)) for number in (0, 0.5, 1))
    return lines, tuple((place.x(number), words) for number, words in ticks)


@dataclass(frozen=True)
class _Place:
    """An axis of a drawing, by its ends."""

    low: float
    high: float

    def x(self, number: float) -> float:
        inside = min(max(number, self.low), self.high)
        return round(EDGE + (WIDTH - 2 * EDGE) * (inside - self.low) / (self.high - self.low), 1)


def _line(of: Leader | Gauge, words: str, place: _Place, *, upper: float | None = None) -> DrawnLine:
    ends = of.ends
    has_ends = ends is not None and ends.low is not None and ends.high is not None
    return DrawnLine(
        of.name,
        words,
        ends,
        x=place.x(of.value),
        low=place.x(ends.low) if has_ends else None,  # type: ignore[union-attr,arg-type]
        high=place.x(ends.high) if has_ends else None,  # type: ignore[union-attr,arg-type]
        is_weak=ends is not None and ends.is_weak,
        zero=place.x(0),
        upper=place.x(max(upper, 0)) if upper is not None else None,
        places=of.places if isinstance(of, Leader) else 2,
        letters=of.letters if isinstance(of, Leader) else "",
    )


def _numbers(value: float, ends: Interval | None) -> Iterable[float]:
    numbers = [value, *((ends.low, ends.high) if ends else ())]
    return [number for number in numbers if number is not None]


def _has_judges(results: Results) -> bool:
    """Whether a judge has answered and may be compared; sealed, its section says no more than what it cost."""
    progress = results.figures["progress"]
    has_answers = progress is not None and any(judge.n_answered for judge in progress.judges)
    has_section = any(figure.section == JUDGES for figure, _result in results.visible)
    return has_answers and has_section and not results.is_sealed


def _judge(results: Results, head: Head) -> JudgeStatement | None:
    """What is stated of judges first."""
    stated = [
        statement
        for figure, result in results.visible
        if figure.section == JUDGES
        for statement in figure.statements(result, head)
    ]
    if not stated:
        return None
    return JudgeStatement(stated[0], len(stated) - 1)
