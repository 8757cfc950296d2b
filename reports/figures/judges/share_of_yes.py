"""How often a judge says Yes, by how many of the experts do: the majority hides where experts differ by taste."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.judged import judged
from reports.document import columns, notes
from reports.document.columns import ENDS, LEAD, cell_with_ends, decimals, ends
from reports.document.files import file_only
from reports.document.model import DocumentSection, Files, Head, ReportTable, TableCell, TableColumn, TextBlock
from reports.document.phrases import phrase
from reports.document.values import IntervalEstimate
from reports.figures.base import Figure, Listing, note_of, share_fields
from reports.figures.judges.yes_levels import LEVELS, heading_of
from reports.lazy import np

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.judged import Judged
    from stats.arrays import BoolArray, FloatArray


@dataclass(frozen=True, kw_only=True)
class YesAtLevel(IntervalEstimate):
    """The judge's percentage of Yes where so many of the experts say Yes.

    level : "none", "fewer_than_half", "half", "more_than_half" or "all"
    expert_percent : the experts' own, over the same n answers
    """

    level: str
    expert_percent: float
    n: int


@dataclass(frozen=True, kw_only=True)
class JudgeYes:
    """distance : mean of how far the judge's Yes or No is from the share of experts, in percentage points"""

    judge: str
    part: str
    levels: tuple[YesAtLevel, ...]
    distance: float
    n: int

    @property
    def by_level(self) -> dict[str, YesAtLevel]:
        return {level.level: level for level in self.levels}


class JudgesShareOfYes(Figure[Listing[JudgeYes]]):
    key = "judges_share_of_yes"
    title = gettext_lazy("Judges’ Yes rate by experts’ share of Yes")
    position = 123
    section = "judges"
    tables = ("judges-share-of-yes",)
    edition = 2
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[JudgeYes]:
        material = judged(dataset, dataset.verdict_items, with_jury=True)
        return Listing(tuple(_judges(dataset, material))) if material else Listing()

    def describe(self, result: Listing[JudgeYes], head: Head) -> Iterator[DocumentSection]:
        page = ReportTable(
            label=_("Judges’ Yes rate by experts’ share of Yes, table"),
            caption=_(
                "How often the judge says Yes, in percent, where none, some or all of the experts do; and how far its "
                "answers are from their share."
            ),
            rows=result.rows,
            columns=[
                columns.words("judge", _("Judge"), _judge_words, is_head=True),
                *(_level_column(name) for name in LEVELS if any(name in row.by_level for row in result.rows)),
                columns.number("distance", phrase(_("Points from<br>the share")), write=decimals(1), css=LEAD),
                columns.number("n", _("Answers")),
            ],
        )
        note = _(
            "Where experts differ, neither answer is wrong. A judge that follows them says Yes more often the more of "
            "them do."
        )
        intervals = (level.interval for row in result.rows for level in row.levels)
        yield DocumentSection(
            heading=self.title,
            body=[page, _file(result), Files(words=_("Every level of every judge"), table="judges-share-of-yes")],
            margin=[TextBlock(words=note), *notes.weakest(intervals)],
        )


def _judges(dataset: Dataset, material: Judged) -> Iterator[JudgeYes]:
    share = material.means()
    for name, answers in zip(material.names, material.judges, strict=True):
        for part, is_in in material.units_by_part.items():
            is_compared = is_in & np.isfinite(answers) & np.isfinite(share)
            if is_compared.any():
                yield JudgeYes(
                    judge=name,
                    part=part,
                    levels=tuple(_levels(dataset, material, answers, share, is_compared)),
                    distance=float(100 * np.abs(answers - share)[is_compared].mean()),
                    n=int(is_compared.sum()),
                )


def _levels(
    dataset: Dataset, material: Judged, answers: FloatArray, share: FloatArray, is_compared: BoolArray
) -> Iterator[YesAtLevel]:
    is_level = (share == 0, (share > 0) & (share < 0.5), share == 0.5, (share > 0.5) & (share < 1), share == 1)
    labels = np.tile(material.clusters, len(answers))
    for name, is_at in zip(LEVELS, is_level, strict=True):
        cells = is_at & is_compared
        if cells.any():
            yield YesAtLevel(
                level=name,
                expert_percent=float(100 * share[cells].mean()),
                n=int(cells.sum()),
                **share_fields(answers[cells], labels[cells.ravel()], rng=dataset.resampling()),
            )


def _judge_words(row: JudgeYes) -> str:
    part = _("models’ stories") if row.part == "models" else ""
    return ", ".join(filter(None, [row.judge, part]))


def _level_column(name: str) -> TableColumn[JudgeYes]:
    def cell(row: JudgeYes) -> TableCell:
        return cell_with_ends(row.by_level.get(name), decimals(1), ends(1), is_marked=True)

    return TableColumn(heading=heading_of(name), cell=cell)


def _file(result: Listing[JudgeYes]) -> ReportTable[tuple[JudgeYes, YesAtLevel]]:
    """The levels one below the other."""
    return file_only(
        "judges-share-of-yes",
        [(row, level) for row in result.rows for level in row.levels],
        columns.fields("judge", "part", "distance", of=lambda pair: pair[0]),
        columns.fields(experts_yes="level", experts_yes_percent="expert_percent", of=lambda pair: pair[1]),
        columns.fields(judge_yes_percent="value", **ENDS, n="n", of=lambda pair: pair[1]),
        columns.note(lambda pair: note_of(pair[1], pair[1].interval)),
    )
