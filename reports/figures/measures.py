"""What metrics measured of the stories: each of their items over all stories, and by source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy

from annotation.models import Rater, Response
from reports.dataset.step_items import metric_items
from reports.figures.base import Figure, ItemRow, Listing, Row, item_cells, item_fields
from reports.lazy import np
from reports.numbers import measured, whole

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
    position = 138
    result = Listing[Measure]
    tables = ("measures",)
    needs_answers = False

    def compute(self, dataset: Dataset) -> Listing[Measure]:
        answers = dataset.judges[dataset.judges["rater_kind"] == Rater.Kind.METRIC]
        answers = answers[answers["story"] != ""]  # scores of pairs stand beside people's choices
        # A story that stands in several groups was measured in each, with the same value.
        answers = answers.drop_duplicates(["rater", "story", "step", "item"])
        items = metric_items(dataset.study) if len(answers) else []
        measures = [
            _measure(dataset, item, metric, rows)
            for metric, of_metric in answers.groupby("rater", sort=True)
            for item in items
            if len(rows := of_metric[(of_metric["step"] == item.step.key) & (of_metric["item"] == item.item.key)])
        ]
        return Listing(tuple(measures))

    def rows(self, result: Listing[Measure]) -> dict[str, Iterator[Row]]:
        return {"measures": (_row(measure, values) for measure in result.rows for values in measure.rows)}

    def lines(self, result: Listing[Measure]) -> Iterator[str]:
        yield "\nText measures: mean ± standard deviation, with n stories"
        for measure in result.rows:
            yield f"  {measure.metric}: {measure.title[:60]}"
            for values in measure.rows:
                mean, sd = (measured(value, measure.n_decimals) for value in (values.mean, values.sd))
                spread = f"{mean:>8} ± {sd}"
                yield f"    {values.source or 'over all':<34} {spread} ({whole(values.n)})"
            if measure.n_without_value:
                yield f"    no value for {whole(measure.n_without_value)}"


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
    values = column.to_numpy(dtype=np.float64)
    if not len(values):
        return Values(source=source, n=0)
    return Values(
        source=source,
        n=len(values),
        mean=float(values.mean()),
        sd=float(values.std(ddof=1)) if len(values) > 1 else None,
        lowest=float(values.min()),
        highest=float(values.max()),
    )


def _row(measure: Measure, values: Values) -> Row:
    return (
        {"metric": measure.metric}
        | item_cells(measure)
        | {
            "source": values.source,
            "n": values.n,
            "mean": values.mean,
            "sd": values.sd,
            "lowest": values.lowest,
            "highest": values.highest,
            "n_without_value": "" if values.source else measure.n_without_value,
        }
    )
