"""How strong sources and stories are that were compared: Bradley–Terry of pairs, Plackett–Luce of orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports import reasons
from reports.dataset.choices import choices_of
from reports.figures import plots
from reports.figures.base import (
    N_RESAMPLES,
    Figure,
    Interval,
    ItemRow,
    Listing,
    Reason,
    Row,
    item_cells,
    item_fields,
    weakest_note,
)
from reports.lazy import strengths
from reports.numbers import NONE, decimal, whole, with_interval
from reports.numbers import interval as between
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from stats.arrays import IntArray

StoryOrder = tuple[list[list[str]], list[str]]  # places, and the rest of which nothing else was said


@dataclass(frozen=True, kw_only=True)
class Strength:
    """One competitor.

    value : log odds against the average one, which is 0
    percent : how often it would be taken beside the average one
    n_taken : decisions that it won, a shared one divided; n : those in which it stood
    """

    name: str
    source: str
    value: float
    interval: Interval
    percent: float
    n_taken: float
    n: float


@dataclass(frozen=True, kw_only=True)
class StrengthTable(ItemRow):
    """The sources, or the stories, of one question.

    unit : "sources" or "stories"
    model : "bradley_terry", "luce" for the choice out of more than two, or "plackett_luce"
    n_answers : answers that compare at least two of them; n_shared : those with a shared place, or without a preference
    why : there are no strengths
    """

    unit: str
    model: str
    n_answers: int
    n_shared: int
    n_clusters: int
    why: Reason | None = None
    strengths: tuple[Strength, ...] = ()


class Strengths(Figure[Listing[StrengthTable]]):
    key = "strengths"
    title = gettext_lazy("Strengths")
    position = 85
    result = Listing[StrengthTable]
    tables = ("strengths",)
    edition = 2
    is_shown_sealed = False
    nothing = Listing[StrengthTable]()

    def compute(self, dataset: Dataset) -> Listing[StrengthTable]:
        rows = []
        for item in (item for item in dataset.items if item.is_preference or item.is_ranking):
            orders, groups = _orders(dataset, item)
            if not orders:
                continue
            clusters = dataset.clusters_of(groups)
            rows.append(_table(dataset, item, orders, clusters, "sources", dataset.source_of))
            rows.append(_table(dataset, item, orders, clusters, "stories", str))
        return Listing(tuple(rows))

    def rows(self, result: Listing[StrengthTable]) -> dict[str, Iterator[Row]]:
        return {"strengths": _rows(result)}

    def lines(self, result: Listing[StrengthTable]) -> Iterator[str]:
        for row in result.rows:
            yield f"\n{row.title}: strengths of {row.unit}, {row.model}, of {whole(row.n_answers)} answers"
            if row.why:
                yield f"  {NONE} {reasons.to_english(row.why)}"
            for strength in row.strengths:
                ends = f"95 % {between(strength.interval, 2)}"
                percent = f"{decimal(strength.percent, 0)} % beside the average"
                yield f"  {strength.name[:34]:<34} {decimal(strength.value, 2)}, {ends}; {percent}"

    def context(self, result: Listing[StrengthTable]) -> dict[str, Any]:
        return {
            "drawn": [(row, _plot(row)) for row in result.rows],
            "note": weakest_note(strength.interval for row in result.rows for strength in row.strengths),
        }


def _orders(dataset: Dataset, item: StepItem) -> tuple[list[StoryOrder], list[str]]:
    """What each rater said of a group's stories, and of which group."""
    if item.is_preference:
        choices = choices_of(dataset, item)
        orders: list[StoryOrder] = [
            ([[choice.story]], [story for story in choice.order if story != choice.story])
            if choice.story
            else ([list(choice.order)], [])
            for choice in choices
        ]
        return orders, [choice.group for choice in choices]
    answers = dataset.answers_to(item)
    return [(list(order), []) for order in answers["value"]], list(answers["group"])


def _table(
    dataset: Dataset,
    item: StepItem,
    orders: Sequence[StoryOrder],
    clusters: IntArray,
    unit: str,
    name_of: Callable[[str], str],
) -> StrengthTable:
    """The strengths of what stories are named by."""
    compared = _named(orders, clusters, name_of)
    names = sorted({name for (places, rest), _cluster in compared for place in (*places, rest) for name in place})
    index = {name: n for n, name in enumerate(names)}
    entered = [
        strengths.Order([[index[name] for name in place] for place in places if place], [index[name] for name in rest])
        for (places, rest), _cluster in compared
    ]
    fields: dict[str, Any] = {
        **item_fields(item),
        "unit": unit,
        "model": _model(item, orders),
        "n_answers": len(compared),
        "n_shared": sum(any(len(place) > 1 for place in places) for (places, _rest), _cluster in compared),
        "n_clusters": len({cluster for _order, cluster in compared}),
    }
    material = strengths.decisions(entered, [cluster for _order, cluster in compared], len(names))
    try:
        values = strengths.strengths(material)
    except Incomputable as error:
        return StrengthTable(**fields, why=Reason.of(error))
    ends = strengths.strength_intervals(material, rng=dataset.resampling(), n_resamples=N_RESAMPLES)
    # How often each could be taken, and was.
    n_decided, wins = material.n.sum(axis=0) @ (material.sets > 0), material.wins.sum(axis=0)
    rows = [
        Strength(
            name=name,
            source=dataset.source_of(name) if unit == "stories" else "",
            value=float(values[n]),
            interval=Interval.of(ends[n]),
            percent=100 / (1 + exp(-float(values[n]))),
            n_taken=float(wins[n]),
            n=float(n_decided[n]),
        )
        for name, n in index.items()
    ]
    return StrengthTable(**fields, strengths=tuple(sorted(rows, key=lambda row: (-row.value, row.name))))


def _named(
    orders: Sequence[StoryOrder], clusters: IntArray, name_of: Callable[[str], str]
) -> list[tuple[tuple[list[list[str]], list[str]], int]]:
    """The orders between what stories are named by, of those that compare two of them, each with its cluster.

    A story without a name is in no order; but of a choice it must be known what was chosen, and from what.
    """
    named = [
        (([[name_of(s) for s in place if name_of(s)] for place in places], [name_of(s) for s in rest]), cluster)
        for (places, rest), cluster in zip(orders, clusters.tolist(), strict=True)
        if not rest or all(name_of(s) for s in [*places[0], *rest])
    ]
    return [pair for pair in named if len({name for place in (*pair[0][0], pair[0][1]) for name in place}) > 1]


def _model(item: StepItem, orders: Sequence[StoryOrder]) -> str:
    if item.is_ranking:
        return "plackett_luce"
    most = max(sum(map(len, places)) + len(rest) for places, rest in orders)
    return "bradley_terry" if most <= 2 else "luce"


def _plot(row: StrengthTable) -> plots.DifferencePlot | None:
    """Sources from the strongest, against the average one."""
    if row.unit != "sources" or not row.strengths:
        return None
    marks = [
        plots.DifferenceMark(
            strength.name,
            strength.value,
            strength.interval.low,
            strength.interval.high,
            is_clear=strength.interval.low is not None
            and strength.interval.high is not None
            and (strength.interval.low > 0 or strength.interval.high < 0),
            is_weak=strength.interval.is_weak,
            text=with_interval(strength.value, strength.interval, 2),
        )
        for strength in row.strengths
    ]
    ends = plots.ends_of(marks)
    return plots.DifferencePlot(marks, plots.difference_axis(ends)) if any(ends) else None


def _rows(result: Listing[StrengthTable]) -> Iterator[Row]:
    for row in result.rows:
        about = item_cells(row) | {"unit": row.unit, "model": row.model}
        beside = {"n_answers": row.n_answers, "n_shared": row.n_shared, "n_clusters": row.n_clusters}
        if row.why:
            yield about | _strength_cells(None) | beside | {"note": reasons.to_english(row.why)}
        for strength in row.strengths:
            ends = strength.interval
            note = reasons.to_english(ends.why) if ends.why else ends.note or ""
            yield about | _strength_cells(strength) | beside | {"note": note}


def _strength_cells(strength: Strength | None) -> Row:
    return {
        "name": strength and strength.name,
        "source": strength and strength.source,
        "strength": strength and strength.value,
        "low": strength and strength.interval.low,
        "high": strength and strength.interval.high,
        "percent_beside_average": strength and strength.percent,
        "n_taken": strength and strength.n_taken,
        "n_stood": strength and strength.n,
    }
