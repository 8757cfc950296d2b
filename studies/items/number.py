"""A number, whole or not, perhaps within bounds."""

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.utils import translation
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
    has_type,
)

NUMBER = re.compile(r"[+-]?[0-9]{1,16}(\.[0-9]{1,400})?")
LARGEST = 10**15  # beyond it JavaScript and spreadsheets no longer tell neighbours apart


class Number(ItemType):
    """Stores the number: an int if only whole ones are allowed, else a float.

    settings : low and high, the bounds, each of which may be left out; integer, true if only whole numbers are allowed;
        unit, the word after the field
    """

    name = "number"
    title = gettext_lazy("Number")
    summary = gettext_lazy("with its unit")
    level = "interval"
    template = "items/number.html"
    settings = {
        "low": Setting(float, gettext_lazy("From")),
        "high": Setting(float, gettext_lazy("To")),
        "integer": Setting(bool, gettext_lazy("Whole numbers only")),
        "unit": Setting(str, gettext_lazy("Unit"), gettext_lazy("The word after the field, such as “years”.")),
    }
    example = {
        "item": {
            "key": "years",
            "question": "For how long have you taught?",
            "settings": {"low": 0, "high": 80, "unit": "years"},
        },
        "valid": [(3, 3.0), ("12.5", 12.5), (" 0 ", 0.0), (80.0, 80.0)],
        "model": [3, 12.5, 0],
        "invalid": [-1, 80.5, "a few", "3,5", "1e1", True, [3], {"years": 3}, "١", 10**400, "9" * 5000],
    }

    def check(self, item: ItemDefinition) -> None:
        super().check(item)
        for end in ("low", "high"):
            if not math.isfinite(item.settings.get(end, 0)) or abs(item.settings.get(end, 0)) > LARGEST:
                raise InvalidDefinition(f"settings.{end}", "must be a number that a person could type; or leave it out")
        low, high = _bounds(item)
        if low >= high:
            raise InvalidDefinition("settings.high", f"must be greater than low, which is {_digits(low)}")

    def clean(self, item: ItemDefinition, raw: Any, *, stories: Sequence[StoryLabel] = ()) -> Value:
        value = read_number(raw)
        low, high = _bounds(item)
        if (
            value is None
            or not low <= value <= high
            or (item.settings.get("integer") and not float(value).is_integer())
        ):
            raise InvalidAnswer(
                _request(item, hint=_(" Write decimals with a point.") if isinstance(raw, str) and "," in raw else "")
            )
        return int(value) if item.settings.get("integer") else float(value)

    def context(
        self, item: ItemDefinition, *, name: str, value: Any = None, stories: Sequence[StoryLabel] = ()
    ) -> dict[str, Any]:
        text = value if isinstance(value, str) else "" if read_number(value) is None else _digits(value)
        return {
            **super().context(item, name=name, value=text, stories=stories),
            "unit": item.settings.get("unit", ""),
            "inputmode": "numeric" if item.settings.get("integer") and _bounds(item)[0] >= 0 else "decimal",
        }

    def words(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> str:
        unit = item.settings.get("unit")
        with translation.override(None):  # a prompt does not depend on who starts the run
            kind = _range(item, "a whole number", "a number")
        return f"Answer with {kind}" + (f", in {unit}." if unit else ".")

    def schema(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> dict[str, Any]:
        low, high = _bounds(item)
        return {"type": "integer" if item.settings.get("integer") else "number", "minimum": low, "maximum": high}

    def label(self, item: ItemDefinition, value: Value) -> str:
        unit = item.settings.get("unit")
        return f"{_digits(value)} {unit}" if unit else _digits(value)


def read_number(raw: Any) -> int | float | None:
    """The number that `raw` is or says in digits; None if it is none or too large to be kept exactly."""
    if isinstance(raw, str):
        raw = float(raw) if NUMBER.fullmatch(raw.strip()) else None
    return raw if has_type(float, raw) and abs(raw) <= LARGEST else None


def _bounds(item: ItemDefinition) -> tuple[float, float]:
    return item.settings.get("low", -LARGEST), item.settings.get("high", LARGEST)


def _range(item: ItemDefinition, whole: str, any_number: str) -> str:
    kind = whole if item.settings.get("integer") else any_number
    low, high = item.settings.get("low"), item.settings.get("high")
    if low is not None and high is not None:
        return _("%(what)s from %(low)s to %(high)s") % {"what": kind, "low": _digits(low), "high": _digits(high)}
    if low is not None:
        return _("%(what)s of at least %(low)s") % {"what": kind, "low": _digits(low)}
    return kind if high is None else _("%(what)s of at most %(high)s") % {"what": kind, "high": _digits(high)}


def _request(item: ItemDefinition, *, hint: str) -> str:
    return _("Please give %(number)s.") % {"number": _range(item, _("a whole number"), _("a number"))} + hint


def _digits(value: float) -> str:
    """The number as people write it, 3 and not 3.0, 0.00001 and not 1e-05; reads back as exactly the same."""
    return str(int(value)) if float(value).is_integer() else format(Decimal(repr(value)), "f")
