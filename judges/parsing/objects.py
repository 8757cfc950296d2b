"""JSON objects in a reply: where they stand, which of them stand inside others, and what is left around them."""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from judges import reasons
from judges.parsing.outcomes import Contradiction

MOST_FAILURES = 200  # braces that open no object; what stands after more of them is read as lines


@dataclass(frozen=True)
class Found:
    """An object with what stands before and after it, or after the one that it is a part of (is_inner).

    is_mended : whether a slip in its JSON was overlooked
    """

    before: str
    content: dict[str, Any]
    after: str
    is_inner: bool
    is_mended: bool = False


def find_objects(text: str) -> list[Found]:
    """Every JSON object in the text, outer ones before the ones they hold. Raises Contradiction for a doubled name.

    Two slips of models are overlooked: a line break inside of a string, and a comma before the last brace or bracket.
    """
    objects: list[Found] = []
    position, n_failures = text.find("{"), 0
    while position >= 0 and n_failures < MOST_FAILURES:
        try:
            content, end, is_mended = _decode(text, position)
        except Contradiction:
            raise
        except (ValueError, RecursionError):
            n_failures += 1
            end = position + 1
        else:
            before, after = text[:position], text[end:]
            objects.append(Found(before, content, after, is_inner=False, is_mended=is_mended))
            objects += [Found(before, inner, after, is_inner=True) for inner in _inner_objects(content)]
        position = text.find("{", end)
    return objects


def _decode(text: str, position: int) -> tuple[dict[str, Any], int, bool]:
    """The object that begins there, where it ends, and whether it had to be mended.

    Raises ValueError where none can be read, and Contradiction.
    """
    try:
        content, end = _STRICT.raw_decode(text, position)
    except json.JSONDecodeError:
        pass
    else:
        return content, end, False
    try:
        content, end = _LENIENT.raw_decode(text, position)
    except json.JSONDecodeError as error:
        # Python 3.13 points at the comma, earlier ones behind it.
        comma = error.pos if text[error.pos : error.pos + 1] == "," else len(text[: error.pos].rstrip()) - 1
        if comma <= position or text[comma] != "," or not text[comma + 1 :].lstrip().startswith(("}", "]")):
            raise
        # A blank in its place leaves everything else where it stands.
        content, end = _LENIENT.raw_decode(f"{text[:comma]} {text[comma + 1 :]}", position)
    return content, end, True


def _inner_objects(content: Any) -> Iterator[dict[str, Any]]:
    """Every object that the value holds, however deep."""
    for value in content.values() if isinstance(content, dict) else content if isinstance(content, list) else ():
        if isinstance(value, dict):
            yield value
        yield from _inner_objects(value)


def cut_objects(text: str, objects: list[Found]) -> str:
    """The text without its objects: what else the reply says, and what only looks like an object."""
    pieces, position = [], 0
    for part in objects:
        if not part.is_inner:
            pieces.append(text[position : len(part.before)])
            position = len(text) - len(part.after)
    return "\n".join([*pieces, text[position:]])


def walk_names(content: Any) -> Iterator[tuple[str, Any]]:
    """Every name in the value with what stands under it, however deep. Names are in small letters."""
    if isinstance(content, dict):
        for name, value in content.items():
            yield name.strip().casefold(), value
    for value in content.values() if isinstance(content, dict) else content if isinstance(content, list) else ():
        yield from walk_names(value)


def walk_texts(content: Any, *, but: Collection[str] = ()) -> Iterator[str]:
    """Every text in the value, however deep, but what stands under one of these names."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        for name, value in content.items():
            if name.strip().casefold() not in but:
                yield from walk_texts(value, but=but)
    elif isinstance(content, list):
        for value in content:
            yield from walk_texts(value, but=but)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name.strip().casefold() for name, _ in pairs}) < len(pairs):
        raise Contradiction(reasons.SAID_TWICE)
    return dict(pairs)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


_STRICT, _LENIENT = (
    json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refuse, strict=is_strict) for is_strict in (True, False)
)
