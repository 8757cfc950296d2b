"""QUIET's factorial: what samples that people scored, and checks in place of a scale, do to how far judges agree.

Source: Zou & Xu (2026), section 6.4, which names six experiments (E1 to E6) with these two changes and prints neither
their designs nor results; section 6.3, item 7, for what the paper expects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports.figures.base import Estimate, Figure, Interval, IntervalEstimate, Row, note_of, weakest_note
from reports.figures.cloze_alphas import JudgesAgreement, columns_of, contrast_alphas, measure, weigh
from reports.lazy import np
from reports.numbers import coefficient, coefficients, decimal
from reports.reasons import to_english

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.cloze_conditions import Condition

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
class ConditionRow(JudgesAgreement):
    """One condition, and the judges that it is of."""

    is_anchored: bool
    is_atomic: bool
    judges: tuple[str, ...]


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


def _condition(dataset: Dataset, condition: Condition, salt: int) -> ConditionRow:
    return ConditionRow(
        is_anchored=condition.is_anchored,
        is_atomic=condition.is_atomic,
        judges=condition.judges,
        **measure(dataset, condition.scores, highest=HIGHEST, salts=(SALT, salt)),
    )


def _effects(dataset: Dataset, conditions: Sequence[Condition], rows: Sequence[ConditionRow]) -> Iterator[EffectRow]:
    has_checks = any(condition.is_atomic for condition in conditions)
    sizes = np.array([1 if condition.is_anchored else -1 for condition in conditions])
    forms = np.array([1 if condition.is_atomic else -1 for condition in conditions])
    weights_by_effect = {ANCHORING: sizes / 2, CHECKS: forms / 2, INTERACTION: 1.0 * sizes * forms}
    if not has_checks:
        weights_by_effect = {ANCHORING: 1.0 * sizes}
    scores = [condition.scores for condition in conditions]
    alphas = [row.coefficient for row in rows]
    for salt, (effect, weights) in enumerate(weights_by_effect.items()):
        yield EffectRow(
            effect=effect,
            alpha=contrast_alphas(dataset, scores, alphas, weights, salts=(SALT, 9, salt)),
            mean=weigh([row.mean for row in rows], weights),
            span=weigh([row.span for row in rows], weights),
        )


def _condition_row(row: ConditionRow) -> Row:
    return {
        "is_anchored": row.is_anchored,
        "is_atomic": row.is_atomic,
        "judges": " ".join(row.judges),
        **columns_of(row),
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
