"""What metrics measured of the stories: each of their items over all stories, and by source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.models import Rater, Response
from reports.document import columns
from reports.document.columns import LEAD
from reports.document.model import (
    DocumentSection,
    Files,
    Head,
    Phrase,
    ReportTable,
    RowGroup,
    TableCell,
    TableColumn,
    TextBlock,
)
from reports.document.phrases import joined, phrase
from reports.figures.base import Figure, ItemRow, Listing, item_fields
from reports.lazy import np, spreads
from reports.numbers import NONE, measured

if TYPE_CHECKING:
    import pandas as pd

    from reports.dataset import Dataset, StepItem


@dataclass(frozen=True, kw_only=True)
class Values:
    """Of n stories the mean of their values, the standard deviation, and the ends. No source: over all."""

    source: str = ""
    n: int
    mean: float | None = None
    sd: float | None = None
    lowest: float | None = None
    highest: float | None = None


@dataclass(frozen=True, kw_only=True)
class Measure(ItemRow):
    """One item of a metric. is_count : whether its values are whole numbers; n_without_value : stories without any"""

    metric: str
    is_count: bool
    n_without_value: int
    overall: Values
    by_source: tuple[Values, ...]

    @property
    def rows(self) -> tuple[Values, ...]:
        return (self.overall, *self.by_source)

    @property
    def n_decimals(self) -> int:
        """How many decimals are shown: of counts one, of other values three digits."""
        largest = max(abs(self.overall.lowest or 0.0), abs(self.overall.highest or 0.0))
        return 1 if self.is_count or largest >= 10 else 3 if largest <= 1 else 2


class Measures(Figure[Listing[Measure]]):
    key = "measures"
    title = gettext_lazy("Text measures")
    position = 140
    section = "texts"
    tables = ("measures",)
    needs_answers = False

    def compute(self, dataset: Dataset) -> Listing[Measure]:
        answers = dataset.judges[dataset.judges["rater_kind"] == Rater.Kind.METRIC]
        answers = answers[answers["story"] != ""]  # scores of pairs stand beside people's choices
        # A story that stands in several groups was measured in each, with the same value.
        answers = answers.drop_duplicates(["rater", "story", "step", "item"])
        items = dataset.records.metric_items if len(answers) else []
        measures = [
            _measure(dataset, item, metric, rows)
            for metric, of_metric in answers.groupby("rater", sort=True)
            for item in items
            if len(rows := of_metric[(of_metric["step"] == item.step.key) & (of_metric["item"] == item.item.key)])
        ]
        return Listing(tuple(measures))

    def describe(self, result: Listing[Measure], head: Head) -> Iterator[DocumentSection]:
        groups = [
            RowGroup(heading=_heading(measure), rows=[(measure, values) for values in measure.rows])
            for measure in result.rows
        ]
        table = ReportTable(
            name="measures",
            label=_("Text measures"),
            rows=[line for group in groups for line in group.rows],
            groups=groups,
            columns=[
                columns.in_file("metric", lambda line: line[0].metric),
                columns.item_in_file(lambda line: line[0]),
                columns.words(
                    *("source", _("Source")),
                    of=lambda line: line[1].source,
                    shown=lambda line: line[1].source or _("All stories"),
                    is_head=True,
                ),
                TableColumn(
                    heading=_("Mean"),
                    cell=lambda line: TableCell(words=_mean_and_sd(*line), css=LEAD),
                    files={"mean": lambda line: line[1].mean, "sd": lambda line: line[1].sd},
                ),
                TableColumn(
                    heading=_("Range"),
                    cell=lambda line: TableCell(words=_range(*line)),
                    files={"lowest": lambda line: line[1].lowest, "highest": lambda line: line[1].highest},
                ),
                columns.number("n", _("Stories"), lambda line: line[1].n),
                columns.in_file("n_without_value", lambda line: None if line[1].source else line[0].n_without_value),
            ],
        )
        note = _(
            "What metrics counted in the texts, each story once: mean and standard deviation over stories. No opinion "
            "enters these numbers."
        )
        yield DocumentSection(
            heading=self.title,
            body=[table, Files(words=_("All text measures"), table="measures")],
            margin=[TextBlock(words=note)],
        )


def _measure(dataset: Dataset, item: StepItem, metric: object, rows: pd.DataFrame) -> Measure:
    answered = rows[rows["outcome"] == Response.Outcome.ANSWERED]
    return Measure(
        **item_fields(item) | {"title": item.item.title or item.item.question},
        metric=str(metric),
        is_count=bool(item.item.settings.get("integer")),
        n_without_value=len(rows) - len(answered),
        overall=_values("", answered["analysed"]),
        by_source=tuple(
            _values(name, answered.loc[answered["source"] == name, "analysed"]) for name, _ in dataset.sources
        ),
    )


def _values(source: str, column: pd.Series[float]) -> Values:
    return Values(source=source, **vars(spreads.summarise(column.to_numpy(dtype=np.float64))))


def _heading(measure: Measure) -> Phrase:
    """The metric and its item, with how many stories have no value."""
    name = f"{measure.metric}: {measure.title}"
    n = measure.n_without_value
    if not n:
        return name
    sentence = ngettext(
        "%(n)s story has no value; its run says why.", "%(n)s stories have no value; their run says why.", n
    )
    return joined(name, phrase('<span class="hint">%(sentence)s</span>', sentence=sentence % {"n": n}))


def _mean_and_sd(measure: Measure, values: Values) -> str:
    mean = measured(values.mean, measure.n_decimals)
    return mean if values.sd is None else f"{mean} ± {measured(values.sd, measure.n_decimals)}"


def _range(measure: Measure, values: Values) -> str:
    if not values.n:
        return NONE
    ends = {"low": values.lowest, "high": values.highest}
    return _("%(low)s to %(high)s") % {name: measured(end, measure.n_decimals) for name, end in ends.items()}
