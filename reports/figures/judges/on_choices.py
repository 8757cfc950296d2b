"""Judges beside people where one of several options is chosen about a story, such as who wrote it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.judged import judged
from reports.document.model import DocumentSection, Files, Head, TextBlock
from reports.figures.base import Figure, Listing
from reports.figures.judges import tables
from reports.figures.judges.scores import JudgeScores, compare_judges
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
    tables = ("judges-on-choices", "lost-choices")
    edition = 5
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[JudgeScores]:
        material = judged(dataset, [item for item in dataset.items if item.is_choice])
        if material is None:
            return Listing()
        majority = np.stack([judgements.majority_option(ratings) for ratings in material.people])
        statistics = table_scores.ON_CHOICES
        return Listing(tuple(compare_judges(dataset, material, majority, statistics, statistics, salt=SALT)))

    def describe(self, result: Listing[JudgeScores], head: Head) -> Iterator[DocumentSection]:
        caption = _(
            "Against the option that more than half of the people chose; of several items the mean of the items’ "
            "values."
        )
        lost = _("What is missing of each judge’s choices, in percent of those expected, by source.")
        yield DocumentSection(
            heading=_("Judges on choices"),
            body=[
                *tables.statistics(result.rows, head, label=_("Judges on choices"), caption=caption),
                tables.statistics_file("judges-on-choices", result.rows),
                Files(words=_("Every statistic, item by item"), table="judges-on-choices"),
                *tables.losses("lost-choices", result.rows, caption=lost),
            ],
            margin=[
                TextBlock(words=_("Stories on whose option no majority agrees are left out.")),
                *tables.floor_notes(),
            ],
        )
