"""A model fills a cloze: the whole story at once, or section by section, and its answer is taken apart into the blanks.

What people see on the page, the model is told: the step's text, which blanks make which section, kinds and hints of the
blanks, and constraints if the step shows them. A way out is offered if the step has one; it is
ours, so a model that takes it is never compared with the models of the paper, which had none.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, overload

from judges import parsing, prompts, reasons
from judges.parsing import Failure
from judges.parsing.objects import find_objects
from judges.parsing.outcomes import Contradiction
from studies.cloze.alignment import Unalignable, align
from studies.cloze.compilation import SUGGESTED
from studies.documents import skeleton
from studies.documents.cloze import Blank, ClozeDocument, Section
from studies.layouts.cloze import Switches

WHOLE, BY_SECTION = "quiet-fill-whole", "quiet-fill-section"
_STOPS = re.compile(r"\W*I can(?:not|['’]t) go on at blank (?P<number>\d{1,4})\W*", re.IGNORECASE)


class PromptWords(Protocol):
    """What is read of a prompt: a built-in one, or a row."""

    @property
    def system(self) -> str: ...
    @property
    def template(self) -> str: ...


@dataclass(frozen=True)
class Stop:
    """The model says that it cannot go on, and at which blank. Ours; the paper's models could not say so."""

    blank: int


def build_request(
    document: ClozeDocument,
    switches: Switches,
    *,
    mark: str,
    step_text: str = "",
    prompt: PromptWords | None = None,
    canary: str = "",
) -> dict[str, Any]:
    """The messages that ask for the whole story, and the schema of the answer.

    mark : the number of the fence around the story
    step_text : what people read above the story
    prompt : the words to ask with; the built-in ones if there are none

    The schema carries the skeleton and the hints, too: a model that answers from the schema alone needs them.
    """
    text = document.marked_text
    hints = {str(blank.number): blank.hint for blank in document.blanks}
    context = _context(document.sections, document, switches, step_text) | {"section": ""}
    return {
        "messages": _messages(prompt or prompts.find_built_in(WHOLE), text, context, mark, canary),
        "schema": {"type": "string", "skeleton": text, "hints": hints},
    }


def build_section_request(
    document: ClozeDocument,
    switches: Switches,
    *,
    section: int,
    fills: Mapping[int, str],
    mark: str,
    step_text: str = "",
    prompt: PromptWords | None = None,
    canary: str = "",
) -> dict[str, Any]:
    """The messages that ask for the blanks of one section, and the schema of the answer.

    fills : what the model wrote into the blanks before it, by number; they stand in the text
    """
    text = skeleton.MARKER.sub(lambda marker: fills.get(int(marker[1]), marker[0]), document.marked_text)
    part = next(s for s in document.sections if s.number == section)
    context = _context([part], document, switches, step_text) | {"section": f"{part.number}, {part.title}"}
    numbers = [str(blank.number) for blank in document.blanks_of(section)]
    return {
        "messages": _messages(prompt or prompts.find_built_in(BY_SECTION), text, context, mark, canary),
        "schema": {
            "type": "object",
            "properties": {number: {"type": "string", "minLength": 1} for number in numbers},
            "required": numbers,
            "additionalProperties": False,
        },
    }


def prompt_document() -> dict[str, str]:
    """All that a request holds beyond the cloze, for the document of a run."""
    prompt = prompts.find_built_in(WHOLE)
    return {name: str(getattr(prompt, name)) for name in ("name", "version", "citation", "system", "template")}


@overload
def parse_fills(reply: str, *, finish_reason: str, document: ClozeDocument) -> dict[int, str] | Failure: ...
@overload
def parse_fills(
    reply: str, *, finish_reason: str, document: ClozeDocument, may_stop: bool
) -> dict[int, str] | Stop | Failure: ...
def parse_fills(
    reply: str, *, finish_reason: str, document: ClozeDocument, may_stop: bool = False
) -> dict[int, str] | Stop | Failure:
    """The fill of each blank by number, or the failure that the reply is. Nothing is guessed.

    may_stop : whether the model was offered a way out; without one, its stopping is no answer
    """
    story = parsing.clean_reply(reply, finish_reason=finish_reason)
    if isinstance(story, Failure):
        return story
    if may_stop and (stop := _find_stop(story, [blank.number for blank in document.blanks])):
        return stop
    try:
        return align(document, parsing.strip_fence(story))
    except Unalignable as error:
        return parsing.find_refusal(story) or Failure("unreadable", str(error))


def parse_section(
    reply: str, *, finish_reason: str, document: ClozeDocument, section: int, may_stop: bool = False
) -> dict[int, str] | Stop | Failure:
    """The fill of each blank of the section by number, or the failure that the reply is. Nothing is guessed."""
    answer = parsing.clean_reply(reply, finish_reason=finish_reason)
    if isinstance(answer, Failure):
        return answer
    numbers = [blank.number for blank in document.blanks_of(section)]
    if may_stop and (stop := _find_stop(answer, numbers)):
        return stop
    try:
        objects = [entry for entry in find_objects(parsing.strip_fence(answer)) if not entry.is_inner]
    except Contradiction as error:
        return Failure("unreadable", str(error))
    if len(objects) != 1 or objects[0].before.strip() or objects[0].after.strip():
        reason = Failure("unreadable", reasons.NOT_ONE_OBJECT)
        return parsing.find_refusal(answer) or reason
    return _read_section(objects[0].content, numbers)


def _read_section(content: Mapping[str, Any], numbers: list[int]) -> dict[int, str] | Failure:
    """The fills that an object gives, one for each of the numbers and no other."""
    if unknown := next((name for name in content if name not in map(str, numbers)), None):
        return Failure("out_of_range", reasons.OTHER_BLANK % {"blank": unknown})
    for number in numbers:
        words = content.get(str(number))
        if words is None or words == "":
            return Failure("unreadable", reasons.EMPTY_BLANK % {"blank": number})
        if not isinstance(words, str):
            return Failure("out_of_range", reasons.NO_WORDS % {"blank": number})
        if not words.strip():
            return Failure("unreadable", reasons.EMPTY_BLANK % {"blank": number})
        if skeleton.MARKER.search(words):
            return Failure("unreadable", reasons.OPEN_BLANK % {"blank": number})
    return {number: content[str(number)].strip() for number in numbers}


def _find_stop(reply: str, numbers: list[int]) -> Stop | None:
    """The way out, taken at one of the blanks with these numbers; None if the reply is anything else or more."""
    match = _STOPS.fullmatch(reply)
    return Stop(int(match["number"])) if match and int(match["number"]) in numbers else None


def _messages(prompt: PromptWords, text: str, context: dict[str, Any], mark: str, canary: str) -> list[prompts.Message]:
    context |= {"mark": mark, "skeleton": prompts.fence(text, mark, canary=canary)}
    return prompts.messages_of(prompt.system, prompt.template, context, mark=mark, canary=canary)


def _context(
    sections: tuple[Section, ...] | list[Section], document: ClozeDocument, switches: Switches, step_text: str
) -> dict[str, Any]:
    """What a template knows of the sections that are to be filled."""
    is_whole = len(sections) == len(document.sections)
    return {
        "background": step_text,
        "blanks": "\n".join(line for section in sections for line in _blanks(document, section, is_headed=is_whole)),
        "constraints": "\n".join(line for section in sections for line in _constraints(section, is_headed=is_whole))
        if switches.constraints
        else "",
        "may_stop": switches.way_out,
        "n_sections": len(document.sections),
    }


def _blanks(document: ClozeDocument, section: Section, *, is_headed: bool) -> Iterator[str]:
    if is_headed:
        yield _heading(section)
    yield from map(_blank, document.blanks_of(section.number))


def _blank(blank: Blank) -> str:
    return f"{blank.number} ({SUGGESTED[blank.kind]})" + (f": {blank.hint}" if blank.hint else "")


def _constraints(section: Section, *, is_headed: bool) -> Iterator[str]:
    if is_headed:
        yield _heading(section)
    yield from (f"- {'Must' if constraint.must else 'Should'}: {constraint.text}" for constraint in section.constraints)


def _heading(section: Section) -> str:
    return f"Section {section.number}, {section.title}"
