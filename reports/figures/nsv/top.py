"""How many of the ideas that the score ranks first the panel ranks first, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from reports.dataset.scored_ideas import SALT
from reports.document import columns
from reports.document.columns import LEAD
from reports.document.model import ReportTable
from reports.document.phrases import phrase
from reports.figures.base import ends_of_mean, note_of
from reports.figures.nsv.results import NsvScores, PanelTopPrecision
from reports.lazy import np, top_precision
from reports.numbers import whole

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.scored_ideas import ScoredIdeas

TOPS = (1, 3, 5, 10)
TOP = 9  # of the seed


def list_top_precisions(dataset: Dataset, scored: ScoredIdeas) -> Iterator[PanelTopPrecision]:
    """For each k, on hold-out: the mean over prompts with more than k ideas, which are the clusters; none without."""
    chosen = scored.is_held_out
    sides = (scored.fitted.scores[chosen], scored.material.target[chosen], scored.material.prompts[chosen])
    for k in TOPS:
        top = top_precision.find_top_shares(*sides, k)
        if n := len(top.shares):
            percents = 100 * top.shares
            yield PanelTopPrecision(
                k=k,
                value=float(percents.mean()),
                interval=ends_of_mean(percents, np.arange(n), rng=dataset.rng(SALT, TOP, k), low=0, high=100),
                chance=float(100 * top.by_chance.mean()),
                n_prompts=n,
            )


def write_table(scores: NsvScores) -> ReportTable[PanelTopPrecision]:
    return ReportTable(
        name="nsv-top",
        label=_("The ideas ranked first"),
        caption=_(
            "Of the k ideas of a prompt that NSV ranks first, how many are among the k that the panel does; the mean "
            "over prompts with more ideas."
        ),
        rows=scores.top,
        columns=[
            columns.number("k", "k", is_head=True),
            *columns.with_interval("percent", phrase(_("Precision, %%")), places=0, css=LEAD),
            columns.number("chance_percent", phrase(_("By chance, %%")), lambda row: row.chance, write=whole),
            columns.number("n_prompts", _("Prompts")),
            columns.note(lambda row: note_of(row, row.interval)),
        ],
    )
