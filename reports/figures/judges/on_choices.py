"""Judges beside people where one of several options is chosen about a story, such as who wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.judged import Judged, judged
from reports.document.model import TextBlock
from reports.figures.base import Figure, Listing
from reports.figures.judges import tables
from reports.figures.judges.beside_people import JudgesBesidePeople
from reports.figures.judges.scores import JudgeScores, compare_judges
from reports.lazy import table_scores

if TYPE_CHECKING:
    from reports.dataset import Dataset

SALT = 22  # of the seed


class JudgesOnChoices(JudgesBesidePeople[JudgeScores], Figure[Listing[JudgeScores]]):
    """A judge against the option that more than half of the people chose; items are not pooled, since their options
    differ."""

    key = "judges_on_choices"
    title = gettext_lazy("Judges on choices")
    position = 122
    section = "judges"
    tables = ("judges-on-choices", "lost-choices")
    edition = 5
    caption = gettext_lazy(
        "Against the option that more than half of the people chose; of several items the mean of the items’ values."
    )
    every = gettext_lazy("Every statistic, item by item")
    lost = gettext_lazy("What is missing of each judge’s choices, in percent of those expected, by source.")

    def compute(self, dataset: Dataset) -> Listing[JudgeScores]:
        material = judged(dataset, [item for item in dataset.items if item.is_choice], with_jury=True)
        return Listing(compare_judges(dataset, material, Judged.majority_options, table_scores.ON_CHOICES, salt=SALT))

    def list_notes(self) -> list[TextBlock]:
        left_out = _("Stories on whose option no majority agrees are left out.")
        return [TextBlock(words=left_out), *tables.floor_notes()]
