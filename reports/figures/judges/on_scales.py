"""Judges beside people on scales: do they put stories in the same order, and do they mean the same by a 4?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.judged import judged
from reports.document.model import DocumentSection, Files, Head, TextBlock
from reports.figures.base import Figure, Listing
from reports.figures.judges import tables
from reports.figures.judges.plots import judge_plot
from reports.figures.judges.scores import JudgeScores, compare_judges
from reports.lazy import arrays, judge_scores

if TYPE_CHECKING:
    from reports.dataset import Dataset

SALT = 21  # of the seed


class JudgesOnScales(Figure[Listing[JudgeScores]]):
    """A judge against the mean of people, item by item; over several items each statistic is the mean of the items'."""

    key = "judges_on_scales"
    title = gettext_lazy("Judges on scales")
    position = 121
    tables = ("judges-on-scales", "lost-ratings")
    edition = 5
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[JudgeScores]:
        material = judged(dataset, [item for item in dataset.items if item.is_scale])
        if material is None:
            return Listing()
        means = arrays.mean_present(material.people, axis=1)
        statistics = judge_scores.ON_SCALES
        return Listing(
            tuple(compare_judges(dataset, material, means, statistics, statistics, against=("mean",), salt=SALT))
        )

    def describe(self, result: Listing[JudgeScores], head: Head) -> Iterator[DocumentSection]:
        note = _(
            "Correlations say whether a judge puts stories in the same order; error and difference say whether it "
            "means the same by a number."
        )
        lost = _("What is missing of each judge’s ratings, in percent of those expected, by source.")
        yield DocumentSection(
            heading=_("Judges on scales"),
            body=[
                *tables.plot(judge_plot(result.rows)),
                *tables.beside_people(
                    result.rows,
                    head,
                    label=_("Judges on scales"),
                    caption=_("Against the mean of people; of several items the mean of the items’ values."),
                ),
                tables.statistics_file("judges-on-scales", result.rows),
                Files(words=_("Every statistic, item by item"), table="judges-on-scales"),
                *tables.losses("lost-ratings", result.rows, caption=lost),
            ],
            margin=[TextBlock(words=note), *tables.floor_notes()],
        )
