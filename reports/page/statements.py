"""The findings at the head of the page: sentences of all figures, those that were planned first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.functional import Promise

from reports.figures.base import Statement
from reports.results import Results

MOST_STATEMENTS = 12


@dataclass(frozen=True)
class EffectCell:
    """How far from the left edge of its drawing, of 200, each part of an effect stands."""

    zero: float
    value: float
    low: float | None
    high: float | None
    is_weak: bool

    @property
    def is_zero_right(self) -> bool:
        """Whether the unit has its place at the left: at the right it would lie on the zero."""
        return self.zero > 100


@dataclass(frozen=True)
class StatementLine:
    """A statement with the section that it is out of."""

    statement: Statement
    key: str
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
        StatementLine(statement, figure.key, figure.title, _effect(statement, statements))
        for statement, figure in top_pairs
    ]


def _effect(statement: Statement, statements: Sequence[Statement]) -> EffectCell | None:
    """Its drawing, on the axis of all statements in its unit."""
    if statement.value is None:
        return None
    alike = [number for other in statements if other.unit == statement.unit for number in _numbers(other)]
    low, high = min([0.0, *alike]), max([0.0, *alike])
    span = (high - low) or 1.0

    def x(number: float) -> float:
        return round(12 + 176 * (number - low) / span, 1)

    ends = statement.interval
    return EffectCell(
        zero=x(0),
        value=x(statement.value),
        low=x(ends.low) if ends and ends.low is not None else None,
        high=x(ends.high) if ends and ends.high is not None else None,
        is_weak=ends is not None and ends.is_weak,
    )


def _numbers(statement: Statement) -> list[float]:
    ends = statement.interval
    numbers = [statement.value, *((ends.low, ends.high) if ends else ())]
    return [number for number in numbers if number is not None]
