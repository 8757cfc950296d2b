"""Judges beside people on whole groups: what figures about pairs and about rankings share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from reports.dataset.judged import answers_to
from reports.document.values import Floor
from reports.figures.base import ItemRow, Listing, ends_of_mean
from reports.figures.judges.beside_people import JudgesBesidePeople
from reports.figures.judges.outcomes import Outcomes, SourceOutcomes, count_outcomes
from reports.figures.judges.person_lines import PersonLine
from reports.figures.judges.scores import ScorePart, WithScores, without_units
from reports.lazy import np
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from stats.arrays import FloatArray


@dataclass(frozen=True, kw_only=True)
class GroupScores(ItemRow, WithScores):
    """One judge on one question about groups."""

    person_lines: tuple[PersonLine, ...] = ()


R = TypeVar("R", bound=GroupScores)


class GroupFigure(JudgesBesidePeople[R]):
    """The same of groups: a figure gives which items it is about, and the scores that judges have there."""

    def is_about(self, item: StepItem) -> bool:
        raise NotImplementedError(self.key)

    def score_judges(self, dataset: Dataset, item: StepItem, *, salt: int) -> Iterator[R]:
        """One row for each judge that answered the item."""
        raise NotImplementedError(self.key)

    def compute(self, dataset: Dataset) -> Listing[R]:
        items = [item for item in dataset.items if self.is_about(item)]
        return Listing(tuple(row for n, item in enumerate(items) for row in self.score_judges(dataset, item, salt=n)))


def mean_part(
    dataset: Dataset,
    part: str,
    values: FloatArray,
    groups: Sequence[str],
    *,
    bounds: tuple[float, float],
    floor: Callable[[], Floor],
    why_none: Incomputable,
    salt: tuple[int, ...],
) -> ScorePart:
    """The mean over some groups with its interval over clusters and its floor, or why there is none.

    values : shape (G,), nan for a group that has none
    """
    present = np.isfinite(values)
    if not present.any():
        return without_units(part, why_none)
    # Groups on one premise are one cluster: what a judge takes wrongly there, it takes wrongly in each of them.
    clusters = dataset.clusters_of(group for group, is_present in zip(groups, present, strict=True) if is_present)
    low, high = bounds
    ends = ends_of_mean(values[present], clusters, rng=dataset.rng(*salt, 0), low=low, high=high)
    n = int(present.sum())
    return ScorePart(part=part, value=float(values[present].mean()), n=n, n_units=n, interval=ends, floor=floor())


def group_outcomes(dataset: Dataset, item: StepItem, judge: str, groups: Sequence[str]) -> Outcomes:
    """What became of the one answer that is expected of each group; it counts for every source that stands in it."""
    rows = answers_to(dataset.judges, [item])
    rows = rows[(rows["rater"] == judge) & rows["group"].isin(groups)]
    by_source = []
    for source, _kind in dataset.sources:
        of_source = {group for group, story in dataset.units if dataset.source_of(story) == source} & set(groups)
        counted = count_outcomes(rows[rows["group"].isin(of_source)], len(of_source))
        by_source.append(SourceOutcomes(source=source, **counted))
    return Outcomes(**count_outcomes(rows, len(groups)), by_source=tuple(by_source))
