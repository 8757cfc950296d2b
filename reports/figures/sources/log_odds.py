"""Contrasts checked by the model of log odds, ordinal on scales and logistic on Yes and No; it finds nothing alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from django.utils.html import format_html
from django.utils.translation import gettext as _

from reports.document import columns
from reports.document.columns import LEAD, QUIET, decimals, ends
from reports.document.model import Block, ReportTable, TableColumn, TextBlock
from reports.document.phrases import joined, reason_words
from reports.document.values import Interval, Reason
from reports.figures.sources.contrast_rows import ContrastRow, LogOddsCheck, OutcomeContrasts
from reports.lazy import log_odds_checks
from reports.numbers import p_value
from reports.reasons import to_english
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.figures.sources.compared_parts import ContrastTable
    from stats.cumulative_link import LogOdds

CHECKED = ("rating", "verdict")  # kinds of outcomes: of scales, and of single questions answered Yes or No


def with_checks(outcomes: Sequence[OutcomeContrasts], compared: Sequence[ContrastTable]) -> Iterator[OutcomeContrasts]:
    """The outcomes with what the model of log odds says of contrasts that are planned or clear."""
    rows = [_rows_to_check(outcome) for outcome in outcomes]
    pairs = [
        [(table.names.index(row.first), table.names.index(row.second)) for row in of_outcome]
        for of_outcome, table in zip(rows, compared, strict=True)
    ]
    log_odds = log_odds_checks.check_contrasts(
        [(table.crossed, of_outcome) for table, of_outcome in zip(compared, pairs, strict=True)]
    )
    for outcome, of_outcome, differences in zip(outcomes, rows, log_odds, strict=True):
        checks = [_check(row, difference) for row, difference in zip(of_outcome, differences, strict=True)]
        yield replace(outcome, checks=tuple(checks))


def _rows_to_check(outcome: OutcomeContrasts) -> list[ContrastRow]:
    if outcome.kind not in CHECKED:
        return []
    return [row for row in outcome.contrasts if row.value is not None and (row.is_clear or row.is_planned)]


def _check(row: ContrastRow, difference: LogOdds | Incomputable) -> LogOddsCheck:
    check = LogOddsCheck(first=row.first, second=row.second, is_clear=row.is_clear, difference=row.value or 0.0)
    if isinstance(difference, Incomputable):
        return replace(check, why=Reason.of(difference))
    low, high = difference.ends
    interval = Interval(low=low, high=high, n_resampled=row.fewest_stories, method="wald")
    return replace(check, value=difference.value, interval=interval, p=difference.p)


def check_blocks(outcome: OutcomeContrasts) -> Iterator[Block]:
    """The table of what was checked, and what the check does not bear out; nothing where nothing was."""
    if any(check.value is not None for check in outcome.checks):
        yield _table(outcome)
        yield from (TextBlock(words=sentence) for sentence in _sentences(outcome))
        return
    for reason in dict.fromkeys(reason_words(check.why) for check in outcome.checks if check.why):
        yield TextBlock(words=joined(_("Not checked by log odds."), reason), css="off")


def _table(outcome: OutcomeContrasts) -> ReportTable[LogOddsCheck]:
    is_verdict = outcome.kind == "verdict"
    caption = (
        _("Check by a logistic model: differences in log odds of Yes.")
        if is_verdict
        else _("Check by an ordinal model: differences in log odds of a higher rating.")
    )
    limits = _(
        "Of contrasts that are planned or show a difference. p is not corrected, and leaves out what "
        "each rater makes of a source; nothing is found by it alone."
    )
    return ReportTable(
        label=caption,
        caption=joined(caption, limits),
        rows=outcome.checks,
        why=lambda check: check.why,
        css="ruled stacks",
        columns=[
            columns.shown(_("First less second"), lambda check: f"{check.first} − {check.second}", is_head=True),
            columns.number("log_odds", _("Log odds"), lambda check: check.value, write=decimals(2), css=LEAD),
            columns.interval(lambda check: check.interval, write=ends(2), css=QUIET),
            columns.number("p", format_html("<i>{}</i>", "p"), lambda check: check.p, write=p_value),
        ],
    )


def _sentences(outcome: OutcomeContrasts) -> Iterator[str]:
    """Where a contrast that is told apart is not shown by the check, or has the other sign there."""
    for check in outcome.checks:
        if check.is_other_way or check.is_doubted:
            yield f"{check.first} − {check.second}: {_doubt(outcome, check)}"


def doubt(outcome: OutcomeContrasts, row: ContrastRow) -> str:
    """What the check does not bear out of a contrast that is told apart; "" where it bears it out, or was not made."""
    check = outcome.check_of(row)
    return _doubt(outcome, check) if check and (check.is_other_way or check.is_doubted) else ""


def _doubt(outcome: OutcomeContrasts, check: LogOddsCheck) -> str:
    is_verdict = outcome.kind == "verdict"
    if check.is_other_way:
        if is_verdict:
            return _("The logistic model puts the other source ahead: read this difference with care.")
        return _("The ordinal model puts the other source ahead: read this difference with care.")
    if is_verdict:
        return _("The logistic model does not call this difference clear.")
    return _("The ordinal model does not call this difference clear.")


def check_columns() -> list[TableColumn[tuple[OutcomeContrasts, ContrastRow]]]:
    """What the file of differences has of the check."""

    def check_of(pair: tuple[OutcomeContrasts, ContrastRow]) -> LogOddsCheck | None:
        outcome, row = pair
        return outcome.check_of(row)

    def note(pair: tuple[OutcomeContrasts, ContrastRow]) -> str:
        check = check_of(pair)
        return to_english(check.why) if check and check.why else ""

    paths = {"log_odds": "value", "log_odds_low": "interval.low", "log_odds_high": "interval.high", "log_odds_p": "p"}
    return [columns.fields(of=check_of, **paths), columns.in_file("log_odds_note", note)]
