"""Judges on one axis with one of the people: the plot beside the table of judges' statistics."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor

from reports.document.plots import Axis, JudgePlot, JudgeRow, PersonMark
from reports.figures.judges.person_lines import PersonLine
from reports.figures.judges.scores import Score, WithScores
from reports.numbers import coefficient, coefficients, decimal, interval

MOST_TICKS = 7


def judge_plot(judges: Sequence[WithScores]) -> JudgePlot | None:
    """The first statistic of each judge; None if no judge has a value."""
    scores = [(judge.judge, judge.scores[0]) for judge in judges if judge.scores]
    rows = [row for name, score in scores if (row := _row(name, score)) is not None]
    if not rows:
        return None
    first = scores[0][1]
    lines = [_line(line, first) for line in judges[0].person_lines if line.value is not None]
    rows.sort(key=lambda row: -row.value)
    return JudgePlot(rows, lines, _axis(rows, lines, first), first.name)


def _row(name: str, score: Score) -> JudgeRow | None:
    whole, models = score.whole, score.by_part.get("models")
    if whole.value is None:
        return None
    ends = coefficients(whole.interval) if score.form == "coefficient" else interval(whole.interval)
    return JudgeRow(
        label=name,
        value=whole.value,
        low=whole.interval.low,
        high=whole.interval.high,
        is_weak=whole.interval.is_weak,
        floor=whole.floor.upper,
        among_models=models.value if models else None,
        text=_written(score, whole.value) + (f" ({ends})" if whole.interval.low is not None else ""),
    )


def _line(line: PersonLine, score: Score) -> PersonMark:
    text, value = _written(score, line.value or 0.0), line.value or 0.0
    return PersonMark(line.label, value, line.interval.low, line.interval.high, text, line.describe(text))


def _written(score: Score, number: float) -> str:
    return coefficient(number) if score.form == "coefficient" else f"{decimal(number)} %"


def _axis(rows: Sequence[JudgeRow], lines: Sequence[PersonMark], score: Score) -> Axis:
    """From below the least number to above the greatest, with ticks at tenths or fifths."""
    of_rows = [n for row in rows for n in (row.value, row.low, row.high, row.floor, row.among_models)]
    numbers = [
        n for n in (*of_rows, *(n for line in lines for n in (line.value, line.low, line.high))) if n is not None
    ]
    unit = 0.1 if score.form == "coefficient" else 10.0
    if score.form == "coefficient":
        numbers.append(0.0)
    low, high = floor(min(numbers) / unit - 0.3), ceil(max(numbers) / unit + 0.3)
    if score.form == "percent":
        low, high = max(low, 0), min(high, 10)
    step = 1 if high - low < MOST_TICKS else 2
    ticks = [n for n in range(low, high + 1) if n % step == 0]
    return Axis(low * unit, high * unit, tuple((n * unit, _tick(n * unit, score)) for n in ticks))


def _tick(number: float, score: Score) -> str:
    if score.form == "coefficient":
        return coefficient(number) if number else "0"
    return f"{decimal(number, 0)} %"
