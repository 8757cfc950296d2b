"""The table of contrasts: of two sources, or of two levels of a factor, one a row."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reports.document import columns
from reports.document.columns import LEAD, QUIET, decimals, ends
from reports.document.model import Facts, Phrase, ReportTable, TableColumn
from reports.document.phrases import in_language
from reports.figures.sources.contrast_rows import ContrastRow
from reports.numbers import p_value


def contrast_table(rows: Sequence[ContrastRow], places: int, *, about: str) -> ReportTable[ContrastRow]:
    """The table as the page shows it. about : the outcome, for its label"""
    verdict = columns.shown(_("So they"), _verdict)
    return ReportTable(
        label=f"{about}: {_('Differences')}" if about else _("Differences"),
        rows=rows,
        why=lambda row: row.why,
        css="ruled stacks",
        columns=[
            columns.shown(_("First less second"), lambda row: f"{row.first} − {row.second}", is_head=True),
            *contrast_columns(places),
            TableColumn(heading=verdict.heading, cell=verdict.cell, files={}, is_number=False),
        ],
    )


def contrast_columns(places: int) -> list[TableColumn[ContrastRow]]:
    """What a contrast amounts to, on the page and in files."""

    def p(row: ContrastRow) -> str:
        return _("not tested") if row.is_not_tested else p_value(row.p_adjusted)

    def n_stories(row: ContrastRow) -> str:
        return f"{row.n_stories}, {row.n_stories_second}"

    return [
        columns.number("difference", _("Difference"), lambda row: row.value, write=decimals(places), css=LEAD),
        columns.interval(
            lambda row: row.wide,
            write=ends(places),
            low="low_other_raters",
            high="high_other_raters",
        ),
        columns.interval(lambda row: row.interval, heading=_("for these raters"), write=ends(places), css=QUIET),
        columns.number(
            *("p_adjusted", format_html("<i>p</i>, {}", _("adjusted"))),
            of=lambda row: None if row.is_not_tested else row.p_adjusted,
            shown=p,
        ),
        columns.number("n_stories", _("Stories"), shown=n_stories),
        columns.fields("first", "second", "first_value", "second_value", "n_stories_second", "n_raters", "n_blocks"),
        columns.fields("test", "p", "p_same_raters", "p_same_raters_adjusted", "n", "n_second"),
    ]


def rests_on(*, tests: Sequence[str], corrected: str) -> Facts:
    """What contrasts rest on. tests : their names, in English; corrected : over what"""
    model = _(
        "all answers: a mixed model with sources and shared writing prompts fixed, and raters, what "
        "they make of a source, and stories drawn at random; places and choices by cluster means"
    )
    raters = _("drawn at random, as stories are; the interval “for these raters” holds them fixed")
    test: list[tuple[Phrase, Phrase]] = [(_("Test"), in_language(", ".join(tests), "en"))] if tests else []
    return Facts(pairs=[(_("Based on"), model), (_("Raters"), raters), *test, (_("Corrected"), corrected)])


def _verdict(row: ContrastRow) -> str:
    if row.is_clear:
        words = _("are shown to differ")
    elif row.is_equivalent:
        words = _("are equally good within the margin")
    elif row.is_of_these_raters:
        words = ngettext(
            "are shown to differ for this rater", "are shown to differ for these %(n)d raters", row.n_raters
        ) % {"n": row.n_raters}
    elif row.is_not_tested:
        words = _("were not tested")
    else:
        words = _("are not shown to differ")
    return f"{words}, {_('as planned')}" if row.is_planned else words
