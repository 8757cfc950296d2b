"""A share in percent, of a test."""

import re
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext_lazy

from studies.items.base import InvalidAnswer, ItemDefinition, ItemType, StoryLabel, Value


class Percent(ItemType):
    """Stores a whole number from 0 to 100."""

    name = "percent"
    title = gettext_lazy("Percent")
    summary = gettext_lazy("a share of the whole")
    level = "interval"
    template = "items/percent.html"
    example = {
        "item": {"key": "share", "question": "How much of it is dialogue?"},
        "valid": [(40, 40), ("100", 100), (0, 0)],
        "model": [40, 0],
        "invalid": [101, -1, "half", True, [40]],
    }

    def clean(self, item: ItemDefinition, raw: Any, *, stories: Sequence[StoryLabel] = ()) -> Value:
        if isinstance(raw, bool) or not re.fullmatch(r"[0-9]{1,3}", str(raw)) or int(raw) > 100:
            raise InvalidAnswer("Please give a whole number from 0 to 100.")
        return int(raw)

    def words(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> str:
        return "Answer with a whole number from 0 to 100."

    def schema(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> dict[str, Any]:
        return {"type": "integer", "minimum": 0, "maximum": 100}

    def label(self, item: ItemDefinition, value: Value) -> str:
        return f"{value} %"
