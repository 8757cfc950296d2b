"""The document of a frozen protocol: every word that raters meet, written from the rows and compiled back into steps.

Stories stand in it by hash, all else in full, so that a reader of the document knows what was asked, and nothing that
is done to the rows later reaches a rater.
"""

import json
from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Model

from studies import hashing
from studies.documents import placeholders
from studies.facts import FACTS
from studies.models import Cloze, Instrument, Item, ProtocolVersion, Step, Study
from studies.protocol.groups import read_story_codes
from studies.protocol.steps import Protocol, cloze_of

M = TypeVar("M", bound=Model)

# What raters read of the study, and the design that decides what they get to read.
STUDY = (
    *("title", "language", *(fact.key for fact in FACTS if fact.is_frozen_if_empty)),
    *("shows_premise", "asks_recognition", "seats_per_group", "order_policy", "seed", "groups_per_sitting"),
)
# Of the study as well, and in the document only where they say something.
IF_SAID = (
    *(fact.key for fact in FACTS if not fact.is_frozen_if_empty),
    *("groups_per_rater", "n_repeats", "hours_per_group", "excluded_studies"),
)
STEP = (
    *("position", "key", "kind", "title", "text", "scope", "locks", "background", "layout", "revises", "options"),
    *("story", "samples"),
)
INSTRUMENT = ("slug", "version", "title", "language", "status", "fingerprint")
# All but where the words come from, which can be corrected later.
ITEM = tuple(
    field.name for field in Item._meta.concrete_fields if field.name not in ("id", "instrument", *Item.MAY_CHANGE)
)
CLOZE = ("slug", "version", "title", "document")
# What belongs to one version; all else of the document belongs to the study and may differ in a later version.
OF_VERSION = ("study", "steps", "instruments")


class DamagedProtocol(ValueError):
    """The rows that a frozen protocol speaks of are not there; the message says which."""


def write_document(protocol: Protocol) -> str:
    """The protocol as canonical JSON, with nothing that depends on this database. Reads the rows of its study."""
    # Of their rows as tuples and one by one: of ten thousand stories and their texts, which are large, none stays.
    rows = protocol.version.study.stories.values_list("code", "text", "sha256", "is_withheld").iterator()
    sha256_by_story = {
        code: _sha256_of_text(text, sha256, is_withheld=is_withheld) for code, text, sha256, is_withheld in rows
    }
    return hashing.canonical_json(_content(protocol, sha256_by_story))


def hash_rows(protocol: Protocol) -> str:
    """A hash that is another one once the document would be. Reads no texts, however many there are."""
    stories = protocol.version.study.stories.values_list("code", "sha256")
    return hashing.sha256(hashing.canonical_json(_content(protocol, dict(stories))))


def _content(protocol: Protocol, sha256_by_story: Mapping[str, str]) -> dict[str, Any]:
    study = protocol.version.study
    groups = list(study.groups.values_list("pk", "code", "premise"))
    codes_by_group = read_story_codes(study)
    content: dict[str, Any] = {
        "study": study.slug,
        **_values(study, STUDY),
        "steps": [_step(step) for step in fill_names(protocol).steps],
        "instruments": {str(s.instrument): _instrument(s.instrument) for s in protocol.steps if s.instrument},
        "groups": {code: codes_by_group.get(pk, []) for pk, code, _premise in groups},
        "stories": dict(sha256_by_story),
    }
    for cloze in filter(None, map(cloze_of, protocol.steps)):
        content["instruments"][str(cloze.filling)]["cloze"] = _values(cloze, CLOZE)
    # Only where it says something, so that protocols that were frozen before it was there stay as they are.
    if study.text_kind != Study.TextKind.STORY:
        content["text_kind"] = study.text_kind
    content |= {name: value for name, value in _values(study, IF_SAID).items() if value}
    if study.analysis_plan:
        content["analysis_plan"] = study.analysis_plan
    if study.shows_premise:
        content["premises"] = {code: premise for _pk, code, premise in groups}
    return content


def fill_names(protocol: Protocol) -> Protocol:
    """The protocol with the names in braces in its texts replaced by what its study says; steps are copies."""
    return _fill(protocol, protocol.version.study.value_by_fact)


def _fill(protocol: Protocol, values: Mapping[str, Any]) -> Protocol:
    steps = tuple(copy(step) for step in protocol.steps)
    for step in steps:
        step.text = placeholders.fill(step.text, values)
    return Protocol(protocol.version, steps)


def _sha256_of_text(text: str, sha256: str, *, is_withheld: bool) -> str:
    """The hash of what raters read: of the text as it stands, or as it was if it is withheld now."""
    return sha256 if is_withheld else hashing.sha256(text)


def _values(row: Model, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}


def _step(step: Step) -> dict[str, Any]:
    return {**_values(step, STEP), "instrument": str(step.instrument) if step.instrument else None}


def _instrument(instrument: Instrument) -> dict[str, Any]:
    table = {**_values(instrument, INSTRUMENT), "items": [_values(item, ITEM) for item in instrument.items.all()]}
    return table | ({"scores": instrument.scores} if instrument.scores else {})


def compile_steps(version: ProtocolVersion, text: str) -> tuple[Step, ...]:
    """The steps that a document freezes, with the primary keys of the rows that the version asks. Two or three queries.

    What the document leaves out (citations, where the words of an item come from) is read from the rows when asked for.
    Raises DamagedProtocol if a row is missing.
    """
    content = json.loads(text)
    instruments = _compile_instruments(content["instruments"])
    pk_by_key = dict(Step.objects.filter(version=version.asked_by_id).values_list("key", "pk"))
    steps = []
    for table in content["steps"]:
        ids = {"id": _pk(pk_by_key, table["key"], "step"), "version_id": version.asked_by_id}
        step = _row(Step, ids | {name: table[name] for name in STEP})
        step.instrument = instruments[table["instrument"]] if table["instrument"] else None
        steps.append(step)
    return tuple(steps)


def _compile_instruments(tables: Mapping[str, Any]) -> dict[str, Instrument]:
    """The instruments with their items and, if they fill one, their cloze, as a document has them."""
    rows = Item.objects.filter(instrument__slug__in={table["slug"] for table in tables.values()})
    names = rows.values_list("instrument__slug", "instrument__version", "key", "pk", "instrument")
    keys = [(f"{slug} {number}", key, pk, instrument) for slug, number, key, pk, instrument in names]
    pk_by_item = {(name, key): pk for name, key, pk, _instrument in keys}
    pk_by_instrument = {name: pk for name, _key, _pk, pk in keys}
    compiled = {}
    for name, table in tables.items():
        pk = _pk(pk_by_instrument, name, "instrument")
        fields = {field: table[field] for field in INSTRUMENT} | {"scores": table.get("scores", [])}
        instrument = _row(Instrument, {"id": pk} | fields)
        items = []
        for item in table["items"]:
            item_pk = _pk(pk_by_item, (name, item["key"]), "item")
            items.append(_row(Item, {"id": item_pk, "instrument_id": pk} | {field: item[field] for field in ITEM}))
        _set_prefetched(instrument, items)
        if "cloze" in table:
            # Sets `instrument.cloze` as well.
            _compile_cloze(table["cloze"], pk).filling = instrument
        compiled[name] = instrument
    return compiled


def _compile_cloze(table: Mapping[str, Any], filling: int) -> Cloze:
    pk = Cloze.objects.filter(filling=filling).values_list("pk", flat=True).first()
    if pk is None:
        raise DamagedProtocol(f"the cloze {table['slug']} {table['version']} of a frozen protocol is gone")
    return _row(Cloze, {"id": pk} | {field: table[field] for field in CLOZE})


def _set_prefetched(instrument: Instrument, items: list[Item]) -> None:
    """Let `instrument.items.all()` be these items, as `prefetch_related` would with a query."""
    rows = Item.objects.all()
    rows._result_cache = items
    instrument._prefetched_objects_cache = {"items": rows}  # type: ignore[attr-defined]
    for item in items:
        item.instrument = instrument


def _row(model: type[M], values: Mapping[str, Any]) -> M:
    """A row of these values. Fields that are not among them are read from the database when asked for."""
    return model.from_db(DEFAULT_DB_ALIAS, list(values), list(values.values()))


def _pk(pk_by_key: Mapping[Any, int], key: Any, kind: str) -> int:
    if key not in pk_by_key:
        name = ", ".join(key) if isinstance(key, tuple) else key
        raise DamagedProtocol(f"the {kind} {name} of a frozen protocol is gone")
    return pk_by_key[key]


def find_differences(version: ProtocolVersion, current: Protocol, *, is_latest: bool = True) -> list[str]:
    """What raters would meet now, by the rows, and did not when the protocol was frozen; a sentence for each place.

    is_latest : of an earlier version only what belongs to it is compared, since the study may have been amended
    """
    before = json.loads(version.document)
    # The names in the texts of an earlier version stand for what the study said then.
    current = current if is_latest else _fill(current, {name: before.get(name, "") for name in placeholders.NAMES})
    now = json.loads(write_document(current))
    names = sorted({*before, *now} if is_latest else OF_VERSION)
    return list(_differences({n: before.get(n) for n in names}, {n: now.get(n) for n in names}, ()))


def _differences(before: Any, now: Any, path: tuple[str, ...]) -> Iterator[str]:
    before, now = _by_key(before), _by_key(now)
    if isinstance(before, dict) and isinstance(now, dict):
        for name in dict.fromkeys([*before, *now]):
            if name not in now:
                yield f"{', '.join((*path, name))}: it was frozen and is gone"
            elif name not in before:
                yield f"{', '.join((*path, name))}: it was added after freezing"
            else:
                yield from _differences(before[name], now[name], (*path, name))
    elif before != now:
        yield f"{', '.join(path)}: {_short(now)} stands where {_short(before)} was frozen"


def _by_key(value: Any) -> Any:
    """Steps and items by their keys, so that a difference can be named; anything else as it is."""
    if isinstance(value, list) and value and all(isinstance(row, dict) and "key" in row for row in value):
        return {row["key"]: row for row in value}
    return value


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"
