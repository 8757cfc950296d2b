"""How often somebody names the preferred story of a pair: a judge, people, a metric, or a rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports.document.values import IntervalEstimate
from reports.figures.base import share_fields
from reports.lazy import np

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.pairs import JudgedPair


@dataclass(frozen=True, kw_only=True)
class NamedAccuracy(IntervalEstimate):
    """In percent of n choices in n_pairs pairs, over clusters.

    who : "person", one held against the majority of the others of the pair; "judge", the mean over both orders;
        "metric", the better-scored story; "longer", the rule that always takes the longer story; of two stories with
        one score or length each half right
    """

    who: str
    name: str
    n: int
    n_pairs: int


def share_right(
    dataset: Dataset, who: str, name: str, is_right: Sequence[float], groups: Sequence[str], *, salt: tuple[int, ...]
) -> NamedAccuracy:
    """The accuracy of somebody whose choices in these groups are right, 1, or wrong, 0, or half of each."""
    fields = share_fields(is_right, dataset.clusters_of(groups), rng=dataset.rng(*salt))
    return NamedAccuracy(who=who, name=name, n=len(is_right), n_pairs=len(set(groups)), **fields)


def take_longer(dataset: Dataset, pairs: Sequence[JudgedPair], *, salt: tuple[int, ...]) -> NamedAccuracy | None:
    """Of whoever always takes the longer story; None where no preferred story's length is known."""
    known = [pair for pair in pairs if pair.preferred is not None and not np.isnan(pair.n_words).any()]
    if not known:
        return None
    is_right = []
    for pair in known:
        chosen, other = pair.n_words[pair.preferred or 0], pair.n_words[1 - (pair.preferred or 0)]
        is_right.append(0.5 if chosen == other else float(chosen > other))
    return share_right(dataset, "longer", "", is_right, [pair.group for pair in known], salt=salt)
