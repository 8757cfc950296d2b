"""How far every two sources are apart on each outcome that is no part of another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from django.utils.translation import gettext as _

from reports.document.latex import LatexCell, LatexTable, Row, RowPanel
from reports.document.values import Interval, Reason
from reports.figures.outcome_titles import outcome_name
from reports.figures.sources.comparisons import ComparisonResult
from reports.figures.sources.contrast_rows import MODEL_TEST, ContrastRow, OutcomeContrasts
from reports.figures.sources.contrast_words import unit_words
from reports.methods.sampled_units import Sampled
from reports.methods.tables.corrections import correction_sentences
from reports.methods.tables.words import NONE, counted, in_brackets, missing_notes, weak_note
from reports.numbers import decimal, p_value, whole
from reports.results import Results

CLEAR, OF_THESE_RATERS, EQUIVALENT = "*", "‡", "="


def differences_tables(results: Results, sampled: Sampled) -> Iterator[LatexTable]:
    """One table; none without two sources, or while nothing may be told by source."""
    result_by_key = {figure.key: result for figure, result in results.visible}
    compared: ComparisonResult | None = result_by_key.get("comparisons")
    if compared is None:
        return
    outcomes = compared.whole
    rows = [row for outcome in outcomes for row in outcome.contrasts]
    words = [
        _("Differences of sources: %(study)s.") % {"study": results.study.title},
        counted(results),
        _("95 %% intervals for other stories and other raters, and for other stories and these raters%(tests)s.")
        % {"tests": _tests(rows)},
        *correction_sentences(outcomes),
    ]
    yield LatexTable(
        name="differences",
        title=_("Differences of sources"),
        caption=" ".join(filter(None, words)),
        headings=[
            *(_("First less second"), _("Difference"), _("Generalising to other raters"), _("These raters")),
            *("p", _("Stories"), _("Raters")),
        ],
        panels=[
            RowPanel(heading=_heading(outcome), rows=[_row(outcome, row) for row in outcome.contrasts])
            for outcome in outcomes
        ],
        notes=[
            *_notes(rows),
            *weak_note(_intervals(rows), _("stories of a source")),
            *missing_notes(list(_whys(outcomes))),
        ],
    )


def _heading(outcome: OutcomeContrasts) -> str:
    """The outcome, in what its differences are, and whether it was planned."""
    planned = _("confirmatory") if outcome.is_primary else _("secondary") if outcome.is_secondary else _("exploratory")
    excluded = [_("after the planned exclusions")] if outcome.is_after_exclusions else []
    return f"{outcome_name(outcome.key, outcome.title)} ({'; '.join([unit_words(outcome), planned, *excluded])})"


def _tests(rows: Sequence[ContrastRow]) -> str:
    tests = list(dict.fromkeys(row.test for row in rows if row.test))
    names = [_("mixed model, REML, Satterthwaite’s t") if test == MODEL_TEST else test for test in tests]
    return f" ({'; '.join(names)})" if names else ""


def _row(outcome: OutcomeContrasts, row: ContrastRow) -> Row:
    write = partial(decimal, places=outcome.places)
    pair = f"{row.first} − {row.second}"
    if row.value is None:
        return [pair, *[NONE] * 6]
    return [
        pair,
        LatexCell(write(row.value), _sign(row)),
        in_brackets(row.wide, write),
        in_brackets(row.interval, write),
        _("n. t.") if row.is_not_tested else NONE if row.p_adjusted is None else p_value(row.p_adjusted),
        f"{whole(row.n_stories)}, {whole(row.n_stories_second)}",
        whole(row.n_raters),
    ]


def _sign(row: ContrastRow) -> str:
    if row.is_clear:
        return CLEAR
    if row.is_equivalent:
        return EQUIVALENT
    return OF_THESE_RATERS if row.is_of_these_raters else ""


def _notes(rows: Sequence[ContrastRow]) -> Iterator[str]:
    sentences = {
        _("*: shown to differ for other stories and other raters."): any(row.is_clear for row in rows),
        _("‡: shown to differ for other stories and these raters alone."): any(row.is_of_these_raters for row in rows),
        _("=: equally good within the planned margin."): any(row.is_equivalent for row in rows),
        _("n. t.: not tested, with too few stories for so many comparisons or fewer than four of a source."): (
            any(row.is_not_tested for row in rows)
        ),
    }
    yield from (sentence for sentence, holds in sentences.items() if holds)
    yield _(
        "p is adjusted. Stories: of the first, of the second. Pairs without a sign are not shown to "
        "differ, which does not mean equal."
    )


def _intervals(rows: Sequence[ContrastRow]) -> list[Interval | None]:
    return [ends for row in rows for ends in (row.wide, row.interval)]


def _whys(outcomes: Sequence[OutcomeContrasts]) -> Iterator[tuple[str, Reason | None]]:
    for outcome in outcomes:
        for row in outcome.contrasts:
            yield f"{row.first} − {row.second}", row.why or (row.wide.why if row.wide else None)
