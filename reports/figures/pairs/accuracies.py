"""How often the story is named that most people prefer: by one of them, by judges, by taking the longer one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.dataset.choices import Choice, choices_of
from reports.dataset.judged_groups import judged_pairs
from reports.dataset.pairs import JudgedPair, list_pairs
from reports.document import columns, notes, plots
from reports.document.columns import LEAD
from reports.document.model import DocumentSection, DrawnPlot, Files, Head, ReportTable, TextBlock
from reports.document.phrases import in_language, joined, phrase
from reports.figures.base import Figure, ItemFigure, ItemRow, Listing, item_fields, note_of
from reports.figures.named_accuracies import NamedAccuracy, share_right, take_longer
from reports.lazy import judge_orders, np
from reports.numbers import whole

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem

SALT = 68  # of the seed
CHANCE = 50.0


@dataclass(frozen=True, kw_only=True)
class ItemAccuracies(ItemRow):
    n_pairs: int
    accuracies: tuple[NamedAccuracy, ...]


class PairAccuracies(ItemFigure[ItemAccuracies], Figure[Listing[ItemAccuracies]]):
    key = "pair_accuracies"
    title = gettext_lazy("Agreement with the majority on pairs")
    position = 74
    section = "pairs"
    tables = ("pair-accuracies",)
    edition = 2

    def is_about(self, item: StepItem) -> bool:
        return item.is_preference

    def of_item(self, dataset: Dataset, item: StepItem, *, salt: int) -> ItemAccuracies | None:
        accuracies = _accuracies(dataset, item, salt=salt)
        return accuracies if accuracies.n_pairs else None

    def describe(self, result: Listing[ItemAccuracies], head: Head) -> Iterator[DocumentSection]:
        intervals = [accuracy.interval for row in result.rows for accuracy in row.accuracies]
        for row in result.rows:
            counted = ngettext("%(shown)s pair", "%(shown)s pairs", row.n_pairs)
            yield DocumentSection(
                heading=joined(
                    _("Agreement with the majority on pairs"),
                    in_language(row.title, head.language) if len(result.rows) > 1 else "",
                ),
                body=[
                    DrawnPlot(
                        plot=_plot(row),
                        title=_("Agreement with most people on pairs, in percent"),
                        described=notes.table_below_plot(),
                        label=row.title,
                    ),
                    Files(words=counted % {"shown": whole(row.n_pairs)}, table="pair-accuracies", is_count=True),
                    _table(row),
                ],
                margin=[*_notes(), *notes.weakest(intervals)],
            )


def _accuracies(dataset: Dataset, item: StepItem, *, salt: int) -> ItemAccuracies:
    choices = choices_of(dataset, item)
    pairs = list_pairs(dataset, choices)
    accuracies = [_person(dataset, pairs, choices, salt=(salt, 0)), *_judges(dataset, item, salt=salt)]
    if longer := take_longer(dataset, pairs, salt=(SALT, salt, 1)):
        accuracies.append(longer)
    return ItemAccuracies(**item_fields(item), n_pairs=len(pairs), accuracies=tuple(accuracies))


def _person(
    dataset: Dataset, pairs: Sequence[JudgedPair], choices: Sequence[Choice], *, salt: tuple[int, int]
) -> NamedAccuracy:
    """Every choice held against what more than half of the pair's other raters chose."""
    pair_by_group = {pair.group: pair for pair in pairs}
    is_right, groups = [], []
    for choice in choices:
        pair = pair_by_group.get(choice.group)
        preferred = _preferred_by_others(pair, choice) if pair else ""
        if preferred:
            is_right.append(float(choice.story == preferred))
            groups.append(choice.group)
    return share_right(dataset, "person", "", is_right, groups, salt=(SALT, *salt))


def _preferred_by_others(pair: JudgedPair, choice: Choice) -> str:
    """What more than half of the others chose; "" if there is no such story."""
    for story, n in zip(pair.stories, pair.n_chosen, strict=True):
        if 2 * (n - (choice.story == story)) > pair.n - 1:
            return story
    return ""


def _judges(dataset: Dataset, item: StepItem, *, salt: int) -> Iterator[NamedAccuracy]:
    for n, judged in enumerate(judged_pairs(dataset, item)):
        right = judge_orders.pair_choices(judged.chosen, judged.preferred).right
        answered = np.flatnonzero(np.isfinite(right))
        groups = [judged.groups[place] for place in answered]
        salts = (SALT, salt, 10 + n)
        yield share_right(dataset, "judge", judged.judge, right[answered].tolist(), groups, salt=salts)


def _notes() -> list[TextBlock]:
    held_against = _(
        "One of the people is held against what more than half of the pair’s other raters chose; a judge against more "
        "than half of all, over both orders. Where they are even, the pair is left out."
    )
    return [TextBlock(words=held_against), notes.clusters_of_pairs()]


def _name(accuracy: NamedAccuracy) -> str:
    names = {"person": _("One of the people"), "longer": _("Always the longer")}
    return names.get(accuracy.who, accuracy.name)


def _table(row: ItemAccuracies) -> ReportTable[NamedAccuracy]:
    return ReportTable(
        name="pair-accuracies",
        label=_("Agreement with most people on pairs"),
        caption=_("In percent; by chance 50."),
        rows=row.accuracies,
        columns=[
            columns.item_in_file(lambda accuracy: row),
            columns.in_file("who"),
            columns.words("judge", _("Who"), lambda accuracy: accuracy.name, shown=_name, is_head=True),
            *columns.with_interval("percent", phrase(_("Right, %%")), places=1, css=LEAD),
            columns.number("n", "n"),
            columns.number("n_pairs", _("Pairs")),
            columns.note(lambda accuracy: note_of(accuracy, accuracy.interval)),
        ],
        summary=_("Table"),
    )


def _plot(row: ItemAccuracies) -> plots.DotPlot:
    rows = []
    for accuracy in row.accuracies:
        mark = plots.Mark.of(0, accuracy.value, accuracy.interval)
        rows.append(plots.PlotRow(_name(accuracy), "", (mark,)))
    return plots.DotPlot(rows, [], plots.PERCENT)
