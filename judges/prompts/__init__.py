"""What a model is told: the stories inside a fence, the task outside it. No Django models here.

A fence is a pair of marks that carry a random number. Whoever wrote a story could not know the number, so no text
inside can end the fence. The number is drawn once for a story and a run: with the story first and the question last,
all questions about one story begin with the same words, and providers bill that beginning once.
"""

import re
import secrets
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, Protocol

from django.utils.translation import gettext as _
from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from studies import hashing, items
from studies.items import ItemDefinition, StoryLabel

Order = Literal["reasoning_first", "verdict_first"]
ORDERS = ("reasoning_first", "verdict_first")
SOURCES = ("paper", "repository", "own")
FOLDER = Path(__file__).parent
# 128 bits, spelled so that the marks of a rendered prompt can be found again.
_MARK = re.compile(r"\bfence-[0-9a-f]{32}\b")


class InvalidPrompt(ValueError):
    """A prompt that cannot be used as written; the message says where and why."""


class Question(ItemDefinition, Protocol):
    """What a prompt reads of an item, beyond what its type reads."""

    @property
    def type(self) -> str: ...
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
class PromptFile:
    """A built-in prompt as its file says it."""

    name: str
    version: str
    protocol: Order
    system: str
    template: str
    source: str
    citation: str
    is_verbatim: bool

    @property
    def sha256(self) -> str:
        return fingerprint(asdict(self))


def fingerprint(content: dict[str, Any]) -> str:
    """SHA-256 over the content as canonical JSON."""
    return hashing.sha256(hashing.canonical_json(content))


def new_mark() -> str:
    """A number for a fence that nobody could guess."""
    return f"fence-{secrets.token_hex(16)}"


def strip_marks(text: str) -> str:
    """The text with the number of every fence taken out, so that two renderings of one prompt are equal."""
    return _MARK.sub("fence", text)


def render(
    system: str,
    template: str,
    *,
    item: Question,
    stories: Sequence[StoryText],
    mark: str,
    premise: str = "",
    step_text: str = "",
    title: str = "",
) -> list[dict[str, str]]:
    """The messages for one item about one story or several. Raises InvalidPrompt.

    The templates know: mark, stories and premise (fenced already; premise is "" if raters do not see it), background
    (all that people read above the question: the step's text, the item's title and its background), instruction,
    question, words (how to answer), and n_stories.
    """
    kind = items.find_type(item.type)
    letters = [StoryLabel(story.letter) for story in stories]
    context = {
        "mark": mark,
        "stories": "\n\n".join(
            fenced(story.text, mark, name="story" if len(stories) == 1 else f"story {story.letter}")
            for story in stories
        ),
        "premise": fenced(premise, mark, name="premise") if premise else "",
        "background": "\n\n".join(filter(None, [step_text, title, item.background])),
        "instruction": item.instruction,
        "question": item.question,
        "words": kind.words(item, stories=letters),
        "n_stories": len(stories),
    }
    content_by_role = {"system": _filled(system, context), "user": _filled(template, context)}
    return [{"role": role, "content": content} for role, content in content_by_role.items() if content]


def check_templates(system: str, template: str) -> None:
    """Raise InvalidPrompt unless the templates can be filled, with the stories first and the question after them."""
    names = ("mark", "stories", "premise", "background", "instruction", "question", "words")
    context: dict[str, Any] = {name: f"[[{name}]]" for name in names} | {"n_stories": 1}
    instructions, user = _filled(system, context), _filled(template, context)
    if "[[stories]]" in instructions:
        raise InvalidPrompt(_("system: {{ stories }} belongs into the template"))
    for name in ("stories", "question"):
        if user.count(f"[[{name}]]") != 1:
            raise InvalidPrompt(_("template: needs {{ %(name)s }} exactly once") % {"name": name})
    if user.index("[[question]]") < user.index("[[stories]]"):
        raise InvalidPrompt(
            _("template: the stories come first and the question after them, so that providers can cache")
        )


def load_built_in() -> list[PromptFile]:
    """Every prompt in this folder, by name and version. Raises InvalidPrompt, naming the file."""
    return [read_prompt(path) for path in sorted(FOLDER.glob("*.toml"))]


def read_prompt(path: Path) -> PromptFile:
    """The prompt that the file says. Raises InvalidPrompt, naming file, field and reason."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        prompt = PromptFile(**content)
        check_templates(prompt.system, prompt.template)
    except (OSError, ValueError, TypeError) as error:
        raise InvalidPrompt(f"{path.name}: {error}") from error
    if prompt.protocol not in ORDERS:
        raise InvalidPrompt(f"{path.name}: protocol: must be {' or '.join(ORDERS)}")
    if prompt.source not in SOURCES:
        raise InvalidPrompt(f"{path.name}: source: must be one of {', '.join(SOURCES)}")
    return prompt


def fenced(text: str, mark: str, *, name: str = "story") -> str:
    """The text between two marks with that number. Raises InvalidPrompt if the number stands in the text."""
    if mark in text:
        raise InvalidPrompt("the number of the fence stands in the text that it should fence; draw another")
    return f"<{name} {mark}>\n{text}\n</{name} {mark}>"


def _filled(template: str, context: dict[str, Any]) -> str:
    try:
        return _environment().from_string(template).render(context).strip()
    except TemplateError as error:
        raise InvalidPrompt(_("the template cannot be filled: %(why)s") % {"why": error}) from error


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    # No escaping: the result is read by a model as plain text, and is escaped wherever a page shows it.
    return ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
