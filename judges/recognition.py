"""Whether a model knows a story: it is shown the beginning and asked for the rest, and what it says is counted.

Asked as calls of a run, each by itself, so that nothing that it says reaches a judgement. What came of it stands with
what was read in the reply; no answer of a rater is made of it.
"""

from dataclasses import asdict
from typing import Any

from judges import parsing, prompts
from judges.models import Call, Judge
from judges.parsing import Failure
from judges.requests import PlannedCall
from studies.models import Provenance, Story

PROMPT = "recognition-probe"
# So many words are shown, but never more than a third of a text: the rest is what shows whether it is known.
N_WORDS = 60


def plan_probe(judge: Judge, story: Story, *, canary: str) -> PlannedCall:
    """The call that asks whether the judge's model knows the story. Raises InvalidPrompt."""
    prompt, mark = prompts.find_built_in(PROMPT), prompts.new_mark()
    excerpt, _rest = divide(story.text)
    rendered = prompts.render_probe(prompt.system, prompt.template, excerpt=excerpt, mark=mark, canary=canary)
    request = {
        "model": judge.model,
        "messages": prompts.join(rendered),
        "parameters": judge.parameters,
        "schema": {"type": "object", "properties": {"known": {"type": "string", "enum": ["yes", "no"]}}},
    }
    block = prompts.fenced(excerpt, mark, canary=canary)
    return PlannedCall(None, None, story, request, {block: story}, kind=Call.Kind.PROBE)


def divide(text: str) -> tuple[str, str]:
    """The beginning that is shown, and the rest."""
    words = text.split()
    n = max(1, min(N_WORDS, len(words) // 3))
    return " ".join(words[:n]), " ".join(words[n:])


def read_reply(text: str, *, finish_reason: str, story: Story, canary: str) -> dict[str, Any] | Failure:
    """What the model says that it knows, and how much of it is true; or the failure that the reply is. One query."""
    if prompts.canary_leaked(text, canary):
        return Failure("unreadable", parsing.LEAKED)
    reply = parsing.parse_recognition(text, finish_reason=finish_reason)
    if isinstance(reply, Failure):
        return reply
    row = Provenance.objects.filter(story=story).select_related("source", "story").first()
    author = str(row.factors.get("author", "")) if row else ""
    _excerpt, rest = divide(row.story.text if row else "")
    knowledge = parsing.score_recognition(reply, title=row.title if row else "", author=author, rest=rest)
    return asdict(reply) | asdict(knowledge) | {"is_proven": knowledge.is_proven}


def prompt_document() -> dict[str, str]:
    """The words of the probe, for the document of a run."""
    prompt = prompts.find_built_in(PROMPT)
    return {name: str(getattr(prompt, name)) for name in ("name", "version", "system", "template")}
