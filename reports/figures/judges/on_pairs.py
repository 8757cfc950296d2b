"""Judges beside people on pairs: how often they prefer what most people do, and whether the order decides for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.judged_groups import JudgedPairs, judged_pairs, people_on_pairs
from reports.document.model import Block, Head, Subsection, TextBlock
from reports.document.phrases import in_language, phrase
from reports.document.values import Floor
from reports.figures.base import Figure, Listing, chance_floor, item_fields, without_value
from reports.figures.judges import tables
from reports.figures.judges.group_scores import GroupFigure, GroupScores, group_outcomes, mean_part
from reports.figures.judges.person_lines import PersonLine, person_lines
from reports.figures.judges.plots import judge_plot
from reports.figures.judges.scores import PARTS, Score
from reports.lazy import judge_orders, np
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from stats.arrays import BoolArray, FloatArray

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


def score_choices(
    dataset: Dataset,
    pairs: JudgedPairs,
    name: str,
    shares: FloatArray,
    of_the_other: FloatArray | None,
    *,
    salt: tuple[int, ...],
    names: Sequence[str] = PARTS,
) -> Score:
    """A mean over pairs, in percent, over all of them and over each of these parts.

    shares : shape (P,); of_the_other : the same had the judge chosen the other story
    """

    def floor(mask: BoolArray, salt: tuple[int, ...]) -> Floor:
        if of_the_other is None:
            return Floor(mean=None, upper=None, why=without_value("independent_of_order"))
        kept = mask & np.isfinite(shares)
        return chance_floor(judge_orders.flip_floor, shares[kept], of_the_other[kept], rng=dataset.rng(*salt, 1))

    return Score(
        statistic=name,
        parts=tuple(
            mean_part(
                dataset,
                part,
                np.where(mask, 100 * shares, np.nan),
                pairs.groups,
                bounds=(0, 100),
                floor=partial(floor, mask, (*salt, n)),
                why_none=_why_none(pairs, name),
                salt=(*salt, n),
            )
            for n, (part, mask) in enumerate(_parts(dataset, pairs).items())
            if part in names
        ),
    )


def _parts(dataset: Dataset, pairs: JudgedPairs) -> dict[str, BoolArray]:
    """Which pairs are in each part, shape (P,)."""
    kinds = {story: source.kind for story, source in dataset.source_by_story.items()}
    of_models = np.array([all(kinds.get(s) == "language_model" for s in two) for two in pairs.stories], dtype=np.bool_)
    masks: dict[str, BoolArray] = {"all": np.ones(len(pairs.groups), dtype=np.bool_)}
    if of_models.any() and not of_models.all():
        masks["models"] = of_models
    return masks | {"unanimous": pairs.is_unanimous, "split": (pairs.n_choices > 1) & ~pairs.is_unanimous}


def _why_none(pairs: JudgedPairs, name: str) -> Incomputable:
    if name == "accuracy":
        return Incomputable("no_unit_with_judge_and_people")
    return Incomputable("pairs_not_turned") if pairs.is_order_known.any() else Incomputable("order_not_known")
