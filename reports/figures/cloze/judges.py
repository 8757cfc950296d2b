"""How far those who judge filled texts agree, with or without any person: over all constraints and one by one.

Source: Zou & Xu (2026), section 5.1: Krippendorff's alpha by interval distances on the raw ratings of every
constraint of every text (.270 there), and of the same in three steps (.273). Ordinal distances stand beside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.document import columns, notes
from reports.document.columns import LEAD, decimals
from reports.document.model import DocumentSection, Files, Head, ReportTable, TextBlock
from reports.document.phrases import joined
from reports.document.values import Estimate, Floor, Interval
from reports.figures.base import Figure, alpha_fields, estimate, note_of
from reports.figures.cloze.alphas import alpha_columns
from reports.figures.cloze.participants import number
from reports.lazy import agreement, arrays, comparisons, np
from reports.numbers import coefficient

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
    title = gettext_lazy("Filled texts: agreement of judges")
    position = 148
    section = "cloze"
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

    def describe(self, result: ClozeJudgesResult, head: Head) -> Iterator[DocumentSection]:
        units = _(
            "Every constraint of every text is a unit, with the ratings from 0 to 5 as they were given. QUIET’s alpha "
            "(.270) takes interval distances; ordinal ones stand beside it, since the points are named and their "
            "steps are not equal."
        )
        yield DocumentSection(
            heading=self.title,
            body=[
                *_sentence(result),
                _alpha_table(result),
                Files(words=_("Over all constraints"), table="cloze-alphas"),
                _member_table(result),
                Files(words=_("Judge by judge"), table="cloze-judges"),
                _constraint_table(result, head),
                Files(words=_("Constraint by constraint"), table="cloze-constraint-alphas"),
            ],
            margin=[
                TextBlock(words=units),
                TextBlock(words=_("Intervals are over texts.")),
                *notes.weakest(row.interval for row in result.alphas),
            ],
        )


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
            of_units = alpha_fields(dataset, units, distance, clusters, SALT, salt)
            yield PanelAlpha(of=name, distance=distance, **of_units)


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


def _sentence(result: ClozeJudgesResult) -> Iterator[TextBlock]:
    """The published coefficient, and whether people rated beside."""
    alpha = result.alphas[0].coefficient.value
    if alpha is None:
        return
    sentence = _("Over %(k)s constraints of %(texts)s texts, Krippendorff’s alpha of %(n)s judges is %(alpha)s.")
    sentence %= {
        "k": result.n_constraints,
        "texts": result.n_texts,
        "n": len(result.judges),
        "alpha": coefficient(alpha),
    }
    is_alone = result.is_judged_by_models and not result.n_experts
    alone = _("No person rated: nothing here says that the judges are right.") if is_alone else ""
    yield TextBlock(words=joined(sentence, alone), css="says")


def _alpha_table(result: ClozeJudgesResult) -> ReportTable[PanelAlpha]:
    return ReportTable(
        name="cloze-alphas",
        label=_("Krippendorff’s alpha"),
        rows=result.alphas,
        columns=[
            columns.words("of", _("Of"), shown=lambda row: NAMES[row.of], is_head=True),
            columns.words("level", _("Distances"), lambda row: row.distance, shown=lambda row: DISTANCES[row.distance]),
            *alpha_columns(),
            columns.number("n_units", _("Units"), lambda row: row.coefficient.n_units),
            columns.fields(n_raters="coefficient.n_raters"),
            columns.note(lambda row: note_of(row.coefficient, row.interval)),
        ],
    )


def _member_table(result: ClozeJudgesResult) -> ReportTable[PanelMember]:
    with_experts = _("Rho with experts") if result.n_experts else None
    return ReportTable(
        name="cloze-judges",
        label=_("Each judge"),
        rows=result.judges,
        columns=[
            columns.words("judge", _("Judge"), is_head=True),
            columns.number("mean", _("Mean"), write=decimals(2)),
            columns.estimate("rho_with_others", _("Rho with the others"), lambda row: row.with_others, css=LEAD),
            columns.estimate("rho_with_experts", with_experts, lambda row: row.with_experts),
            columns.estimate("alpha_without", _("Alpha without"), lambda row: row.alpha_without),
            columns.count_of("n_low", _("0 or 1"), n_all=lambda row: row.n),
            columns.in_file("n"),
            columns.number("n_missing", _("Missing")),
        ],
    )


def _constraint_table(result: ClozeJudgesResult, head: Head) -> ReportTable[ConstraintAlpha]:
    return ReportTable(
        name="cloze-constraint-alphas",
        label=_("Alpha of each constraint"),
        rows=result.constraints,
        columns=[
            columns.in_file("item"),
            columns.words("question", _("Constraint"), language=head.language, is_head=True, css="statement"),
            replace(
                columns.words("section_title", _("Section"), lambda row: row.section, language=head.language),
                is_kept=True,
            ),
            columns.estimate("interval_alpha", _("Alpha, interval"), lambda row: row.interval_alpha, css=LEAD),
            columns.estimate("ordinal_alpha", _("Alpha, ordinal"), lambda row: row.ordinal_alpha),
            columns.fields(n_units="interval_alpha.n_units"),
            columns.note(lambda row: note_of(row.interval_alpha)),
        ],
        why=lambda row: row.interval_alpha.why,
        summary=_("Constraint by constraint"),
    )
