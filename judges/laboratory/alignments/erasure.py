"""What an alignment forgets when an expert or the writer of a story withdraws: what was shown, and what came back."""

from collections.abc import Sequence
from typing import Any

from annotation.models import Rater, Response
from judges.models import Call, GeneratedText, PromptProposal, Text
from judges.requests import texts
from judges.settlement import erasure


def forget(rater: Rater, stories: Sequence[int], **_: Any) -> None:
    """Empty every call for a proposal in which answers of the rater or words of these stories stand, and its reply."""
    theirs = set(Response.objects.filter(assignment__rater=rater).values_list("pk", flat=True))
    about = set(Call.objects.filter(story__in=stories).values_list("pk", flat=True))
    rows = PromptProposal.objects.filter(alignment__study=rater.study_id)
    forgotten = [row.draft_id for row in rows if theirs & set(row.responses) or about & set(row.calls)]
    if not forgotten:
        return
    calls = Call.objects.filter(draft__in=forgotten)
    hashes = {sha256 for request in calls.values_list("request", flat=True) for sha256 in texts.hashes_of(request)}
    # The cases stand in fences with a number of their own, so that no other call shares these texts.
    Text.objects.filter(pk__in=hashes).exclude(story=None).update(content="")
    erasure.empty(calls)
    GeneratedText.objects.filter(draft__in=forgotten).update(text="", cleaned="")
