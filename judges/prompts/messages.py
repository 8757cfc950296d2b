"""Messages: the words of a prompt with the stories, the items and all else that a person reads in their places."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict

from django.utils.translation import gettext as _

from judges.prompts import fences, templates
from judges.prompts.errors import InvalidPrompt
from judges.prompts.templates import AskedItem
from studies import items as item_types
from studies.items import ItemDefinition, StoryLabel

# What the fences are called around texts whose names in templates say too little, or too much.
FENCE_BY_TEXT = {"draft": "story", "original": "story", "reference": "idea", "expert_question": "question"}


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


@dataclass(frozen=True)
class PromptContext:
    """What a prompt shows beside its questions, and as whom it asks.

    mark : the number of the fences around texts
    premise : "" if raters do not see it
    step_text : what people read above the items of the step
    persona : as whom the model is told to answer, in the source's words
    canary : the code of the run that must not come back
    """

    stories: Sequence[StoryText]
    mark: str
    premise: str = ""
    step_text: str = ""
    persona: str = ""
    examples: Sequence[Example] = ()
    canary: str = ""

    @property
    def labels(self) -> list[StoryLabel]:
        """The letters of the stories, as items name them."""
        return [StoryLabel(story.letter) for story in self.stories]


def render(system: str, template: str, context: PromptContext, *, item: Question) -> list[Message]:
    """The messages for one item about one story or several. Raises InvalidPrompt.

    The templates know: mark, stories and premise (fenced already; premise is "" if raters do not see it), background
    (all that people read above the question: the step's text, the item's title and its background), instruction,
    question, words (how to answer), type (of the item), examples, and n_stories. The stories are a part of their own,
    the same for all items.
    """
    shape = templates.shape_of(template)
    if shape.asks != "item" or shape.kind != "answer":
        raise InvalidPrompt(_("this prompt does not ask one item at a time"))
    kind = item_types.find_type(item.type)
    if shape.has_own_question and not kind.chooses_story:
        raise InvalidPrompt(_("this prompt asks itself which of two stories is better, so it can ask no other item"))
    values = _values(template, context) | {
        "background": "\n\n".join(filter(None, [context.step_text, item.title, item.background])),
        "instruction": item.instruction,
        "question": item.question,
        "words": kind.words(item, stories=context.labels),
        "type": item.type,
    }
    return messages_of(system, template, values, mark=context.mark, persona=context.persona, canary=context.canary)


def render_all(system: str, template: str, context: PromptContext, *, items: Sequence[Question]) -> list[Message]:
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
            item_types.find_type(item.type).words(item, stories=context.labels),
        )
        for item in items
    ]
    values = _values(template, context) | {"background": context.step_text, "questions": questions}
    return messages_of(system, template, values, mark=context.mark, persona=context.persona, canary=context.canary)


def render_probe(system: str, template: str, *, excerpt: str, mark: str, canary: str = "") -> list[Message]:
    """The messages that ask whether the model knows the text, by its beginning. Raises InvalidPrompt."""
    context = {"mark": mark, "excerpt": fences.fence(excerpt, mark, canary=canary)}
    return messages_of(system, template, context, mark=mark, canary=canary)


def render_writing(
    system: str, template: str, *, texts: Mapping[str, str], values: Mapping[str, Any], mark: str
) -> list[Message]:
    """The messages that ask for a text. Raises InvalidPrompt.

    texts : what is worked on and what stands beside it, by the names of the template; each comes inside a fence
    values : other openings, such as how many words are wanted
    """
    fenced = {name: fence_written(name, text, mark) for name, text in texts.items()}
    return messages_of(system, template, {"mark": mark, **values, **fenced}, mark=mark)


def fence_written(name: str, text: str, mark: str) -> str:
    """The text of that name inside its fence; "" if there is none."""
    return fences.fence(text, mark, name=FENCE_BY_TEXT.get(name, name)) if text else ""


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


def _values(template: str, context: PromptContext) -> dict[str, Any]:
    """What the templates know of the context, each text inside a fence. Raises InvalidPrompt."""
    stories, mark = context.stories, context.mark
    takes_examples = templates.shape_of(template).takes_examples
    if takes_examples != bool(context.examples):
        reason = _("this prompt needs examples, and there are none") if takes_examples else None
        raise InvalidPrompt(reason or _("this prompt has no place for examples"))
    return {
        "mark": mark,
        "stories": "\n\n".join(
            fences.fence(
                story.text, mark, name="story" if len(stories) == 1 else f"story {story.letter}", canary=context.canary
            )
            for story in stories
        ),
        "premise": fences.fence(context.premise, mark, name="premise") if context.premise else "",
        "examples": "\n\n".join(fence_example(example, n, mark) for n, example in enumerate(context.examples, start=1)),
        "own_question": "",
        "n_stories": len(stories),
    }


def fence_example(example: Example, number: int, mark: str) -> str:
    """The example inside a fence: what people wrote is text, as the story is."""
    lines = [example.text, f"Answer: {example.value}", f"Reasons: {example.rationale}" if example.rationale else ""]
    return fences.fence("\n\n".join(filter(None, lines)), mark, name=f"example {number}")
