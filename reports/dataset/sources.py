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
    # Columns and no rows: with the story would come its text.
    rows = Provenance.objects.filter(story__study=study).order_by("story__code")
    columns = rows.values_list("story__code", "source__name", "source__kind", "factors")
    return {code: StorySource(name=name, kind=kind, factors=dict(factors)) for code, name, kind, factors in columns}


def list_factors(study: Study) -> list[str]:
    """The names of the factors that its stories have, in alphabetical order."""
    factors_by_story = Provenance.objects.filter(story__study=study).values_list("factors", flat=True)
    return sorted({name for of_story in factors_by_story for name in of_story})
