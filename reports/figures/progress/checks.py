"""Right answers to items asked once that have one, and how many raters failed the check that they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.document import columns
from reports.document.columns import LEAD, decimals, ends
from reports.document.model import DocumentSection, Files, Head, Phrase, ReportTable, TextBlock
from reports.document.phrases import joined, phrase
from reports.document.values import Interval, Reason
from reports.figures.base import Figure, ItemRow, Listing, interval, item_fields, without_value
from reports.lazy import rates
from reports.numbers import whole
from reports.reasons import to_english
from studies.models import Step
from studies.vocabulary import OnFailure

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from studies.layouts.items import CheckOptions


@dataclass(frozen=True, kw_only=True)
class CheckResult(ItemRow):
    """Of n raters how many were right in the end, in percent.

    n_failed : who failed the check in all of its attempts
    attempts, on_failure : how often it could be tried, and whether who failed went on ("continue") or not ("end"); None
        of a question that is no part of a check
    """

    question: str
    correct: str
    value: float | None
    why: Reason | None = None
    n_right: int
    n: int
    interval: Interval
    n_failed: int
    attempts: int | None
    on_failure: str | None


class Checks(Figure[Listing[CheckResult]]):
    key = "checks"
    title = gettext_lazy("Correct answers")
    position = 100
    section = "raters"
    edition = 2
    tables = ("checks",)

    def compute(self, dataset: Dataset) -> Listing[CheckResult]:
        once = [item for item in dataset.items if item.step.scope == Step.Scope.ONCE]
        checked = [item for item in once if "correct" in item.item.settings]
        n_failed_by_step = dataset.records.n_failed_by_step
        options_by_step = dataset.records.check_options_by_step if checked else {}
        return Listing(
            tuple(
                _check(dataset, item, n_failed_by_step[item.step.key], options_by_step.get(item.step.key))
                for item in checked
            )
        )

    def describe(self, result: Listing[CheckResult], head: Head) -> Iterator[DocumentSection]:
        def failed(row: CheckResult) -> Phrase:
            if not row.n_failed:
                return whole(row.n_failed)
            way = _("went on") if row.on_failure == OnFailure.CONTINUE else _("went no further")
            return format_html('{} <span class="hint">{}</span>', whole(row.n_failed), way)

        table = ReportTable(
            name="checks",
            label=_("Correct answers"),
            caption=joined(
                _("Right answers, with their 95 %% interval.") % {}, _("Counted as they were given in the end.")
            ),
            rows=result.rows,
            columns=[
                columns.item_in_file(),
                columns.words("question", _("Statement"), language=head.language, is_head=True, css="statement"),
                columns.words("correct", _("Right is"), language=head.language),
                columns.number(
                    *("right_percent", phrase(_("Right, %%"))),
                    of=lambda row: row.value,
                    write=decimals(0),
                    why=lambda row: row.why,
                    css=LEAD,
                ),
                columns.interval(lambda row: row.interval, write=ends(0)),
                columns.count_of("n_right", "n", n_all=lambda row: row.n),
                columns.in_file("n"),
                columns.number("n_failed", _("Failed the check"), shown=failed),
                columns.in_file("attempts"),
                columns.in_file("on_failure"),
                columns.note(_note),
            ],
        )
        note = _(
            "Asked of raters, not of stories, so there is nothing by source. What they wrote in their own words stands "
            "among the answers themselves."
        )
        yield DocumentSection(
            heading=_("Correct answers"),
            body=[table, Files(words=_("All right answers"), table="checks")],
            margin=[TextBlock(words=note)],
        )


def _check(dataset: Dataset, item: StepItem, n_failed: int, options: CheckOptions | None) -> CheckResult:
    values = dataset.answers_to(item)["value"]
    n, n_right = len(values), sum(bool(item.type.is_correct(item.item, value)) for value in values)
    return CheckResult(
        **item_fields(item),
        question=item.item.question,
        correct=item.type.label(item.item, item.item.settings["correct"]),
        value=100 * n_right / n if n else None,
        why=None if n else without_value("no_answers"),
        n_right=n_right,
        n=n,
        # One answer a rater, so that here answers do stand alone.
        interval=replace(interval(rates.wilson, n_right, n), note=""),
        n_failed=n_failed,
        attempts=options.attempts if options else None,
        on_failure=options.on_failure if options else None,
    )


def _note(check: CheckResult) -> str:
    reason = check.why or check.interval.why
    return to_english(reason) if reason else check.interval.note or ""
