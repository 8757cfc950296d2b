"""Judges beside people on the scores that instruments declare: a judge's own, made of its answers to the same items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.judged_scores import judged_scores
from reports.document.model import Block, Head, TextBlock
from reports.figures.base import Figure, Listing
from reports.figures.judges.beside_people import JudgesBesidePeople
from reports.figures.judges.plots import judge_plot
from reports.figures.judges.scores import JudgeScores, compare_judges
from reports.figures.judges.tables import beside_people, floor_notes, plot
from reports.lazy import composites, judge_scores, np

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.judged import Judged
    from stats.arrays import FloatArray

SALT = 37  # of the seed


class JudgesOnScores(JudgesBesidePeople[JudgeScores], Figure[Listing[JudgeScores]]):
    """A judge's own score against the mean of people's; over several scores each statistic is the mean of theirs."""

    key = "judges_on_scores"
    title = gettext_lazy("Judges on declared scores")
    position = 119
    section = "judges"
    tables = ("judges-on-scores", "lost-in-scores")
    edition = 1
    caption = gettext_lazy("The judge’s own score against the mean of people’s; of several scores the mean.")
    every = gettext_lazy("Every statistic, score by score")
    lost = gettext_lazy(
        "What is missing of each judge’s answers to the items, in percent of those expected, by source."
    )
    tabulate = staticmethod(beside_people)

    def compute(self, dataset: Dataset) -> Listing[JudgeScores]:
        scored = judged_scores(dataset)
        if scored is None:
            return Listing()
        material, asked = scored
        judges = compare_judges(
            *(dataset, material, _means, judge_scores.ON_SCALES), against=("mean",), salt=SALT, asked=asked
        )
        return Listing(judges)

    def draw(self, judges: Sequence[JudgeScores], head: Head) -> list[Block]:
        return plot(judge_plot(judges))

    def list_notes(self) -> list[TextBlock]:
        note = _("A judge has a score of a story where it answered all of its items, as a person has.")
        return [TextBlock(words=note), *floor_notes()]


def _means(material: Judged) -> FloatArray:
    """The mean of people's scores, shape (S, U)."""
    return np.stack([composites.over_raters(scores) for scores in material.people])
