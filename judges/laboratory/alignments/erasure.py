"""What an alignment forgets when an expert or the writer of a story withdraws: what was shown, and what came back."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Q

from annotation.models import Rater, Response
from judges.models import Call, GeneratedText, PromptProposal
from judges.settlement import erasure


def forget(rater: Rater, stories: Sequence[int], **_: Any) -> None:
    """Empty every call for a proposal in which answers of the rater or words of these stories stand, and its reply."""
    theirs = set(Response.objects.filter(assignment__rater=rater).values_list("pk", flat=True))
    about = set(Call.objects.filter(story__in=stories).values_list("pk", flat=True))
    # The stories stand in further studies, too, whose experts were shown them.
    in_studies = Q(alignment__study=rater.study_id) | Q(alignment__study__stories__in=stories)
    rows = PromptProposal.objects.filter(in_studies).distinct()
    forgotten = [row.draft_id for row in rows if theirs & set(row.responses) or about & set(row.calls)]
    if not forgotten:
        return
    erasure.empty(Call.objects.filter(draft__in=forgotten))
    GeneratedText.objects.filter(draft__in=forgotten).update(text="", cleaned="")
