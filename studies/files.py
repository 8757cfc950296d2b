"""Reading files that somebody hands us: capped, decoded strictly, never outside their folder, every value checked.

Nothing here knows what a file is about. A reader takes a raw value and gives it back typed, or raises Unfit.
"""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator, validate_email

from studies.documents import DocumentError

LARGEST_FILE = 50_000_000  # bytes of a file of stories
LARGEST_TEXT = 1_000_000  # bytes of one text
MOST_DOTS = 200
Reader = Callable[[Any], Any]

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_SLUG = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
# What a spreadsheet would run when somebody opens an export that carries the value on.
_FORMULA = re.compile(r"[=@]|[+-].*[(|!]")


class Unfit(ValueError):
    """A value that cannot stand in its field; the message says why and what would do."""


def shown(value: Any) -> str:
    """A value as a message shows it: in quotes, on one line, short."""
    said = " ".join(str(value).split())
    return f"“{said[:59]}…”" if len(said) > 60 else f"“{said}”"


def named(value: Any) -> str:
    """What kind of value it is, in plain words."""
    words = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "text",
        list: "a list",
        dict: "a table",
    }
    return words.get(type(value), "nothing" if value is None else f"a {type(value).__name__}")


def text(value: Any) -> str:
    """Words of any length, line ends made alike, the line end at the end of a file left out."""
    if not isinstance(value, str):
        raise Unfit(f"must be text, not {named(value)}")
    alike = value.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if found := _CONTROL.search(alike):
        raise Unfit(f"contains the control character U+{ord(found[0]):04X}; remove it")
    if len(alike.encode()) > LARGEST_TEXT:
        raise Unfit(f"is longer than {LARGEST_TEXT:,} bytes")
    return alike


def line(longest: int) -> Reader:
    """Words on one line, at most so many characters, without blanks around them."""

    def read(value: Any) -> str:
        said = str(text(value)).strip()
        if "\n" in said:
            raise Unfit("must stand on one line")
        if len(said) > longest:
            raise Unfit(f"has {len(said)} characters; at most {longest} are allowed")
        if _FORMULA.match(said):
            raise Unfit(f"{shown(said)} would run as a formula in a spreadsheet; begin with something else")
        return said

    return read


def matching(pattern: re.Pattern[str], longest: int, allowed: str) -> Reader:
    def read(value: Any) -> str:
        said = str(line(longest)(value))
        if not pattern.fullmatch(said):
            raise Unfit(f"{shown(said)} will not do; {allowed}")
        return said

    return read


key = matching(_KEY, 80, "use letters A–Z, digits, “_”, “.” and “-”, beginning with a letter or digit")
language = matching(_LANGUAGE, 12, "give a language code such as “en” or “pt-BR”")


def slug(longest: int) -> Reader:
    return matching(
        _SLUG, longest, "use small letters, digits, “-” and “_”, beginning and ending with a letter or digit"
    )


def one_of(*choices: str) -> Reader:
    def read(value: Any) -> str:
        if value not in choices:
            raise Unfit(f"{shown(value)} is not one of {', '.join(choices)}")
        return str(value)

    return read


def whole(least: int, most: int) -> Reader:
    """A whole number within bounds; true and false are none, though Python says so."""

    def read(value: Any) -> int:
        if type(value) is not int:
            raise Unfit(f"must be a whole number, not {named(value)}")
        if not least <= value <= most:
            raise Unfit(f"must be from {least} to {most}")
        return value

    return read


def truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Unfit(f"must be true or false, not {named(value)}")
    return value


def mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Unfit(f"must be a table, such as {{ name = true }}, not {named(value)}")
    return value


def email(value: Any) -> str:
    return _validated(line(254)(value), validate_email, "is not an e-mail address")


def url(value: Any) -> str:
    return _validated(line(500)(value), URLValidator(schemes=["http", "https"]), "is not an http or https address")


def _validated(said: str, check: Callable[[str], None], otherwise: str) -> str:
    try:
        check(said)
    except ValidationError:
        raise Unfit(f"{shown(said)} {otherwise}") from None
    return said


def table(raw: Mapping[str, Any], readers: Mapping[str, Reader], *, path: Path, where: str = "") -> dict[str, Any]:
    """The values of a table, typed. Raises DocumentError at the first unknown key or value that does not fit."""
    found = {}
    for name, value in raw.items():
        here = f"{where}, {name}" if where else name
        if name not in readers:
            close = get_close_matches(name, readers, n=1)
            way_out = f"did you mean “{close[0]}”?" if close else f"known are {', '.join(readers)}"
            raise DocumentError(path, here, f"there is no such key; {way_out}")
        try:
            found[name] = readers[name](value)
        except Unfit as unfit:
            raise DocumentError(path, here, str(unfit)) from None
    return found


def required(found: Mapping[str, Any], names: list[str], *, path: Path, where: str = "") -> None:
    """Raise DocumentError at the first of these keys that is missing or empty."""
    for name in names:
        if found.get(name) in ("", None, []):
            raise DocumentError(path, f"{where}, {name}" if where else name, "is missing")


def within(folder: Path, name: str) -> Path:
    """The file of that name inside the folder. Raises Unfit for any way out of it, links included."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or "\\" in name or ":" in name or ".." in parts:
        raise Unfit(f"{shown(name)} must name a file inside the study's folder, as in “texts/one.txt”")
    place = folder
    for part in parts:
        place = place / part
        if place.is_symlink():
            raise Unfit(f"{shown(name)} is a link; put the file itself into the study's folder")
    if not place.is_file():
        raise Unfit(f"there is no file {shown(name)} in the study's folder")
    return place


def decoded(path: Path, *, largest: int) -> str:
    """What a file says, as text. Raises Unfit if it is too large, empty or not UTF-8."""
    with path.open("rb") as file:
        data = file.read(largest + 1)
    if len(data) > largest:
        raise Unfit(f"the file is larger than {largest:,} bytes")
    try:
        said = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        n = data[: error.start].count(b"\n") + 1
        raise Unfit(f"line {n} is not UTF-8; save the file as UTF-8") from None
    if not said.strip():
        raise Unfit("the file is empty")
    return said


def toml_of(path: Path) -> dict[str, Any]:
    """The table in a TOML file. Raises Unfit."""
    said = decoded(path, largest=LARGEST_TEXT)
    # tomllib keeps every prefix of a dotted key, so that one long key would fill the memory.
    if any(row.count(".") > MOST_DOTS for row in said.splitlines()):
        raise Unfit(f"a line has more than {MOST_DOTS} dots; break the line, or put the text into a file of its own")
    try:
        return tomllib.loads(said)
    except tomllib.TOMLDecodeError as error:
        raise Unfit(f"is not TOML: {error}") from None
    except RecursionError:
        raise Unfit("is nested too deeply") from None
    except ValueError:
        raise Unfit("holds a number with too many digits") from None


class Pairs(list[tuple[str, Any]]):
    """A JSON object as written, so that a key given twice can be seen."""


def json_of(said: str) -> Any:
    """Parsed JSON with objects as Pairs. Raises Unfit with line and column."""
    try:
        return json.loads(said, object_pairs_hook=Pairs, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise Unfit(f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise Unfit("is nested too deeply") from None
    except Unfit:
        raise
    except ValueError:
        raise Unfit("holds a number with too many digits") from None


def _no_constant(name: str) -> None:
    raise Unfit(f"holds {name}, which is not JSON")
