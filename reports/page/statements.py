"""The findings at the head of the page: sentences of all figures, those that were planned first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.functional import Promise

from reports.document.plots import value_axis
from reports.document.values import Interval
from reports.figures.base import Statement
from reports.numbers import coefficient
from reports.results import Results
from stats import coverage

MOST_STATEMENTS = 12
MOST_STEPS = 4  # from tick to tick of an effect's axis, which is short


@dataclass(frozen=True)
class EffectCell:
    """How far from the left edge of its drawing, of 200, each part of an effect stands.

    ticks : of the axis, each with its number in words
    """

    zero: float
    ticks: tuple[tuple[float, str], ...]
    value: float
    low: float | None
    high: float | None
    is_weak: bool


@dataclass(frozen=True)
class StatementLine:
    """A statement with the section that it is out of."""

    statement: Statement
    key: str
    slug: str
    title: str | Promise
    effect: EffectCell | None


def statement_lines(results: Results) -> list[StatementLine]:
    """The statements of all figures that are shown, at most a dozen."""
    pairs = [
        (statement, figure)
        for figure, result in results.visible
        for statement in figure.statements(result, results.head)
    ]
    pairs.sort(key=lambda pair: (not pair[0].is_planned, pair[0].position))
    top_pairs = pairs[:MOST_STATEMENTS]
    statements = [statement for statement, _figure in top_pairs]
    return [
        StatementLine(statement, figure.key, figure.slug, figure.title, _effect(statement, statements))
        for statement, figure in top_pairs
    ]


def held_percent(intervals: Sequence[Interval | None]) -> int | None:
    """Of 100 such intervals how many hold what they estimate at least, by simulation: 95 where that is near enough for
    all of them; None where it is not known of one."""
    ends = [interval for interval in intervals if interval and interval.low is not None]
    held = [coverage.held(interval.method, interval.n_resampled or 0) for interval in ends]
    known = [percent for percent in held if percent is not None]
    if not known or len(known) < len(held):
        return None
    return 95 if min(known) >= coverage.NOMINAL_FROM else int(min(known))


def _effect(statement: Statement, statements: Sequence[Statement]) -> EffectCell | None:
    """Its drawing, on the axis of all statements in its unit; a coefficient's goes on to 1."""
    if statement.value is None:
        return None
    alike = [number for other in statements if other.unit == statement.unit for number in _numbers(other)]
    axis = value_axis([0.0, *alike, *([1.0] if statement.is_coefficient else [])], most=MOST_STEPS)

    def x(number: float) -> float:
        return round(12 + 176 * (number - axis.low) / (axis.high - axis.low), 1)

    ticks = [
        (x(number), coefficient(number) if statement.is_coefficient and number % 1 else words)
        for number, words in axis.ticks
    ]

    ends = statement.interval
    return EffectCell(
        zero=x(0),
        ticks=tuple(ticks),
        value=x(statement.value),
        low=x(ends.low) if ends and ends.low is not None else None,
        high=x(ends.high) if ends and ends.high is not None else None,
        is_weak=ends is not None and ends.is_weak,
    )


def _numbers(statement: Statement) -> list[float]:
    ends = statement.interval
    numbers = [statement.value, *((ends.low, ends.high) if ends else ())]
    return [number for number in numbers if number is not None]
