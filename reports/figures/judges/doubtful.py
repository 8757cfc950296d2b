"""Verdicts on which judges are divided, each with itself or with the others, so that people may be asked there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.grades import read_yes_levels
from reports.dataset.judged import judged, select_anchored
from reports.document import columns
from reports.document.columns import LEAD, decimals
from reports.document.files import file_only
from reports.document.model import DocumentSection, Files, Head, ReportTable, TableColumn, TextBlock
from reports.document.phrases import phrase
from reports.figures.base import Figure, ItemRow, item_fields
from reports.lazy import arrays, calibration, np
from reports.numbers import whole

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.judged import Judged
    from stats.arrays import FloatArray

MOST, SHOWN = 200, 12  # rows of the file and of the page
PERCENT = 100.0


@dataclass(frozen=True, kw_only=True)
class DoubtfulVerdict(ItemRow):
    """A question about a story; of 100 answers, how many are Yes: of judges the mean of each one's, and of people."""

    group: str
    story: str
    judge_percent: float
    n_judges: int
    people_percent: float | None
    n_people: int


@dataclass(frozen=True)
class Doubt:
    """Of n such verdicts the most doubtful. anchored : judges that are left out, since they saw people's answers"""

    rows: tuple[DoubtfulVerdict, ...]
    n: int
    anchored: tuple[str, ...]


class DoubtfulVerdicts(Figure[Doubt]):
    key = "doubtful_verdicts"
    title = gettext_lazy("Verdicts in doubt among judges")
    position = 135
    section = "judges"
    tables = ("doubtful-verdicts",)
    pages_of = "stories"
    edition = 3
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Doubt | None:
        material = judged(dataset, dataset.verdict_items)
        return _doubt(dataset, material) if material else None

    def is_empty(self, result: Doubt) -> bool:
        return not result.rows

    def describe(self, result: Doubt, head: Head) -> Iterator[DocumentSection]:
        about: list[TableColumn[DoubtfulVerdict]] = [
            columns.item(head),
            columns.words("group", _("Group")),
            columns.words("story", _("Story")),
            columns.number(
                *("judge_yes_percent", phrase(_("Judges,<br>%% Yes"))), of=_judges, write=decimals(0), css=LEAD
            ),
            columns.number("n_judges", _("Judges")),
            columns.number("experts_yes_percent", phrase(_("People,<br>%% Yes")), of=_people, write=decimals(0)),
            columns.number("n_people", _("People")),
        ]
        page = ReportTable(
            label=_("Verdicts in doubt among judges, table"),
            caption=_("On what judges are divided most. Among equals first what fewest people have answered."),
            rows=result.rows[:SHOWN],
            columns=about,
        )
        note = _(
            "A judge counts with its probability of Yes, where its server gave it; there it is in doubt between 5 and "
            "95 of 100. A judge that was asked again counts with its share of Yes. Judges are divided on %(n)s "
            "verdicts in all. "
            "A further study may ask people about these first; where judges agree, they may be wrong together."
        ) % {"n": whole(result.n)}
        yield DocumentSection(
            heading=self.title,
            body=[
                page,
                file_only(
                    "doubtful-verdicts", result.rows, *about, columns.constants(left_out=" ".join(result.anchored))
                ),
                Files(words=_("Up to %(n)s of them") % {"n": MOST}, table="doubtful-verdicts"),
            ],
            margin=[TextBlock(words=note), *_left_out(result)],
        )


def _left_out(result: Doubt) -> list[TextBlock]:
    words = _("Left out, since they were shown what people answered to other stories: %(names)s.")
    return [TextBlock(words=phrase(words, names=", ".join(result.anchored)))] if result.anchored else []


def _judges(row: DoubtfulVerdict) -> float:
    return row.judge_percent


def _people(row: DoubtfulVerdict) -> float | None:
    return row.people_percent


def _doubt(dataset: Dataset, material: Judged) -> Doubt:
    anchored = select_anchored(dataset, material.names)
    own = np.stack(
        [
            _shares(dataset, material, name, answers)
            for name, answers in zip(material.names, material.judges, strict=True)
            if name not in anchored
        ]
    )
    share, n_people = arrays.mean_present(own, axis=0), np.isfinite(material.people).sum(axis=1)
    items, units = np.nonzero((share > 0) & (share < 1))
    order = np.lexsort((units, items, n_people[items, units], np.abs(share - 0.5).round(9)[items, units]))[:MOST]
    return Doubt(tuple(_rows(material, own, zip(items[order], units[order], strict=True))), len(items), anchored)


def _rows(material: Judged, own: FloatArray, places: Iterable[tuple[int, int]]) -> Iterator[DoubtfulVerdict]:
    """own : each judge's share of Yes, shape (J, I, U); places : of item and unit"""
    for item, unit in places:
        shares, people = own[:, item, unit], material.people[item, :, unit]
        n_people = int(np.isfinite(people).sum())
        group, story = material.units[unit]
        yield DoubtfulVerdict(
            **item_fields(material.items[item]),
            group=group,
            story=story,
            judge_percent=float(PERCENT * np.nanmean(shares)),
            n_judges=int(np.isfinite(shares).sum()),
            people_percent=float(PERCENT * np.nanmean(people)) if n_people else None,
            n_people=n_people,
        )


def _shares(dataset: Dataset, material: Judged, name: str, answers: FloatArray) -> FloatArray:
    """The judge's probability of Yes, or its share of Yes where it was asked again, elsewhere its one answer, shape
    (I, U). A probability that is as good as 0 or 1 is: of that the judge is in no doubt."""
    levels = read_yes_levels(dataset, material.items, name)
    is_sure = levels.is_probability & calibration.is_sure(levels.shares)
    return np.where(np.isfinite(levels.shares), np.where(is_sure, levels.shares.round(), levels.shares), answers)
