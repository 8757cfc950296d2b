"""What calls forget when the writer of a story withdraws: the text that was sent, and what was said of it."""

from collections.abc import Sequence
from typing import Any

from judges import calls
from judges.models import Attempt, Call, Parse, Run, Text
from studies.models import Story

REASON = "The text was erased, since its writer withdrew."


def empty_calls(stories: Sequence[int], **_: Any) -> None:
    """Empty every call about these stories or about their groups; one that was still to be sent ends without an answer.

    What is erased: the stories' texts as they were sent, every body that came back, and what was read in it.
    """
    Text.objects.filter(story__in=stories).update(content="")
    about = Call.objects.filter(pk__in=_find_calls(stories))
    about.filter(state__in=Call.PENDING).update(state=Call.State.BLOCKED, reason=REASON)
    about.update(request={}, request_sha256="")
    attempts = Attempt.objects.filter(call__in=about)
    attempts.update(body="")
    Parse.objects.filter(attempt__in=attempts).update(values={}, reason="")


def _find_calls(stories: Sequence[int]) -> list[int]:
    """Ids of the calls in which the words of these stories are sent."""
    erased = Story.objects.filter(pk__in=stories)
    groups = Call.objects.filter(story=None, assignment__group__stories__in=stories).distinct()
    in_groups = groups.select_related("assignment__seat")
    about_groups = [call.pk for call in in_groups if any(calls.is_about(call, story) for story in erased)]
    return [
        *Call.objects.filter(story__in=stories).values_list("pk", flat=True),
        *about_groups,
        *_find_calls_that_show(stories),
    ]


def _find_calls_that_show(stories: Sequence[int]) -> list[int]:
    """Ids of the calls in which one of these stories is an example before the question about another."""
    hashes = set(Text.objects.filter(story__in=stories).values_list("pk", flat=True))
    codes = set(Story.objects.filter(pk__in=stories).values_list("code", flat=True))
    runs = Run.objects.filter(study__stories__in=stories).distinct()
    showing = [run.pk for run in runs if codes.intersection(run.frozen.get("example_stories", []))]
    rows = Call.objects.filter(run__in=showing).values_list("pk", "request")
    return [pk for pk, request in rows if hashes.intersection(calls.hashes_of(request))]
