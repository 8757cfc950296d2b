"""Who wrote each story. The one place where results meet provenance; whoever asks has made sure that they may."""

from __future__ import annotations

from typing import Any

from studies.models import Provenance, Study


def source_by_story(study: Study) -> dict[str, dict[str, Any]]:
    """Source, kind and factors of each story by its code."""
    rows = Provenance.objects.filter(story__study=study).select_related("source", "story").order_by("story__code")
    return {
        row.story.code: {"source": row.source.name, "source_kind": row.source.kind}
        | {f"factor_{name}": value for name, value in row.factors.items()}
        for row in rows
    }


def list_factors(study: Study) -> list[str]:
    """The names of the factors that its stories have, in alphabetical order."""
    factors_by_story = Provenance.objects.filter(story__study=study).values_list("factors", flat=True)
    return sorted({name for of_story in factors_by_story for name in of_story})
