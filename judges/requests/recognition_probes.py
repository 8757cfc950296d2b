"""Whether a model knows a story: it is shown the beginning and asked for the rest, and what it says is counted.

Asked as calls of a run, each by itself, so that nothing that it says reaches a judgement. What came of it stands with
what was read in the reply (`settlement.recognition_results`); no answer of a rater is made of it.
"""

from judges import prompts
from judges.models import Call, Judge
from judges.requests.planned_calls import PlannedCall
from studies.models import Story

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
    block = prompts.fence(excerpt, mark, canary=canary)
    return PlannedCall(None, None, story, request, {block: story}, kind=Call.Kind.PROBE)


def divide(text: str) -> tuple[str, str]:
    """The beginning that is shown, and the rest."""
    words = text.split()
    n = max(1, min(N_WORDS, len(words) // 3))
    return " ".join(words[:n]), " ".join(words[n:])


def prompt_document() -> dict[str, str]:
    """The words of the probe, for the document of a run."""
    prompt = prompts.find_built_in(PROMPT)
    return {name: str(getattr(prompt, name)) for name in ("name", "version", "system", "template")}
