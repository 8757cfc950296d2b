"""Any number of several options."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from studies.items.base import (
    InvalidAnswer,
    InvalidDefinition,
    ItemDefinition,
    ItemType,
    Setting,
    StoryLabel,
    Value,
    join_words,
)
from studies.items.options import check_options, label_of, match_option


class Multi(ItemType):
    """Stores the values of the chosen options, in the order of the item.

    options : at least two, each with value and label
    settings : at_least, how many are needed to submit; at_most, how many can be chosen
    """

    name = "multi"
    title = gettext_lazy("Several")
    summary = gettext_lazy("any that apply")
    seconds = 30
    level = "none"
    template = "items/multi.html"
    settings = {
        "at_least": Setting(int, gettext_lazy("At least"), gettext_lazy("So many are needed. Empty: none.")),
        "at_most": Setting(int, gettext_lazy("At most"), gettext_lazy("So many can be chosen. Empty: all.")),
    }
    has_options = True
    example = {
        "item": {
            "key": "signs",
            "question": "What gave it away?",
            "options": [
                {"value": "style", "label": "The style"},
                {"value": "plot", "label": "The plot"},
                {"value": "ending", "label": "The ending"},
            ],
            "settings": {"at_most": 2},
        },
        "valid": [(["plot"], ["plot"]), (["ending", " STYLE "], ["style", "ending"]), ("the plot", ["plot"])],
        "model": [["style"], ["plot", "ending"]],
        "invalid": [
            ["dialogue"],
            ["plot", "plot"],
            ["style", "plot", "ending"],
            [1],
            1,
            True,
            {"plot": True},
            "plot, style",
        ],
    }

    def check(self, item: ItemDefinition) -> None:
        super().check(item)
        check_options(item)
        least, most = _bounds(item)
        if not 0 <= least <= len(item.options):
            raise InvalidDefinition("settings.at_least", f"must be between 0 and the {len(item.options)} options")
        if not max(1, least) <= most <= len(item.options):
            raise InvalidDefinition("settings.at_most", f"must be between {max(1, least)} and {len(item.options)}")

    def clean(self, item: ItemDefinition, raw: Any, *, stories: Sequence[StoryLabel] = ()) -> Value:
        words = [raw] if isinstance(raw, str) else raw
        values = [match_option(item.options, word) for word in words] if isinstance(words, list | tuple) else [None]
        if None in values:
            labels = join_words([f"“{option['label']}”" for option in item.options], _("or"))
            raise InvalidAnswer(_("Please choose among these: %(labels)s.") % {"labels": labels})
        if len(set(values)) < len(values):
            raise InvalidAnswer(_("One option is chosen twice; please name each once."))
        most = _bounds(item)[1]
        if len(values) > most:
            raise InvalidAnswer(
                ngettext("Please choose only one.", "Please choose at most %(most)d.", most) % {"most": most}
            )
        return [option["value"] for option in item.options if option["value"] in values]

    def shortfall(self, item: ItemDefinition, value: Value) -> str:
        least = _bounds(item)[0]
        if len(value) >= least:
            return ""
        return ngettext("Please choose at least one.", "Please choose at least %(least)d.", least) % {"least": least}

    def from_form(self, data: Mapping[str, Any], name: str, *, stories: Sequence[StoryLabel] = ()) -> Any:
        return data.getlist(name) if hasattr(data, "getlist") else data.get(name)

    def context(
        self, item: ItemDefinition, *, name: str, value: Any = None, stories: Sequence[StoryLabel] = ()
    ) -> dict[str, Any]:
        chosen = [match_option(item.options, word) for word in value] if isinstance(value, list) else []
        return super().context(item, name=name, value=chosen, stories=stories)

    def words(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> str:
        least, most = _bounds(item)
        values = "; ".join(f'"{option["value"]}" ({option["label"]})' for option in item.options)
        return f"Answer with a list of {max(1, least)} to {most} of these values: {values}."

    def schema(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> dict[str, Any]:
        least, most = _bounds(item)
        value = {"type": "string", "enum": [option["value"] for option in item.options]}
        return {"type": "array", "items": value, "minItems": max(1, least), "maxItems": most, "uniqueItems": True}

    def label(self, item: ItemDefinition, value: Value) -> str:
        return "; ".join(label_of(item.options, word) for word in value)


def _bounds(item: ItemDefinition) -> tuple[int, int]:
    return item.settings.get("at_least", 0), item.settings.get("at_most", len(item.options))
