"""Pairs of stories of which people chose one: which of the two most people prefer, and how long both are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports.dataset.lengths import story_lengths

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.choices import Choice


@dataclass(frozen=True)
class JudgedPair:
    """A group of two stories that people chose from.

    choices : of how many people each story, and neither, in the order of `stories`
    n_words : of each story; nan for a text that is withheld
    """

    group: str
    stories: tuple[str, str]
    n_chosen: tuple[int, int]
    n: int
    n_words: tuple[float, float]

    @property
    def preferred(self) -> int | None:
        """The place of the story that more than half chose; None without one."""
        return next((place for place in (0, 1) if 2 * self.n_chosen[place] > self.n), None)


def list_pairs(dataset: Dataset, choices: Sequence[Choice]) -> list[JudgedPair]:
    """Every group of two stories with a choice, in the order of the groups. One query."""
    choices_by_group = defaultdict[str, list[str]](list)
    for choice in choices:
        choices_by_group[choice.group].append(choice.story)
    stories_by_group = defaultdict[str, list[str]](list)
    for group, story in dataset.units:
        stories_by_group[group].append(story)
    lengths = dict(zip(dataset.units, story_lengths(dataset, dataset.units).tolist(), strict=True))
    pairs = []
    for group, stories in stories_by_group.items():
        if len(stories) == 2 and group in choices_by_group:
            first, second = stories
            chosen = choices_by_group[group]
            pairs.append(
                JudgedPair(
                    group=group,
                    stories=(first, second),
                    n_chosen=(chosen.count(first), chosen.count(second)),
                    n=len(chosen),
                    n_words=(lengths[group, first], lengths[group, second]),
                )
            )
    return pairs
