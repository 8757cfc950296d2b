"""What raters said once, of themselves or of the study: counts of options, means of numbers, how many wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.document import columns
from reports.document.files import file_only
from reports.document.model import DocumentSection, Files, Head, ReportTable, TableCell, TableColumn, TextBlock
from reports.document.phrases import BREAK, joined
from reports.figures.base import Figure, ItemRow, Listing, item_fields
from reports.lazy import np, spreads
from reports.numbers import decimal, whole
from studies.items.binary import DEFAULT as YES_OR_NO
from studies.models import Step

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem


@dataclass(frozen=True, kw_only=True)
class OptionCount:
    value: str
    label: str
    n: int


@dataclass(frozen=True, kw_only=True)
class Survey(ItemRow):
    """mean, sd : of numbers, None where the answers are none"""

    question: str
    n: int
    options: tuple[OptionCount, ...]
    mean: float | None
    sd: float | None


class Surveys(Figure[Listing[Survey]]):
    key = "surveys"
    title = gettext_lazy("Rater questionnaire")
    position = 110
    section = "raters"
    tables = ("surveys",)

    def compute(self, dataset: Dataset) -> Listing[Survey]:
        once = [item for item in dataset.items if item.step.scope == Step.Scope.ONCE]
        return Listing(tuple(_survey(dataset, item) for item in once if "correct" not in item.item.settings))

    def describe(self, result: Listing[Survey], head: Head) -> Iterator[DocumentSection]:
        def answers(row: Survey) -> TableCell:
            deviation = "" if row.sd is None else f" ± {decimal(row.sd)}"
            mean = "" if row.mean is None else _("mean %(mean)s") % {"mean": decimal(row.mean)} + deviation
            counts = [(option.label, whole(option.n)) for option in row.options if option.n]
            chosen = (format_html("{} <strong>{}</strong>", *count) for count in counts)
            return TableCell(
                words=joined(mean, *chosen, by=BREAK), language=head.language if row.options else "", css="statement"
            )

        table = ReportTable(
            label=_("Answers given once"),
            rows=result.rows,
            columns=[
                columns.words("title", _("Question"), language=head.language, is_head=True),
                TableColumn(heading=_("Answers"), cell=answers, files={}, is_number=False),
                columns.number("n", "n"),
            ],
        )
        note = _(
            "Asked of raters, not of stories, so there is nothing by source. What they wrote in their own words stands "
            "among the answers themselves."
        )
        yield DocumentSection(
            heading=_("Rater questionnaire"),
            body=[table, _file(result), Files(words=_("All that was asked once"), table="surveys")],
            margin=[TextBlock(words=note)],
        )

    def has_answers(self, result: Listing[Survey]) -> bool:
        return any(row.n for row in result.rows)


def _survey(dataset: Dataset, item: StepItem) -> Survey:
    answers = dataset.answers_to(item)
    chosen = [one for value in answers["value"] for one in (value if isinstance(value, list) else [value])]
    options = item.item.options or (YES_OR_NO if item.type.is_verdict else [])
    is_number = item.level in ("ordinal", "interval")
    summary = spreads.summarise(answers["analysed"].to_numpy(dtype=np.float64) if is_number else ())
    return Survey(
        **item_fields(item),
        question=item.item.question,
        n=len(answers),
        options=tuple(OptionCount(value=o["value"], label=o["label"], n=chosen.count(o["value"])) for o in options),
        mean=summary.mean,
        sd=summary.sd,
    )


def _file(result: Listing[Survey]) -> ReportTable[Any]:
    """A row for every option, and one for a question without any."""
    return file_only(
        "surveys",
        [(row, option) for row in result.rows for option in row.options or (None,)],
        columns.item_in_file(itemgetter(0)),
        columns.fields("question", "n", "mean", "sd", of=itemgetter(0)),
        columns.in_file("option", lambda pair: pair[1] and pair[1].value),
        columns.in_file("n_option", lambda pair: pair[1] and pair[1].n),
    )
