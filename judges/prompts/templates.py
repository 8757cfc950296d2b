"""Templates: what a prompt's words leave open, how it is filled, and which kind of prompt the openings make it.

The text that is worked on never passes through Jinja. Its place is kept by a code, and what was filled is cut there
into parts: what stands before it, the text itself, what stands after it. The parts, one after another, are the message.
"""

import secrets
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Literal

from django.utils.translation import gettext as _
from jinja2 import StrictUndefined, TemplateError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from judges.prompts.errors import InvalidPrompt

Kind = Literal["answer", "fill", "probe", "align", "revise", "extract", "explain", "generate"]
Asks = Literal["item", "story"]
# What each kind of prompt works on. Its place is needed exactly once; a story that is to be written has a premise.
TEXT_BY_KIND: dict[Kind, str] = {
    "answer": "stories",
    "fill": "skeleton",
    "probe": "excerpt",
    "align": "disagreements",
    "revise": "draft",
    "extract": "original",
    "explain": "expert_question",
    "generate": "premise",
}
# Kinds that write a text. A draft has a premise, too, so that the first that fits counts.
WRITING: tuple[Kind, ...] = ("align", "revise", "extract", "explain", "generate")
QUESTIONS = ("question", "questions", "own_question")
# What templates know and a check puts a name in place of.
NAMES = (
    *("mark", "stories", "premise", "background", "instruction", "question", "own_question", "words", "examples"),
    *("skeleton", "blanks", "constraints", "section", "excerpt"),
    *("draft", "original", "expert_question", "portraits", "reference"),
    *("word_count", "current_word_count", "operator"),
    *("disagreements", "present", "present_system", "summary"),
)


@dataclass(frozen=True)
class TemplateShape:
    """What a template is for, as its openings say.

    kind : an answer to items, the fill of a cloze, a probe of what the model knows, or a text to be written: from a
        premise, as another version of a draft, out of a story, to explain a question, or as another prompt for a judge
    asks : one item, or all items of a step about a story in one reply
    has_own_question : the question is in the prompt's own words and not the item's
    takes_examples : it shows answers of people about other stories
    by_section : it asks for the blanks of one section of a cloze
    """

    kind: Kind
    asks: Asks
    has_own_question: bool = False
    takes_examples: bool = False
    by_section: bool = False


@dataclass(frozen=True)
class AskedItem:
    """An item as a template about all items of a step reads it."""

    key: str
    title: str = ""
    background: str = ""
    instruction: str = ""
    question: str = ""
    words: str = ""


def names_in(template: str) -> set[str]:
    """The names of all places that are filled in. Raises InvalidPrompt if the template cannot be read."""
    try:
        return meta.find_undeclared_variables(_environment().parse(template))
    except TemplateError as error:
        raise InvalidPrompt(_("the template cannot be filled: %(why)s") % {"why": error}) from error


@lru_cache(maxsize=256)
def shape_of(template: str) -> TemplateShape:
    """What the template is for. Raises InvalidPrompt if it cannot be read."""
    names = names_in(template)
    kind: Kind = "answer"
    if not names.intersection(("stories", *QUESTIONS)):
        kind = next((kind for kind in ("fill", "probe", *WRITING) if TEXT_BY_KIND[kind] in names), "answer")
    asks: Asks = "story" if "questions" in names or kind == "fill" else "item"
    return TemplateShape(
        kind,
        asks,
        has_own_question="own_question" in names,
        takes_examples="examples" in names,
        by_section=kind == "fill" and "section" in names,
    )


def check_templates(system: str, template: str) -> None:
    """Raise InvalidPrompt unless the templates can be filled, with the stories first and the question after them."""
    shape = shape_of(template)
    subject = TEXT_BY_KIND[shape.kind]
    items = [AskedItem(f"[[key {n}]]", question=f"[[question {n}]]", words=f"[[words {n}]]") for n in (1, 2)]
    context: dict[str, Any] = {name: f"[[{name}]]" for name in NAMES}
    context |= {"n_stories": 1, "n_sections": 1, "questions": items, "may_stop": True, "type": "binary"}
    instructions, user = fill(system, context), fill(template, context)
    if f"[[{subject}]]" in instructions:
        raise InvalidPrompt(_("system: {{ %(name)s }} belongs into the template") % {"name": subject})
    if user.count(f"[[{subject}]]") != 1:
        raise InvalidPrompt(_("template: needs {{ %(name)s }} exactly once") % {"name": subject})
    if shape.kind == "answer":
        _check_questions(user, shape)


def _check_questions(user: str, shape: TemplateShape) -> None:
    """Raise InvalidPrompt unless what was filled asks every question exactly once, after the stories."""
    if shape.asks == "story":
        questions = ["[[question 1]]", "[[question 2]]"]
        if missing := [n for n in (1, 2) if f"[[key {n}]]" not in user]:
            message = _("template: needs the key of every one of the questions; that of %(n)d is missing")
            raise InvalidPrompt(message % {"n": missing[0]})
    else:
        questions = ["[[own_question]]" if shape.has_own_question else "[[question]]"]
    for question in questions:
        if user.count(question) != 1:
            name = "question" if shape.asks == "item" else "question of every one of questions"
            raise InvalidPrompt(_("template: needs {{ %(name)s }} exactly once") % {"name": name})
        if user.index(question) < user.index("[[stories]]"):
            raise InvalidPrompt(
                _("template: the stories come first and the question after them, so that providers can cache")
            )


def fill(template: str, context: dict[str, Any]) -> str:
    """The template with the context's values in its openings. Raises InvalidPrompt."""
    try:
        return str(_compile(template).render(context)).strip()
    except TemplateError as error:
        raise InvalidPrompt(_("the template cannot be filled: %(why)s") % {"why": error}) from error


def fill_in_parts(template: str, context: dict[str, Any], *, subject: str) -> list[str]:
    """The same in parts, the text of that name being one of its own. Raises InvalidPrompt."""
    place = f"[[{secrets.token_hex(16)}]]"
    content = fill(template, context | {subject: place})
    if content.count(place) != 1:
        raise InvalidPrompt(_("template: needs {{ %(name)s }} exactly once") % {"name": subject})
    before, _place, after = content.partition(place)
    return [part for part in (before, str(context[subject]), after) if part]


@lru_cache(maxsize=256)
def _compile(template: str) -> Any:
    return _environment().from_string(template)


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    # No escaping: the result is read by a model as plain text, and is escaped wherever a page shows it.
    return ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
