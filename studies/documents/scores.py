"""The scores that an instrument declares: sums and means of its items, weighted or turned round."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from studies.documents import reader
from studies.documents.errors import DocumentError, InvalidValue, quote
from studies.documents.reader import FieldReader
from studies.items import find_type
from studies.items.base import ItemDefinition

SUM, MEAN = "sum", "mean"
MOST_SCORES = 50
LONGEST = {"key": 80, "title": 200}


class TypedItem(ItemDefinition, Protocol):
    """An item with the name of its type."""

    @property
    def type(self) -> str: ...


@dataclass(frozen=True)
class ScoreDocument:
    """One score; `docs/instruments.md` explains each field.

    how : "sum" or "mean"
    items : keys, each once
    weights : by key; an item that is not named weighs 1
    reversed : keys of items that count low + high − x, by the ends of their own scale
    """

    key: str
    title: str
    how: str
    items: tuple[str, ...]
    weights: Mapping[str, float] = field(default_factory=dict, hash=False)
    reversed: tuple[str, ...] = ()

    def as_table(self) -> dict[str, Any]:
        """What a document says of it, without what is left at its default."""
        return {name: list(part) if isinstance(part, tuple) else part for name, part in asdict(self).items() if part}


def _keys(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(key, str) for key in value):
        raise InvalidValue("must be a list of keys of items")
    if twice := [key for key in value if value.count(key) > 1]:
        raise InvalidValue(f"{quote(twice[0])} stands there twice")
    return tuple(value)


def _weights(value: Any) -> dict[str, float]:
    weights = reader.mapping(value)
    for key, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise InvalidValue(f"{quote(key)} must be a number, not {reader.name_kind(weight)}")
        if not (math.isfinite(weight) and weight > 0):
            raise InvalidValue(f"{quote(key)} must be larger than 0; what counts the other way stands under “reversed”")
    return weights


READERS: dict[str, FieldReader] = {
    "key": reader.slug(LONGEST["key"]),
    "title": reader.line(LONGEST["title"]),
    "how": reader.one_of(SUM, MEAN),
    "items": _keys,
    "weights": _weights,
    "reversed": _keys,
}


def read_scores(tables: Any, items: Sequence[TypedItem], path: Path | str) -> list[ScoreDocument]:
    """The scores of these items that the tables describe. Raises DocumentError at the first fault."""
    try:
        rows = reader.tables(MOST_SCORES)(tables)
    except InvalidValue as error:
        raise DocumentError(path, "scores", str(error)) from None
    scores: list[ScoreDocument] = []
    for number, row in enumerate(rows, start=1):
        location = f"scores.{row['key']}" if isinstance(row.get("key"), str) else f"scores[{number}]"
        values = reader.read_table(row, READERS, path=path, location=location)
        reader.check_required(values, ["key", "title", "how", "items"], path=path, location=location)
        score = ScoreDocument(**values)
        if fault := _find_fault(score, items):
            raise DocumentError(path, f"{location}, {fault[0]}", fault[1])
        if score.key in [other.key for other in scores]:
            raise DocumentError(path, f"{location}, key", "stands twice; every score needs a key of its own")
        scores.append(score)
    return scores


def _find_fault(score: ScoreDocument, items: Sequence[TypedItem]) -> tuple[str, str] | None:
    """The field that does not go with the items, and why; None if all do."""
    item_by_key = {item.key: item for item in items}
    for key in score.items:
        if key not in item_by_key:
            return "items", f"there is no item {quote(key)}; there are {', '.join(item_by_key)}"
        if not has_ends(item_by_key[key]):
            return "items", f"{quote(key)} gives no number between two ends, as a scale or Yes and No do"
    if len(score.items) < 2:
        return "items", "a score is of two items or more; one alone is reported anyway"
    named: dict[str, Sequence[str]] = {"weights": list(score.weights), "reversed": score.reversed}
    for name, keys in named.items():
        if others := [key for key in keys if key not in score.items]:
            return name, f"{quote(others[0])} is none of its items"
    return None


def has_ends(item: TypedItem) -> bool:
    """Whether an answer is a number between two ends: on a scale, a number from low to high, or Yes or No as 1 or 0."""
    kind = find_type(item.type)
    is_number = kind.level in ("ordinal", "interval")
    return kind.is_verdict or (is_number and {"low", "high"} <= set(item.settings))


def parse_score(table: Mapping[str, Any]) -> ScoreDocument:
    """The score in a table that was read once."""
    values: dict[str, Any] = {name: tuple(part) if isinstance(part, list) else part for name, part in table.items()}
    return ScoreDocument(**values)


def select_possible(tables: Sequence[Mapping[str, Any]], items: Sequence[TypedItem]) -> list[dict[str, Any]]:
    """The scores as they can be once items are gone or others: without these; those that keep one item are left out."""
    keys = {item.key for item in items if has_ends(item)}
    kept = []
    for table in tables:
        score = {name: _among(part, keys) if name in KEYED else part for name, part in table.items()}
        if len(score["items"]) > 1:
            kept.append({name: part for name, part in score.items() if part})
    return kept


KEYED = ("items", "weights", "reversed")


def _among(part: Any, keys: set[str]) -> Any:
    is_kept: Callable[[str], bool] = keys.__contains__
    if isinstance(part, Mapping):
        return {key: weight for key, weight in part.items() if is_kept(key)}
    return [key for key in part if is_kept(key)]
