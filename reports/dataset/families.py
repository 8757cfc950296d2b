"""Which sources are models of a judge's own family, by what stories and names say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judges.families import find_family
from studies.models import Source

if TYPE_CHECKING:
    from reports.dataset import Dataset

FACTOR = "family"  # of stories


@dataclass(frozen=True)
class FamilySources:
    """Names of the sources of the judge's own family of models, and of those of others; the rest is not known."""

    own: tuple[str, ...]
    others: tuple[str, ...]


def split_sources(dataset: Dataset, judge: str) -> FamilySources | None:
    """Models' sources by whether they are of the judge's family; None if none is, or none is of another.

    A source is of the family that its stories' factor `family` says, else of its maker, by its name. A judge is of the
    family with which its model's name begins, or of its model's maker; its own name stands in for an unknown model.
    """
    row = dataset.judge_by_slug.get(judge)
    model = (row.model if row and row.model else judge).casefold()
    maker = find_family(model)
    names = (model, model.rpartition("/")[2])
    own, others = [], []
    for source in sorted(name for name, kind in dataset.sources if kind == Source.Kind.MODEL):
        family = _family_of(dataset, source)
        source_maker = find_family(family or source)
        is_named = bool(family) and (family == maker.casefold() or any(_begins(name, family) for name in names))
        if is_named or (maker and maker == source_maker):
            own.append(source)
        elif family or (maker and source_maker):
            others.append(source)
    return FamilySources(tuple(own), tuple(others)) if own and others else None


def _begins(name: str, family: str) -> bool:
    """Whether a name begins with the family's: "mini-2" with "mini", and "minimax" not."""
    return name.startswith(family) and not name[len(family) :][:1].isalpha()


def _family_of(dataset: Dataset, source: str) -> str:
    """What all stories of a source say by the factor, in small letters; "" if they do not, or not the same."""
    stories = [story for story, of_story in dataset.source_by_story.items() if of_story.name == source]
    families = {dataset.story_factor(story, FACTOR) for story in stories}
    return families.pop() if len(families) == 1 else ""
