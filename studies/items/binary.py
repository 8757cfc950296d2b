"""Yes or no."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from studies.items.base import (
    CORRECT,
    InvalidAnswer,
    InvalidDefinition,
    ItemDefinition,
    ItemType,
    Setting,
    StoryLabel,
    Value,
)
from studies.items.options import Options, check_correct, check_options, fold_case, label_of, match_option

DEFAULT = [{"value": "yes", "label": gettext_noop("Yes")}, {"value": "no", "label": gettext_noop("No")}]


class Binary(ItemType):
    """Stores "yes" or "no".

    options : none, or the two values with labels in the instrument's language
    settings : correct, "yes" or "no": the right answer of a comprehension check, never shown;
        required, true for a check without which the constraint of a cloze is not met
    """

    name = "binary"
    title = gettext_lazy("Yes or No")
    summary = gettext_lazy("a verdict, as in the fourteen tests")
    level = "nominal"
    is_verdict = True
    template = "items/binary.html"
    settings = {"correct": CORRECT, "required": Setting(bool, gettext_lazy("Required"), is_of_cloze=True)}
    has_options = True
    option_values = ("yes", "no")
    example = {
        "item": {"key": "ending", "question": "Is the end earned?"},
        "valid": [("yes", "yes"), ("no", "no"), (" YES ", "yes"), ("No", "no")],
        "model": ["yes", "no"],
        "invalid": ["maybe", "y", 1, True, ["yes"], {"yes": 1}],
    }

    def check(self, item: ItemDefinition) -> None:
        super().check(item)
        if item.options:
            check_options(item)
            if sorted(option["value"] for option in item.options) != ["no", "yes"]:
                raise InvalidDefinition(
                    "options", 'the two values must be "yes" and "no"; only their labels may differ'
                )
        check_correct(item, DEFAULT)

    def clean(self, item: ItemDefinition, raw: Any, *, stories: Sequence[StoryLabel] = ()) -> Value:
        value = match_option(DEFAULT, raw) or match_option(_options(item), raw)
        if value is None:
            yes, no = (option["label"] for option in _page_options(item))
            raise InvalidAnswer(_("Please answer “%(yes)s” or “%(no)s”.") % {"yes": yes, "no": no})
        return value

    def context(
        self, item: ItemDefinition, *, name: str, value: Any = None, stories: Sequence[StoryLabel] = ()
    ) -> dict[str, Any]:
        options = _page_options(item)
        initials = [fold_case(option["label"])[0] for option in options]
        # A letter key is offered only where it can mean one answer.
        keys = initials if len(set(initials)) == len(initials) else [""] * len(initials)
        return {
            **super().context(item, name=name, value=value, stories=stories),
            "value": match_option(DEFAULT, value) or match_option(options, value),
            "options": [{**option, "letter": key} for option, key in zip(options, keys, strict=True)],
            "is_worded": self.is_worded(item),
        }

    def words(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> str:
        if not item.options:
            return 'Answer "yes" or "no".'
        return "Answer " + " or ".join(f'"{o["value"]}" (which means “{o["label"]}”)' for o in _options(item)) + "."

    def schema(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> dict[str, Any]:
        return {"type": "string", "enum": ["yes", "no"]}

    def label(self, item: ItemDefinition, value: Value) -> str:
        return label_of(_options(item), value)

    def is_worded(self, item: ItemDefinition) -> bool:
        return bool(item.options)


def _options(item: ItemDefinition) -> Options:
    return sorted(item.options, key=lambda option: option["value"] == "no") or DEFAULT


def _page_options(item: ItemDefinition) -> Options:
    """The options for a page: our own words in its language."""
    if item.options:
        return _options(item)
    return [{**option, "label": _(option["label"])} for option in DEFAULT]
