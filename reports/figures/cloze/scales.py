"""QUIET's control: whether the same models agree more where constraints have three steps than where they have six.

Source: Zou & Xu (2026), section 5.1 (alpha .270 from 0 to 5, .273 in three steps) and section 6.3, item 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.document import columns
from reports.document.columns import LEAD, decimals
from reports.document.model import DocumentSection, Files, Head, Phrase, ReportTable, TextBlock
from reports.document.phrases import joined, phrase
from reports.document.values import Estimate, IntervalEstimate
from reports.figures.base import Figure, estimate, note_of
from reports.figures.cloze.alphas import JudgesAgreement, agreement_columns, contrast_alphas, measure
from reports.figures.cloze.participants import number
from reports.lazy import comparisons, np
from reports.numbers import coefficient, coefficients

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.cloze_conditions import Scales

SALT = 148  # of the seed
NAMES = {"fine": gettext_lazy("0 to 5"), "coarse": gettext_lazy("0, 0.5, 1")}


@dataclass(frozen=True, kw_only=True)
class ScaleRow(JudgesAgreement):
    scale: str  # of NAMES


@dataclass(frozen=True, kw_only=True)
class ModelRow:
    """One model on both. n : constraints of texts that it judged on both; rho : Spearman's, of the two"""

    model: str
    fine_judge: str
    coarse_judge: str
    n: int
    fine_mean: float | None
    coarse_mean: float | None
    rho: Estimate


@dataclass(frozen=True, kw_only=True)
class ClozeScalesResult:
    """difference : alpha in three steps less alpha from 0 to 5, the interval over texts"""

    n_texts: int
    n_constraints: int
    scales: tuple[ScaleRow, ...]
    difference: IntervalEstimate
    models: tuple[ModelRow, ...]


class ClozeScales(Figure[ClozeScalesResult]):
    key = "cloze_scales"
    title = gettext_lazy("Filled texts: fine and coarse scale")
    position = 150
    section = "cloze"
    tables = ("cloze-scales", "cloze-scales-by-model")
    is_shown_sealed = False
    needs_answers = False

    def compute(self, dataset: Dataset) -> ClozeScalesResult | None:
        from reports.dataset.cloze_conditions import read_scales

        judged = dataset.scored_cloze.judged if dataset.scored_cloze else None
        scales = read_scales(dataset, judged) if judged and judged.coarse_judges else None
        if scales is None:
            return None
        _n_models, n_texts, n_constraints = scales.fine.shape
        both = (scales.fine, scales.coarse)
        rows = tuple(
            ScaleRow(scale=name, **measure(dataset, scores, highest=1, salts=(SALT, salt)))
            for salt, (name, scores) in enumerate(zip(NAMES, both, strict=True))
        )
        alphas = [row.coefficient for row in rows]
        return ClozeScalesResult(
            n_texts=n_texts,
            n_constraints=n_constraints,
            scales=rows,
            difference=contrast_alphas(dataset, both, alphas, (-1, 1), salts=(SALT, 2, 0)),
            models=tuple(_models(scales)),
        )

    def describe(self, result: ClozeScalesResult, head: Head) -> Iterator[DocumentSection]:
        counted = ngettext(
            "%(n)s model judged %(k)s constraints of %(texts)s texts from 0 to 5 and in three steps.",
            "The same %(n)s models judged %(k)s constraints of %(texts)s texts from 0 to 5 and in three steps.",
            len(result.models),
        )
        counted %= {"n": len(result.models), "k": result.n_constraints, "texts": result.n_texts}
        control = _(
            "QUIET’s control: .270 from 0 to 5 and .273 in three steps, so that a coarser scale does not make its "
            "judges agree."
        )
        units = _(
            "Means and ranges run from 0 to 1 on both scales. Alpha takes interval distances; intervals are over "
            "texts, the same on both."
        )
        scales = ReportTable(
            name="cloze-scales",
            label=_("Scale by scale"),
            rows=result.scales,
            columns=[
                columns.words("scale", _("Scale"), shown=lambda row: NAMES[row.scale], is_head=True),
                *agreement_columns(),
            ],
        )
        yield DocumentSection(
            heading=self.title,
            body=[
                TextBlock(words=joined(counted, _difference(result.difference)), css="says"),
                scales,
                Files(words=_("Scale by scale"), table="cloze-scales"),
                _model_table(result),
                Files(words=_("Model by model"), table="cloze-scales-by-model"),
            ],
            margin=[TextBlock(words=control), TextBlock(words=units)],
        )


def _models(scales: Scales) -> Iterator[ModelRow]:
    for place, model in enumerate(scales.models):
        fine, coarse = scales.fine[place].ravel(), scales.coarse[place].ravel()
        is_both = np.isfinite(fine) & np.isfinite(coarse)
        yield ModelRow(
            model=model,
            fine_judge=scales.fine_judges[place],
            coarse_judge=scales.coarse_judges[place],
            n=int(is_both.sum()),
            fine_mean=number(fine[is_both].mean()) if is_both.any() else None,
            coarse_mean=number(coarse[is_both].mean()) if is_both.any() else None,
            rho=estimate(comparisons.spearman, fine, coarse),
        )


def _difference(difference: IntervalEstimate) -> Phrase:
    if difference.value is None:
        return ""
    sentence = _("Alpha in three steps less alpha from 0 to 5: %(difference)s (95 %% interval %(ends)s).")
    return phrase(sentence, difference=coefficient(difference.value), ends=coefficients(difference.interval))


def _model_table(result: ClozeScalesResult) -> ReportTable[ModelRow]:
    return ReportTable(
        name="cloze-scales-by-model",
        label=_("Model by model"),
        rows=result.models,
        columns=[
            columns.words("model", _("Model"), is_head=True),
            *map(columns.in_file, ("fine_judge", "coarse_judge")),
            columns.number("fine_mean", _("Mean, 0 to 5"), write=decimals(2)),
            columns.number("coarse_mean", _("Mean, three steps"), write=decimals(2)),
            columns.estimate("rho", _("Rho of the two"), lambda row: row.rho, css=LEAD),
            columns.number("n", _("Judged on both")),
            columns.note(lambda row: note_of(row.rho)),
        ],
    )
