"""QUIET's factorial: what samples that people scored, and checks in place of a scale, do to how far judges agree.

Source: Zou & Xu (2026), section 6.4, which names six experiments (E1 to E6) with these two changes and prints neither
their designs nor results; section 6.3, item 7, for what the paper expects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports.figures.base import (
    Estimate,
    Figure,
    Floor,
    Interval,
    IntervalEstimate,
    Row,
    chance_floor,
    estimate,
    interval,
    note_of,
    weakest_note,
)
from reports.figures.cloze_participants import number
from reports.lazy import agreement, arrays, intervals, np
from reports.numbers import coefficient, coefficients, decimal
from reports.reasons import to_english

if TYPE_CHECKING:
    from collections.abc import Callable

    from reports.dataset import Dataset
    from reports.dataset.cloze_conditions import Condition
    from stats.arrays import FloatArray, IntArray
    from stats.intervals import Interval as StatisticInterval

SALT = 147  # of the seed
HIGHEST = 5.0
NAMES = {
    (False, False): gettext_lazy("Without samples, 0 to 5"),
    (False, True): gettext_lazy("Without samples, by checks"),
    (True, False): gettext_lazy("With samples, 0 to 5"),
    (True, True): gettext_lazy("With samples, by checks"),
}
ANCHORING, CHECKS, INTERACTION = "anchoring", "checks", "interaction"
EFFECTS = {
    ANCHORING: gettext_lazy("Samples that people scored"),
    CHECKS: gettext_lazy("Checks in place of the scale"),
    INTERACTION: gettext_lazy("Both, beyond the sum of each"),
}


@dataclass(frozen=True, kw_only=True)
class ConditionRow:
    """One condition. mean : of the scores, 0 to 1; span : of the texts' means, largest less smallest"""

    is_anchored: bool
    is_atomic: bool
    judges: tuple[str, ...]
    coefficient: Estimate
    interval: Interval
    floor: Floor
    mean: float | None
    span: float | None


@dataclass(frozen=True, kw_only=True)
class EffectRow:
    """What one change does, the mean over both levels of the other. alpha : its difference, the interval over texts"""

    effect: str
    alpha: IntervalEstimate
    mean: float | None
    span: float | None


@dataclass(frozen=True, kw_only=True)
class ClozeFactorialResult:
    """n_constraints : those with checks, if any has some; n_models : that judged in every condition"""

    n_texts: int
    n_constraints: int
    n_models: int
    conditions: tuple[ConditionRow, ...]
    effects: tuple[EffectRow, ...]


class ClozeFactorial(Figure[ClozeFactorialResult]):
    key = "cloze_factorial"
    title = gettext_lazy("Filled texts: samples and checks")
    position = 147
    result = ClozeFactorialResult
    tables = ("cloze-conditions", "cloze-effects")
    edition = 2
    is_shown_sealed = False
    needs_answers = False

    def compute(self, dataset: Dataset) -> ClozeFactorialResult | None:
        from reports.dataset.cloze_conditions import read_conditions

        judged = dataset.scored_cloze.judged if dataset.scored_cloze else None
        conditions = read_conditions(dataset, judged) if judged and judged.anchored else ()
        if not conditions:
            return None
        _n_judges, n_texts, n_constraints = conditions[0].scores.shape
        rows = tuple(_condition(dataset, condition, salt) for salt, condition in enumerate(conditions))
        return ClozeFactorialResult(
            n_texts=n_texts,
            n_constraints=n_constraints,
            n_models=len(conditions[0].judges),
            conditions=rows,
            effects=tuple(_effects(dataset, conditions, rows)),
        )

    def rows(self, result: ClozeFactorialResult) -> dict[str, Iterator[Row]]:
        return {
            "cloze-conditions": (_condition_row(row) for row in result.conditions),
            "cloze-effects": (_effect_row(row) for row in result.effects),
        }

    def lines(self, result: ClozeFactorialResult) -> Iterator[str]:
        of = f"{result.n_constraints} constraints of {result.n_texts} texts"
        yield f"\nSamples and checks: {result.n_models} models, {of}"
        for row in result.conditions:
            name = f"{'with' if row.is_anchored else 'without'} samples, {'checks' if row.is_atomic else '0 to 5'}"
            yield f"  {name:<26} {_words(row.coefficient, row.interval)}, mean {decimal(row.mean, 2)}"
        for effect in result.effects:
            yield f"  {effect.effect:<26} {_words(effect.alpha, effect.alpha.interval)}"

    def context(self, result: ClozeFactorialResult) -> dict[str, Any]:
        return {
            "conditions": [(NAMES[row.is_anchored, row.is_atomic], row) for row in result.conditions],
            "effects": [(EFFECTS[row.effect], row) for row in result.effects],
            "has_checks": any(row.is_atomic for row in result.conditions),
            "note": weakest_note(row.interval for row in result.conditions),
        }


def _words(value: Estimate, ends: Interval) -> str:
    return to_english(value.why) if value.why else f"alpha {coefficient(value.value)}, 95 % {coefficients(ends)}"


def _flat(scores: FloatArray) -> FloatArray:
    """Every constraint of every text as a unit, shape (J, N, K) to (J, N × K)."""
    return np.asarray(scores.reshape(len(scores), -1))


def _texts_of_units(scores: FloatArray) -> IntArray:
    """The text of each such unit."""
    return np.repeat(np.arange(scores.shape[1]), scores.shape[2])


def _condition(dataset: Dataset, condition: Condition, salt: int) -> ConditionRow:
    scores = condition.scores
    units, texts = _flat(scores), _texts_of_units(scores)
    means = arrays.mean_present(scores.transpose(1, 0, 2).reshape(scores.shape[1], -1), axis=1) / HIGHEST
    means = means[np.isfinite(means)]
    return ConditionRow(
        is_anchored=condition.is_anchored,
        is_atomic=condition.is_atomic,
        judges=condition.judges,
        coefficient=estimate(agreement.krippendorff_alpha, units, "interval"),
        interval=interval(intervals.alpha_interval, units, "interval", texts, rng=dataset.rng(SALT, salt, 0)),
        floor=chance_floor(agreement.alpha_chance_floor, units, "interval", rng=dataset.rng(SALT, salt, 1)),
        mean=number(means.mean()) if means.size else None,
        span=number(np.ptp(means)) if means.size else None,
    )


def _effects(dataset: Dataset, conditions: Sequence[Condition], rows: Sequence[ConditionRow]) -> Iterator[EffectRow]:
    has_checks = any(condition.is_atomic for condition in conditions)
    sizes = np.array([1 if condition.is_anchored else -1 for condition in conditions])
    forms = np.array([1 if condition.is_atomic else -1 for condition in conditions])
    weights_by_effect = {ANCHORING: sizes / 2, CHECKS: forms / 2, INTERACTION: 1.0 * sizes * forms}
    if not has_checks:
        weights_by_effect = {ANCHORING: 1.0 * sizes}
    texts = _texts_of_units(conditions[0].scores)
    for salt, (effect, weights) in enumerate(weights_by_effect.items()):
        differences = _differences(conditions, weights)
        alphas = [row.coefficient for row in rows]
        why = next((alpha.why for alpha in alphas if alpha.why), None)
        yield EffectRow(
            effect=effect,
            alpha=IntervalEstimate(
                value=None if why else _contrast([alpha.value for alpha in alphas], weights),
                why=why,
                interval=interval(_ends, differences, texts, weights, rng=dataset.rng(SALT, 9, salt)),
            ),
            mean=_contrast([row.mean for row in rows], weights),
            span=_contrast([row.span for row in rows], weights),
        )


def _ends(
    differences: Callable[[IntArray], FloatArray], texts: IntArray, weights: FloatArray, *, rng: np.random.Generator
) -> StatisticInterval:
    """The interval over texts, as far as alphas from -1 to 1 can make a contrast."""
    most = float(np.abs(weights).sum())
    return intervals.unbounded_interval(differences, texts, rng=rng).clipped(-most, most)


def _contrast(values: Sequence[float | None], weights: FloatArray) -> float | None:
    """The weighted sum; None where a part has no value."""
    present = [value for value in values if value is not None]
    return float(np.dot(present, weights)) if len(present) == len(values) else None


def _differences(conditions: Sequence[Condition], weights: FloatArray) -> Callable[[IntArray], FloatArray]:
    """The contrast of the alphas in each resample of units: the same texts in every condition."""

    def resampled(drawn: IntArray) -> FloatArray:
        parts = [
            weight * intervals.alpha_resamples(_flat(condition.scores), "interval", drawn)
            for condition, weight in zip(conditions, weights, strict=True)
        ]
        return np.asarray(np.sum(parts, axis=0))

    return resampled


def _condition_row(row: ConditionRow) -> Row:
    return {
        "is_anchored": row.is_anchored,
        "is_atomic": row.is_atomic,
        "judges": " ".join(row.judges),
        "alpha": row.coefficient.value,
        "low": row.interval.low,
        "high": row.interval.high,
        "chance_mean": row.floor.mean,
        "chance_upper": row.floor.upper,
        "mean": row.mean,
        "span": row.span,
        "n_units": row.coefficient.n_units,
        "note": note_of(row.coefficient, row.interval),
    }


def _effect_row(row: EffectRow) -> Row:
    return {
        "effect": row.effect,
        "alpha": row.alpha.value,
        "low": row.alpha.interval.low,
        "high": row.alpha.interval.high,
        "mean": row.mean,
        "span": row.span,
        "note": note_of(row.alpha, row.alpha.interval),
    }
