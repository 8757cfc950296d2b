"""Which story of a group people chose, and in which order they saw the stories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.models import Rater, ResponseEvent, Seat
from annotation.responses import imports
from reports.lazy import np

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.step_items import StepItem
    from stats.arrays import BoolArray, FloatArray

NEITHER, UNKNOWN = -1, -2


@dataclass(frozen=True)
class Choice:
    """One rater's choice in one group.

    order : the stories as they were shown; of an imported answer by code, since nobody knows
    story : the one chosen, "" if neither
    is_imported : whether the answer was given elsewhere
    """

    rater: str
    group: str
    order: tuple[str, ...]
    story: str
    is_imported: bool = False


@dataclass(frozen=True)
class ChoiceTable:
    """Choices as numbers, shape (R, U) with a unit for each group: which story, by its code's rank in the alphabet.

    positions : the same choices by the position on the rater's page, of an imported answer UNKNOWN
    stories : shape (R, U, S): which story stood at each position of the page
    is_imported : shape (R, U): whether no page is known
    """

    chosen: FloatArray
    positions: FloatArray
    stories: FloatArray
    is_imported: BoolArray

    def at_positions(self, positions: FloatArray, rng: np.random.Generator) -> FloatArray:
        """What would have been chosen, had raters taken these positions of their pages; any of the stories, drawn from
        rng, where the position or the page is not known. So nothing rests on how stories are called."""
        is_none = np.isnan(positions) | (positions == NEITHER)
        is_anywhere = ~is_none & (self.is_imported | (positions == UNKNOWN))
        indices = np.where(is_none | is_anywhere, 0, positions).astype(np.int64)
        stories = np.take_along_axis(self.stories, indices[..., np.newaxis], axis=-1)[..., 0]
        if is_anywhere.any():
            drawn = rng.integers(np.maximum(np.isfinite(self.stories).sum(axis=-1), 1))
            stories = np.where(is_anywhere, drawn, stories)
        return np.asarray(np.where(is_none, positions, stories), dtype=np.float64)


def choices_of(dataset: Dataset, item: StepItem) -> list[Choice]:
    """People's answers to an item that asks for one of the stories of a group. Two queries."""
    seats = Seat.objects.filter(study=dataset.study, rater_kind=Rater.Kind.PERSON).select_related("group")
    order_by_seat = {(seat.group.code, seat.number): tuple(seat.order) for seat in seats}
    imported = imported_choices(dataset, item)
    rows = dataset.answers_to(item).sort_values(["group", "rater"])
    choices = []
    for rater, group, seat, value in zip(rows["rater"], rows["group"], rows["seat"], rows["value"], strict=True):
        order = order_by_seat[group, seat]
        story = value if value in order else ""
        choices.append(Choice(rater, group, order, story, is_imported=(rater, group) in imported))
    return choices


def imported_choices(dataset: Dataset, item: StepItem) -> set[tuple[str, str]]:
    """Rater and group of each answer to the item that was imported."""
    events = ResponseEvent.objects.filter(
        key=imports.EVENT_KEY,
        response__assignment__study=dataset.study,
        response__step__key=item.step.key,
        response__item__key=item.item.key,
    )
    return set(events.values_list("response__assignment__rater__code", "response__assignment__group__code"))


def choice_table(choices: list[Choice], groups: Sequence[str]) -> ChoiceTable:
    """The choices in these groups as arrays."""
    raters = sorted({choice.rater for choice in choices})
    most = max((len(choice.order) for choice in choices), default=0)
    chosen = np.full((len(raters), len(groups)), np.nan)
    positions, stories = chosen.copy(), np.full((*chosen.shape, most), np.nan)
    is_imported = np.zeros(chosen.shape, dtype=np.bool_)
    for choice in choices:
        at, codes = (raters.index(choice.rater), groups.index(choice.group)), sorted(choice.order)
        chosen[at] = codes.index(choice.story) if choice.story else NEITHER
        positions[at] = choice.order.index(choice.story) if choice.story else NEITHER
        if choice.is_imported:
            is_imported[at] = True
            positions[at] = UNKNOWN if choice.story else NEITHER
        stories[at][: len(codes)] = [codes.index(story) for story in choice.order]
    return ChoiceTable(chosen, positions, stories, is_imported)


def ranks_of(order: list[list[str]]) -> dict[str, float]:
    """The rank of each story, from 1; stories that share a place share the mean of their ranks."""
    ranks: dict[str, float] = {}
    n_before = 0
    for shared in order:
        ranks |= dict.fromkeys(shared, n_before + (len(shared) + 1) / 2)
        n_before += len(shared)
    return ranks
