"""NSV as rows of files and lines of text, and what its parts are called on the page."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext_lazy, gettext_noop

from reports.figures.base import Row, note_of
from reports.figures.nsv_results import NsvResult, NsvScores
from reports.numbers import coefficient, coefficients, decimal, p_value, whole
from reports.reasons import to_english

METHODS = {
    "nsv": gettext_lazy("NSV"),
    "novelty": gettext_lazy("Novelty"),
    "surprise": gettext_lazy("Surprise"),
    "value": gettext_lazy("Value"),
    "distinct-1": gettext_lazy("Distinct-1"),
    "distinct-2": gettext_lazy("Distinct-2"),
    "novelty_search": gettext_lazy("Novelty search"),
}
DEGRADED = {
    "removed": gettext_lazy("removed"),
    "weaker_embedding": gettext_lazy("by eight dimensions of the vectors"),
    "n_grams": gettext_lazy("by a trigram model of the references"),
    "single_words": gettext_lazy("by how often words stand anywhere"),
    "shuffled_preferences": gettext_lazy("learnt from shuffled preferences"),
    "shuffled_values": gettext_lazy("dealt out by chance within prompts"),
}
STABILITY = {
    "splits": gettext_lazy("Other splits"),
    "near_weights": gettext_lazy("Weights near the fitted ones"),
    "all_weights": gettext_lazy("All weights"),
    "k": gettext_lazy("Neighbours k"),
    "alpha": gettext_lazy("α, the share of the prompt"),
    "paraphrases": gettext_lazy("Ideas and their paraphrases"),
}
VERDICTS = {
    "met": gettext_noop("H1 holds: the lower end of the interval is .6 or more."),
    "not_met": gettext_noop("H1 does not hold: the whole interval lies below .6."),
    "open": gettext_noop("H1 is open: the interval does not lie on one side of .6."),
}


def rows(result: NsvResult) -> dict[str, Iterator[Row]]:
    scores = result.scores
    return {
        "nsv-methods": _method_rows(scores) if scores else iter(()),
        "nsv-weights": _weight_rows(scores) if scores else iter(()),
        "nsv-ablations": _ablation_rows(scores) if scores else iter(()),
        "nsv-stability": _stability_rows(scores) if scores else iter(()),
        "nsv-prompts": _prompt_rows(scores) if scores else iter(()),
    }


def _method_rows(scores: NsvScores) -> Iterator[Row]:
    for row in scores.methods:
        for name, part in (("pooled", row.pooled), ("within", row.within)):
            yield {
                "method": row.method,
                "correlation": name,
                "is_confirmatory": row.method == "nsv" and name == scores.confirmatory,
                "rho": part.value,
                "low": part.interval.low,
                "high": part.interval.high,
                "n_ideas": row.n,
                "n_prompts": row.n_prompts,
                "panel_ceiling": scores.ceiling,
                "note": note_of(part, part.interval),
            }


def _weight_rows(scores: NsvScores) -> Iterator[Row]:
    for row in scores.weights:
        yield {
            "component": row.component,
            "weight": row.weight,
            "median": row.median,
            "mad": row.deviation,
            "development_rho": scores.development_rho,
            "n_ideas": scores.setting.n_development,
            "n_pairs": scores.preferences.n_pairs,
        }


def _ablation_rows(scores: NsvScores) -> Iterator[Row]:
    for row in scores.ablations:
        yield {
            "component": row.component,
            "how": row.by,
            "difference": row.value,
            "low": row.interval.low,
            "high": row.interval.high,
            "p": row.p,
            "note": note_of(row, row.interval),
        }


def _stability_rows(scores: NsvScores) -> Iterator[Row]:
    for row in scores.stability:
        yield {
            "what": row.what,
            "setting": row.setting,
            "rho": row.value,
            "n": row.n,
            "sd": row.sd,
            "lowest": row.lowest,
            "highest": row.highest,
            "note": note_of(row),
        }


def _prompt_rows(scores: NsvScores) -> Iterator[Row]:
    for part, names in (("development", scores.setting.development), ("hold-out", scores.setting.held_out)):
        for name in names:
            yield {"group": name, "part": part, "seed": scores.setting.seed}


def lines(result: NsvResult) -> Iterator[str]:
    yield "\nNovelty, surprise and value (NSV)"
    if panel := result.panel:
        ends = f"95 % {coefficients(panel.interval)}"
        words = to_english(panel.why) if panel.why else f"alpha ({panel.distance}) {coefficient(panel.value)}, {ends}"
        yield f"  panel on {', '.join(panel.titles)}: {words}; {whole(panel.n_ideas)} ideas"
    if result.why:
        yield f"  {to_english(result.why)}"
    if result.scores:
        yield from _score_lines(result.scores)


def _score_lines(scores: NsvScores) -> Iterator[str]:
    setting = scores.setting
    yield (
        f"  fitted on {whole(setting.n_development)} ideas on {len(setting.development)} prompts, told on "
        f"{whole(setting.n_held_out)} on {len(setting.held_out)}; {whole(setting.n_references)} references of "
        f"“{setting.references}” ({setting.embedding}), {whole(setting.n_near_copies)} near-copies left out"
    )
    yield "  weights: " + ", ".join(f"{row.component} {coefficient(row.weight)}" for row in scores.weights)
    yield f"  {VERDICTS[scores.verdict]} Confirmatory: {scores.confirmatory}"
    yield f"  the panel's own means would reach {coefficient(scores.ceiling)} (√ICC(k))"
    for row in scores.methods:
        parts = [
            to_english(part.why)
            if part.why
            else f"{name} {coefficient(part.value)} (95 % {coefficients(part.interval)})"
            for name, part in (("within prompts", row.within), ("pooled", row.pooled))
        ]
        yield f"    {row.method:<16} {'; '.join(dict.fromkeys(parts))}"
    tried = scores.preferences
    outcome = to_english(tried.why) if tried.why else f"{decimal(tried.accuracy)} % right, AUC {coefficient(tried.auc)}"
    origin = f"by the scores {setting.value}" if setting.value else f"learnt from {whole(tried.n_pairs)} pairs"
    by = f" by {setting.pairs}" if setting.pairs else ""
    yield f"  value {origin}{by}; on {whole(tried.n_held_out)} of hold-out {outcome}"
    for ablation in scores.ablations:
        words = (
            to_english(ablation.why)
            if ablation.why
            else f"Δ {coefficient(ablation.value)} (95 % {coefficients(ablation.interval)}), p {p_value(ablation.p)}"
        )
        yield f"    {ablation.component} {ablation.by.replace('_', ' ')}: {words}"
    for change in scores.stability:
        ends = f", {coefficient(change.lowest)} to {coefficient(change.highest)}" if change.lowest is not None else ""
        words = to_english(change.why) if change.why else f"{coefficient(change.value)}{ends} (n = {change.n})"
        yield f"    {change.what.replace('_', ' ')} {change.setting}: {words}"
    yield "  MAUVE is not computed: its library is under the GPL, and it says little of a few hundred texts."
