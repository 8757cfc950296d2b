"""Messages: the words of a prompt with the stories, the items and all else that a person reads in their places."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict

from django.utils.translation import gettext as _

from judges.prompts import fences, templates
from judges.prompts.errors import InvalidPrompt
from judges.prompts.templates import AskedItem
from studies import items as item_types
from studies.items import ItemDefinition, StoryLabel


class Message(TypedDict):
    """One message in parts, which are read one after the other as they are."""

    role: str
    content: list[str]


class Question(ItemDefinition, Protocol):
    """What a prompt reads of an item, beyond what its type reads."""

    @property
    def type(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def background(self) -> str: ...
    @property
    def instruction(self) -> str: ...


@dataclass(frozen=True)
class StoryText:
    """A story as a model gets it: its letter in this seat, and its words."""

    letter: str
    text: str


@dataclass(frozen=True)
class Example:
    """What an expert answered about another story; text is that story, or "" if only the answer is shown."""

    value: str
    rationale: str = ""
    text: str = ""


def render(
    system: str,
    template: str,
    *,
    item: Question,
    stories: Sequence[StoryText],
    mark: str,
    premise: str = "",
    step_text: str = "",
    persona: str = "",
    examples: Sequence[Example] = (),
    canary: str = "",
) -> list[Message]:
    """The messages for one item about one story or several. Raises InvalidPrompt.

    The templates know: mark, stories and premise (fenced already; premise is "" if raters do not see it), background
    (all that people read above the question: the step's text, the item's title and its background), instruction,
    question, words (how to answer), type (of the item), examples, and n_stories. The stories are a part of their own,
    the same for all items.

    persona : as whom the model is told to answer, in the source's words
    canary : the code of the run that must not come back
    """
    shape = templates.shape_of(template)
    if shape.asks != "item" or shape.kind != "answer":
        raise InvalidPrompt(_("this prompt does not ask one item at a time"))
    kind = item_types.find_type(item.type)
    if shape.has_own_question and not kind.chooses_story:
        raise InvalidPrompt(_("this prompt asks itself which of two stories is better, so it can ask no other item"))
    context = _context(template, stories, mark=mark, premise=premise, examples=examples, canary=canary) | {
        "background": "\n\n".join(filter(None, [step_text, item.title, item.background])),
        "instruction": item.instruction,
        "question": item.question,
        "words": kind.words(item, stories=_labels(stories)),
        "type": item.type,
    }
    return messages_of(system, template, context, mark=mark, persona=persona, canary=canary)


def render_all(
    system: str,
    template: str,
    *,
    items: Sequence[Question],
    stories: Sequence[StoryText],
    mark: str,
    premise: str = "",
    step_text: str = "",
    persona: str = "",
    examples: Sequence[Example] = (),
    canary: str = "",
) -> list[Message]:
    """The messages for all items of a step in one reply. Raises InvalidPrompt.

    The templates know what those of `render` know but background, instruction, question, words and type: questions has
    them for each item, with its key and title; background is the step's text.
    """
    shape = templates.shape_of(template)
    if shape.asks != "story" or shape.kind != "answer":
        raise InvalidPrompt(_("this prompt does not ask all items of a step at once"))
    questions = [
        AskedItem(
            item.key,
            item.title,
            item.background,
            item.instruction,
            item.question,
            item_types.find_type(item.type).words(item, stories=_labels(stories)),
        )
        for item in items
    ]
    context = _context(template, stories, mark=mark, premise=premise, examples=examples, canary=canary)
    context |= {"background": step_text, "questions": questions}
    return messages_of(system, template, context, mark=mark, persona=persona, canary=canary)


def render_probe(system: str, template: str, *, excerpt: str, mark: str, canary: str = "") -> list[Message]:
    """The messages that ask whether the model knows the text, by its beginning. Raises InvalidPrompt."""
    context = {"mark": mark, "excerpt": fences.fenced(excerpt, mark, canary=canary)}
    return messages_of(system, template, context, mark=mark, canary=canary)


def render_generation(system: str, template: str, *, premise: str, mark: str) -> list[Message]:
    """The messages that ask for a text about the premise. Raises InvalidPrompt."""
    context = {"mark": mark, "premise": fences.fenced(premise, mark, name="premise")}
    return messages_of(system, template, context, mark=mark)


def messages_of(
    system: str, template: str, context: dict[str, Any], *, mark: str, persona: str = "", canary: str = ""
) -> list[Message]:
    """The messages with the context in both templates, and the guard of the fence. Raises InvalidPrompt."""
    subject = templates.TEXT_BY_KIND[templates.shape_of(template).kind]
    filled = templates.fill(system, {name: value for name, value in context.items() if name != subject})
    instructions = fences.guard("\n\n".join(filter(None, [persona.strip(), filled])), mark, canary)
    return [
        Message(role="system", content=[instructions]),
        Message(role="user", content=templates.fill_in_parts(template, context, subject=subject)),
    ]


def join(messages: Sequence[Message]) -> list[dict[str, str]]:
    """The messages with their parts put together, as servers take them that know no parts."""
    return [{"role": message["role"], "content": "".join(message["content"])} for message in messages]


def _labels(stories: Sequence[StoryText]) -> list[StoryLabel]:
    return [StoryLabel(story.letter) for story in stories]


def _context(
    template: str, stories: Sequence[StoryText], *, mark: str, premise: str, examples: Sequence[Example], canary: str
) -> dict[str, Any]:
    takes_examples = templates.shape_of(template).takes_examples
    if takes_examples != bool(examples):
        reason = _("this prompt needs examples, and there are none") if takes_examples else None
        raise InvalidPrompt(reason or _("this prompt has no place for examples"))
    return {
        "mark": mark,
        "stories": "\n\n".join(
            fences.fenced(
                story.text, mark, name="story" if len(stories) == 1 else f"story {story.letter}", canary=canary
            )
            for story in stories
        ),
        "premise": fences.fenced(premise, mark, name="premise") if premise else "",
        "examples": "\n\n".join(fenced_example(example, n, mark) for n, example in enumerate(examples, start=1)),
        "own_question": "",
        "n_stories": len(stories),
    }


def fenced_example(example: Example, number: int, mark: str) -> str:
    """The example inside a fence: what people wrote is text, as the story is."""
    lines = [example.text, f"Answer: {example.value}", f"Reasons: {example.rationale}" if example.rationale else ""]
    return fences.fenced("\n\n".join(filter(None, lines)), mark, name=f"example {number}")
