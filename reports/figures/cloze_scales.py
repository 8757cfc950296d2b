"""QUIET's control: whether the same models agree more where constraints have three steps than where they have six.

Source: Zou & Xu (2026), section 5.1 (alpha .270 from 0 to 5, .273 in three steps) and section 6.3, item 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports.figures.base import Estimate, Figure, Interval, IntervalEstimate, Row, estimate, interval, note_of
from reports.figures.cloze_participants import number
from reports.lazy import agreement, arrays, comparisons, intervals, np
from reports.numbers import coefficient, coefficients, decimal
from reports.reasons import to_english

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.cloze_conditions import Scales
    from stats.arrays import FloatArray, IntArray

SALT = 148  # of the seed
NAMES = {"fine": gettext_lazy("0 to 5"), "coarse": gettext_lazy("0, 0.5, 1")}


@dataclass(frozen=True, kw_only=True)
class ScaleRow:
    """One scale. alpha by interval distances; mean : 0 to 1; span : of the texts' means, largest less smallest"""

    scale: str
    alpha: Estimate
    interval: Interval
    mean: float | None
    span: float | None


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
        rows = (_scale(dataset, "fine", scales.fine, 0), _scale(dataset, "coarse", scales.coarse, 1))
        return ClozeScalesResult(
            n_texts=n_texts,
            n_constraints=n_constraints,
            scales=rows,
            difference=_difference(dataset, scales, rows),
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
            value = to_english(row.alpha.why) if row.alpha.why else f"alpha {coefficient(row.alpha.value)}"
            yield f"  {row.scale:<7} {value}, 95 % {coefficients(row.interval)}, mean {decimal(row.mean, 2)}"
        if result.difference.value is not None:
            ends = coefficients(result.difference.interval)
            yield f"  coarse less fine {coefficient(result.difference.value)}, 95 % {ends}"
        for model in result.models:
            means = f"mean {decimal(model.fine_mean, 2)} and {decimal(model.coarse_mean, 2)}"
            yield f"  {model.model[:34]:<34} {means}, rho {coefficient(model.rho.value)}"

    def context(self, result: ClozeScalesResult) -> dict[str, Any]:
        return {"scales": [(NAMES[row.scale], row) for row in result.scales]}


def _flat(scores: FloatArray) -> FloatArray:
    """Every constraint of every text as a unit, shape (M, N, K) to (M, N × K)."""
    return np.asarray(scores.reshape(len(scores), -1))


def _texts_of_units(scores: FloatArray) -> IntArray:
    """The text of each such unit."""
    return np.repeat(np.arange(scores.shape[1]), scores.shape[2])


def _scale(dataset: Dataset, name: str, scores: FloatArray, salt: int) -> ScaleRow:
    units = _flat(scores)
    means = arrays.mean_present(scores.transpose(1, 0, 2).reshape(scores.shape[1], -1), axis=1)
    means = means[np.isfinite(means)]
    ends = interval(
        intervals.alpha_interval, units, "interval", _texts_of_units(scores), rng=dataset.rng(SALT, salt, 0)
    )
    return ScaleRow(
        scale=name,
        alpha=estimate(agreement.krippendorff_alpha, units, "interval"),
        interval=ends,
        mean=number(means.mean()) if means.size else None,
        span=number(np.ptp(means)) if means.size else None,
    )


def _difference(dataset: Dataset, scales: Scales, rows: tuple[ScaleRow, ScaleRow]) -> IntervalEstimate:
    fine, coarse = (row.alpha for row in rows)
    why = fine.why or coarse.why

    def resampled(drawn: IntArray) -> FloatArray:
        parts = [intervals.alpha_resamples(_flat(scores), "interval", drawn) for scores in (scales.coarse, scales.fine)]
        return np.asarray(parts[0] - parts[1])

    texts = _texts_of_units(scales.fine)
    return IntervalEstimate(
        value=None if fine.value is None or coarse.value is None else coarse.value - fine.value,
        why=why,
        interval=interval(intervals.unbounded_interval, resampled, texts, rng=dataset.rng(SALT, 2, 0)),
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


def _scale_row(row: ScaleRow) -> Row:
    return {
        "scale": row.scale,
        "alpha": row.alpha.value,
        "low": row.interval.low,
        "high": row.interval.high,
        "mean": row.mean,
        "span": row.span,
        "n_units": row.alpha.n_units,
        "note": note_of(row.alpha, row.interval),
    }


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
