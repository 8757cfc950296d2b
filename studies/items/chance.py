"""Values drawn by chance from the JSON schema of an item's answers: whatever an item type allows, asked or not which.

`Chance` draws evenly; a simulated rater with opinions overrides how single things are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # web processes load item types, and numbers only when something is drawn
    import numpy as np

WIDEST = 1000  # limits further out are not made use of


def draw_value(schema: dict[str, Any], chance: Chance) -> Any:
    """A value that the schema allows. Schemas are those that `ItemType.schema` returns."""
    if options := schema.get("enum"):
        return chance.option(options)
    if schema["type"] in ("integer", "number"):
        low, high = draw_bounds(schema)
        return chance.number(low, high) if low <= high else max(schema["minimum"], -WIDEST)
    if schema["type"] == "array":
        return _draw_list(schema, chance)
    if schema["type"] == "object":
        return {name: draw_value(part, chance) for name, part in schema["properties"].items()}
    return chance.text()


def draw_bounds(schema: dict[str, Any]) -> tuple[int, int]:
    """The whole numbers between which one is drawn: wherever a number is allowed, a whole one is."""
    return math.ceil(max(schema["minimum"], -WIDEST)), math.floor(min(schema["maximum"], WIDEST))


def _draw_list(schema: dict[str, Any], chance: Chance) -> list[Any]:
    inner = schema["items"]
    if inner.get("type") == "array":  # ranks that may be shared: each story on one of its own
        return [[name] for name in chance.order(inner["items"]["enum"])]
    least = schema.get("minItems", 1)
    if "enum" in inner and schema.get("uniqueItems"):
        return chance.selection(inner["enum"], least=least, most=schema.get("maxItems", len(inner["enum"])))
    return [draw_value(inner, chance) for _ in range(least)]


class Chance:
    """Every allowed value as likely as any other, but for the share of yes where yes and no are the answers."""

    def __init__(self, rng: np.random.Generator, *, text: str, yes_rate: float = 0.5) -> None:
        self.rng, self._text, self._yes_rate = rng, text, yes_rate

    def option(self, options: Sequence[str]) -> str:
        """One of the options."""
        if set(options) == {"yes", "no"}:
            return "yes" if self.rng.random() < self._yes_rate else "no"
        return options[int(self.rng.integers(len(options)))]

    def number(self, low: int, high: int) -> int:
        """A whole number between the limits, both included."""
        return int(self.rng.integers(low, high + 1))

    def order(self, names: Sequence[str]) -> list[str]:
        """All names, in an order."""
        return list(self.rng.permutation(list(names)).tolist())

    def selection(self, names: Sequence[str], *, least: int, most: int) -> list[str]:
        """So many of the names, each once."""
        n = int(self.rng.integers(least, most + 1))
        return self.order(names)[:n]

    def text(self) -> str:
        """The words that stand where somebody would write."""
        return self._text
