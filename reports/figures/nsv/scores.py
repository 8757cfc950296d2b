"""Novelty, surprise and value in one score (NSV): fitted on half of the prompts, held against the panel on the others.

What stands for creativity, the reference set and the confirmatory correlation are those of the frozen analysis plan.
Source: Brito da Silva & Marcacini, Caracterização da Capacidade Criativa em Sistemas de IA Generativa, section 3.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from judges.metrics import NoValue, all_metrics
from reports.dataset.scored_ideas import ALPHA, SALT, K, novelty_search
from reports.document import notes
from reports.document.leaderboard import Leader, Leaderboard
from reports.document.model import DocumentSection, Head, TextBlock
from reports.document.values import IntervalEstimate, Reason
from reports.figures.base import N_RESAMPLES, Figure, estimate, interval
from reports.figures.nsv import sentences, tables
from reports.figures.nsv.results import (
    ComponentWeight,
    IdeaPanelAgreement,
    LearntPreferences,
    NsvResult,
    NsvScores,
    NsvSetting,
    PanelCorrelation,
)
from reports.figures.nsv.robustness import held_out, list_ablations, list_stability
from reports.figures.nsv.top import list_top_precisions
from reports.lazy import agreement, intervals, np, nsv, reliability
from reports.numbers import coefficient
from stats.reasons import Incomputable
from studies.documents.analysis_plan import WITHIN_PROMPTS

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.ideas import IdeaPanel
    from reports.dataset.scored_ideas import ScoredIdeas
    from stats.arrays import FloatArray

LEAST_RHO = 0.6  # H1


class Nsv(Figure[NsvResult]):
    key = "nsv"
    title = gettext_lazy("Novelty, surprise and value")
    position = 151
    section = "texts"
    lead = 20
    tables = ("nsv-methods", "nsv-top", "nsv-weights", "nsv-ablations", "nsv-stability", "nsv-prompts")
    is_shown_sealed = False
    needs_answers = False
    edition = 6

    def compute(self, dataset: Dataset) -> NsvResult | None:
        panel, scored = dataset.nsv_panel, dataset.scored_ideas
        if panel is None or scored is None:
            return None
        if isinstance(panel, Incomputable):
            return NsvResult(panel=None, why=Reason.of(panel), scores=None)
        about = _panel(dataset, panel)
        if isinstance(scored, Incomputable):
            return NsvResult(panel=about, why=Reason.of(scored), scores=None)
        return NsvResult(panel=about, why=None, scores=_scores(dataset, scored))

    def leaderboard(self, result: NsvResult, head: Head) -> Leaderboard | None:
        return _board(result.scores) if result.scores else None

    def describe(self, result: NsvResult, head: Head) -> Iterator[DocumentSection]:
        scores = result.scores
        frozen = _(
            "What stands for creativity, the set and the confirmatory correlation were frozen with the analysis plan. "
            "The panel’s form is ours: the source gives none."
        )
        yield DocumentSection(
            heading=self.title,
            body=[
                *sentences.about_panel(result.panel),
                *([notes.reason(result.why)] if result.why else []),
                *(tables.blocks(scores) if scores else []),
            ],
            margin=[*(sentences.about_scores(scores) if scores else []), TextBlock(words=frozen)],
        )


def _board(scores: NsvScores) -> Leaderboard:
    """The score and what it is held against, by how far each goes with people."""
    is_within = scores.confirmatory == WITHIN_PROMPTS
    found = [(row.method, row.within if is_within else row.pooled) for row in scores.methods]
    ranked = sorted(found, key=lambda pair: -(pair[1].value if pair[1].value is not None else -2))
    leaders = [
        Leader(name=str(tables.METHODS[method]), value=rho.value, words=coefficient(rho.value), ends=rho.interval)
        for method, rho in ranked
        if rho.value is not None
    ]
    title = _("Correlation with people, within prompts") if is_within else _("Correlation with people, over all ideas")
    return Leaderboard(title=title, leaders=tuple(leaders), notes=(_("Lines: 95 %% intervals over prompts.") % {},))


def _panel(dataset: Dataset, panel: IdeaPanel) -> IdeaPanelAgreement:
    distance = "ordinal" if len(panel.titles) == 1 else "interval"
    alpha = estimate(agreement.krippendorff_alpha, panel.ratings, distance)
    return IdeaPanelAgreement(
        **vars(alpha),
        interval=interval(intervals.alpha_interval, panel.ratings, distance, panel.clusters, rng=dataset.rng(SALT, 2)),
        titles=panel.titles,
        distance=distance,
        n_ideas=int(np.isfinite(panel.ratings).any(axis=0).sum()),
    )


def _scores(dataset: Dataset, scored: ScoredIdeas) -> NsvScores:
    composite = scored.fitted.composite
    methods, confirmatory = tuple(_methods(dataset, scored)), scored.plan.nsv_correlation
    main = methods[0].within if confirmatory == WITHIN_PROMPTS else methods[0].pooled
    return NsvScores(
        setting=_setting(dataset, scored),
        weights=tuple(
            ComponentWeight(component=name, weight=float(w), median=float(median), deviation=float(deviation))
            for name, w, median, deviation in zip(
                nsv.COMPONENTS, composite.weights, composite.scale.medians, composite.scale.deviations, strict=True
            )
        ),
        development_rho=composite.rho,
        confirmatory=confirmatory,
        verdict=_verdict(main),
        ceiling=_ceiling(scored),
        methods=methods,
        top=tuple(list_top_precisions(dataset, scored)),
        preferences=_preferences(scored),
        ablations=tuple(list_ablations(dataset, scored)),
        stability=tuple(list_stability(dataset, scored, is_within=confirmatory == WITHIN_PROMPTS)),
    )


def _verdict(main: IntervalEstimate) -> str:
    if main.interval.low is None or main.interval.high is None:
        return "open"
    if main.interval.low >= LEAST_RHO:
        return "met"
    return "not_met" if main.interval.high < LEAST_RHO else "open"


def _setting(dataset: Dataset, scored: ScoredIdeas) -> NsvSetting:
    ideas, reference = scored.ideas, scored.ideas.reference
    rated = np.unique(scored.material.prompts[scored.material.is_rated])
    names = [ideas.prompt_names[n] for n in rated]
    is_development = np.isin(rated, scored.development)
    return NsvSetting(
        references=reference.row.name,
        corpus=reference.corpus,
        embedding=reference.row.embedding,
        version=reference.row.version,
        sha256=reference.row.sha256,
        surprise=scored.plan.nsv_surprise,
        value=scored.plan.nsv_value,
        pairs=scored.plan.nsv_pairs,
        k=K,
        alpha=ALPHA,
        seed=dataset.study.seed,
        development=tuple(name for name, is_in in zip(names, is_development, strict=True) if is_in),
        held_out=tuple(name for name, is_in in zip(names, is_development, strict=True) if not is_in),
        n_development=int(scored.learnt_from.sum()),
        n_held_out=int(scored.is_held_out.sum()),
        n_references=len(reference.texts),
        n_near_copies=reference.n_near_copies,
        n_gone=reference.n_gone,
        n_on_several_prompts=ideas.n_on_several_prompts,
        n_without_neighbours=scored.n_without_neighbours,
        n_without_surprise=scored.n_without_surprise,
        n_without_value=scored.n_without_value,
    )


def _ceiling(scored: ScoredIdeas) -> float | None:
    try:
        icc = float(reliability.intraclass(scored.ideas.ratings[:, scored.used][:, scored.is_held_out]).average)
    except Incomputable:
        return None
    return float(np.sqrt(max(icc, 0.0)))


def _methods(dataset: Dataset, scored: ScoredIdeas) -> Iterator[PanelCorrelation]:
    """The whole score, each component alone, then what needs nobody's preferences."""
    yield _concord(dataset, scored, "nsv", scored.fitted.scores)
    for n, name in enumerate(nsv.COMPONENTS):
        yield _concord(dataset, scored, name, scored.fitted.components[:, n])
    distinct = [all_metrics()["distinct"].measure(scored.ideas.texts[n]) for n in scored.used]
    for key in ("distinct-1", "distinct-2"):
        values = [np.nan if isinstance(row[key], NoValue) else row[key] for row in distinct]
        yield _concord(dataset, scored, key, np.array(values, dtype=np.float64))
    try:
        yield _concord(dataset, scored, "novelty_search", novelty_search(scored))
    except Incomputable as error:
        yield _without("novelty_search", error)


def _concord(dataset: Dataset, scored: ScoredIdeas, method: str, score: FloatArray) -> PanelCorrelation:
    chosen = scored.is_held_out & np.isfinite(score)
    try:
        concordance = nsv.concord(
            score[chosen],
            scored.material.target[chosen],
            scored.material.prompts[chosen],
            rng=dataset.rng(SALT, 3),
            n_resamples=N_RESAMPLES,
        )
    except Incomputable as error:
        return _without(method, error)
    return PanelCorrelation(
        method=method,
        n=concordance.n_units,
        n_prompts=concordance.n_prompts,
        pooled=held_out(concordance.pooled),
        within=held_out(concordance.within),
    )


def _without(method: str, error: Incomputable) -> PanelCorrelation:
    nothing = held_out(error)
    return PanelCorrelation(method=method, n=0, n_prompts=0, pooled=nothing, within=nothing)


def _preferences(scored: ScoredIdeas) -> LearntPreferences:
    tried = scored.fitted.preferences
    if isinstance(tried, Incomputable):
        return LearntPreferences(
            n_pairs=scored.fitted.n_pairs, n_held_out=None, accuracy=None, auc=None, why=Reason.of(tried)
        )
    return LearntPreferences(
        n_pairs=scored.fitted.n_pairs, n_held_out=tried.n_pairs, accuracy=tried.accuracy, auc=tried.auc, why=None
    )
