"""Judges beside people on pairs: how often they prefer what most people do, and whether the order decides for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.judged_groups import JudgedPairs, judged_pairs, people_on_pairs
from reports.document.model import Block, Head, Subsection, TextBlock
from reports.document.phrases import in_language, phrase
from reports.figures.base import Figure, Listing, item_fields
from reports.figures.judges import tables
from reports.figures.judges.group_scores import GroupFigure, GroupScores, group_outcomes
from reports.figures.judges.pair_scores import score_choices
from reports.figures.judges.person_lines import PersonLine, person_lines
from reports.figures.judges.plots import judge_plot
from reports.lazy import judge_orders, np

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem

SALT = 25  # of the seed


@dataclass(frozen=True, kw_only=True)
class PairScores(GroupScores):
    """One judge on one question about pairs.

    n_pairs : with a choice of the judge
    n_both : of those, the pairs that it judged in both orders
    """

    n_pairs: int
    n_both: int


class JudgesOnPairs(GroupFigure[PairScores], Figure[Listing[PairScores]]):
    key = "judges_on_pairs"
    title = gettext_lazy("Judges on pairs")
    position = 124
    section = "judges"
    tables = ("judges-on-pairs", "lost-pairs")
    edition = 3
    caption = gettext_lazy(
        "Against the story that more than half of the people prefer; a pair that was judged in both orders counts as "
        "the mean of the two."
    )
    every = gettext_lazy("Every statistic")
    lost = gettext_lazy("What is missing of each judge’s choices, in percent of the pairs, by source.")

    def is_about(self, item: StepItem) -> bool:
        return item.is_preference

    def score_judges(self, dataset: Dataset, item: StepItem, *, salt: int) -> Iterator[PairScores]:
        judged = judged_pairs(dataset, item)
        lines = _person_lines(dataset, item, judged[0].groups, salt=salt) if judged else ()
        for n, pairs in enumerate(judged):
            yield replace(_scores(dataset, item, pairs, salt=(SALT, salt, n)), person_lines=lines)

    def draw(self, judges: Sequence[PairScores], head: Head) -> list[Block]:
        """A plot for each question, under its title where there are several."""
        rows_by_title: dict[str, list[PairScores]] = {}
        for row in judges:
            rows_by_title.setdefault(row.title, []).append(row)
        plots = [(title, tables.plot(judge_plot(rows), label=title)) for title, rows in rows_by_title.items()]
        if len(plots) == 1:
            return plots[0][1]
        return [Subsection(heading=in_language(title, head.language), blocks=blocks) for title, blocks in plots]

    def list_notes(self) -> list[TextBlock]:
        note = _(
            "<strong>Changes with the order</strong> is over the pairs judged in both orders: the choice follows the "
            "order and not the story. The chance floor takes in each pair the chosen side by a coin, both orders "
            "together."
        )
        return [TextBlock(words=phrase(note)), tables.people_held_fixed()]


def _person_lines(dataset: Dataset, item: StepItem, groups: Sequence[str], *, salt: int) -> tuple[PersonLine, ...]:
    """What one of the people has where judges have their accuracy, in percent."""
    people, clusters = people_on_pairs(dataset, item, groups), dataset.clusters_of(groups)
    lines = person_lines(people[np.newaxis], clusters, ("preference",), rng=dataset.rng(SALT, salt, 99))
    return tuple(line.in_percent() for line in lines)


def _scores(dataset: Dataset, item: StepItem, pairs: JudgedPairs, *, salt: tuple[int, ...]) -> PairScores:
    choices = judge_orders.pair_choices(pairs.chosen, pairs.preferred)
    unknown = np.where(pairs.is_order_known, 0.0, np.nan)
    answered = np.isfinite(pairs.chosen)
    return PairScores(
        **item_fields(item),
        judge=pairs.judge,
        n_people=len(set(dataset.answers_to(item)["rater"])),
        n_pairs=int(answered.any(axis=1).sum()),
        n_both=int((answered.all(axis=1) & pairs.is_order_known).sum()),
        scores=(
            score_choices(dataset, pairs, "accuracy", choices.right, choices.wrong, salt=(*salt, 0)),
            score_choices(dataset, pairs, "flip_rate", choices.changed + unknown, None, salt=(*salt, 1)),
            score_choices(
                dataset, pairs, "first_rate", choices.first + unknown, choices.second + unknown, salt=(*salt, 2)
            ),
        ),
        outcomes=group_outcomes(dataset, item, pairs.judge, pairs.groups),
    )
