"""Judges beside people on scales: do they put stories in the same order, and do they mean the same by a 4?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy

from reports.dataset.judged import judged
from reports.figures.base import Figure, Listing, Row
from reports.figures.scores import JudgeScores, compare_judges, outcome_rows, score_lines, score_rows
from reports.lazy import judge_scores, np

if TYPE_CHECKING:
    from reports.dataset import Dataset

SALT = 21  # of the seed


class JudgesOnScales(Figure[Listing[JudgeScores]]):
    """A judge against the mean of people, item by item; over several items each statistic is the mean of the items'."""

    key = "judges_on_scales"
    title = gettext_lazy("Judges on scales")
    position = 121
    result = Listing[JudgeScores]
    tables = ("judges-on-scales", "lost-ratings")
    is_shown_sealed = False
    nothing = Listing[JudgeScores]()

    def compute(self, dataset: Dataset) -> Listing[JudgeScores]:
        material = judged(dataset, [item for item in dataset.items if item.is_scale])
        if material is None:
            return Listing()
        n = np.isfinite(material.people).sum(axis=1)
        means = np.nansum(material.people, axis=1) / np.where(n > 0, n, np.nan)
        statistics = judge_scores.ON_SCALES
        return Listing(tuple(compare_judges(dataset, material, means, statistics, statistics, salt=SALT)))

    def rows(self, result: Listing[JudgeScores]) -> dict[str, Iterator[Row]]:
        return {
            "judges-on-scales": score_rows(result.rows),
            "lost-ratings": (row for judge in result.rows for row in outcome_rows(judge.judge, judge.outcomes)),
        }

    def lines(self, result: Listing[JudgeScores]) -> Iterator[str]:
        yield "\nJudges beside the mean of people, on scales"
        yield from score_lines(result.rows)
