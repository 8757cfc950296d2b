"""What raters said once, of themselves or of the study: counts of options, means of numbers, how many wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy

from reports.figures.base import Figure, ItemRow, Listing, Row, item_cells, item_fields
from reports.lazy import np
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
    title = gettext_lazy("What raters were asked once")
    position = 110
    result = Listing[Survey]
    tables = ("surveys",)

    def compute(self, dataset: Dataset) -> Listing[Survey]:
        once = [item for item in dataset.items if item.step.scope == Step.Scope.ONCE]
        return Listing(tuple(_survey(dataset, item) for item in once if "correct" not in item.item.settings))

    def rows(self, result: Listing[Survey]) -> dict[str, Iterator[Row]]:
        return {"surveys": _rows(result)}

    def lines(self, result: Listing[Survey]) -> Iterator[str]:
        yield "\nAsked once"
        for row in result.rows:
            deviation = "" if row.sd is None else f" ± {decimal(row.sd)}"
            mean = [] if row.mean is None else [f"mean {decimal(row.mean)}{deviation}"]
            options = [f"{option.label} {whole(option.n)}" for option in row.options if option.n]
            yield f"  {row.title[:34]:<34} {whole(row.n):>6}  {'; '.join(mean + options)}".rstrip()

    def has_answers(self, result: Listing[Survey]) -> bool:
        return any(row.n for row in result.rows)


def _survey(dataset: Dataset, item: StepItem) -> Survey:
    answers = dataset.answers_to(item)
    chosen = [one for value in answers["value"] for one in (value if isinstance(value, list) else [value])]
    options = item.item.options or (YES_OR_NO if item.type.is_verdict else [])
    is_number = item.level in ("ordinal", "interval")
    numbers = answers["analysed"].to_numpy(dtype=np.float64) if is_number else np.array([])
    return Survey(
        **item_fields(item),
        question=item.item.question,
        n=len(answers),
        options=tuple(OptionCount(value=o["value"], label=o["label"], n=chosen.count(o["value"])) for o in options),
        mean=float(numbers.mean()) if numbers.size else None,
        sd=float(numbers.std(ddof=1)) if numbers.size > 1 else None,
    )


def _rows(result: Listing[Survey]) -> Iterator[Row]:
    for row in result.rows:
        cells = item_cells(row) | {"question": row.question, "n": row.n, "mean": row.mean, "sd": row.sd}
        if not row.options:
            yield cells | {"option": None, "n_option": None}
        for option in row.options:
            yield cells | {"option": option.value, "n_option": option.n}
