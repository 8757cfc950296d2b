"""Which of two stories, or no difference where the item allows it."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies.items.base import (
    InvalidAnswer,
    InvalidDefinition,
    ItemDefinition,
    ItemType,
    Setting,
    StoryLabel,
    Value,
    is_empty,
    join_words,
)
from studies.items.options import fold_case
from studies.items.ranking import match_letter

NONE = "none"


class Pair(ItemType):
    """Stores the story, or "none".

    settings : no_difference, the words of the answer that prefers neither; without it there is no such answer
    """

    name = "pair"
    title = gettext_lazy("Pair")
    summary = gettext_lazy("the better of two")
    seconds = 30
    level = "nominal"
    chooses_story = True
    template = "items/pair.html"
    settings = {
        "no_difference": Setting(
            str,
            gettext_lazy("Words for preferring neither"),
            gettext_lazy("Empty: one of the two has to be chosen."),
        )
    }
    about_stories = True
    most_stories = 2
    example = {
        "item": {"key": "better", "question": "Which is better?", "settings": {"no_difference": "No difference"}},
        "stories": ["A", "B"],
        "valid": [("A", "A"), (" b ", "B"), ("none", "none"), ("no difference", "none")],
        "model": ["A", "B", "none"],
        "invalid": ["C", "A and B", "neither", 1, True, ["A"], {"story": "A"}],
    }

    def check(self, item: ItemDefinition) -> None:
        super().check(item)
        if "no_difference" in item.settings and is_empty(item.settings["no_difference"]):
            raise InvalidDefinition("settings.no_difference", "is empty; give the words of the answer, or leave it out")

    def clean(self, item: ItemDefinition, raw: Any, *, stories: Sequence[StoryLabel] = ()) -> Value:
        words = item.settings.get("no_difference")
        if words and isinstance(raw, str) and fold_case(raw) in (NONE, fold_case(words)):
            return NONE
        if not isinstance(raw, str):
            names = join_words([*(story.letter for story in stories), *([f"“{words}”"] if words else [])], _("or"))
            raise InvalidAnswer(_("Please choose one of these: %(names)s.") % {"names": names})
        return match_letter(raw, [story.letter for story in stories])

    def context(
        self, item: ItemDefinition, *, name: str, value: Any = None, stories: Sequence[StoryLabel] = ()
    ) -> dict[str, Any]:
        options = [{"value": story.letter, "story": story} for story in stories]
        if words := item.settings.get("no_difference"):
            options.append({"value": NONE, "label": words})
        return {**super().context(item, name=name, value=value, stories=stories), "options": options}

    def words(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> str:
        names = join_words([f'"{story.letter}"' for story in stories], "or")
        if words := item.settings.get("no_difference"):
            return f'Answer with the letter of the story, {names}, or with "none" (which means “{words}”).'
        return f"Answer with the letter of the story: {names}."

    def schema(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> dict[str, Any]:
        neither = [NONE] if "no_difference" in item.settings else []
        return {"type": "string", "enum": [*(story.letter for story in stories), *neither]}

    def label(self, item: ItemDefinition, value: Value) -> str:
        return str(item.settings["no_difference"]) if value == NONE and "no_difference" in item.settings else str(value)

    def renamed(self, value: Value, names: Mapping[str, str]) -> Value:
        if NONE in names or NONE in names.values():
            raise ValueError("a story that is called “none” could not be told from no difference")
        return value if value == NONE else names[value]
