"""Judges beside people where one of several options is chosen about a story, such as who wrote it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy

from reports.dataset.judged import judged
from reports.figures.base import Figure, Listing, Row
from reports.figures.outcomes import outcome_rows
from reports.figures.scores import JudgeScores, compare_judges, score_lines, score_rows
from reports.lazy import judgements, np, table_scores

if TYPE_CHECKING:
    from reports.dataset import Dataset

SALT = 22  # of the seed


class JudgesOnChoices(Figure[Listing[JudgeScores]]):
    """A judge against the option that more than half of the people chose; items are not pooled, since their options
    differ."""

    key = "judges_on_choices"
    title = gettext_lazy("Judges on choices")
    position = 122
    result = Listing[JudgeScores]
    tables = ("judges-on-choices", "lost-choices")
    edition = 5
    is_shown_sealed = False
    nothing = Listing[JudgeScores]()

    def compute(self, dataset: Dataset) -> Listing[JudgeScores]:
        material = judged(dataset, [item for item in dataset.items if item.is_choice])
        if material is None:
            return Listing()
        majority = np.stack([judgements.majority_option(ratings) for ratings in material.people])
        statistics = table_scores.ON_CHOICES
        return Listing(tuple(compare_judges(dataset, material, majority, statistics, statistics, salt=SALT)))

    def rows(self, result: Listing[JudgeScores]) -> dict[str, Iterator[Row]]:
        return {
            "judges-on-choices": score_rows(result.rows),
            "lost-choices": (row for judge in result.rows for row in outcome_rows(judge.judge, judge.outcomes)),
        }

    def lines(self, result: Listing[JudgeScores]) -> Iterator[str]:
        yield "\nJudges beside the majority of people, on choices"
        yield from score_lines(result.rows)
