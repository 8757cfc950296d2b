"""Judges beside people on scales: do they put stories in the same order, and do they mean the same by a 4?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.judged import Judged, judged
from reports.document.model import Block, Head, TextBlock
from reports.figures.base import Figure, Listing
from reports.figures.judges.beside_people import JudgesBesidePeople
from reports.figures.judges.plots import judge_plot
from reports.figures.judges.scores import JudgeScores, compare_judges
from reports.figures.judges.tables import beside_people, floor_notes, plot
from reports.lazy import judge_scores

if TYPE_CHECKING:
    from reports.dataset import Dataset

SALT = 21  # of the seed


class JudgesOnScales(JudgesBesidePeople[JudgeScores], Figure[Listing[JudgeScores]]):
    """A judge against the mean of people, item by item; over several items each statistic is the mean of the items'."""

    key = "judges_on_scales"
    title = gettext_lazy("Judges on scales")
    position = 121
    section = "judges"
    tables = ("judges-on-scales", "lost-ratings")
    edition = 6
    caption = gettext_lazy("Against the mean of people; of several items the mean of the items’ values.")
    every = gettext_lazy("Every statistic, item by item")
    lost = gettext_lazy("What is missing of each judge’s ratings, in percent of those expected, by source.")
    tabulate = staticmethod(beside_people)

    def compute(self, dataset: Dataset) -> Listing[JudgeScores]:
        material = judged(dataset, [item for item in dataset.items if item.is_scale], with_jury=True)
        statistics = judge_scores.ON_SCALES
        return Listing(compare_judges(dataset, material, Judged.means, statistics, against=("mean",), salt=SALT))

    def draw(self, judges: Sequence[JudgeScores], head: Head) -> list[Block]:
        return plot(judge_plot(judges))

    def list_notes(self) -> list[TextBlock]:
        note = _(
            "Correlations say whether a judge puts stories in the same order; error and difference say whether it "
            "means the same by a number."
        )
        return [TextBlock(words=note), *floor_notes()]
