"""Who wrote each story. The one place where results meet provenance; whoever asks has made sure that they may."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from studies.models import Provenance, Study


@dataclass(frozen=True)
class StorySource:
    """Who wrote a story.

    kind : one of `Source.Kind`
    factors : by name, what reports can group by, as "tier"
    """

    name: str
    kind: str
    factors: dict[str, Any]


def source_by_story(study: Study) -> dict[str, StorySource]:
    """The source of each story whose provenance is recorded, by the story's code."""
    rows = Provenance.objects.filter(story__study=study).select_related("source", "story").order_by("story__code")
    return {
        row.story.code: StorySource(name=row.source.name, kind=row.source.kind, factors=dict(row.factors))
        for row in rows
    }


def list_factors(study: Study) -> list[str]:
    """The names of the factors that its stories have, in alphabetical order."""
    factors_by_story = Provenance.objects.filter(story__study=study).values_list("factors", flat=True)
    return sorted({name for of_story in factors_by_story for name in of_story})
