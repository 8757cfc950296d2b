"""The raters of a panel as plots and tables: their strictness, and agreement without them."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reports.document import columns, plots
from reports.document.columns import LEAD, decimals, ends
from reports.document.model import (
    Block,
    DrawnPlot,
    Files,
    Head,
    ReportTable,
    Subsection,
    TableCell,
    TableColumn,
    TextBlock,
)
from reports.document.phrases import joined, phrase
from reports.figures.coverage import coverage_words
from reports.numbers import NONE, coefficient, coefficients, decimal, with_interval
from reports.numbers import interval as between

if TYPE_CHECKING:
    from reports.figures.raters.panel import PanelBlock, PanelResult, RaterRow

MOST_DRAWN = 30  # raters


def rater_blocks(block: PanelBlock, n: int) -> Iterator[Block]:
    """What is said of the raters on the n-th scale."""
    if len(block.raters) > 1:
        yield TextBlock(words=joined(*_findings(block)))
    if plot := _plot(block):
        title = _("Each rater less the others on the same stories")
        yield DrawnPlot(plot=plot, title=title, described=_("The same numbers stand in the table below."))
    is_open = len(block.raters) <= MOST_DRAWN
    yield Subsection(summary=_("Rater by rater"), is_open=is_open, blocks=[_rater_table(block, n)])
    counted = ngettext("%(n)s rater", "%(n)s raters", len(block.raters)) % {"n": len(block.raters)}
    yield Files(words=counted, table="severity", is_count=True)


def _findings(block: PanelBlock) -> Iterator[str]:
    """Who is the strictest, and whose absence moves agreement most."""
    row, heaviest, span = block.strictest, block.heaviest, block.span
    if block.has_strictest:
        sentence = (
            _("%(rater)s is the strictest: %(difference)s points of percent Yes beside the others on the same stories.")
            if block.is_percent
            else _("%(rater)s is the strictest: %(difference)s points beside the others on the same stories.")
        )
        yield phrase(sentence, rater=row.rater, difference=decimal(row.value, block.places))
        if row.interval.low is None:
            yield _("It is based on too few stories for an interval.")
        else:
            yield phrase(_("95 %% interval %(ends)s."), ends=between(row.interval, block.places))
    if heaviest and span:
        sentence = _(
            "Agreement is %(whole)s %(coverage)s; without one rater it lies between %(low)s and %(high)s. %(rater)s "
            "moves it most: without them it is %(without)s."
        )
        values = {"whole": block.agreement, "low": span[0], "high": span[1], "without": heaviest.without}
        numbers = {name: coefficient(value) for name, value in values.items()}
        yield phrase(sentence, rater=heaviest.rater, coverage=coverage_words(block.coverage), **numbers)


def _rater_table(block: PanelBlock, n: int) -> ReportTable[RaterRow]:
    difference = (
        _("Difference: percent Yes of a rater less that of the others on the same stories and items.")
        if block.is_percent
        else _("Difference: mean of a rater less that of the others on the same stories and items.")
    )
    of_items = ngettext("Agreement: %(name)s.", "Agreement: %(name)s, mean of %(n)s items.", block.n_items)
    agreed = of_items % {"name": block.name, "n": block.n_items} if block.name else ""
    return ReportTable(
        name="severity",
        label=_("Raters, table %(n)s") % {"n": n},
        caption=joined(difference, agreed),
        rows=block.raters,
        columns=[
            columns.fields("kind", "title", of=lambda row: block),
            columns.words("rater", _("Rater"), is_head=True),
            columns.number(
                "less_others", _("Difference"), lambda row: row.value, write=decimals(block.places), css=LEAD
            ),
            columns.interval(lambda row: row.interval, write=ends(block.places)),
            columns.number("n_stories", _("Stories")),
            columns.in_file("coefficient", lambda row: block.name),
            columns.fields("n_items", "agreement", of=lambda row: block),
            columns.number(
                "agreement_without", phrase(_("Agreement<br>without")), lambda row: row.without, write=coefficient
            ),
            columns.number("change", _("Change"), write=coefficient),
            columns.note(lambda row: row.interval.note or ""),
        ],
    )


def item_by_item(result: PanelResult, head: Head) -> Subsection:
    rater = attrgetter("rater")
    summary = _("Agreement without one rater, item by item")
    table = ReportTable(
        name="leave-one-rater-out",
        label=summary,
        rows=result.items,
        columns=[
            columns.item(head),
            columns.words("coefficient", _("Coefficient"), lambda row: row.name, language="en"),
            columns.number("value", _("Value"), write=coefficient, css=LEAD),
            TableColumn(
                heading=phrase(_("Without<br>one rater")),
                cell=lambda row: TableCell(words=coefficients(row)),
                files={"lowest_without_one": lambda row: row.low, "highest_without_one": lambda row: row.high},
            ),
            columns.words("moved_most_by", phrase(_("Moved most<br>by")), rater, shown=lambda row: rater(row) or NONE),
            columns.number(
                "without_that_rater", phrase(_("Without<br>them")), lambda row: row.without, write=coefficient
            ),
            columns.number("n_raters", _("Raters")),
            columns.in_file("n_without_value"),
        ],
    )
    files = Files(words=_("The coefficient that the agreement section shows"), table="leave-one-rater-out")
    return Subsection(summary=summary, blocks=[table, files])


def _plot(block: PanelBlock) -> plots.DifferencePlot | None:
    """The raters from the mildest to the strictest; None of more than can be told apart in a drawing."""
    if not 1 < len(block.raters) <= MOST_DRAWN:
        return None
    marks = [
        plots.DifferenceMark(
            row.rater,
            row.value,
            row.interval.low,
            row.interval.high,
            is_clear=row.is_clear,
            is_weak=row.interval.is_weak,
            text=with_interval(row.value, row.interval, block.places),
        )
        for row in sorted(block.raters, key=lambda row: -row.value)
    ]
    ends = plots.ends_of(marks)
    return plots.DifferencePlot(marks, plots.difference_axis(ends)) if any(ends) else None
