"""How far raters agree on each item, with intervals and chance floors."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _

from reports import reasons
from reports.document.latex import LatexCell, LatexTable, Row, RowPanel
from reports.document.values import Floor
from reports.figures.agreement.rows import AgreementResult, ItemAgreement
from reports.figures.coverage import Coverage
from reports.methods.sampled_units import Sampled
from reports.methods.tables.words import NONE, counted, in_brackets, interval_words, missing_notes, weak_note
from reports.numbers import coefficient, decimal, whole
from reports.results import Results

BEYOND_CHANCE = "*"


def agreement_tables(results: Results, sampled: Sampled) -> Iterator[LatexTable]:
    """One table; none where nobody was asked about stories."""
    result_by_key = {figure.key: result for figure, result in results.visible}
    result: AgreementResult | None = result_by_key.get("agreement")
    if result is None:
        return
    rows = [*result.items, *([result.mean.as_item("")] if result.mean else [])]
    intervals = [row.interval for row in rows]
    panels = list(_panels(result))
    words = [
        _("Agreement of raters by item: %(study)s.") % {"study": results.study.title},
        counted(results),
        interval_words(intervals, sampled),
        _("Floor: the same of answers shuffled within raters, mean and 97.5th percentile."),
    ]
    yield LatexTable(
        name="agreement",
        title=_("Agreement"),
        caption=" ".join(filter(None, words)),
        headings=[
            *(_("Item"), _("Value"), _("Interval"), _("Floor"), _("Agree, %"), _("Yes, %")),
            *(_("Stories"), _("Raters of each")),
        ],
        panels=panels,
        notes=[
            *_notes(result),
            *weak_note(intervals, sampled.words),
            *missing_notes([(row.title, row.coefficient.why or row.interval.why) for row in result.items]),
        ],
    )


def _panels(result: AgreementResult) -> Iterator[RowPanel]:
    """The items of each coefficient under its name, with the mean of those that have one; last those without."""
    items_by_name: dict[str, list[ItemAgreement]] = {}
    for item in result.items:
        items_by_name.setdefault(item.coefficient.name or "", []).append(item)
    mean = result.mean
    kappas = {item.coefficient.name for item in result.items if item.yes_percent and item.coefficient.name}
    for name in sorted(items_by_name, key=lambda name: not name):
        rows = [_row(item, item.title, item.coverage) for item in items_by_name[name]]
        if mean is not None and mean.coefficient.value is not None and name in kappas:
            rows.append(_row(mean.as_item(""), _("Mean of %(n)s") % {"n": mean.coefficient.n}, None))
        yield RowPanel(heading=_(name) if name in reasons.NAMES else name or _("Without a value"), rows=rows)


def _row(item: ItemAgreement, title: str, coverage: Coverage | None) -> Row:
    value = item.coefficient.value
    agree, yes = item.percent_agreement.value, item.yes_percent.value if item.yes_percent else None
    return [
        title,
        LatexCell(NONE if value is None else coefficient(value), BEYOND_CHANCE if item.is_beyond_chance else ""),
        in_brackets(item.interval, coefficient),
        _floor(item.floor),
        NONE if agree is None else decimal(agree, 0),
        "" if item.yes_percent is None else NONE if yes is None else decimal(yes, 0),
        _("%(n)s of %(all)s") % {"n": whole(coverage.n_units), "all": whole(coverage.n_all)} if coverage else "",
        _raters(coverage) if coverage else "",
    ]


def _floor(floor: Floor) -> str:
    if floor.mean is None or floor.upper is None:
        return NONE
    return _("%(mean)s, %(upper)s") % {"mean": coefficient(floor.mean), "upper": coefficient(floor.upper)}


def _raters(coverage: Coverage) -> str:
    least, most = whole(coverage.least), whole(coverage.most)
    return least if least == most else _("%(least)s to %(most)s") % {"least": least, "most": most}


def _notes(result: AgreementResult) -> Iterator[str]:
    yield _("Value: the coefficient named above. Agree: pairs of raters of a story who gave the same answer.")
    if any(item.is_beyond_chance for item in result.items):
        yield _("*: of a scale, above 0 and above the floor after Holm’s correction over all scales.")
    if any(not item.coverage.are_stories for item in result.items):
        yield _("Of a ranking or a choice within groups the column of stories counts groups.")
    if result.mean and result.mean.coefficient.n_left_out:
        yield _("The mean leaves out %(n)s without a value.") % {"n": result.mean.coefficient.n_left_out}
