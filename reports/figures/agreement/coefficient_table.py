"""The table of agreement by item, and the notes beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from reports import reasons
from reports.document import columns, notes
from reports.document.columns import LEAD, decimals
from reports.document.model import Head, Phrase, ReportTable, RowGroup, TableCell, TableColumn, TextBlock
from reports.document.phrases import in_language, joined, phrase
from reports.numbers import coefficient, coefficients

if TYPE_CHECKING:
    from reports.document.values import Estimate
    from reports.figures.agreement.rows import AgreementResult, ItemAgreement, MeanAgreement

PREFERENCE_NAME = "Brennan and Prediger's kappa"
Value = Callable[["ItemAgreement"], "Estimate | None"]


def agreement_table(result: AgreementResult, head: Head) -> ReportTable[ItemAgreement]:
    rests_on = _only([_rests_on(row.coefficient) for row in result.items])
    shown = _shown_columns(result, head, has_units=not rests_on)
    return ReportTable(
        name="agreement",
        label=_("Agreement by item"),
        caption=_caption(result, rests_on),
        rows=result.items,
        groups=_by_dimension(result.items, head),
        why=lambda row: row.coefficient.why,
        columns=[*shown, *_file_columns(result.items)],
        foot=list(_foot(result.mean, shown)),
    )


def agreement_notes(result: AgreementResult) -> list[TextBlock]:
    intervals = phrase(_("Intervals are over <strong>groups</strong>, since a group shares its raters."))
    unit = _("A unit is what each rater rates once: a story, or a group of stories.")
    noted = [TextBlock(words=intervals), TextBlock(words=unit), *notes.weakest(row.interval for row in result.items)]
    valued = [(row.coefficient.value, row.title) for row in result.items if row.coefficient.value is not None]
    if len(valued) > 1:
        ordered = sorted(valued, key=lambda pair: pair[0])
        extremes = _("Agreement is highest for <strong>%(most)s</strong> and lowest for <strong>%(least)s</strong>.")
        noted.append(TextBlock(words=phrase(extremes, most=ordered[-1][1], least=ordered[0][1])))
    return [*noted, notes.models_stories()] if any(row.among_models for row in result.items) else noted


def _shown_columns(result: AgreementResult, head: Head, *, has_units: bool) -> list[TableColumn[ItemAgreement]]:
    """The columns that the page has, in its order; without a heading those that no item fills."""

    def column(name: str, heading: Phrase, get: Value, write: Callable[[Any], str]) -> TableColumn[ItemAgreement]:
        is_filled = any((value := get(row)) is not None and value.value is not None for row in result.items)

        def of(row: ItemAgreement) -> float | None:
            value = get(row)
            return value.value if value else None

        return columns.number(name, heading if is_filled else None, of, write=write)

    percent = decimals(0)
    alpha = column("alpha", _("Alpha"), lambda row: row.alpha, coefficient)
    models = phrase(_("Models’<br>stories"))
    shown = [
        columns.item(head),
        columns.number("value", _("Value"), lambda row: row.coefficient.value, write=coefficient, css=LEAD),
        columns.interval(lambda row: row.interval, write=coefficients),
        columns.strip(result.items, lambda row: (row.coefficient, row.interval, row.floor)),
        columns.floor(phrase(_("Chance floor<br>mean, 97.5th")), lambda row: row.floor, write=coefficient),
        replace(
            column("agreement_percent", "", lambda row: row.percent_agreement, percent), heading=_percent(_("Agree"))
        ),
        column("yes_percent", _percent(_("Yes")), lambda row: row.yes_percent, percent),
        replace(alpha, files={"alpha": lambda row: (row.alpha or row.coefficient).value}),
        replace(
            column("among_models", models, lambda row: row.among_models, coefficient),
            heading=models if any(row.among_models for row in result.items) else None,
        ),
    ]
    return [*shown, _units()] if has_units else shown


def _percent(words: str) -> SafeString:
    return joined(words, "%", by="<br>")


def _units() -> TableColumn[ItemAgreement]:
    def counted(row: ItemAgreement) -> str:
        return f"{row.coefficient.n_units}, {row.coefficient.n_raters}"

    heading = phrase(_("Units,<br>raters"))
    return TableColumn(heading=heading, cell=lambda row: TableCell(words=counted(row) if row.item else ""), files={})


def _file_columns(rows: Sequence[ItemAgreement]) -> list[TableColumn[ItemAgreement]]:
    def within(n: int) -> Callable[[ItemAgreement], float | None]:
        return lambda row: row.within_source[n].value if row.within_source else None

    sources = next(([part.source for part in row.within_source] for row in rows if row.within_source), [])
    return [
        columns.in_file("coefficient", lambda row: row.coefficient.name or ""),
        columns.in_file("n_units", lambda row: row.coefficient.n_units),
        columns.in_file("n_raters", lambda row: row.coefficient.n_raters),
        columns.in_file("n_all", lambda row: row.coverage.n_all),
        columns.in_file("n_raters_least", lambda row: row.coverage.least),
        columns.in_file("n_raters_most", lambda row: row.coverage.most),
        columns.in_file("p", lambda row: row.p_above_chance),
        columns.in_file("p_adjusted", lambda row: row.p_holm),
        *(columns.in_file(f"within {source}", within(n)) for n, source in enumerate(sources)),
        columns.note(_note),
    ]


def _note(row: ItemAgreement) -> str:
    value = row.coefficient
    return reasons.to_english(value.why) if value.why else value.note or ""


def _foot(mean: MeanAgreement | None, shown: Sequence[TableColumn[ItemAgreement]]) -> Iterator[list[TableCell]]:
    """The mean of the items, where they have one."""
    if mean is None or mean.coefficient.value is None:
        return
    headed = [column for column in shown if column.heading is not None]
    of_mean = mean.as_item(_("Mean of %(n)s") % {"n": mean.coefficient.n})
    # Kappas have a mean, the alphas beside them have none.
    is_blank = (column.is_drawn or "alpha" in column.files for column in headed[1:])
    cells = (TableCell() if blank else column.cell(of_mean) for column, blank in zip(headed[1:], is_blank, strict=True))
    yield [TableCell(words=of_mean.title), *cells]


def _by_dimension(rows: Sequence[ItemAgreement], head: Head) -> list[RowGroup[ItemAgreement]]:
    """The items under their dimensions, where any has one."""
    if not any(row.dimension for row in rows):
        return []
    return [
        RowGroup(
            heading=name or (_("Scores") if is_score else _("Other")),
            language=head.language if name else "",
            rows=list(part),
        )
        for (name, is_score), part in groupby(rows, key=lambda row: (row.dimension, row.type == "score"))
    ]


def _caption(result: AgreementResult, rests_on: tuple[str, ...]) -> Phrase:
    name = _only([row.coefficient.name for row in result.items])
    if name:
        coefficients_named = _(name) if name in reasons.NAMES else name
    elif any(row.coefficient.name == PREFERENCE_NAME for row in result.items):
        coefficients_named = _(
            "Fleiss’ kappa for nominal answers, Krippendorff’s alpha on scales, Brennan and Prediger’s "
            "kappa where one of the stories is chosen"
        )
    else:
        coefficients_named = _("Fleiss’ kappa for nominal answers, Krippendorff’s alpha on scales")
    counts, note = rests_on or ("", "")
    band = _("Grey band: what the same answers shuffled within each rater would reach (97.5th percentile).")
    named = joined(coefficients_named, counts, in_language(note, "en") if note else "", by=", ")
    return joined(joined(named, ".", by=""), phrase(band))


def _rests_on(value: Estimate) -> tuple[str, ...]:
    """How much a coefficient rests on, in words, and the note that came with it; nothing if it has no value."""
    if value.value is None:
        return ()
    counts = _("%(units)d units, %(raters)d raters") % {"units": value.n_units, "raters": value.n_raters}
    return counts, value.note or ""


def _only(values: list[Any]) -> Any:
    """The one value that all share, or nothing."""
    return values[0] if len(set(values)) == 1 and values[0] else ""
