"""Judges beside people on scales: do they put stories in the same order, and do they mean the same by a 4?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports.dataset.judged import judged
from reports.figures.base import Figure, Listing, Row
from reports.figures.judge_plots import judge_plot
from reports.figures.outcomes import outcome_rows
from reports.figures.scores import JudgeScores, compare_judges, score_lines, score_rows
from reports.lazy import arrays, judge_scores

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
    edition = 5
    is_shown_sealed = False
    nothing = Listing[JudgeScores]()

    def compute(self, dataset: Dataset) -> Listing[JudgeScores]:
        material = judged(dataset, [item for item in dataset.items if item.is_scale])
        if material is None:
            return Listing()
        means = arrays.mean_present(material.people, axis=1)
        statistics = judge_scores.ON_SCALES
        return Listing(
            tuple(compare_judges(dataset, material, means, statistics, statistics, against=("mean",), salt=SALT))
        )

    def rows(self, result: Listing[JudgeScores]) -> dict[str, Iterator[Row]]:
        return {
            "judges-on-scales": score_rows(result.rows),
            "lost-ratings": (row for judge in result.rows for row in outcome_rows(judge.judge, judge.outcomes)),
        }

    def context(self, result: Listing[JudgeScores]) -> dict[str, Any]:
        return {"plot": judge_plot(result.rows), "nobody": not any(row.n_people for row in result.rows)}

    def lines(self, result: Listing[JudgeScores]) -> Iterator[str]:
        yield "\nJudges beside the mean of people, on scales"
        yield from score_lines(result.rows)
