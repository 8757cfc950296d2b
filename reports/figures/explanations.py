"""How many answers people explained, and in how many words: item by item and answer by answer."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.explanations import AnswerKey, words_by_answer
from reports.figures import plots
from reports.figures.base import (
    N_RESAMPLES,
    Figure,
    Interval,
    ItemRow,
    Listing,
    Row,
    ends_note,
    interval,
    item_cells,
    item_fields,
    weakest_note,
)
from reports.lazy import intervals, np, pd
from reports.numbers import decimal, whole
from reports.numbers import interval as between

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from reports.dataset.cubes import Pair
    from stats.intervals import Interval as StatisticInterval

SALT = 62  # of the seed


@dataclass(frozen=True, kw_only=True)
class AnswerExplanations:
    """Of all answers ("") or of those of one value.

    n : answers; n_explained : those with an explanation, which the rest is about
    mean_words : with its interval over clusters
    """

    value: str
    label: str
    n: int
    n_explained: int
    median_words: float | None
    mean_words: float | None
    interval: Interval | None


@dataclass(frozen=True, kw_only=True)
class ItemExplanations(ItemRow):
    overall: AnswerExplanations
    by_value: tuple[AnswerExplanations, ...]

    @property
    def all_rows(self) -> tuple[AnswerExplanations, ...]:
        return (self.overall, *self.by_value)


class Explanations(Figure[Listing[ItemExplanations]]):
    key = "explanations"
    title = gettext_lazy("Explanations")
    position = 95
    result = Listing[ItemExplanations]
    tables = ("explanations",)

    def compute(self, dataset: Dataset) -> Listing[ItemExplanations]:
        words = words_by_answer(dataset)
        explained = {(step, item) for _assignment, step, item, _story in words}
        items = [(salt, item) for salt, item in enumerate(dataset.items) if item.key in explained]
        rows = (_of_item(dataset, item, words, salt=salt) for salt, item in items)
        return Listing(tuple(row for row in rows if row.overall.n_explained))

    def rows(self, result: Listing[ItemExplanations]) -> dict[str, Iterator[Row]]:
        return {"explanations": _rows(result)}

    def lines(self, result: Listing[ItemExplanations]) -> Iterator[str]:
        yield "\nExplanations: how many, and how many words"
        for row in result.rows:
            yield f"  {row.title}"
            for part in row.all_rows:
                words = f"median {decimal(part.median_words)}, mean {decimal(part.mean_words)}"
                ends = f", 95 % {between(part.interval)}" if part.interval else ""
                counts = f"{whole(part.n_explained)} of {whole(part.n)}"
                yield f"    {part.label[:28] or 'all':<28} {counts}: {words} words{ends}"

    def context(self, result: Listing[ItemExplanations]) -> dict[str, Any]:
        note = weakest_note(part.interval for row in result.rows for part in row.all_rows)
        n = sum(row.overall.n_explained for row in result.rows)
        return {"plots": list(_plots(result)), "note": note, "n": n}


def _of_item(dataset: Dataset, item: StepItem, words: Mapping[AnswerKey, int], *, salt: int) -> ItemExplanations:
    answers = dataset.answers_to(item)
    keys = zip(answers["assignment"], answers["step"], answers["item"], answers["story"], strict=True)
    counted = answers.assign(words=[words.get(key, 0) for key in keys])
    values = _values(item)
    by_value = [
        _part(dataset, counted[counted["value"] == value], value, label, salt=(salt, n))
        for n, (value, label) in enumerate(values, start=1)
    ]
    return ItemExplanations(
        **item_fields(item),
        overall=_part(dataset, counted, "", "", salt=(salt, 0)),
        by_value=tuple(by_value),
    )


def _values(item: StepItem) -> list[tuple[str, str]]:
    """The answers that are told apart, with their words: Yes and No, or the options of a choice; of others none."""
    if item.type.is_verdict:
        return [(value, str(item.type.label(item.item, value))) for value in ("yes", "no")]
    if item.level == "nominal" and item.type.has_options:
        return [(option["value"], option["label"]) for option in item.item.options]
    return []


def _part(
    dataset: Dataset, answers: pd.DataFrame, value: str, label: str, *, salt: tuple[int, int]
) -> AnswerExplanations:
    explained = answers[answers["words"] > 0]
    lengths = explained["words"].to_numpy(dtype=np.float64)
    if not lengths.size:
        return AnswerExplanations(
            value=value, label=label, n=len(answers), n_explained=0, median_words=None, mean_words=None, interval=None
        )
    # What is asked once stands in no group: there raters are what was sampled.
    units: Sequence[Pair] = list(zip(explained["group"], explained["story"], strict=True))
    is_in_groups = all(group for group, _story in units)
    clusters = dataset.clusters_of_units(units) if is_in_groups else list(explained["rater"])

    def ends() -> StatisticInterval:
        rng = dataset.rng(SALT, *salt)
        return intervals.mean_interval(lengths, clusters, rng=rng, n_resamples=N_RESAMPLES).clipped(0, np.inf)

    return AnswerExplanations(
        value=value,
        label=label,
        n=len(answers),
        n_explained=int(lengths.size),
        median_words=float(statistics.median(lengths.tolist())),
        mean_words=float(lengths.mean()),
        interval=interval(ends),
    )


def _rows(result: Listing[ItemExplanations]) -> Iterator[Row]:
    for row in result.rows:
        for part in row.all_rows:
            ends = part.interval
            yield item_cells(row) | {
                "value": part.value or "all",
                "n": part.n,
                "n_explained": part.n_explained,
                "median_words": part.median_words,
                "mean_words": part.mean_words,
                "low": ends and ends.low,
                "high": ends and ends.high,
                "note": ends_note(ends),
            }


def _plots(result: Listing[ItemExplanations]) -> Iterator[plots.DotPlot]:
    """The mean words of every item: Yes beside No where all are verdicts, else of all answers."""
    verdicts = [row for row in result.rows if [part.value for part in row.by_value] == ["yes", "no"]]
    others = [row for row in result.rows if row not in verdicts]
    if verdicts:
        yield _plot([(row, row.by_value) for row in verdicts], [part.label for part in verdicts[0].by_value])
    if others:
        yield _plot([(row, (row.overall,)) for row in others], [_("All")])


def _plot(rows: Sequence[tuple[ItemExplanations, Sequence[AnswerExplanations]]], names: Sequence[str]) -> plots.DotPlot:
    plot_rows = [plots.PlotRow(row.title, row.dimension, tuple(_marks(parts))) for row, parts in rows]
    ends = plots.ends_of(mark for row in plot_rows for mark in row.marks)
    return plots.DotPlot(plot_rows, names, plots.value_axis([0.0, *ends]))


def _marks(parts: Sequence[AnswerExplanations]) -> Iterator[plots.Mark]:
    for n, part in enumerate(parts):
        yield plots.Mark.of(n, part.mean_words, part.interval)
