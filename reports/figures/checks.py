"""Right answers to items asked once that have one, and how many raters failed the check that they belong to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy

from annotation.models import StepTaken
from reports.figures.base import (
    Figure,
    Interval,
    ItemRow,
    Listing,
    Reason,
    Row,
    interval,
    item_cells,
    item_fields,
    without_value,
)
from reports.lazy import rates
from reports.numbers import decimal, whole
from reports.reasons import to_english
from studies import protocol
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
    title = gettext_lazy("Right answers")
    position = 100
    edition = 2
    result = Listing[CheckResult]
    tables = ("checks",)

    def compute(self, dataset: Dataset) -> Listing[CheckResult]:
        failures = StepTaken.failures().filter(rater__study=dataset.study, rater__withdrawal=None)
        n_failed_by_step = Counter(failures.values_list("step__key", flat=True))
        once = [item for item in dataset.items if item.step.scope == Step.Scope.ONCE]
        checked = [item for item in once if "correct" in item.item.settings]
        checks = protocol.load_protocol(protocol.latest(dataset.study)).checks if checked else []
        options_by_step = {step.key: options for step, options in checks}
        return Listing(
            tuple(
                _check(dataset, item, n_failed_by_step[item.step.key], options_by_step.get(item.step.key))
                for item in checked
            )
        )

    def rows(self, result: Listing[CheckResult]) -> dict[str, Iterator[Row]]:
        return {"checks": (_row(check) for check in result.rows)}

    def lines(self, result: Listing[CheckResult]) -> Iterator[str]:
        yield "\nRight answers in percent, with n"
        for check in result.rows:
            yield f"  {check.question[:66]:<66} {decimal(check.value):>6} ({whole(check.n)})"
            if check.n_failed:
                way = "on" if check.on_failure == OnFailure.CONTINUE else "no further"
                yield f"    {whole(check.n_failed)} failed the check and went {way}"


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


def _row(check: CheckResult) -> Row:
    reason = check.why or check.interval.why
    return item_cells(check) | {
        "question": check.question,
        "correct": check.correct,
        "n_right": check.n_right,
        "n": check.n,
        "percent_right": check.value,
        "low": check.interval.low,
        "high": check.interval.high,
        "note": to_english(reason) if reason else check.interval.note or "",
        "n_failed": check.n_failed,
        "attempts": check.attempts,
        "on_failure": check.on_failure,
    }
