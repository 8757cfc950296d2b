"""Passages of the text."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies.items.base import InvalidAnswer, ItemDefinition, ItemType, StoryLabel, Value, is_empty
from studies.items.ranking import match_letter
from studies.items.scale import read_whole_number
from studies.items.text import is_storable

MOST_PASSAGES = 100  # passages in one answer
LONGEST = 20_000  # characters in one passage
FURTHEST = 1_000_000  # paragraph of a text, or character of a paragraph
PARTS = ("story", "paragraph", "start", "end", "text")


class Spans(ItemType):
    """Stores a list of passages, each {"paragraph": 3, "start": 10, "end": 42, "text": "…"}.

    Paragraphs count from 1. `start` and `end` are offsets in the paragraph, counted as the browser counts; both are
    left out for a passage that was typed or that a model named. `story` names the story where several were shown. A
    form posts each passage as JSON, and one that was typed as `name_paragraph`, `name_text` (and `name_story`).
    """

    name = "spans"
    title = gettext_lazy("Passages")
    summary = gettext_lazy("marked in the story")
    seconds = 60
    level = "none"
    marks_passages = True
    template = "items/spans.html"
    example = {
        "item": {"key": "images", "question": "Which passages hold an image you will keep?"},
        "stories": ["A", "B"],
        "valid": [
            (
                [{"story": "a", "paragraph": "3", "start": 4, "end": 9, "text": "glass"}],
                [{"story": "A", "paragraph": 3, "start": 4, "end": 9, "text": "glass"}],
            ),
            (
                ['{"story": "B", "paragraph": 1, "text": "“Oh,” she said <softly>"}'],
                [{"story": "B", "paragraph": 1, "text": "“Oh,” she said <softly>"}],
            ),
        ],
        "model": [[{"story": "A", "paragraph": 1, "text": "glass"}, {"story": "B", "paragraph": 2, "text": "rain"}]],
        "invalid": [
            [{"paragraph": 1, "text": "glass"}],
            [{"story": "C", "paragraph": 1, "text": "glass"}],
            [{"story": "A", "paragraph": 0, "text": "glass"}],
            [{"story": "A", "paragraph": 1.5, "text": "glass"}],
            [{"story": "A", "paragraph": 1}],
            [{"story": "A", "paragraph": 1, "text": ""}],
            [{"story": "A", "paragraph": 1, "text": "glass", "start": 3}],
            [{"story": "A", "paragraph": 1, "text": "glass", "colour": "green"}],
            ["glass"],
            [1],
            [[]],
            "glass",
            1,
            True,
            {"story": "A", "paragraph": 1, "text": "glass"},
        ],
    }

    def clean(self, item: ItemDefinition, raw: Any, *, stories: Sequence[StoryLabel] = ()) -> Value:
        return clean_passages(raw, [story.letter for story in stories])

    def from_form(self, data: Mapping[str, Any], name: str, *, stories: Sequence[StoryLabel] = ()) -> Any:
        if not hasattr(data, "getlist"):
            return data.get(name)
        typed = {part: data.get(f"{name}_{part}", "") for part in ("story", "paragraph", "text")}
        is_begun = not is_empty(typed["paragraph"]) or not is_empty(typed["text"])
        return [*data.getlist(name), *([{k: v for k, v in typed.items() if not is_empty(v)}] if is_begun else [])]

    def context(
        self, item: ItemDefinition, *, name: str, value: Any = None, stories: Sequence[StoryLabel] = ()
    ) -> dict[str, Any]:
        entries = value if isinstance(value, list) else []
        passages_seen = [passage for passage in map(_decoded, entries) if isinstance(passage, dict)]
        rows = [{**passage, "json": json.dumps(passage, ensure_ascii=False)} for passage in passages_seen]
        several = stories if len(stories) > 1 else ()
        return {**super().context(item, name=name, value=rows, stories=stories), "several": several}

    def words(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> str:
        story = "the letter of its story, " if len(stories) > 1 else ""
        return (
            f"Answer with a list of passages; give for each {story}the number of its paragraph, counting from 1, "
            "and its text, copied exactly."
        )

    def schema(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> dict[str, Any]:
        properties: dict[str, Any] = {
            "paragraph": {"type": "integer", "minimum": 1, "maximum": FURTHEST},
            "text": {"type": "string", "minLength": 1, "maxLength": LONGEST},
        }
        if len(stories) > 1:
            properties["story"] = {"type": "string", "enum": [story.letter for story in stories]}
        passage = {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
        return {"type": "array", "items": passage, "minItems": 1, "maxItems": MOST_PASSAGES}

    def label(self, item: ItemDefinition, value: Value) -> str:
        return " / ".join(f"¶ {passage['paragraph']} “{passage['text']}”" for passage in value)

    def renamed(self, value: Value, names: Mapping[str, str]) -> Value:
        return [{**passage, "story": names[passage["story"]]} if "story" in passage else passage for passage in value]


def clean_passages(raw: Any, letters: Sequence[str]) -> list[dict[str, Any]]:
    """The passages as they are stored. Raises InvalidAnswer. Quotations beside a rationale are read by it, too."""
    if not isinstance(raw, list | tuple):
        raise InvalidAnswer(_("Please give a list of passages."))
    if len(raw) > MOST_PASSAGES:
        raise InvalidAnswer(_("Please give at most %(most)d passages.") % {"most": MOST_PASSAGES})
    return [_passage(_decoded(passage), letters) for passage in raw]


def _passage(raw: Any, letters: Sequence[str]) -> dict[str, Any]:
    if not isinstance(raw, dict) or not set(raw) <= set(PARTS):
        raise InvalidAnswer(_("Please give each passage with its paragraph and its text."))
    text = raw.get("text")
    if not isinstance(text, str) or is_empty(text) or len(text) > LONGEST or not is_storable(text):
        raise InvalidAnswer(_("Please copy the text of the passage, at most %(most)d characters.") % {"most": LONGEST})
    paragraph = read_whole_number(raw.get("paragraph"))
    if paragraph is None or not 1 <= paragraph <= FURTHEST:
        raise InvalidAnswer(_("Please give the number of the passage’s paragraph, counting from 1."))
    passage: dict[str, Any] = {"paragraph": paragraph, "text": text}
    if "story" in raw or len(letters) > 1:
        passage["story"] = match_letter(raw.get("story", ""), letters)
    if "start" in raw or "end" in raw:
        start, end = read_whole_number(raw.get("start")), read_whole_number(raw.get("end"))
        if start is None or end is None or not 0 <= start < end <= FURTHEST:
            raise InvalidAnswer(_("The passage does not say where it starts and ends; please mark it again."))
        passage |= {"start": start, "end": end}
    return passage


def _decoded(passage: Any) -> Any:
    """The passage that a form posted as JSON; anything else as it is."""
    if not isinstance(passage, str):
        return passage
    try:
        return json.loads(passage)
    except (ValueError, RecursionError):
        return None
