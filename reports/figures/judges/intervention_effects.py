"""What changes of the stories do to the answers of judges: paired with those about the stories as they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from judges.interventions import find_of_reading
from reports.dataset.altered_answers import read_altered_answers
from reports.dataset.blocks import share_a_scale
from reports.dataset.step_items import widest
from reports.document.values import Interval, IntervalEstimate, Reason
from reports.figures.base import ends_of_mean, without_value
from reports.lazy import contrasts, np, paired_shifts
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from reports.dataset.altered_answers import AlteredAnswers
    from stats.arrays import FloatArray
    from stats.paired_shifts import PairedShift

SALT = 154  # of the seed
ALPHA = 0.05
PERCENT = 100


@dataclass(frozen=True, kw_only=True)
class Movement(IntervalEstimate):
    """How far answers move between two readings, of verdicts in percentage points of Yes.

    before, after : percent Yes, or the mean rating, in either
    differing_percent : of 100 answers, how many are not the same in both
    n : pairs of answers
    """

    before: float | None = None
    after: float | None = None
    differing_percent: float | None = None
    n: int = 0


@dataclass(frozen=True, kw_only=True)
class InterventionEffect:
    """What one change does to the answers of one judge.

    intervention : slug and version; kind : "verdicts" or "scales"
    effect : from the story as it is to the changed one
    again : from the first to the second reading of the story as it is; without a value where there is no second
    p, p_adjusted : by random signs of clusters; corrected by Holm over all rows
    is_of_one_run : whether the two answers of every pair are of one run; else the model may have changed between them
    """

    judge: str
    intervention: str
    kind: str
    effect: Movement
    again: Movement
    p: float | None = None
    p_adjusted: float | None = None
    is_of_one_run: bool = True

    @property
    def title(self) -> str:
        kind = find_of_reading(self.intervention)
        return str(kind.title) if kind else self.intervention

    @property
    def is_clear(self) -> bool:
        """Whether it holds for other stories, by the test and by its interval, and in one run."""
        low, high = self.effect.interval.low, self.effect.interval.high
        is_apart = low is not None and high is not None and not low <= 0 <= high
        return self.is_of_one_run and is_apart and self.p_adjusted is not None and self.p_adjusted < ALPHA


def list_effects(dataset: Dataset) -> tuple[InterventionEffect, ...]:
    """Of every judge what every change does to its verdicts and to its ratings, corrected together."""
    scales = [item for item in dataset.items if item.is_scale]
    rows = [*_effects(dataset, dataset.verdict_items, "verdicts"), *_effects(dataset, scales, "scales")]
    adjusted = contrasts.adjust([row.p for row in rows], "holm")
    return tuple(replace(row, p_adjusted=p) for row, p in zip(rows, adjusted, strict=True))


def list_tested(dataset: Dataset) -> set[tuple[str, str, str]]:
    """Judge, kind and change, without its version, of every effect that was tested."""
    rows = list_effects(dataset)
    return {(row.judge, row.kind, row.intervention.rpartition("-")[0]) for row in rows if row.p is not None}


def _effects(dataset: Dataset, items: list[StepItem], kind: str) -> Iterator[InterventionEffect]:
    for at, answers in enumerate(read_altered_answers(dataset, items)):
        salt = (SALT, len(kind), at)  # a seed takes numbers, and the two kinds differ in length
        again, _p = _move(dataset, items, answers.first, answers.second, kind, (*salt, 0))
        for n, name in enumerate(answers.altered_by_intervention, start=1):
            yield _effect(dataset, items, answers, name, kind, again, (*salt, n))


def _effect(
    dataset: Dataset,
    items: list[StepItem],
    answers: AlteredAnswers,
    name: str,
    kind: str,
    again: Movement,
    salt: tuple[int, ...],
) -> InterventionEffect:
    plain, altered = answers.plain_by_intervention[name], answers.altered_by_intervention[name]
    effect, p = _move(dataset, items, plain, altered, kind, salt)
    return InterventionEffect(
        judge=answers.judge,
        intervention=name,
        kind=kind,
        effect=effect,
        again=again,
        p=p,
        is_of_one_run=name not in answers.of_several_runs,
    )


def _move(
    dataset: Dataset,
    items: list[StepItem],
    before: FloatArray,
    after: FloatArray,
    kind: str,
    salt: tuple[int, ...],
) -> tuple[Movement, float | None]:
    """How far answers move, and p; without a value where they are on several scales. before, after : shape (I, U)"""
    factor = PERCENT if kind == "verdicts" else 1
    before, after = factor * before, factor * after
    clusters = dataset.clusters_of_units(dataset.units)
    answered = [item for item, own in zip(items, after - before, strict=True) if np.isfinite(own).any()]
    nothing = Interval(low=None, high=None)
    if not share_a_scale(answered):
        return Movement(value=None, why=without_value("scales_differ"), interval=nothing), None
    try:
        shift: PairedShift = paired_shifts.paired_shift(before, after, clusters, rng=dataset.rng(*salt, 0))
    except Incomputable as error:
        return Movement(value=None, why=Reason.of(error), interval=nothing), None
    bound = factor * widest(answered)
    between = ends_of_mean(after - before, clusters, rng=dataset.rng(*salt, 1), low=-bound, high=bound)
    movement = Movement(
        value=shift.value,
        before=shift.before,
        after=shift.after,
        differing_percent=PERCENT * shift.changed,
        interval=between,
        n=shift.n,
    )
    return movement, shift.p
