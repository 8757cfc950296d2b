"""What a model said of a text that it may know, beside what is true of it. Nothing that is sent is made of this."""

from dataclasses import asdict
from typing import Any

from judges import parsing, prompts
from judges.parsing import Failure
from judges.requests import recognition_probes
from studies.models import Provenance, Story


def read_reply(text: str, *, finish_reason: str, story: Story, canary: str) -> dict[str, Any] | Failure:
    """What the model says that it knows, and how much of it is true; or the failure that the reply is. One query."""
    if prompts.leaks_canary(text, canary):
        return Failure("unreadable", parsing.LEAKED)
    reply = parsing.parse_recognition(text, finish_reason=finish_reason)
    if isinstance(reply, Failure):
        return reply
    row = Provenance.objects.filter(story=story).select_related("source", "story").first()
    author = str(row.factors.get("author", "")) if row else ""
    _excerpt, rest = recognition_probes.divide(row.story.text if row else "")
    knowledge = parsing.score_recognition(reply, title=row.title if row else "", author=author, rest=rest)
    return asdict(reply) | asdict(knowledge) | {"is_proven": knowledge.is_proven}
