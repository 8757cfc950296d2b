"""What a judge cost, as its endpoint billed it; beside agreement, never divided by it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.records.costs import Spending
from reports.document import columns
from reports.document.columns import LEAD, decimals
from reports.document.model import DocumentSection, Files, Head, ReportTable, TextBlock
from reports.document.phrases import phrase
from reports.figures.base import Figure, Listing

if TYPE_CHECKING:
    from reports.dataset import Dataset


@dataclass(frozen=True, kw_only=True)
class JudgeCost(Spending):
    """All runs of a judge in the study, in US dollars."""

    per_story: float | None


class JudgeCosts(Figure[Listing[JudgeCost]]):
    key = "judge_costs"
    title = gettext_lazy("Cost of judges")
    position = 132
    section = "judges"
    edition = 2
    tables = ("judge-costs",)

    def compute(self, dataset: Dataset) -> Listing[JudgeCost]:
        spending = dataset.records.spending
        return Listing(tuple(JudgeCost(**vars(row), per_story=_per_story(row.cost, row.n_stories)) for row in spending))

    def describe(self, result: Listing[JudgeCost], head: Head) -> Iterator[DocumentSection]:
        table = ReportTable(
            name="judge-costs",
            label=_("Cost of judges, table"),
            caption=_("In US dollars, as counted by the endpoint, with what came to nothing."),
            rows=result.rows,
            columns=[
                columns.words("judge", _("Judge"), is_head=True),
                columns.number("per_story", _("A story"), write=decimals(4), css=LEAD),
                columns.number("cost", _("All"), write=decimals(2)),
                columns.number("n_stories", _("Stories")),
                columns.number("n_requests", _("Requests")),
                columns.number("n_without_cost", phrase(_("Of unknown<br>cost"))),
                columns.number("n_paid_again", phrase(_("Calls paid<br>again"))),
                columns.counts(phrase(_("Tokens<br>in, out")), "n_tokens_in", "n_tokens_out"),
                columns.fields("n_tokens_out", "n_calls", "n_without_reply", "n_not_asked"),
            ],
        )
        note = _("Agreement and cost are listed beside one another, never as a ratio: an invalid verdict is not cheap.")
        yield DocumentSection(
            heading=self.title,
            body=[table, Files(words=_("Every judge"), table="judge-costs")],
            margin=[TextBlock(words=note)],
        )


def _per_story(cost: float | None, n_stories: int) -> float | None:
    return None if cost is None or not n_stories else cost / n_stories
