"""How often the story is named that most people prefer: by one of them, by judges, by taking the longer one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.choices import Choice, choices_of
from reports.dataset.judged_groups import judged_pairs
from reports.dataset.pairs import JudgedPair, list_pairs
from reports.figures import plots
from reports.figures.base import (
    Figure,
    IntervalEstimate,
    ItemFigure,
    ItemRow,
    Listing,
    Row,
    item_cells,
    item_fields,
    note_of,
    share_fields,
    weakest_note,
)
from reports.lazy import judge_orders, np
from reports.numbers import decimal, whole
from reports.numbers import interval as between

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem

SALT = 68  # of the seed
CHANCE = 50.0


@dataclass(frozen=True, kw_only=True)
class NamedAccuracy(IntervalEstimate):
    """In percent of n choices in n_pairs pairs, over clusters.

    who : "person", one held against the majority of the others of the pair; "judge", the mean over both orders;
        "longer", the rule that always takes the longer story, half right where both are of one length
    """

    who: str
    name: str
    n: int
    n_pairs: int


@dataclass(frozen=True, kw_only=True)
class ItemAccuracies(ItemRow):
    n_pairs: int
    accuracies: tuple[NamedAccuracy, ...]


class PairAccuracies(ItemFigure[ItemAccuracies], Figure[Listing[ItemAccuracies]]):
    key = "pair_accuracies"
    title = gettext_lazy("Who names what most prefer")
    position = 74
    result = Listing[ItemAccuracies]
    tables = ("pair-accuracies",)
    edition = 2

    def is_about(self, item: StepItem) -> bool:
        return item.is_preference

    def of_item(self, dataset: Dataset, item: StepItem, *, salt: int) -> ItemAccuracies | None:
        accuracies = _accuracies(dataset, item, salt=salt)
        return accuracies if accuracies.n_pairs else None

    def rows(self, result: Listing[ItemAccuracies]) -> dict[str, Iterator[Row]]:
        return {"pair-accuracies": _rows(result)}

    def lines(self, result: Listing[ItemAccuracies]) -> Iterator[str]:
        for row in result.rows:
            yield f"\n{row.title}: the story that most prefer is named in percent of {whole(row.n_pairs)} pairs"
            for accuracy in row.accuracies:
                ends = f"95 % {between(accuracy.interval)} (n = {whole(accuracy.n)})"
                yield f"  {accuracy.name or accuracy.who:<34} {decimal(accuracy.value):>6}, {ends}"

    def context(self, result: Listing[ItemAccuracies]) -> dict[str, Any]:
        note = weakest_note(accuracy.interval for row in result.rows for accuracy in row.accuracies)
        return {"rows": [(row, _plot(row)) for row in result.rows], "note": note}


def _accuracies(dataset: Dataset, item: StepItem, *, salt: int) -> ItemAccuracies:
    choices = choices_of(dataset, item)
    pairs = list_pairs(dataset, choices)
    accuracies = [_person(dataset, pairs, choices, salt=(salt, 0)), *_judges(dataset, item, salt=salt)]
    if longer := _longer(dataset, pairs, salt=(salt, 1)):
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
    return _accuracy(dataset, "person", "", is_right, groups, salt=salt)


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
        yield _accuracy(dataset, "judge", judged.judge, right[answered].tolist(), groups, salt=(salt, 10 + n))


def _longer(dataset: Dataset, pairs: Sequence[JudgedPair], *, salt: tuple[int, int]) -> NamedAccuracy | None:
    known = [pair for pair in pairs if pair.preferred is not None and not np.isnan(pair.n_words).any()]
    if not known:
        return None
    is_right = []
    for pair in known:
        chosen, other = pair.n_words[pair.preferred or 0], pair.n_words[1 - (pair.preferred or 0)]
        is_right.append(0.5 if chosen == other else float(chosen > other))
    return _accuracy(dataset, "longer", "", is_right, [pair.group for pair in known], salt=salt)


def _accuracy(
    dataset: Dataset, who: str, name: str, is_right: Sequence[float], groups: Sequence[str], *, salt: tuple[int, int]
) -> NamedAccuracy:
    fields = share_fields(is_right, dataset.clusters_of(groups), rng=dataset.rng(SALT, *salt))
    return NamedAccuracy(who=who, name=name, n=len(is_right), n_pairs=len(set(groups)), **fields)


def _rows(result: Listing[ItemAccuracies]) -> Iterator[Row]:
    for row in result.rows:
        for accuracy in row.accuracies:
            yield item_cells(row) | {
                "who": accuracy.who,
                "judge": accuracy.name,
                "percent": accuracy.value,
                "low": accuracy.interval.low,
                "high": accuracy.interval.high,
                "n": accuracy.n,
                "n_pairs": accuracy.n_pairs,
                "note": note_of(accuracy, accuracy.interval),
            }


def _plot(row: ItemAccuracies) -> plots.DotPlot:
    names = {"person": _("One of the people"), "longer": _("Always the longer")}
    rows = []
    for accuracy in row.accuracies:
        mark = plots.Mark.of(0, accuracy.value, accuracy.interval)
        rows.append(plots.PlotRow(names.get(accuracy.who, accuracy.name), "", (mark,)))
    return plots.DotPlot(rows, [], plots.PERCENT)
