"""Judges beside each other, statistic by statistic, as a page shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reports.figures.scores import HasScores, Score
from reports.page import charts
from reports.page.charts import CoefficientCell


@dataclass(frozen=True)
class StatisticLine:
    """One judge. title : of the item, where judges stand to several; cell : of coefficients, on the axis of all"""

    judge: HasScores
    title: str
    score: Score
    cell: CoefficientCell | None


@dataclass(frozen=True)
class StatisticGroup:
    """One statistic of every judge, on one axis from low to high."""

    name: str
    is_drawn: bool
    low: float
    high: float
    lines: tuple[StatisticLine, ...]


def group_by_statistic(judges: Sequence[HasScores]) -> list[StatisticGroup]:
    """Every statistic that the judges have, in the order of the first judge's."""
    titles = [str(getattr(judge, "title", "")) for judge in judges]
    has_several = len(set(titles)) > 1
    scores = [{score.statistic: score for score in judge.scores} for judge in judges]
    return [
        _group(
            [
                (judge, title if has_several else "", by_statistic[name])
                for judge, title, by_statistic in zip(judges, titles, scores, strict=True)
                if name in by_statistic
            ]
        )
        for name in (scores[0] if scores else {})
    ]


def _group(entries: Sequence[tuple[HasScores, str, Score]]) -> StatisticGroup:
    cells = charts.draw_cells([score.whole for _judge, _title, score in entries])
    first = entries[0][2]
    is_drawn = first.form == "coefficient"
    lines = [
        StatisticLine(judge, title, score, cell if is_drawn else None)
        for (judge, title, score), (_row, cell) in zip(entries, cells.rows, strict=True)
    ]
    return StatisticGroup(first.name, is_drawn, cells.low, cells.high, tuple(lines))
