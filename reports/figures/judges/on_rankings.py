"""Judges beside people on rankings: Kendall's tau-b between the judge's order of a group and people's mean ranks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.judged_groups import JudgedOrders, judged_orders
from reports.document import notes
from reports.document.model import TextBlock
from reports.document.phrases import phrase
from reports.document.values import Floor
from reports.figures.base import Figure, Listing, chance_floor, item_fields
from reports.figures.judges import tables
from reports.figures.judges.group_scores import GroupFigure, GroupScores, group_outcomes, mean_part
from reports.figures.judges.scores import Score, ScorePart
from reports.lazy import judge_orders, np
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from stats.arrays import BoolArray

SALT = 26  # of the seed


class JudgesOnRankings(GroupFigure[GroupScores], Figure[Listing[GroupScores]]):
    key = "judges_on_rankings"
    title = gettext_lazy("Judges on rankings")
    position = 125
    section = "judges"
    tables = ("judges-on-rankings", "lost-rankings")
    edition = 2
    caption = gettext_lazy("Between the judge’s order of a group and the mean ranks of people.")
    every = gettext_lazy("Every part")
    lost = gettext_lazy("What is missing of each judge’s rankings, in percent of the groups, by source.")

    def is_about(self, item: StepItem) -> bool:
        return item.is_ranking

    def score_judges(self, dataset: Dataset, item: StepItem, *, salt: int) -> Iterator[GroupScores]:
        groups = list(dict.fromkeys(group for group, _story in dataset.units))
        for n, orders in enumerate(judged_orders(dataset, item)):
            yield GroupScores(
                **item_fields(item),
                judge=orders.judge,
                n_people=len(set(dataset.answers_to(item)["rater"])),
                scores=(_score(dataset, orders, salt=(SALT, salt, n)),),
                outcomes=group_outcomes(dataset, item, orders.judge, groups),
            )

    def list_notes(self) -> list[TextBlock]:
        note = _(
            "The chance floor gives the judge’s ranks to other stories of the same group. <strong>People "
            "agree</strong> where all put the group in one order."
        )
        return [TextBlock(words=phrase(note)), tables.people_held_fixed(), notes.models_stories()]


def _score(dataset: Dataset, orders: JudgedOrders, *, salt: tuple[int, ...]) -> Score:
    """Over all groups, over some of them, and over some stories of each."""
    everything = [np.ones(len(ranks), dtype=np.bool_) for ranks in orders.ranks]
    has_people = np.array([n > 0 for n in orders.n_people], dtype=np.bool_)
    is_split = np.array([n > 1 for n in orders.n_people], dtype=np.bool_) & ~orders.is_unanimous
    parts: dict[str, tuple[BoolArray, list[BoolArray]]] = {"all": (has_people, everything)}
    mixed = np.concatenate([np.zeros(0, dtype=np.bool_), *orders.is_of_models])  # there may be no group
    if mixed.any() and not mixed.all():
        parts["models"] = (has_people, list(orders.is_of_models))
    parts |= {"unanimous": (orders.is_unanimous, everything), "split": (is_split, everything)}
    return Score(
        statistic="group_tau",
        parts=tuple(
            _part(dataset, orders, name, *masks, salt=(*salt, n)) for n, (name, masks) in enumerate(parts.items())
        ),
    )


def _part(
    dataset: Dataset,
    orders: JudgedOrders,
    name: str,
    is_in: BoolArray,
    stories: list[BoolArray],
    *,
    salt: tuple[int, ...],
) -> ScorePart:
    """The mean of the groups' values. is_in : which groups, shape (G,); stories : of each group, shape (S,)"""
    ranks = [np.where(mask, row, np.nan) for row, mask in zip(orders.ranks, stories, strict=True)]
    pairs = zip(ranks, orders.mean_ranks, is_in, strict=True)
    taus = np.array([judge_orders.group_tau(a, b) if is_kept else np.nan for a, b, is_kept in pairs])

    def floor() -> Floor:
        kept = np.flatnonzero(np.isfinite(taus))
        of_people = [orders.mean_ranks[n] for n in kept]
        rng = dataset.rng(*salt, 1)
        return chance_floor(judge_orders.group_floor, [ranks[n] for n in kept], of_people, rng=rng)

    return mean_part(
        dataset,
        name,
        taus,
        orders.groups,
        bounds=(-1, 1),
        floor=floor,
        why_none=Incomputable("no_unit_with_judge_and_people"),
        salt=salt,
    )
