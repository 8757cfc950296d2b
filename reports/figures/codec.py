"""Results as JSON and back: one encoder and one decoder for every figure, by the types of its dataclasses.

A field that has a default is left out while it holds it; a `Listing` is the list of its rows.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from reports.figures.base import Listing

PLAIN = (str, int, float, bool, NoneType)


class Undecodable(ValueError):
    """A document that this version does not read, such as one that an older version stored."""


def encode(value: Any) -> Any:
    """A result, or a part of one, as plain JSON."""
    if type(value) in PLAIN:  # most of a result
        return value
    if isinstance(value, Listing):
        return [encode(row) for row in value.rows]
    if is_dataclass(value) and not isinstance(value, type):
        pairs = ((field, getattr(value, field.name)) for field in _fields_of(type(value)))
        return {field.name: encode(part) for field, part in pairs if not _is_default(field, part)}
    if isinstance(value, tuple | list):
        return [encode(part) for part in value]
    if isinstance(value, dict):
        return {str(name): encode(part) for name, part in value.items()}
    return value


@cache
def _fields_of(kind: type) -> tuple[Field[Any], ...]:
    return fields(kind)


def decode(kind: Any, value: Any, location: str = "") -> Any:
    """What `encode` was given. Raises Undecodable for what it cannot have been."""
    if type(value) is kind:  # most of a document: a number or a word that is what it should be
        return value
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _decode_union(arguments, value, location)
    if origin is Listing:
        return Listing(_decode_rows(arguments[0], value, location))
    if origin is tuple:
        return _decode_rows(arguments[0], value, location)
    if origin is dict:
        return {
            name: decode(arguments[1], part, f"{location}/{name}") for name, part in _of(dict, value, location).items()
        }
    if is_dataclass(kind):
        return _decode_fields(kind, _of(dict, value, location), location)
    if kind is Any:
        return value
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return _of(kind, value, location)


def _decode_rows(kind: Any, value: Any, location: str) -> tuple[Any, ...]:
    return tuple(decode(kind, part, f"{location}/{n}") for n, part in enumerate(_of(list, value, location)))


def _decode_union(kinds: tuple[Any, ...], value: Any, location: str) -> Any:
    if value is None and NoneType in kinds:
        return None
    # An int that may also be a float is kept as it is.
    if type(value) in kinds:
        return value
    for kind in kinds:
        try:
            return decode(kind, value, location)
        except Undecodable:
            continue
    raise Undecodable(f"{location}: {value!r} is of none of the kinds that it may be")


def _decode_fields(kind: Any, document: dict[str, Any], location: str) -> Any:
    hints, required = _declaration(kind)
    if unknown := document.keys() - hints.keys():
        raise Undecodable(f"{location}: there is no {', '.join(sorted(unknown))}")
    if missing := [name for name in required if name not in document]:
        raise Undecodable(f"{location}: {', '.join(missing)} is missing")
    return kind(**{name: decode(hints[name], value, f"{location}/{name}") for name, value in document.items()})


def _of(kind: Any, value: Any, location: str) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise Undecodable(f"{location}: {value!r} is not of the kind {kind}")
    return value


@cache
def _declaration(kind: type) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The types of a dataclass's fields by name, and the names of those that have no default."""
    hints, declared = get_type_hints(kind), fields(kind)
    return {field.name: hints[field.name] for field in declared}, tuple(f.name for f in declared if _is_required(f))


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _is_default(field: Field[Any], value: Any) -> bool:
    return field.default is not MISSING and value == field.default
