"""How far judges agree with each other, which needs no people: alpha among them, item by item.

Judges that agree are no evidence that they agree with people: several that share a bias make a confident panel. Judges
that were shown what people answered to other stories agree by what they were shown, and are often the same models once
more: beside others that were not they are left out, and named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.judged import judged, select_anchored
from reports.document import columns, notes
from reports.document.columns import decimals
from reports.document.files import file_only
from reports.document.model import DocumentSection, Files, Head, ReportTable, TextBlock
from reports.document.phrases import BREAK, joined, phrase
from reports.document.values import Estimate, Floor, Interval
from reports.figures.base import Figure, ItemRow, Listing, estimate, item_fields, note_of
from reports.figures.judges.alpha_columns import alpha_columns, measure_alpha
from reports.lazy import agreement, np

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from reports.dataset.judged import Judged
    from stats.arrays import FloatArray

SALT = 27  # of the seed


@dataclass(frozen=True, kw_only=True)
class PairwiseAgreement(Estimate):
    """Two judges: percent of the units on which both give the same answer."""

    first: str
    second: str
    n: int


@dataclass(frozen=True, kw_only=True)
class AgreementAmongJudges(ItemRow):
    """n_judges : with answers; mean : of all their answers, None where answers are options

    anchored : judges that were shown what people answered and are left out of all but the pairs
    """

    level: str
    n_judges: int
    coefficient: Estimate
    interval: Interval
    floor: Floor
    percent_agreement: Estimate
    among_models: Estimate | None
    mean: float | None
    pairs: tuple[PairwiseAgreement, ...]
    anchored: tuple[str, ...]


class JudgesAmongThemselves(Figure[Listing[AgreementAmongJudges]]):
    key = "judges_among_themselves"
    title = gettext_lazy("Agreement among judges")
    position = 129
    section = "judges"
    tables = ("judges-among-themselves", "pairs-of-judges")
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[AgreementAmongJudges]:
        if len(dataset.models["rater"].unique()) < 2:
            return Listing()
        items = [item for item in dataset.items if item.is_about_a_story and item.level != "none"]
        pairs = ((item, judged(dataset, [item])) for item in items)
        return Listing(
            tuple(
                _of_item(dataset, item, material, salt=salt)
                for salt, (item, material) in enumerate(pairs)
                if material and len(material.names) > 1
            )
        )

    def describe(self, result: Listing[AgreementAmongJudges], head: Head) -> Iterator[DocumentSection]:
        table = ReportTable(
            name="judges-among-themselves",
            label=_("Agreement among judges, table"),
            caption=_("Krippendorff’s alpha among the judges, people left aside."),
            rows=result.rows,
            why=lambda row: row.coefficient.why,
            columns=[
                *alpha_columns(result.rows, head),
                columns.number(
                    "agreement_percent",
                    joined(_("Agree"), "%", by=BREAK),
                    of=lambda row: row.percent_agreement.value,
                    write=decimals(0),
                ),
                columns.number("mean", _("Mean"), write=decimals(2)),
                columns.number(
                    *("n_units", phrase(_("Units,<br>judges"))),
                    of=lambda row: row.coefficient.n_units,
                    shown=lambda row: f"{row.coefficient.n_units}, {row.n_judges}",
                ),
                columns.fields("n_judges", "level"),
                columns.in_file("left_out", lambda row: " ".join(row.anchored)),
                columns.note(lambda row: note_of(row.coefficient, row.interval)),
            ],
        )
        yield DocumentSection(
            heading=self.title,
            body=[
                table,
                Files(words=_("Item by item"), table="judges-among-themselves"),
                _pairs_file(result),
                Files(words=_("Every two judges"), table="pairs-of-judges"),
            ],
            margin=_notes(result),
        )


def _of_item(dataset: Dataset, item: StepItem, material: Judged, *, salt: int) -> AgreementAmongJudges:
    anchored, level = select_anchored(dataset, material.names), item.level
    is_panel = np.array([name not in anchored for name in material.names], dtype=np.bool_)
    ratings = material.judges[is_panel, 0]
    present = ratings[np.isfinite(ratings)]
    return AgreementAmongJudges(
        **item_fields(item),
        level=level,
        n_judges=int(np.isfinite(ratings).any(axis=1).sum()),
        **measure_alpha(dataset, material, ratings, level, SALT, salt),
        percent_agreement=estimate(agreement.percent_agreement, ratings),
        mean=None if item.is_choice or not present.size else float(present.mean()),
        pairs=tuple(_pairs(material, material.judges[:, 0])),
        anchored=anchored,
    )


def _pairs(material: Judged, ratings: FloatArray) -> Iterator[PairwiseAgreement]:
    for at, first in enumerate(material.names):
        for to, second in enumerate(material.names[:at]):
            both = np.isfinite(ratings[at]) & np.isfinite(ratings[to])
            yield PairwiseAgreement(
                first=second,
                second=first,
                n=int(both.sum()),
                **vars(estimate(agreement.percent_agreement, ratings[[at, to]])) | {"n_raters": 2},
            )


def _pairs_file(result: Listing[AgreementAmongJudges]) -> ReportTable[tuple[AgreementAmongJudges, PairwiseAgreement]]:
    return file_only(
        "pairs-of-judges",
        [(row, pair) for row in result.rows for pair in row.pairs],
        columns.item_in_file(lambda row: row[0]),
        columns.fields("first", "second", agreement_percent="value", n="n", of=lambda row: row[1]),
    )


def _notes(result: Listing[AgreementAmongJudges]) -> list[TextBlock]:
    of_judges = _(
        "Judges that agree with each other are no evidence that they agree with people: several that share a bias make "
        "a confident panel."
    )
    anchored = sorted({name for row in result.rows for name in row.anchored})
    left_out = _(
        "Left out, since they were shown what people answered to other stories: %(names)s. They stand in the table of "
        "every two judges."
    )
    return [
        TextBlock(words=of_judges),
        *([TextBlock(words=phrase(left_out, names=", ".join(anchored)))] if anchored else []),
        notes.models_stories(),
        *notes.weakest(row.interval for row in result.rows),
    ]
