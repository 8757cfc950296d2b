"""What a tool is told of a study: its questions about single stories, by the form that their answers have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from studies import items, protocol
from studies.models import Item, Step, Study

Form = Literal["one", "several", "number", "words"]
MOST_POINTS = 11  # of whole numbers that are offered as options


@dataclass(frozen=True)
class Question:
    """What is asked about a story.

    name : step and item, as `step.item`, so that answers can be told apart when they come back
    options : what is stored and what is read, of a choice of one or several
    ends : the least and the greatest number, of a number
    takes_reason : whether a reason is asked for beside the answer
    """

    name: str
    words: str
    background: str
    form: Form
    options: tuple[tuple[str, str], ...] = ()
    ends: tuple[float, float] = (0, 0)
    takes_reason: bool = False


@dataclass(frozen=True)
class AskedStories:
    """A study as another tool can hold it.

    stories : code, group, writing prompt and text of each in each of its groups, without who wrote it
    left_out : which steps and questions it is not told, and why
    """

    title: str
    slug: str
    questions: tuple[Question, ...]
    stories: tuple[Mapping[str, str], ...]
    left_out: tuple[str, ...]


class ToolExport(ABC):
    """A tool that a study can be written for. name : in addresses; title : as its makers write it"""

    name: ClassVar[str]
    title: ClassVar[str]

    @staticmethod
    @abstractmethod
    def files(asked: AskedStories) -> dict[str, str]:
        """The tool's own files by name."""


def read_asked_stories(study: Study) -> AskedStories:
    """The questions of the study about single stories, and its stories. A few queries."""
    questions: list[Question] = []
    left_out: list[str] = []
    for step in protocol.load_protocol(protocol.latest(study)).steps:
        if not _is_about_a_story(step):
            left_out.append(f"{step.key}: no rating of single stories")
            continue
        for item in protocol.items_of(step):
            if question := _question(step, item):
                questions.append(question)
            else:
                left_out.append(f"{step.key}.{item.key}: its answers ({item.type}) have no form there")
    read_stories = study.stories.filter(is_withheld=False).exclude(text="").exclude(groups=None)
    rows = read_stories.order_by("code", "groups__code")
    stories = tuple(
        {"story": code, "group": group or "", "premise": premise or "", "text": text}
        for code, group, premise, text in rows.values_list("code", "groups__code", "groups__premise", "text")
    )
    if any(story["premise"] for story in stories):
        left_out.append("writing prompts are in the data, and are shown on no page")
    return AskedStories(study.title, study.slug, tuple(questions), stories, tuple(left_out))


def _is_about_a_story(step: Step) -> bool:
    return step.kind == Step.Kind.RATING and step.scope == Step.Scope.STORY


def _question(step: Step, item: Item) -> Question | None:
    """The question; None if its answers have a form that no other tool is told of, such as passages."""
    kind = items.find_type(item.type)
    form, options, ends = _form(kind.schema(item))
    if form is None:
        return None
    return Question(
        f"{step.key}.{item.key}",
        item.question,
        item.background,
        form,
        tuple((str(value), kind.label(item, value)) for value in options),
        ends,
        item.rationale != Item.Rationale.NONE,
    )


def _form(schema: Mapping[str, Any]) -> tuple[Form | None, Sequence[Any], tuple[float, float]]:
    """The form of answers that a schema allows, with the options and the ends that belong to it."""
    if "enum" in schema:
        return "one", schema["enum"], (0, 0)
    if schema.get("type") in ("integer", "number"):
        low, high = schema.get("minimum", 0), schema.get("maximum", 0)
        if schema["type"] == "integer" and high - low < MOST_POINTS:
            return "one", range(low, high + 1), (low, high)
        return "number", (), (low, high)
    if schema.get("type") == "array" and "enum" in schema["items"]:
        return "several", schema["items"]["enum"], (0, 0)
    return ("words" if schema.get("type") == "string" else None), (), (0, 0)
