"""Prompts that were brought nearer to experts: which judge has which, and on which groups alone it counts."""

from __future__ import annotations

from dataclasses import dataclass

from judges.models import PromptProposal
from studies.models import Study


@dataclass(frozen=True)
class AlignedJudge:
    """A judge with a changed prompt, beside the one that it was made from. held_out : codes of groups"""

    base: str
    judge: str
    prompt: str
    held_out: tuple[str, ...]


def read_aligned_judges(study: Study, *, without: frozenset[str]) -> list[AlignedJudge]:
    """Every accepted version, in the order in which they were proposed. One query."""
    rows = PromptProposal.objects.filter(alignment__study=study, judge__isnull=False)
    rows = rows.select_related("alignment__judge", "judge", "prompt").order_by("pk")
    aligned = [
        AlignedJudge(row.alignment.judge.slug, row.judge.slug, str(row.prompt), tuple(row.alignment.held_out))
        for row in rows
        if row.judge is not None
    ]
    return [row for row in aligned if row.base not in without and row.judge not in without]
