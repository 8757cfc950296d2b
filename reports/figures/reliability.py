"""Agreement where kappa misleads, and how reliable means are: Gwet's AC1 and AC2, intraclass correlations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports.dataset.blocks import ItemBlock, choice_ratings, item_blocks
from reports.figures.base import (
    N_RESAMPLES,
    Estimate,
    Figure,
    Floor,
    Interval,
    ItemRow,
    Reason,
    Row,
    estimate,
    interval,
    item_cells,
    item_fields,
    note_of,
    weakest_note,
    without_value,
)
from reports.lazy import agreement, np, rates, reliability, resamples
from reports.numbers import NONE, coefficient, coefficients, decimal
from reports.reasons import to_english
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from stats.arrays import FloatArray
    from stats.reliability import Weights
    from stats.resamples import Resamples

N_SHUFFLES = 200


@dataclass(frozen=True, kw_only=True)
class GwetRow(ItemRow):
    """Gwet's coefficient of one item, with what stands beside it."""

    coefficient: Estimate
    interval: Interval
    floor: Floor
    percent_agreement: Estimate


@dataclass(frozen=True, kw_only=True)
class IntraclassForm:
    """One form: of a single rating ("ICC(A,1)", "ICC(1,1)"), or of a mean ("ICC(A,k)", "ICC(1,k)")."""

    coefficient: Estimate
    interval: Interval
    floor: Floor


@dataclass(frozen=True, kw_only=True)
class IntraclassRow:
    """The intraclass correlations of one number of each story.

    kind : "total" of tests passed, "mean" of the scales with one pair of ends, or "rating" on one item
    design : "two-way" or "one-way"; k : ratings that a mean is of
    forms : single and average, none without a value
    """

    kind: str
    title: str
    n_items: int
    design: str = ""
    k: float | None = None
    forms: tuple[IntraclassForm, ...] = ()
    why: Reason | None = None


@dataclass(frozen=True, kw_only=True)
class ReliabilityResult:
    items: tuple[GwetRow, ...]
    numbers: tuple[IntraclassRow, ...]


class Reliability(Figure[ReliabilityResult]):
    key = "reliability"
    title = gettext_lazy("Skewed answers, and means")
    position = 52
    result = ReliabilityResult
    tables = ("gwet", "intraclass")
    edition = 3

    def compute(self, dataset: Dataset) -> ReliabilityResult | None:
        blocks = item_blocks(dataset)
        choices = [item for item in dataset.items if item.is_choice and len(item.item.options) > 1]
        if (not dataset.raters and len(dataset.judges)) or not (blocks or choices):
            return None
        # All of these are about the stories of all groups, so one draw of clusters serves them all.
        clusters = dataset.clusters_of_units(dataset.units)
        drawn = resamples.Resamples(clusters, rng=dataset.resampling(), n_resamples=N_RESAMPLES)
        rows = [row for block in blocks for row in _of_block(dataset, block, drawn)]
        for item in choices:
            values = tuple(float(n) for n in range(len(item.item.options)))
            ratings = choice_ratings(dataset, item)[np.newaxis]
            rows += _gwet_rows(dataset, [item], ratings, values, drawn, "identity")
        numbers = [row for block in blocks for row in _intraclass_rows(dataset, block, drawn)]
        return ReliabilityResult(items=tuple(rows), numbers=tuple(numbers))

    def is_empty(self, result: ReliabilityResult) -> bool:
        return not result.items and not result.numbers

    def rows(self, result: ReliabilityResult) -> dict[str, Iterator[Row]]:
        return {"gwet": (_gwet_cells(row) for row in result.items), "intraclass": _intraclass_cells(result)}

    def lines(self, result: ReliabilityResult) -> Iterator[str]:
        yield "\nGwet's coefficients and intraclass correlations"
        for row in result.items:
            yield f"  {row.title[:34]:<34} {_words(row.coefficient, row.interval, row.floor)}"
        for number in result.numbers:
            name = number.title or number.kind
            if number.why:
                yield f"  {name[:34]:<34} {NONE} {to_english(number.why)}"
            for form in number.forms:
                words = _words(form.coefficient, form.interval, form.floor)
                yield f"  {name[:34]:<34} {words}, k {decimal(number.k)}"

    def context(self, result: ReliabilityResult) -> dict[str, Any]:
        ends = [form.interval for row in result.numbers for form in row.forms]
        return {"note": weakest_note([*(row.interval for row in result.items), *ends]), "n_shuffles": N_SHUFFLES}


def _of_block(dataset: Dataset, block: ItemBlock, drawn: Resamples) -> list[GwetRow]:
    if block.values is None:
        return []
    weights: Weights = "identity" if block.kind == "verdicts" else "ordinal"
    return _gwet_rows(dataset, list(block.items), block.cube.values, block.values, drawn, weights)


def _gwet_rows(
    dataset: Dataset,
    items: list[StepItem],
    ratings: FloatArray,
    values: tuple[float, ...],
    drawn: Resamples,
    weights: Weights,
) -> list[GwetRow]:
    """A row for each item that has a value. The shuffles of the chance floors are the same for all of them."""
    estimates = [estimate(reliability.gwet_ac, part, values, weights) for part in ratings]
    has_value = np.array([row.value is not None for row in estimates], dtype=np.bool_)
    floor_by_item: dict[int, Floor] = {}
    if has_value.any():
        own = reliability.gwet_floors(
            ratings if has_value.all() else ratings[has_value],
            values,
            weights=weights,
            rng=dataset.shuffling(),
            n_shuffles=N_SHUFFLES,
        )
        floors = [Floor(mean=floor.mean, upper=floor.upper) for floor in own]
        floor_by_item = dict(zip(np.flatnonzero(has_value).tolist(), floors, strict=True))
    rows = []
    for n, (item, value, part) in enumerate(zip(items, estimates, ratings, strict=True)):
        ends = Interval(low=None, high=None, why=value.why)
        if value.value is not None:
            ends = interval(reliability.gwet_interval, part, values, drawn, weights=weights)
        rows.append(
            GwetRow(
                **item_fields(item),
                coefficient=value,
                interval=ends,
                floor=floor_by_item.get(n, Floor(mean=None, upper=None, why=value.why)),
                percent_agreement=estimate(agreement.percent_agreement, part),
            )
        )
    return rows


def _intraclass_rows(dataset: Dataset, block: ItemBlock, drawn: Resamples) -> Iterator[IntraclassRow]:
    n_items = len(block.items)
    if block.kind == "verdicts":
        if n_items > 1:
            totals = rates.totals(block.cube.values)
            yield _intraclass(dataset, totals, drawn, ("total", ""), n_items)
        return
    for n, item in enumerate(block.items):
        title = item.item.title or item.item.key
        yield _intraclass(dataset, block.cube.values[n], drawn, ("rating", title), 1)
    if n_items > 1:
        means = rates.totals(block.cube.values) / n_items
        yield _intraclass(dataset, means, drawn, ("mean", block.title), n_items)


def _intraclass(
    dataset: Dataset,
    ratings: FloatArray,
    drawn: Resamples,
    about: tuple[str, str],
    n_items: int,
) -> IntraclassRow:
    kind, title = about
    try:
        value = reliability.intraclass(ratings)
    except Incomputable as error:
        return IntraclassRow(kind=kind, title=title, n_items=n_items, why=Reason.of(error))
    try:
        ends = [Interval.of(part) for part in reliability.intraclass_intervals(ratings, drawn)]
    except Incomputable as error:
        ends = [Interval.of(error)] * 2
    try:
        floors = [
            Floor(mean=floor.mean, upper=floor.upper)
            for floor in reliability.intraclass_floors(ratings, rng=dataset.shuffling(), n_shuffles=N_SHUFFLES)
        ]
    except Incomputable:
        floors = [Floor(mean=None, upper=None, why=without_value("no_shuffle_with_value"))] * 2
    forms = (value.single, value.average)
    return IntraclassRow(
        kind=kind,
        title=title,
        n_items=n_items,
        design=value.design,
        k=value.k,
        forms=tuple(
            IntraclassForm(coefficient=estimate(lambda form=form: form), interval=own_ends, floor=floor)
            for form, own_ends, floor in zip(forms, ends, floors, strict=True)
        ),
    )


def _words(value: Estimate, ends: Interval, floor: Floor) -> str:
    if value.value is None:
        return f"{NONE} {to_english(value.why) if value.why else ''}"
    return (
        f"{value.name} {coefficient(value.value)}, 95 % {coefficients(ends)}, chance to {coefficient(floor.upper)}, "
        f"n = {value.n_units} units, {value.n_raters} raters"
    )


def _gwet_cells(row: GwetRow) -> Row:
    return item_cells(row) | {
        "coefficient": row.coefficient.name or "",
        **_number_cells(row.coefficient, row.interval, row.floor),
        "percent_agreement": row.percent_agreement.value,
        "note": note_of(row.coefficient, row.interval),
    }


def _intraclass_cells(result: ReliabilityResult) -> Iterator[Row]:
    nothing = IntraclassForm(
        coefficient=Estimate(value=None), interval=Interval(low=None, high=None), floor=Floor(mean=None, upper=None)
    )
    for row in result.numbers:
        for form in row.forms or (nothing,):
            yield {
                "kind": row.kind,
                "title": row.title,
                "n_items": row.n_items,
                "design": row.design,
                "coefficient": form.coefficient.name or "",
                "k": row.k,
                **_number_cells(form.coefficient, form.interval, form.floor),
                "note": to_english(row.why) if row.why else note_of(form.coefficient, form.interval),
            }


def _number_cells(value: Estimate, ends: Interval, floor: Floor) -> Row:
    return {
        "value": value.value,
        "low": ends.low,
        "high": ends.high,
        "chance_mean": floor.mean,
        "chance_upper": floor.upper,
        "n_units": value.n_units,
        "n_raters": value.n_raters,
    }
