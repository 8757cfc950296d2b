"""QUIET's factorial: what samples that people scored, and checks in place of a scale, do to how far judges agree.

Source: Zou & Xu (2026), section 6.4, which names six experiments (E1 to E6) with these two changes and prints neither
their designs nor results; section 6.3, item 7, for what the paper expects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.document import columns, notes
from reports.document.columns import LEAD
from reports.document.model import DocumentSection, Files, Head, ReportTable, TableCell, TableColumn, TextBlock
from reports.document.phrases import joined
from reports.document.values import IntervalEstimate
from reports.figures.base import Figure, note_of
from reports.figures.cloze.alphas import (
    JudgesAgreement,
    agreement_columns,
    contrast_alphas,
    measure,
    spread_columns,
    weigh,
)
from reports.lazy import np

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
    position = 149
    section = "cloze"
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

    def describe(self, result: ClozeFactorialResult, head: Head) -> Iterator[DocumentSection]:
        counted = ngettext(
            "The same %(n)s models judged %(k)s constraint of %(texts)s texts with and without samples that people "
            "scored.",
            "The same %(n)s models judged %(k)s constraints of %(texts)s texts with and without samples that people "
            "scored.",
            result.n_constraints,
        )
        counted %= {"n": result.n_models, "k": result.n_constraints, "texts": result.n_texts}
        has_checks = any(row.is_atomic for row in result.conditions)
        missing = "" if has_checks else _("No constraint has checks, so that only the samples can be compared.")
        conditions, changes = _("Condition by condition"), _("Effect of each change")
        yield DocumentSection(
            heading=self.title,
            body=[
                TextBlock(words=joined(counted, missing), css="says"),
                _condition_table(result, conditions),
                Files(words=conditions, table="cloze-conditions"),
                _effect_table(result, changes),
                Files(words=changes, table="cloze-effects"),
            ],
            margin=list(_margin(result, has_checks=has_checks)),
        )


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


def _condition_table(result: ClozeFactorialResult, label: str) -> ReportTable[ConditionRow]:
    return ReportTable(
        name="cloze-conditions",
        label=label,
        rows=result.conditions,
        columns=[
            TableColumn(
                heading=_("Condition"),
                cell=lambda row: TableCell(words=NAMES[row.is_anchored, row.is_atomic]),
                files={"is_anchored": lambda row: row.is_anchored, "is_atomic": lambda row: row.is_atomic},
                is_number=False,
                is_head=True,
            ),
            columns.in_file("judges", lambda row: " ".join(row.judges)),
            *agreement_columns(),
        ],
        why=lambda row: row.coefficient.why,
    )


def _effect_table(result: ClozeFactorialResult, label: str) -> ReportTable[EffectRow]:
    return ReportTable(
        name="cloze-effects",
        label=label,
        rows=result.effects,
        columns=[
            columns.words("effect", _("Change"), shown=lambda row: EFFECTS[row.effect], is_head=True),
            *columns.with_interval("alpha", _("Alpha"), lambda row: row.alpha, css=LEAD),
            *spread_columns(),
            columns.note(lambda row: note_of(row.alpha, row.alpha.interval)),
        ],
        why=lambda row: row.alpha.why,
    )


def _margin(result: ClozeFactorialResult, *, has_checks: bool) -> Iterator[TextBlock]:
    origin = _(
        "QUIET names six experiments (E1–E6) with these two changes and prints neither their designs nor results. It "
        "expects that checks alone do not raise alpha, since judges without shared samples disagree about each check "
        "as about the whole."
    )
    checks = _(
        "A score by checks is the share of a constraint’s checks that are met, times five, and at most 1 where a "
        "required one is not. The paper prints no rule; this one is ours. Only constraints with checks are compared."
    )
    yield TextBlock(words=origin)
    if has_checks:
        yield TextBlock(words=checks)
    yield TextBlock(words=_("Means and ranges run from 0 to 1. Intervals are over texts, the same in every condition."))
    yield from notes.weakest(row.interval for row in result.conditions)
