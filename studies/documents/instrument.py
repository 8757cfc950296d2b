"""Instrument documents: what an instrument asks, as one TOML file that a person can read, write and check.

Reading is strict, because a misspelt key would otherwise be a question that is silently asked in another way.
"""

from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import tomli_w

from studies import hashing
from studies.documents import reader
from studies.documents.errors import DocumentError, InvalidValue
from studies.documents.reader import FieldReader
from studies.documents.scores import ScoreDocument, read_scores
from studies.items import InvalidDefinition, find_type
from studies.vocabulary import Rationale, RationaleUnit

FOLDER = Path(__file__).parents[1] / "instruments"
# As long as the columns that will hold them, so that a document which reads also loads.
LONGEST = {
    "slug": 80,
    "version": 40,
    "title": 200,
    "language": 12,
    "key": 80,
    "dimension": 80,
    "rationale_label": 120,
    "suggested": 120,
}
MOST_OPTIONS = 1000
MARKS = ("quoted", "adapted")
# The fields that hold words of the source or ours, and so can be marked as quoted or adapted.
WORDED = (
    "dimension",
    "title",
    "question",
    "background",
    "help",
    "instruction",
    "options",
    "settings",
    "rationale_label",
    "suggested",
)


@dataclass(frozen=True)
class ItemDocument:
    """One item, with the fields of `studies.models.Item`; `docs/instruments.md` explains each."""

    key: str
    type: str
    question: str
    dimension: str = ""
    title: str = ""
    background: str = ""
    help: str = ""
    instruction: str = ""
    options: list[dict[str, Any]] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    rationale: str = "none"
    rationale_least: int = 0
    rationale_unit: str = "sentences"
    rationale_label: str = ""
    suggested: str = ""
    is_skippable: bool = False
    quoted: list[str] = field(default_factory=list)
    adapted: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class InstrumentDocument:
    """An instrument in one version; `docs/instruments.md` explains each field."""

    slug: str
    version: str
    title: str
    items: list[ItemDocument]
    language: str = "en"
    citation: str = ""
    url: str = ""
    note: str = ""
    briefing: str = ""
    scores: list[ScoreDocument] = field(default_factory=list)


def _names(value: Any) -> list[str]:
    """A list of names of fields."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InvalidValue("must be a list of texts")
    return value


def _words(*names: str) -> dict[str, FieldReader]:
    """Words that are kept as they stand."""
    return {name: reader.verbatim(LONGEST.get(name)) for name in names}


READERS: dict[str, FieldReader] = {
    "slug": reader.slug(LONGEST["slug"]),
    **_words("version", "title", "language", "citation", "url", "note", "briefing"),
}
ITEM_READERS: dict[str, FieldReader] = {
    "key": reader.slug(LONGEST["key"]),
    **_words("type", "question", "dimension", "title", "background", "help", "instruction"),
    **_words("rationale_label", "suggested"),
    "options": lambda value: reader.storable(reader.tables(MOST_OPTIONS)(value)),
    "settings": lambda value: reader.storable(reader.mapping(value)),
    "rationale": reader.one_of(*Rationale.values),
    "rationale_least": reader.whole_number(0, 32_767),
    "rationale_unit": reader.one_of(*RationaleUnit.values),
    "is_skippable": reader.boolean,
    **dict.fromkeys(MARKS, _names),
}


def discover() -> dict[str, Path]:
    """The built-in instruments by slug; a second version of a slug stands under "slug@version"."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}


def read_instrument(path: Path) -> InstrumentDocument:
    """The instrument in that file. Raises DocumentError."""
    return parse_instrument(reader.read_toml(path, guide="docs/instruments.md"), path)


def parse_instrument(table: dict[str, Any], path: Path | str) -> InstrumentDocument:
    """The instrument that the table describes; `path` names it in errors. Raises DocumentError.

    Keys under `defaults` hold for every item that does not say otherwise.
    """
    try:
        return _instrument(dict(table), path)
    except RecursionError as error:
        raise DocumentError(path, "file", "is nested too deeply; an instrument needs three levels") from error


def write_instrument(document: InstrumentDocument) -> str:
    """The document as TOML, which `parse_instrument` reads as the same; what is left at its default is left out."""
    table = _stated(document, InstrumentDocument(slug="", version="", title="", items=[]))
    unsaid = ItemDocument(key="", type="", question="")
    table["items"] = [_stated(item, unsaid) for item in document.items]
    if document.scores:
        table["scores"] = [score.as_table() for score in document.scores]
    return tomli_w.dumps(table, multiline_strings=True)


def _stated(row: InstrumentDocument | ItemDocument, unsaid: InstrumentDocument | ItemDocument) -> dict[str, Any]:
    return {f.name: value for f in fields(row) if (value := getattr(row, f.name)) != getattr(unsaid, f.name)}


def fingerprint(document: InstrumentDocument) -> str:
    """SHA-256 in hex of all that raters and models meet, every visible word, option, setting, rule and item type, and
    of the scores that are made of it.

    Citation, note and the marks for quoted and adapted can be corrected without changing it. What an item leaves
    at its default is left out, and so are scores where there are none, so that what instruments gain one day does not
    change those of today.
    """
    unsaid = asdict(ItemDocument(key="", type="", question=""))
    items = [
        {name: value for name, value in asdict(item).items() if value != unsaid[name] and name not in MARKS}
        for item in document.items
    ]
    visible = {"title": document.title, "language": document.language, "items": items}
    if document.scores:
        visible["scores"] = [score.as_table() for score in document.scores]
    return hashing.sha256(hashing.canonical_json(visible))


def _instrument(table: dict[str, Any], path: Path | str) -> InstrumentDocument:
    defaults = table.pop("defaults", {})
    if not isinstance(defaults, dict) or {"key", "question"} & set(defaults):
        raise DocumentError(
            path, "defaults", "must be a table without key and question, which every item has of its own"
        )
    rows = table.get("items")
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise DocumentError(path, "items", "an instrument has at least one item; write each under [[items]]")
    items: list[ItemDocument] = []
    for number, row in enumerate(rows, start=1):
        location = f"items.{row['key']}" if isinstance(row.get("key"), str) else f"items[{number}]"
        items.append(_item({**defaults, **row}, path, location))
        if items[-1].key in [other.key for other in items[:-1]]:
            raise DocumentError(path, f"{location}, key", "stands twice; every item needs a key of its own")
    scores = read_scores(table.get("scores", []), items, path)
    fields = {name: value for name, value in table.items() if name not in ("items", "scores")}
    head = reader.read_table(fields, READERS, path=path)
    reader.check_required(head, ["slug", "version", "title"], path=path)
    return InstrumentDocument(**head, items=items, scores=scores)


def _item(table: dict[str, Any], path: Path | str, location: str) -> ItemDocument:
    values = reader.read_table(table, ITEM_READERS, path=path, location=location)
    reader.check_required(values, ["key", "type", "question"], path=path, location=location)
    item = ItemDocument(**values)
    try:
        find_type(item.type).check(item)
    except InvalidDefinition as error:
        raise DocumentError(path, f"{location}, {error.field}", error.reason) from error
    if item.rationale_label and item.rationale == "none":
        raise DocumentError(path, f"{location}, rationale_label", 'says nothing while rationale is "none"')
    if item.rationale_least and item.rationale != "required":
        raise DocumentError(path, f"{location}, rationale_least", 'needs rationale = "required"')
    for mark in MARKS:
        for name in getattr(item, mark):
            if name not in WORDED or not getattr(item, name):
                names = ", ".join(f for f in WORDED if getattr(item, f))
                raise DocumentError(
                    path, f"{location}, {mark}", f"“{name}” has no words in this item; there are {names}"
                )
    if both := set(item.quoted) & set(item.adapted):
        raise DocumentError(
            path, f"{location}, adapted", f"{', '.join(sorted(both))} cannot be quoted and adapted at once"
        )
    return item
