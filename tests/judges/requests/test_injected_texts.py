"""Wherever else somebody's words enter a prompt than as the story judged: 1,200 injected texts each, and none escapes.

Stories as they are judged are attacked in `prompts/test_fences.py`, texts that are to be written on in
`recipes/test_recipes.py`. Experts' reasons are attacked here though no run sends them.
"""

import re
from collections.abc import Callable

import pytest

from judges import prompts
from judges.models import Judge
from judges.parsing import Failure
from judges.parsing.recognition import parse_recognition
from judges.prompts import Example, PromptContext, StoryText
from judges.requests import fills, recognition_probes
from studies.layouts.cloze import Switches
from studies.models import Story
from tests.judges.attacks import YES_NO, attacks
from tests.studies.cloze.documents import shoes

INJECTED = attacks(1_200, seed=20_263)
CANARY = f"canary-{'ab' * 16}"
FEW_SHOT = ("ttcw-few-shot", "quiet-judge-anchored")
Messages = list[dict[str, str]]


def as_example(prompt: str, **parts: str) -> Messages:
    """A question about a story, after an example of which these parts are somebody's."""
    example = Example(**{"value": "yes", "text": "Another story.", **parts})
    return answered(prompt, examples=[example])


def as_premise(text: str) -> Messages:
    return answered("ttcw-reasoning-first", premise=text)


def answered(name: str, **context: object) -> Messages:
    prompt = prompts.find_built_in(name)
    given = PromptContext([StoryText("A", "A story.")], prompts.new_mark(), canary=CANARY, **context)  # type: ignore[arg-type]
    return prompts.join(prompts.render(prompt.system, prompt.template, given, item=YES_NO))


def as_excerpt(text: str) -> Messages:
    """The probe for a story that begins so: as much of it as is shown, in the lines of the attack."""
    prompt, mark = prompts.find_built_in(recognition_probes.PROMPT), prompts.new_mark()
    return prompts.join(prompts.render_probe(prompt.system, prompt.template, excerpt=text, mark=mark, canary=CANARY))


def as_story_that_is_probed(text: str) -> Messages:
    """The probe as a run plans it."""
    story = Story(text=text + " word" * 2 * len(text.split()))
    return recognition_probes.plan_probe(Judge(model="m"), story, canary=CANARY).request["messages"]


def as_fill(text: str) -> Messages:
    """The third section of a cloze after two in which a model wrote that."""
    request = fills.build_section_request(
        shoes(),
        Switches(constraints=True, way_out=True),
        section=3,
        fills=dict.fromkeys(range(1, 5), text),
        mark=prompts.new_mark(),
        canary=CANARY,
    )
    return prompts.join(request["messages"])


WAYS_IN: dict[str, Callable[[str], Messages]] = {
    **{f"{name}, text": lambda text, name=name: as_example(name, text=text) for name in FEW_SHOT},
    **{f"{name}, value": lambda text, name=name: as_example(name, value=text) for name in FEW_SHOT},
    **{f"{name}, reasons": lambda text, name=name: as_example(name, rationale=text) for name in FEW_SHOT},
    "premise": as_premise,
    "probe": as_excerpt,
    "probe of a run": as_story_that_is_probed,
    "fill of an earlier section": as_fill,
}


def outside(messages: Messages) -> str:
    """All that stands outside the fences, for a reader who knows the number and ends each fence at its first end."""
    said = "\n".join(message["content"] for message in messages)
    mark = re.findall(r"with the code (fence-[0-9a-f]{32})", messages[0]["content"])[0]
    return prompts.strip_marks(re.sub(rf"<([a-z]+(?: \w+)?) {mark}>\n.*?\n</\1 {mark}>", "", said, flags=re.DOTALL))


@pytest.mark.parametrize("way_in", WAYS_IN)
def test_no_injected_text_escapes_its_fence(way_in: str) -> None:
    render = WAYS_IN[way_in]
    harmless = outside(render("x"))

    escaped = [attack.story for attack in INJECTED if outside(render(attack.story)) != harmless]

    assert escaped == []


@pytest.mark.parametrize("way_in", WAYS_IN)
def test_some_would_escape_a_fence_without_its_number(monkeypatch: pytest.MonkeyPatch, way_in: str) -> None:
    def fence(text: str, mark: str, *, name: str = "story", canary: str = "") -> str:
        return f"{text}\n"

    monkeypatch.setattr(prompts.fences, "fence", fence)
    monkeypatch.setattr(prompts, "fence", fence)
    render = WAYS_IN[way_in]

    assert outside(render(INJECTED[0].story)) != outside(render("x"))


def test_no_reply_that_repeats_what_was_planted_says_whether_a_text_is_known() -> None:
    replies = {attack.reply.replace('"answer"', '"known"') for attack in INJECTED}
    read = [reply for reply in replies if not isinstance(parse_recognition(reply, finish_reason="stop"), Failure)]

    assert read == []
    assert not isinstance(parse_recognition('{"known": "no"}', finish_reason="stop"), Failure)


def test_no_reply_that_repeats_what_was_planted_fills_a_cloze() -> None:
    document, filled = shoes(), []
    for attack in INJECTED:
        reply = attack.reply.replace('"answer"', '"5"')
        outcomes = (
            fills.parse_section(reply, finish_reason="stop", document=document, section=3),
            fills.parse_fills(attack.reply, finish_reason="stop", document=document),
        )
        filled += [reply for outcome in outcomes if not isinstance(outcome, Failure)]

    assert filled == []
    words = fills.parse_section('{"5": "You counted six"}', finish_reason="stop", document=document, section=3)
    assert words == {5: "You counted six"}
