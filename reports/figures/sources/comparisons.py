"""How far the sources are apart, on story means: every two of them, on every outcome."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.document import columns, notes, plots
from reports.document.leaderboard import Leaderboard
from reports.document.model import (
    Block,
    DocumentSection,
    DrawnPlot,
    Files,
    Head,
    Note,
    Phrase,
    ReportTable,
    Subsection,
    TextBlock,
)
from reports.document.phrases import joined
from reports.figures.base import (
    Figure,
    Statement,
)
from reports.figures.outcome_titles import outcome_title
from reports.figures.sources.compared_parts import ContrastTable
from reports.figures.sources.contrast_families import correct, with_letters
from reports.figures.sources.contrast_rows import ContrastRow, OutcomeContrasts, SourceLevel
from reports.figures.sources.contrast_table import contrast_columns, contrast_table, rests_on
from reports.figures.sources.contrast_words import contrast_statements, fixed_premises, unit_words
from reports.figures.sources.headline_words import headline
from reports.figures.sources.lead_difference import lead_difference
from reports.figures.sources.leaderboard import source_leaderboard
from reports.figures.sources.log_odds import check_blocks, check_columns, with_checks
from reports.figures.sources.planned_contrasts import compare_planned
from reports.numbers import with_interval
from reports.reasons import to_english

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable


@dataclass(frozen=True, kw_only=True)
class ComparisonResult:
    """is_planned : whether a plan was frozen with the protocol; without one all is exploratory

    has_reference : whether it names the source against which the others stand
    """

    is_planned: bool
    has_reference: bool
    outcomes: tuple[OutcomeContrasts, ...]

    @property
    def whole(self) -> list[OutcomeContrasts]:
        """The outcomes that are no part of another, the primary one first, then the secondary ones."""
        whole = [outcome for outcome in self.outcomes if not outcome.is_part or outcome.is_named]
        return sorted(whole, key=lambda outcome: (not outcome.is_primary, not outcome.is_secondary))

    @property
    def parts(self) -> list[OutcomeContrasts]:
        whole = self.whole
        return [outcome for outcome in self.outcomes if outcome not in whole]


class Comparisons(Figure[ComparisonResult]):
    key = "comparisons"
    title = gettext_lazy("Differences between sources")
    position = 25
    section = "sources"
    lead = 30
    tables = ("comparisons",)
    edition = 17
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> ComparisonResult | None:
        as_planned = map(dataset.as_planned, dataset.outcomes)
        tables = [table for table in as_planned if len(_levels(dataset, table)) > 1]
        if not tables:
            return None
        outcomes, compared = zip(*(_contrasts(dataset, table) for table in tables), strict=True)
        corrected = list(correct(outcomes))
        return ComparisonResult(
            is_planned=dataset.plan is not None,
            has_reference=dataset.plan is not None and bool(dataset.plan.reference),
            outcomes=tuple(with_letters(outcome) for outcome in with_checks(corrected, compared)),
        )

    def describe(self, result: ComparisonResult, head: Head) -> Iterator[DocumentSection]:
        parts = [_part(outcome, head) for outcome in result.parts]
        folded = Subsection(summary=_("By dimension and by test, exploratory"), blocks=parts)
        counted = ngettext("%(n)s outcome", "%(n)s outcomes", len(result.outcomes)) % {"n": len(result.outcomes)}
        yield DocumentSection(
            heading=_("Differences between sources"),
            body=[
                *(_outcome(outcome, head) for outcome in result.whole),
                *([folded] if parts else []),
                _file_table(result),
                Files(words=counted, table="comparisons", is_count=True),
            ],
            margin=list(_notes(result)),
        )

    def is_first_headline(self, result: ComparisonResult) -> bool:
        return True

    def headline(self, result: ComparisonResult, head: Head) -> str:
        return headline(result.whole)

    def lead_difference(self, result: ComparisonResult) -> str:
        return lead_difference(result.whole)

    def leaderboard(self, result: ComparisonResult, head: Head) -> Leaderboard:
        return source_leaderboard(result.whole, head)

    def statements(self, result: ComparisonResult, head: Head) -> Iterator[Statement]:
        for n, outcome in enumerate(result.whole):
            yield from contrast_statements(outcome, n_outcomes=len(result.whole), is_first=n == 0)


def _levels(dataset: Dataset, table: OutcomeTable) -> list[SourceLevel]:
    """Every source that has a story with a value, in the order of sources."""
    masks = [(name, table.of_source(name)) for name, _kind in dataset.sources]
    return [
        SourceLevel(
            source=name,
            value=float(table.values[mask].mean()),
            n_stories=table.n_stories(mask),
        )
        for name, mask in masks
        if mask.any()
    ]


def _contrasts(dataset: Dataset, table: OutcomeTable) -> tuple[OutcomeContrasts, ContrastTable]:
    outcome, plan, levels = table.outcome, dataset.plan, _levels(dataset, table)
    names = [level.source for level in levels]
    is_primary = plan is not None and plan.outcome == outcome.key
    is_named = is_primary or (plan is not None and outcome.key in plan.secondary)
    reference = plan.reference if plan and plan.reference in names else names[0]
    margin = plan.margin if plan and is_primary else None
    compared = compare_planned(dataset, table)
    rows = [
        replace(row, is_planned=is_named and plan is not None and plan.names(row.first, row.second))
        for row in compared.rows()
    ]
    contrasts = OutcomeContrasts(
        key=outcome.key,
        kind=outcome.kind,
        title=outcome.title,
        is_percent=outcome.is_percent,
        is_lower_better=outcome.is_lower_better,
        is_part=outcome.is_part,
        is_primary=is_primary,
        is_secondary=is_named and not is_primary,
        is_after_exclusions=is_named and plan is not None and bool(plan.rules),
        reference=reference,
        correction="fdr_bh" if outcome.kind == "verdict" and outcome.is_part and not is_named else "holm",
        margin=margin,
        sources=tuple(replace(level, **compared.adjusted(level.source)) for level in levels),
        contrasts=tuple(rows),
        of_all=compared.of_all(),
        parts=compared.parts,
    )
    return contrasts, compared


def _outcome(outcome: OutcomeContrasts, head: Head) -> Subsection:
    """Every source against the reference, drawn, and every two of them in a table."""
    title = outcome_title(outcome.key, outcome.title, head, without=_("All tests together"))
    return Subsection(
        heading=joined(title, format_html('<span class="hint">{}</span>', _standing(outcome))),
        blocks=[
            *_against_reference(outcome),
            Subsection(
                summary=_("Every two sources, as a table"),
                blocks=[contrast_table(outcome.contrasts, outcome.places, about=outcome.title)],
            ),
            *check_blocks(outcome),
        ],
    )


def _standing(outcome: OutcomeContrasts) -> str:
    """Whether it was planned, and whether the plan's rules leave something out."""
    if not outcome.is_named:
        return _("exploratory")
    words = _("planned: a secondary outcome of the plan")
    if outcome.is_primary:
        words = _("confirmatory: the primary outcome of the plan")
    return ", ".join([words, _("after the planned exclusions")]) if outcome.is_after_exclusions else words


def _against_reference(outcome: OutcomeContrasts) -> Iterator[Block]:
    """The plots, of which the planned pairs are last: their place among the plots is in their addresses."""
    unit, reference = unit_words(outcome), outcome.reference
    if plot := _plot(outcome, reference):
        lower = _("Rank 1 is the best: to the left is better.") if outcome.is_lower_better else ""
        yield _drawing(outcome, plot, _("Differences from the reference"), joined(_each_less(reference, unit), lower))
    else:
        sentence = _("No source can be compared with %(reference)s here: the table says why.")
        yield TextBlock(words=sentence % {"reference": reference}, css="hint")
    title = _("Differences from another source")
    others = [level.source for level in outcome.sources if level.source != reference]
    drawn = [
        _drawing(outcome, plot, title, _each_less(source, unit))
        for source in others
        if (plot := _plot(outcome, source))
    ]
    if drawn:
        hint = _("For reference only: what was planned and what is corrected stays as it is.")
        yield Subsection(summary=_("Reference source"), blocks=[TextBlock(words=hint, css="hint"), *drawn])
    if pairs := _plot_of_pairs(outcome):
        caption = _("Also planned: the first less the second, in %(unit)s.") % {"unit": unit}
        yield _drawing(outcome, pairs, _("Planned differences of two sources"), caption)


def _drawing(outcome: OutcomeContrasts, plot: plots.DifferencePlot, title: str, caption: Phrase) -> DrawnPlot:
    described = _("The table below holds every difference with its interval.")
    return DrawnPlot(plot=plot, title=title, described=described, caption=caption, label=outcome.title)


def _each_less(reference: str, unit: str) -> str:
    return _("Each source less %(reference)s, in %(unit)s.") % {"reference": reference, "unit": unit}


def _part(outcome: OutcomeContrasts, head: Head) -> Subsection:
    """A dimension, or a single test."""
    return Subsection(
        heading=outcome_title(outcome.key, outcome.title, head),
        blocks=[contrast_table(outcome.contrasts, outcome.places, about=outcome.title), *check_blocks(outcome)],
    )


def _notes(result: ComparisonResult) -> Iterator[Note]:
    rows = [row for outcome in result.whole for row in outcome.contrasts]
    tested = [row for row in rows if row.test]
    corrected = _(
        "Holm over planned comparisons, those of secondary outcomes for themselves; of all others one test of all "
        "sources for each outcome, Holm over the outcomes (single tests: Benjamini and Hochberg), and pairs only "
        "within outcomes that pass"
    )
    yield rests_on(tests=list(dict.fromkeys(row.test for row in tested)), corrected=corrected)
    sentences = {
        _("An outcome is what sources are compared on: a test, a scale, a score, ranks or choices."): True,
        _(
            "A disc: shown to differ from the reference, also after correction. A ring: not shown to "
            "differ here, which does not mean equal."
        ): bool(tested),
        _(
            "Not tested: with so few groups and so many comparisons the test could show no difference of "
            "two sources, however large, or a source has fewer than four stories. Read the intervals. A "
            "plan that names a few comparisons is corrected for those alone."
        ): any(row.is_not_tested for row in rows),
        _("Groups pair the sources: each holds stories of both, read by the same raters."): bool(tested)
        and all(row.n_blocks > 1 and not row.n_left_out for row in tested),
        _(
            "Sources are compared within the groups that hold several of them: what a source got in groups of its own "
            "says nothing of the others."
        ): any(row.n_left_out for row in tested),
        fixed_premises(tested): bool(fixed_premises(tested)),
        _(
            "Shown to differ for these raters: for other stories, with these very raters. Other raters "
            "might judge the same sources differently."
        ): any(row.is_of_these_raters for row in rows),
        _(
            "No reference was planned. The one drawn here is the first source in the order of this report: people "
            "before models, then by name."
        ): not result.has_reference,
    }
    yield from (TextBlock(words=sentence) for sentence, is_said in sentences.items() if is_said)
    yield from notes.weakest(row.ends for row in rows)


def _file_table(result: ComparisonResult) -> ReportTable[tuple[OutcomeContrasts, ContrastRow]]:
    return ReportTable(
        name="comparisons",
        label=_("Differences"),
        rows=[(outcome, row) for outcome in result.outcomes for row in outcome.contrasts],
        is_shown=False,
        columns=[
            columns.in_file("outcome", lambda pair: pair[0].key),
            columns.fields("kind", "title", "correction", of=lambda pair: pair[0]),
            *(column.at(_row_of) for column in contrast_columns(places=2)),
            columns.fields("low_90", "high_90", "n_left_out", "effect", "effect_name", of=lambda pair: pair[1]),
            columns.fields("n_family", "n_outcomes", "p_least", "p_within_adjusted", of=lambda pair: pair[1]),
            columns.in_file("paired", lambda pair: pair[1].is_paired),
            columns.in_file("planned", lambda pair: pair[1].is_planned),
            columns.in_file("after_exclusions", lambda pair: pair[0].is_after_exclusions),
            columns.in_file("margin", lambda pair: pair[0].margin if pair[1].is_planned else None),
            columns.in_file("equivalent", lambda pair: pair[1].is_equivalent),
            *check_columns(),
            columns.note(lambda pair: _note(pair[1])),
        ],
    )


def _row_of(pair: tuple[OutcomeContrasts, ContrastRow]) -> ContrastRow:
    return pair[1]


def _plot(outcome: OutcomeContrasts, reference: str) -> plots.DifferencePlot | None:
    """The other sources against that one."""
    return _plot_of(outcome, [(row.first, row) for row in outcome.against(reference)])


def _plot_of_pairs(outcome: OutcomeContrasts) -> plots.DifferencePlot | None:
    """What is planned beside the contrasts with the reference."""
    return _plot_of(outcome, [(f"{row.first} − {row.second}", row) for row in outcome.planned_pairs])


def _plot_of(outcome: OutcomeContrasts, labelled: list[tuple[str, ContrastRow]]) -> plots.DifferencePlot | None:
    """Differences by their labels, on an axis that holds all of their intervals and 0; None without any."""
    rows = [(label, row) for label, row in labelled if row.value is not None]
    if not rows:
        return None
    marks = [
        plots.DifferenceMark(
            label,
            row.value or 0.0,
            row.ends.low if row.ends else None,
            row.ends.high if row.ends else None,
            is_clear=row.is_clear,
            is_weak=row.ends is None or row.ends.is_weak,
            text=with_interval(row.value, row.ends, outcome.places),
        )
        for label, row in rows
    ]
    ends = plots.ends_of(marks)
    return plots.DifferencePlot(marks, plots.difference_axis(ends), outcome.margin)


def _note(row: ContrastRow) -> str:
    if row.why:
        return to_english(row.why)
    note = (row.ends.note if row.ends else "") or ""
    return "; ".join(part for part in ("not tested" if row.is_not_tested else "", note) if part)
