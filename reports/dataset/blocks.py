"""Items that are answered on one scale, and so can be taken together: verdicts, and ratings between the same ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports.lazy import np

if TYPE_CHECKING:
    from reports.dataset import Cube, Dataset, StepItem
    from stats.arrays import FloatArray


@dataclass(frozen=True)
class ItemBlock:
    """Items about stories on one scale.

    kind : "verdicts", "scales", or "numbers", which stand alone since their units differ
    title : of the one item; of several scales their ends; "" for several verdicts
    values : all that could be answered, ascending; None of numbers
    cube : people's answers
    """

    kind: str
    title: str
    items: tuple[StepItem, ...]
    values: tuple[float, ...] | None
    cube: Cube


def item_blocks(dataset: Dataset) -> list[ItemBlock]:
    """Every block of a study: verdicts, then scales by their ends, then numbers."""
    blocks = []
    if verdicts := dataset.verdict_items:
        blocks.append(_block("verdicts", "", verdicts, dataset.verdict_cube, (0.0, 1.0)))
    by_ends: dict[tuple[int, int], list[StepItem]] = defaultdict(list)
    for item in dataset.items:
        if item.is_scale and item.level == "ordinal":
            by_ends[item.item.settings["low"], item.item.settings["high"]].append(item)
    for (low, high), scales in by_ends.items():
        points = tuple(float(point) for point in range(low, high + 1))
        blocks.append(_block("scales", f"{low}–{high}", scales, dataset.cube(scales), points))
    for item in dataset.items:
        if item.is_scale and item.level == "interval":
            blocks.append(_block("numbers", "", [item], dataset.cube([item]), None))
    return blocks


def share_a_scale(items: Sequence[StepItem]) -> bool:
    """Whether a point is as much on each: of one item, of verdicts, or of ratings between the same ends."""
    kinds = {(item.level, item.bounds) for item in items}
    return len(items) < 2 or (len(kinds) == 1 and items[0].level != "interval")


def _block(kind: str, title: str, items: list[StepItem], cube: Cube, values: tuple[float, ...] | None) -> ItemBlock:
    own = items[0].item.title or items[0].item.key
    return ItemBlock(kind, own if len(items) == 1 else title, tuple(items), values, cube)


def choice_ratings(dataset: Dataset, item: StepItem) -> FloatArray:
    """Answers to a choice as numbers, shape (R, U): which option it was."""
    position_by_value = {option["value"]: float(n) for n, option in enumerate(item.item.options)}
    answers = dataset.answers_to(item)
    cube = dataset.cube([item], answers.assign(analysed=answers["value"].map(position_by_value)))
    return np.asarray(cube.values[0], dtype=np.float64)
