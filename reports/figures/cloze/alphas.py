"""How far judges of filled texts agree under several conditions, and what one condition's alpha is beyond another's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from reports.document import columns
from reports.document.columns import LEAD, decimals
from reports.document.model import TableColumn
from reports.document.phrases import phrase
from reports.document.values import Estimate, Floor, Interval, IntervalEstimate
from reports.figures.base import alpha_fields, interval, note_of
from reports.figures.cloze.participants import number
from reports.lazy import arrays, intervals, np
from reports.numbers import coefficient

if TYPE_CHECKING:
    from collections.abc import Callable

    from reports.dataset import Dataset
    from stats.arrays import FloatArray, IntArray
    from stats.intervals import Interval as StatisticInterval


@dataclass(frozen=True, kw_only=True)
class JudgesAgreement:
    """Judges under one condition. coefficient : Krippendorff's alpha by interval distances, texts resampled

    mean : of the scores, 0 to 1; span : of the texts' means, largest less smallest
    """

    coefficient: Estimate
    interval: Interval
    floor: Floor
    mean: float | None
    span: float | None


def measure(dataset: Dataset, scores: FloatArray, *, highest: float, salts: tuple[int, int]) -> dict[str, Any]:
    """The fields of `JudgesAgreement`. scores : at most `highest`, shape (J, N, K) of judges, texts, constraints"""
    units = _units(scores)
    means = arrays.mean_present(scores.transpose(1, 0, 2).reshape(scores.shape[1], -1), axis=1) / highest
    means = means[np.isfinite(means)]
    return {
        **alpha_fields(dataset, units, "interval", _texts_of_units(scores), *salts),
        "mean": number(means.mean()) if means.size else None,
        "span": number(np.ptp(means)) if means.size else None,
    }


def contrast_alphas(
    dataset: Dataset,
    scores: Sequence[FloatArray],
    coefficients: Sequence[Estimate],
    weights: Sequence[float],
    *,
    salts: tuple[int, int, int],
) -> IntervalEstimate:
    """The weighted sum of the conditions' alphas, its interval over texts, the same ones in every condition."""
    why = next((coefficient.why for coefficient in coefficients if coefficient.why), None)

    def resampled(drawn: IntArray) -> FloatArray:
        parts = [
            weight * intervals.alpha_resamples(_units(each), "interval", drawn)
            for each, weight in zip(scores, weights, strict=True)
        ]
        return np.asarray(np.sum(parts, axis=0))

    most = float(np.abs(weights).sum())
    return IntervalEstimate(
        value=None if why else weigh([coefficient.value for coefficient in coefficients], weights),
        why=why,
        interval=interval(_ends, resampled, _texts_of_units(scores[0]), most, rng=dataset.rng(*salts)),
    )


def weigh(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """The weighted sum; None where a part has no value."""
    present = [value for value in values if value is not None]
    return float(np.dot(present, weights)) if len(present) == len(values) else None


def agreement_columns() -> list[TableColumn[Any]]:
    """What tables of conditions say of each `JudgesAgreement` alike."""
    return [
        *alpha_columns(),
        *spread_columns(),
        columns.fields(n_units="coefficient.n_units"),
        columns.note(lambda row: note_of(row.coefficient, row.interval)),
    ]


def alpha_columns() -> list[TableColumn[Any]]:
    """Alpha with its interval and its chance floor."""
    return [
        *columns.with_interval("alpha", _("Alpha"), lambda row: row.coefficient, lambda row: row.interval, css=LEAD),
        columns.floor(phrase(_("Chance floor<br>mean, 97.5th")), lambda row: row.floor, write=coefficient),
    ]


def spread_columns() -> list[TableColumn[Any]]:
    """The mean of the scores, and how far the means of texts lie apart; both stay where there is no alpha."""
    return [
        replace(columns.number("mean", _("Mean"), write=decimals(2)), is_kept=True),
        replace(columns.number("span", _("Range of texts"), write=decimals(2)), is_kept=True),
    ]


def _units(scores: FloatArray) -> FloatArray:
    """Every constraint of every text as a unit, shape (J, N, K) to (J, N × K)."""
    return np.asarray(scores.reshape(len(scores), -1))


def _texts_of_units(scores: FloatArray) -> IntArray:
    """The text of each such unit."""
    return np.repeat(np.arange(scores.shape[1]), scores.shape[2])


def _ends(
    resamples: Callable[[IntArray], FloatArray], texts: IntArray, most: float, *, rng: np.random.Generator
) -> StatisticInterval:
    """The interval over texts, as far as alphas from -1 to 1 can make a contrast."""
    return intervals.unbounded_interval(resamples, texts, rng=rng).clipped(-most, most)
