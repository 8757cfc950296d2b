"""How many answers people explained, and in how many words: item by item and answer by answer."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.dataset.explanations import AnswerKey, words_by_answer
from reports.document import columns, notes, plots
from reports.document.columns import LEAD, QUIET, decimals, ends
from reports.document.model import (
    DocumentSection,
    DrawnPlot,
    Files,
    Head,
    ReportTable,
    RowGroup,
    TableCell,
    TableColumn,
    TextBlock,
)
from reports.document.phrases import phrase
from reports.document.values import Interval
from reports.figures.base import Figure, ItemRow, Listing, ends_note, ends_of_mean, item_fields
from reports.lazy import np, pd
from reports.numbers import measured, whole

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from reports.dataset.cubes import Pair

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
    section = "items"
    tables = ("explanations",)

    def compute(self, dataset: Dataset) -> Listing[ItemExplanations]:
        words = words_by_answer(dataset)
        explained = {(step, item) for _assignment, step, item, _story in words}
        items = [(salt, item) for salt, item in enumerate(dataset.items) if item.key in explained]
        rows = (_of_item(dataset, item, words, salt=salt) for salt, item in items)
        return Listing(tuple(row for row in rows if row.overall.n_explained))

    def describe(self, result: Listing[ItemExplanations], head: Head) -> Iterator[DocumentSection]:
        title, described = _("Mean words of an explanation"), notes.table_below_plot()
        n = sum(row.overall.n_explained for row in result.rows)
        counted = ngettext("%(shown)s explanation", "%(shown)s explanations", n) % {"shown": whole(n)}
        words = _(
            "Words are what stands between spaces. An answer without an explanation counts for none of the lengths."
        )
        lines = _("Lines are 95 %% intervals of the mean, over groups of stories, with raters held fixed.")
        drawn_intervals = [part.interval for row in result.rows for part in row.all_rows]
        yield DocumentSection(
            heading=_("Explanations"),
            body=[
                *(DrawnPlot(plot=plot, title=title, described=described, caption=title) for plot in _plots(result)),
                Files(words=counted, table="explanations", is_count=True),
                _table(result, head),
            ],
            margin=[TextBlock(words=words), TextBlock(words=phrase(lines)), *notes.weakest(drawn_intervals)],
        )


def _table(result: Listing[ItemExplanations], head: Head) -> ReportTable[tuple[ItemExplanations, AnswerExplanations]]:
    groups = [
        RowGroup(heading=row.title, language=head.language, rows=[(row, part) for part in row.all_rows])
        for row in result.rows
    ]
    return ReportTable(
        name="explanations",
        label=_("Explanations"),
        caption=_("How many answers were explained, and in how many words."),
        rows=[pair for group in groups for pair in group.rows],
        groups=groups,
        columns=[
            columns.item_in_file(lambda pair: pair[0]),
            *(column.at(_part_of) for column in _columns(head)),
        ],
        summary=_("Table"),
    )


def _columns(head: Head) -> Sequence[TableColumn[AnswerExplanations]]:
    def answer(part: AnswerExplanations) -> TableCell:
        return TableCell(words=part.label, language=head.language) if part.value else TableCell(words=_("All"))

    return [
        TableColumn(
            heading=_("Answer"),
            cell=answer,
            files={"option": lambda part: part.value or "all"},
            is_number=False,
            is_head=True,
        ),
        columns.count_of("n_explained", _("Explained"), n_all=lambda part: part.n),
        columns.in_file("n"),
        columns.number("median_words", _("Median words"), write=measured, css=LEAD),
        columns.number("mean_words", _("Mean words"), write=decimals(1)),
        columns.interval(lambda part: part.interval, write=ends(1), css=QUIET),
        columns.note(lambda part: ends_note(part.interval)),
    ]


def _part_of(pair: tuple[ItemExplanations, AnswerExplanations]) -> AnswerExplanations:
    return pair[1]


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
    return AnswerExplanations(
        value=value,
        label=label,
        n=len(answers),
        n_explained=int(lengths.size),
        median_words=float(statistics.median(lengths.tolist())),
        mean_words=float(lengths.mean()),
        interval=ends_of_mean(lengths, clusters, rng=dataset.rng(SALT, *salt), low=0),
    )


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
