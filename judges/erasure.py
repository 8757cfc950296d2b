"""What calls forget when the writer of a story withdraws: the text that was sent, and what was said of it."""

from collections.abc import Sequence
from typing import Any

from judges.models import Call

REASON = "The text was erased, since its writer withdrew."


def empty_calls(stories: Sequence[int], **_: Any) -> None:
    """Empty every call about these stories; one that was still to be sent ends without an answer."""
    about = Call.objects.filter(story__in=stories)
    about.filter(state__in=Call.PENDING).update(state=Call.State.BLOCKED, lease="", lease_until=None, reason=REASON)
    about.update(request={}, response="")
