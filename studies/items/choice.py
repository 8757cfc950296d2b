"""One of several options."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies.items.base import CORRECT, InvalidAnswer, ItemDefinition, ItemType, StoryLabel, Value, join_words
from studies.items.options import check_correct, check_options, label_of, match_option

# What options can say of the author, as kinds of source; who offers exactly such options asks who wrote the story.
AUTHOR_BY_OPTION = {"expert": "expert_writer", "amateur": "amateur_writer", "ai": "language_model"} | {
    kind: kind for kind in ("expert_writer", "amateur_writer", "language_model", "other")
}


class Choice(ItemType):
    """Stores the value of the option.

    options : at least two, each with value and label
    settings : correct, an option's value: the right answer of a comprehension check, never shown
    """

    name = "choice"
    title = gettext_lazy("Choice")
    summary = gettext_lazy("one of several")
    level = "nominal"
    template = "items/choice.html"
    settings = {"correct": CORRECT}
    has_options = True
    example = {
        "item": {
            "key": "author",
            "question": "Who wrote it?",
            "options": [
                {"value": "expert", "label": "An experienced writer"},
                {"value": "amateur", "label": "An amateur writer"},
                {"value": "ai", "label": "Written by AI"},
            ],
        },
        "valid": [("expert", "expert"), (" AI ", "ai"), ("an amateur writer", "amateur")],
        "model": ["expert", "amateur", "ai"],
        "invalid": ["a person", "exp", 0, True, ["expert"], {"value": "expert"}],
    }

    def check(self, item: ItemDefinition) -> None:
        super().check(item)
        check_options(item)
        check_correct(item, item.options)

    def clean(self, item: ItemDefinition, raw: Any, *, stories: Sequence[StoryLabel] = ()) -> Value:
        value = match_option(item.options, raw)
        if value is None:
            labels = join_words([f"“{option['label']}”" for option in item.options], _("or"))
            raise InvalidAnswer(_("Please choose one of these: %(labels)s.") % {"labels": labels})
        return value

    def context(
        self, item: ItemDefinition, *, name: str, value: Any = None, stories: Sequence[StoryLabel] = ()
    ) -> dict[str, Any]:
        return super().context(item, name=name, value=match_option(item.options, value), stories=stories)

    def words(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> str:
        return (
            "Answer with exactly one of these values: "
            + "; ".join(f'"{o["value"]}" ({o["label"]})' for o in item.options)
            + "."
        )

    def schema(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> dict[str, Any]:
        return {"type": "string", "enum": [option["value"] for option in item.options]}

    def author_by_option(self, item: ItemDefinition) -> Mapping[str, str]:
        values = [option["value"] for option in item.options]
        is_guess = all(value in AUTHOR_BY_OPTION for value in values)
        return {value: AUTHOR_BY_OPTION[value] for value in values} if is_guess else {}

    def label(self, item: ItemDefinition, value: Value) -> str:
        return label_of(item.options, value)
