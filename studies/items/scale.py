"""A point on a scale of whole numbers, with words at some of its points."""

import re
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies.items.base import InvalidAnswer, InvalidDefinition, ItemDefinition, ItemType, Setting, StoryLabel, Value

WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
MOST_POINTS = 11  # more do not fit a telephone, and nobody tells them apart


class Scale(ItemType):
    """Stores the number that was shown.

    settings : low and high, the end points; anchors, words by point, at both ends at least, {"1": "Detached", "5":
        "Deep Resonance"}; analysed_reversed, true if analysis counts from the other end, and anchors_analysed, the
        words in that direction; must, true for a constraint of a cloze that allows at most 1 where it is broken
    """

    name = "scale"
    title = gettext_lazy("Scale")
    summary = gettext_lazy("points with words")
    level = "ordinal"
    template = "items/scale.html"
    settings = {
        "low": Setting(int, gettext_lazy("From"), default=1),
        "high": Setting(
            int, gettext_lazy("To"), gettext_lazy("2 to 11 points; five or seven read best on a telephone."), default=5
        ),
        "anchors": Setting(
            dict,
            gettext_lazy("Words at the points"),
            gettext_lazy("Both ends need words. Raters see them on every row."),
        ),
        "analysed_reversed": Setting(
            bool, gettext_lazy("Counted from the other end in the analysis"), is_of_analysis=True
        ),
        "anchors_analysed": Setting(dict, gettext_lazy("Words in the direction of the analysis"), is_of_analysis=True),
        "must": Setting(bool, gettext_lazy("Must be met"), is_of_cloze=True),
    }
    example = {
        "item": {
            "key": "empathy",
            "question": "To what degree does the story evoke empathy?",
            "settings": {"low": 1, "high": 5, "anchors": {"1": "Detached", "5": "Deep Resonance"}},
        },
        "valid": [(1, 1), (5, 5), ("3", 3), (" 4 ", 4), (2.0, 2)],
        "model": [1, 2, 3, 4, 5],
        "invalid": [0, 6, "0", "three", "3.5", 2.5, True, [3], {"value": 3}, "1_0", "٣", "9" * 5000],
    }

    def check(self, item: ItemDefinition) -> None:
        super().check(item)
        for end in ("low", "high"):
            if end not in item.settings:
                raise InvalidDefinition(f"settings.{end}", "is missing; a scale needs low and high, such as 1 and 5")
        low, high = _ends(item)
        if not 2 <= high - low + 1 <= MOST_POINTS:
            raise InvalidDefinition(
                "settings.high", f"a scale has 2 to {MOST_POINTS} points; {low} to {high} has {high - low + 1}"
            )
        for name in ("anchors", "anchors_analysed"):
            for point, words in item.settings.get(name, {}).items():
                if point not in map(str, _points(item)):
                    raise InvalidDefinition(f"settings.{name}", f"{point!r} is not a point between {low} and {high}")
                if not isinstance(words, str) or not words.strip():
                    raise InvalidDefinition(f"settings.{name}.{point}", f"must be text, not {words!r}")
        if bare := [point for point in (low, high) if str(point) not in item.settings.get("anchors", {})]:
            raise InvalidDefinition(
                "settings.anchors", f"has no words for {bare[0]}; a scale needs words at both ends, {low} and {high}"
            )
        if "anchors_analysed" in item.settings and not item.settings.get("analysed_reversed"):
            raise InvalidDefinition("settings.anchors_analysed", "says nothing unless analysed_reversed is true")

    def clean(self, item: ItemDefinition, raw: Any, *, stories: Sequence[StoryLabel] = ()) -> Value:
        low, high = _ends(item)
        value = read_whole_number(raw)
        if value is None or not low <= value <= high:
            raise InvalidAnswer(
                _("Please choose a whole number from %(low)d to %(high)d.") % {"low": low, "high": high}
            )
        return value

    def context(
        self, item: ItemDefinition, *, name: str, value: Any = None, stories: Sequence[StoryLabel] = ()
    ) -> dict[str, Any]:
        low, high = _ends(item)
        anchors = item.settings.get("anchors", {})
        return {
            **super().context(item, name=name, value=read_whole_number(value), stories=stories),
            "options": [{"value": point, "anchor": anchors.get(str(point), "")} for point in _points(item)],
            "low": anchors.get(str(low), ""),
            "high": anchors.get(str(high), ""),
        }

    def words(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> str:
        low, high = _ends(item)
        anchors = [
            f"{point} means “{words}”"
            for point, words in sorted(item.settings.get("anchors", {}).items(), key=_by_point)
        ]
        return f"Answer with a whole number from {low} to {high}" + "".join(f"; {anchor}" for anchor in anchors) + "."

    def schema(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> dict[str, Any]:
        low, high = _ends(item)
        return {"type": "integer", "minimum": low, "maximum": high}

    def describe(self, item: ItemDefinition) -> str:
        low, high = _ends(item)
        anchors = item.settings.get("anchors", {})
        ends = " – ".join(filter(None, (anchors.get(str(low)), anchors.get(str(high)))))
        points = _("%(low)d to %(high)d") % {"low": low, "high": high}
        return ", ".join(filter(None, (points, ends)))

    def label(self, item: ItemDefinition, value: Value) -> str:
        anchor = item.settings.get("anchors", {}).get(str(value))
        return f"{value} ({anchor})" if anchor else str(value)

    def analysed(self, item: ItemDefinition, value: Value) -> Value:
        return sum(_ends(item)) - value if item.settings.get("analysed_reversed") else value


def read_whole_number(raw: Any) -> int | None:
    """The whole number that `raw` says as a number or in digits; None if it says none."""
    if isinstance(raw, str):
        return int(raw) if WHOLE_NUMBER.fullmatch(raw.strip()) else None
    if isinstance(raw, float):
        return int(raw) if raw.is_integer() else None
    return raw if isinstance(raw, int) and not isinstance(raw, bool) else None


def _ends(item: ItemDefinition) -> tuple[int, int]:
    return item.settings["low"], item.settings["high"]


def _points(item: ItemDefinition) -> range:
    low, high = _ends(item)
    return range(low, high + 1)


def _by_point(anchor: tuple[str, str]) -> int:
    return int(anchor[0])
