"""NSV in tables: correlations with the panel, weights, ablations, and what is done otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.document import columns, notes, plots
from reports.document.columns import ENDS, LEAD, decimals
from reports.document.files import file_only
from reports.document.model import Block, DrawnPlot, Files, ReportTable, Subsection, TableColumn
from reports.document.values import IntervalEstimate
from reports.figures.base import note_of
from reports.figures.nsv import top
from reports.figures.nsv.results import Ablation, ComponentWeight, NsvScores, PanelCorrelation, Stability
from reports.figures.nsv.sentences import verdict
from reports.numbers import coefficient, p_value

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


def blocks(scores: NsvScores) -> Iterator[Block]:
    yield verdict(scores)
    yield _method_table(scores)
    yield _correlations(scores)
    yield Files(words=_("Correlations with the panel"), table="nsv-methods")
    yield top.write_table(scores)
    yield Files(words=_("The ideas ranked first"), table="nsv-top")
    yield _weight_table(scores)
    yield Files(words=_("Weights"), table="nsv-weights")
    if plot := _ablation_plot(scores):
        title = _("What does the correlation lose without a component, or with a worse one?")
        yield DrawnPlot(plot=plot, title=title, described=notes.table_below_plot(), caption=title)
    yield _ablation_table(scores)
    yield Files(words=_("Ablation"), table="nsv-ablations")
    yield Subsection(
        summary=_("Done otherwise"),
        blocks=[
            _stability_table(scores),
            Files(words=_("Done otherwise"), table="nsv-stability"),
            _prompts(scores),
            Files(words=_("Prompts by part"), table="nsv-prompts"),
        ],
    )


def _method_table(scores: NsvScores) -> ReportTable[PanelCorrelation]:
    """Both correlations of a method in one row; the file has a row for each."""

    def pair(
        name: str, heading: str, of: Callable[[PanelCorrelation], IntervalEstimate]
    ) -> list[TableColumn[PanelCorrelation]]:
        return columns.with_interval(name, heading, of, css=LEAD if scores.confirmatory == name else "")

    return ReportTable(
        label=_("Scores beside the panel"),
        caption=_("Spearman’s correlation with the panel, on the prompts that nothing was fitted on."),
        rows=scores.methods,
        columns=[
            columns.words("method", _("Score"), shown=lambda row: METHODS[row.method], is_head=True),
            *pair("within", _("Within prompts"), lambda row: row.within),
            columns.number("n_prompts", _("Prompts")),
            *pair("pooled", _("Over all ideas"), lambda row: row.pooled),
            replace(columns.number("n_ideas", _("Ideas"), lambda row: row.n), is_kept=True),
        ],
        why=lambda row: row.pooled.why,
    )


def _correlations(scores: NsvScores) -> ReportTable[tuple[PanelCorrelation, str, IntervalEstimate]]:
    parts = ("pooled", "within")
    return file_only(
        "nsv-methods",
        [(row, name, getattr(row, name)) for row in scores.methods for name in parts],
        columns.fields("method", "n_prompts", n_ideas="n", of=lambda row: row[0]),
        columns.in_file("correlation", lambda row: row[1]),
        columns.in_file("is_confirmatory", lambda row: row[0].method == "nsv" and row[1] == scores.confirmatory),
        columns.fields(rho="value", **ENDS, of=lambda row: row[2]),
        columns.constants(panel_ceiling=scores.ceiling),
        columns.note(lambda row: note_of(row[2], row[2].interval)),
    )


def _weight_table(scores: NsvScores) -> ReportTable[ComponentWeight]:
    return ReportTable(
        name="nsv-weights",
        label=_("Weights of the components"),
        caption=_("What the development prompts gave."),
        rows=scores.weights,
        columns=[
            columns.words("component", _("Component"), shown=lambda row: METHODS[row.component], is_head=True),
            columns.number("weight", _("Weight"), write=coefficient, css=LEAD),
            columns.number("median", _("Median"), write=decimals(3)),
            columns.number("mad", _("MAD"), lambda row: row.deviation, write=decimals(3)),
            columns.constants(development_rho=scores.development_rho, n_ideas=scores.setting.n_development),
            columns.constants(n_pairs=scores.preferences.n_pairs),
        ],
    )


def _ablation_plot(scores: NsvScores) -> plots.DifferencePlot | None:
    """Every ablation in the order of its table; None without any that has a value."""
    marks = [
        plots.DifferenceMark(
            label=f"{METHODS[row.component]}, {DEGRADED[row.by]}",
            value=row.value,
            low=row.interval.low,
            high=row.interval.high,
            is_clear=row.interval.low is not None and row.interval.low > 0,
            is_weak=row.interval.is_weak,
        )
        for row in scores.ablations
        if row.value is not None
    ]
    return plots.DifferencePlot(marks, plots.difference_axis(plots.ends_of(marks))) if marks else None


def _ablation_table(scores: NsvScores) -> ReportTable[Ablation]:
    return ReportTable(
        name="nsv-ablations",
        label=_("Ablation"),
        caption=_("Ablation: what the correlation over all ideas loses without a component, or with a worse one."),
        rows=scores.ablations,
        columns=[
            columns.words("component", _("Component"), shown=lambda row: METHODS[row.component], is_head=True),
            replace(
                columns.words("how", _("How"), lambda row: row.by, shown=lambda row: DEGRADED[row.by]), is_kept=True
            ),
            *columns.with_interval("difference", "Δ", css=LEAD),
            columns.number("p", "p", write=p_value),
            columns.note(lambda row: note_of(row, row.interval)),
        ],
        why=lambda row: row.why,
    )


def _stability_table(scores: NsvScores) -> ReportTable[Stability]:
    setting: TableColumn[Stability] = columns.words("setting", _("Setting"))
    return ReportTable(
        name="nsv-stability",
        label=_("The confirmatory correlation, done otherwise"),
        rows=scores.stability,
        columns=[
            columns.words("what", _("What"), shown=lambda row: STABILITY[row.what], is_head=True),
            replace(setting, is_number=True, is_kept=True),
            columns.number("rho", _("Rho"), lambda row: row.value, write=coefficient, css=LEAD),
            columns.number("lowest", _("Lowest"), write=coefficient),
            columns.number("highest", _("Highest"), write=coefficient),
            columns.fields("n", "sd"),
            columns.note(note_of),
        ],
        why=lambda row: row.why,
    )


def _prompts(scores: NsvScores) -> ReportTable[tuple[str, str]]:
    """Which prompts were fitted on, in the file alone."""
    setting = scores.setting
    parts = (("development", setting.development), ("hold-out", setting.held_out))
    return file_only(
        "nsv-prompts",
        [(name, part) for part, names in parts for name in names],
        columns.in_file("group", lambda row: row[0]),
        columns.in_file("part", lambda row: row[1]),
        columns.constants(seed=setting.seed),
    )
