"""QUIET's control: whether the same models agree more where constraints have three steps than where they have six.

Source: Zou & Xu (2026), section 5.1 (alpha .270 from 0 to 5, .273 in three steps) and section 6.3, item 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports.figures.base import Estimate, Figure, IntervalEstimate, Row, estimate, note_of
from reports.figures.cloze_alphas import JudgesAgreement, columns_of, contrast_alphas, measure
from reports.figures.cloze_participants import number
from reports.lazy import comparisons, np
from reports.numbers import coefficient, coefficients, decimal
from reports.reasons import to_english

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
    position = 148
    result = ClozeScalesResult
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

    def rows(self, result: ClozeScalesResult) -> dict[str, Iterator[Row]]:
        return {
            "cloze-scales": (_scale_row(row) for row in result.scales),
            "cloze-scales-by-model": (_model_row(row) for row in result.models),
        }

    def lines(self, result: ClozeScalesResult) -> Iterator[str]:
        of = f"{result.n_constraints} constraints of {result.n_texts} texts"
        yield f"\nFine and coarse scale: {len(result.models)} models, {of}"
        for row in result.scales:
            value = (
                to_english(row.coefficient.why)
                if row.coefficient.why
                else f"alpha {coefficient(row.coefficient.value)}"
            )
            yield f"  {row.scale:<7} {value}, 95 % {coefficients(row.interval)}, mean {decimal(row.mean, 2)}"
        if result.difference.value is not None:
            ends = coefficients(result.difference.interval)
            yield f"  coarse less fine {coefficient(result.difference.value)}, 95 % {ends}"
        for model in result.models:
            means = f"mean {decimal(model.fine_mean, 2)} and {decimal(model.coarse_mean, 2)}"
            yield f"  {model.model[:34]:<34} {means}, rho {coefficient(model.rho.value)}"

    def context(self, result: ClozeScalesResult) -> dict[str, Any]:
        return {"scales": [(NAMES[row.scale], row) for row in result.scales]}


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


def _scale_row(row: ScaleRow) -> Row:
    return {"scale": row.scale, **columns_of(row), "note": note_of(row.coefficient, row.interval)}


def _model_row(row: ModelRow) -> Row:
    return {
        "model": row.model,
        "fine_judge": row.fine_judge,
        "coarse_judge": row.coarse_judge,
        "n": row.n,
        "fine_mean": row.fine_mean,
        "coarse_mean": row.coarse_mean,
        "rho": row.rho.value,
        "note": note_of(row.rho),
    }
