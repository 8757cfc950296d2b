"""How far those who judge filled texts agree, with or without any person: over all constraints and one by one.

Source: Zou & Xu (2026), section 5.1: Krippendorff's alpha by interval distances on the raw ratings of every
constraint of every text (.270 there), and of the same in three steps (.273). Ordinal distances stand beside.
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
    Row,
    chance_floor,
    estimate,
    interval,
    note_of,
    weakest_note,
)
from reports.figures.cloze_participants import number
from reports.lazy import agreement, arrays, comparisons, intervals, np
from reports.numbers import coefficient, coefficients, decimal, whole
from reports.reasons import to_english

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.judged_clozes import JudgedCloze
    from stats.arrays import FloatArray

SALT = 146  # of the seed
# Of whom, and of what scale with which distances.
PANEL, COARSE, EXPERTS, TOGETHER = "judges", "judges in three steps", "experts", "judges and experts"
NAMES = {
    PANEL: gettext_lazy("Judges, 0 to 5"),
    COARSE: gettext_lazy("Judges, in three steps"),
    EXPERTS: gettext_lazy("Experts, 0 to 5"),
    TOGETHER: gettext_lazy("Judges and experts, 0 to 5"),
}
DISTANCES = {"interval": gettext_lazy("interval (as published)"), "ordinal": gettext_lazy("ordinal")}


@dataclass(frozen=True, kw_only=True)
class PanelAlpha:
    """Krippendorff's alpha over every constraint of every text; the interval is over texts."""

    of: str
    distance: str
    coefficient: Estimate
    interval: Interval
    floor: Floor


@dataclass(frozen=True, kw_only=True)
class ConstraintAlpha:
    section: str
    item: str
    question: str
    interval_alpha: Estimate
    ordinal_alpha: Estimate


@dataclass(frozen=True, kw_only=True)
class PanelMember:
    """One judge. with_others, with_experts : Spearman's rho with the mean of theirs; alpha_without : of the others

    n_low : ratings of 0 or 1
    """

    judge: str
    n: int
    n_missing: int
    mean: float | None
    n_low: int
    with_others: Estimate
    with_experts: Estimate | None
    alpha_without: Estimate


@dataclass(frozen=True, kw_only=True)
class ClozeJudgesResult:
    """n_texts, n_constraints : that are rated; n_experts : people beside models"""

    is_judged_by_models: bool
    n_texts: int
    n_constraints: int
    n_experts: int
    alphas: tuple[PanelAlpha, ...]
    constraints: tuple[ConstraintAlpha, ...]
    judges: tuple[PanelMember, ...]


class ClozeJudges(Figure[ClozeJudgesResult]):
    key = "cloze_judges"
    title = gettext_lazy("Filled texts: the judges")
    position = 146
    result = ClozeJudgesResult
    tables = ("cloze-alphas", "cloze-constraint-alphas", "cloze-judges")
    is_shown_sealed = False
    needs_answers = False

    def compute(self, dataset: Dataset) -> ClozeJudgesResult | None:
        scored = dataset.scored_cloze
        judged = scored.judged if scored else None
        if scored is None or judged is None or len(judged.judges) < 2:
            return None
        return ClozeJudgesResult(
            is_judged_by_models=judged.is_judged_by_models,
            n_texts=len(judged.texts),
            n_constraints=len(judged.constraints),
            n_experts=len(judged.experts),
            alphas=tuple(_alphas(dataset, judged)),
            constraints=tuple(_constraints(judged, scored.section_titles)),
            judges=tuple(_members(judged)),
        )

    def rows(self, result: ClozeJudgesResult) -> dict[str, Iterator[Row]]:
        return {
            "cloze-alphas": (_alpha_row(row) for row in result.alphas),
            "cloze-constraint-alphas": (_constraint_row(row) for row in result.constraints),
            "cloze-judges": (_member_row(row) for row in result.judges),
        }

    def lines(self, result: ClozeJudgesResult) -> Iterator[str]:
        yield f"\nAgreement about {result.n_constraints} constraints of {result.n_texts} filled texts"
        for row in result.alphas:
            value = row.coefficient.value
            ends = f"95 % {coefficients(row.interval)}, chance to {coefficient(row.floor.upper)}"
            words = f"alpha {coefficient(value)}, {ends}"
            if row.coefficient.why:
                words = to_english(row.coefficient.why)
            yield f"  {row.of}, {row.distance}: {words}"
        for judge in result.judges:
            yield (
                f"  {judge.judge[:34]:<34} mean {decimal(judge.mean, 2)}, rho with the others "
                f"{coefficient(judge.with_others.value)}, alpha without {coefficient(judge.alpha_without.value)}, "
                f"0 or 1 {whole(judge.n_low)} of {whole(judge.n)}, missing {whole(judge.n_missing)}"
            )

    def context(self, result: ClozeJudgesResult) -> dict[str, Any]:
        rows = [(NAMES[row.of], DISTANCES[row.distance], row) for row in result.alphas]
        return {"alphas": rows, "main": result.alphas[0], "has_experts": result.n_experts > 0} | {
            "note": weakest_note(row.interval for row in result.alphas)
        }


def _flat(ratings: FloatArray) -> FloatArray:
    """Every constraint of every text as a unit, shape (J, N, K) to (J, N × K)."""
    n_judges, n_texts, n_constraints = ratings.shape
    return np.asarray(ratings.reshape(n_judges, n_texts * n_constraints))


def _alphas(dataset: Dataset, judged: JudgedCloze) -> Iterator[PanelAlpha]:
    together = np.concatenate([judged.ratings, judged.expert_ratings])
    of = [(PANEL, judged.ratings), (COARSE, judged.coarse)]
    if judged.experts:
        of += [(EXPERTS, judged.expert_ratings), (TOGETHER, together)]
    clusters = np.repeat(np.arange(len(judged.texts)), len(judged.constraints))
    for salt, (name, ratings) in enumerate(of):
        units = _flat(ratings)
        for distance in DISTANCES if np.isfinite(units).any() else ():
            yield PanelAlpha(
                of=name,
                distance=distance,
                coefficient=estimate(agreement.krippendorff_alpha, units, distance),
                interval=interval(intervals.alpha_interval, units, distance, clusters, rng=dataset.rng(SALT, salt, 0)),
                floor=chance_floor(agreement.alpha_chance_floor, units, distance, rng=dataset.rng(SALT, salt, 1)),
            )


def _constraints(judged: JudgedCloze, titles: Sequence[str]) -> Iterator[ConstraintAlpha]:
    for k, constraint in enumerate(judged.constraints):
        ratings = judged.ratings[:, :, k]
        yield ConstraintAlpha(
            section=titles[constraint.section],
            item=constraint.item.item.key,
            question=constraint.item.item.question,
            interval_alpha=estimate(agreement.krippendorff_alpha, ratings, "interval"),
            ordinal_alpha=estimate(agreement.krippendorff_alpha, ratings, "ordinal"),
        )


def _members(judged: JudgedCloze) -> Iterator[PanelMember]:
    units = _flat(judged.ratings)
    experts = _mean(_flat(judged.expert_ratings)) if judged.experts else None
    for n, name in enumerate(judged.judges):
        own, others = units[n], np.delete(units, n, axis=0)
        is_rated = np.isfinite(own)
        yield PanelMember(
            judge=name,
            n=int(is_rated.sum()),
            n_missing=int((~is_rated).sum()),
            mean=number(own[is_rated].mean()) if is_rated.any() else None,
            n_low=int((own[is_rated] <= 1).sum()),
            with_others=estimate(comparisons.spearman, own, _mean(others)),
            with_experts=None if experts is None else estimate(comparisons.spearman, own, experts),
            alpha_without=estimate(agreement.krippendorff_alpha, others, "interval"),
        )


def _mean(units: FloatArray) -> FloatArray:
    return np.asarray(arrays.mean_present(units, axis=0))


def _alpha_row(row: PanelAlpha) -> Row:
    return {
        "of": row.of,
        "distance": row.distance,
        "alpha": row.coefficient.value,
        "low": row.interval.low,
        "high": row.interval.high,
        "chance_mean": row.floor.mean,
        "chance_upper": row.floor.upper,
        "n_units": row.coefficient.n_units,
        "n_raters": row.coefficient.n_raters,
        "note": note_of(row.coefficient, row.interval),
    }


def _constraint_row(row: ConstraintAlpha) -> Row:
    return {
        "section": row.section,
        "item": row.item,
        "question": row.question,
        "interval_alpha": row.interval_alpha.value,
        "ordinal_alpha": row.ordinal_alpha.value,
        "n_units": row.interval_alpha.n_units,
        "note": note_of(row.interval_alpha),
    }


def _member_row(row: PanelMember) -> Row:
    return {
        "judge": row.judge,
        "n": row.n,
        "n_missing": row.n_missing,
        "mean": row.mean,
        "n_low": row.n_low,
        "rho_with_others": row.with_others.value,
        "rho_with_experts": row.with_experts and row.with_experts.value,
        "alpha_without": row.alpha_without.value,
    }
