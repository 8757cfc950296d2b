"""Whether what filled texts settle in one section agrees with what hangs on it in another: a score of its own.

Source: Zou & Xu (2026), section 4.4, which defines it and leaves it out of the total.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.document import columns
from reports.document.columns import LEAD
from reports.document.model import DocumentSection, Files, Head, ReportTable, RowGroup, TextBlock
from reports.figures.base import Figure
from reports.figures.cloze.participants import number
from reports.lazy import arrays, cloze, np
from reports.numbers import coefficient

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.judged_clozes import JudgedCloze
    from reports.dataset.scored_clozes import ScoredCloze


@dataclass(frozen=True, kw_only=True)
class EdgeRow:
    """One edge over n texts. consistency : mean, 0 to 1"""

    item: str
    title: str
    question: str
    n: int
    consistency: float | None


@dataclass(frozen=True, kw_only=True)
class ParticipantConsistency:
    """n_edges : that somebody rated; consistency : the mean over them all, None where one was not rated"""

    participant: str
    is_model: bool
    n_edges: int
    consistency: float | None


@dataclass(frozen=True, kw_only=True)
class ClozeEdgesResult:
    edges: tuple[EdgeRow, ...]
    participants: tuple[ParticipantConsistency, ...]


class ClozeEdges(Figure[ClozeEdgesResult]):
    key = "cloze_edges"
    title = gettext_lazy("Filled texts: agreement between sections")
    position = 146
    section = "cloze"
    tables = ("cloze-edges", "cloze-consistency")
    is_shown_sealed = False
    needs_answers = False

    def compute(self, dataset: Dataset) -> ClozeEdgesResult | None:
        scored = dataset.scored_cloze
        judged = scored.judged if scored else None
        if scored is None or judged is None or not np.isfinite(judged.edge_ratings).any():
            return None
        return ClozeEdgesResult(edges=tuple(_edges(judged)), participants=tuple(_participants(scored, judged)))

    def describe(self, result: ClozeEdgesResult, head: Head) -> Iterator[DocumentSection]:
        edges = ReportTable(
            name="cloze-edges",
            label=_("Agreement along the edges"),
            caption=_("Agreement of each section with the sections that depend on it, 0 to 1, lowest first."),
            rows=result.edges,
            groups=[RowGroup(rows=sorted(result.edges, key=_by_consistency))],
            columns=[
                columns.in_file("item"),
                columns.words("question", _("Question"), language=head.language, is_head=True, css="statement"),
                columns.words("title", _("Sections"), language=head.language),
                columns.number("consistency", _("Agreement"), write=coefficient, css=LEAD),
                columns.number("n", _("Texts")),
            ],
        )
        participants = ReportTable(
            name="cloze-consistency",
            label=_("Agreement by participant"),
            rows=result.participants,
            groups=[RowGroup(rows=sorted(result.participants, key=_by_consistency))],
            columns=[
                columns.words("participant", _("Participant"), is_head=True),
                columns.in_file("is_model"),
                columns.number("consistency", _("Agreement"), write=coefficient, css=LEAD),
                columns.number("n_edges", _("Edges rated")),
            ],
            css="ruled close",
        )
        note = _(
            "A score of its own: it does not enter the total, in which the paper leaves it out as well. The scale of "
            "the edges is Quire’s."
        )
        yield DocumentSection(
            heading=self.title,
            body=[
                edges,
                Files(words=_("Every edge"), table="cloze-edges"),
                participants,
                Files(words=_("Participant by participant"), table="cloze-consistency"),
            ],
            margin=[TextBlock(words=note)],
        )


def _edges(judged: JudgedCloze) -> Iterator[EdgeRow]:
    for place, edge in enumerate(judged.edges):
        ratings = judged.edge_ratings[:, :, place]
        yield EdgeRow(
            item=edge.item.key,
            title=edge.item.title,
            question=edge.item.question,
            n=int(np.isfinite(ratings).any(axis=0).sum()),
            consistency=number(float(arrays.mean_present(arrays.mean_present(ratings, axis=0), axis=0)) / 5),
        )


def _participants(scored: ScoredCloze, judged: JudgedCloze) -> Iterator[ParticipantConsistency]:
    by_text = judged.edge_ratings.transpose(1, 0, 2)
    values = scored.of_participants(np.asarray(cloze.consistency(by_text)))
    is_rated = np.asarray(np.isfinite(by_text).any(axis=1), dtype=np.float64)
    n_edges = scored.of_participants(is_rated).astype(bool).sum(axis=1)
    for place, name in enumerate(scored.participants):
        yield ParticipantConsistency(
            participant=name,
            is_model=scored.has_model(place),
            n_edges=int(n_edges[place]),
            consistency=number(values[place]),
        )


def _by_consistency(row: EdgeRow | ParticipantConsistency) -> tuple[bool, float]:
    """The least consistent first, what has no value last."""
    return row.consistency is None, row.consistency or 0.0
