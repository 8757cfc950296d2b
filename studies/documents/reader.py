"""Reading files that somebody hands us: capped, decoded strictly, never outside their folder, every value checked.

Nothing here knows what a file is about. A field reader takes a raw value and gives it back typed, or raises
InvalidValue.
"""

import json
import math
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator, validate_email

from studies.documents.errors import DocumentError, InvalidValue, quote
from studies.documents.names import CODE, LANGUAGE, SLUG, Grammar
from studies.items import is_empty
from studies.items.text import is_storable

LARGEST_FILE = 50_000_000  # bytes of a file of stories
NEWER = "If a newer Quire wrote the file, only that version can read it"
LARGEST_TEXT = 1_000_000  # bytes of one text, and of one TOML document
MOST_PARTS = 24
# Parts of a key joined by dots; in prose it would take as many sentences of one word in a line.
LONG_KEY = re.compile(rf"""(?<![\w-])(?:(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MOST_PARTS}}}""")
FieldReader = Callable[[Any], Any]

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
# What a spreadsheet would run when somebody opens an export that carries the value on.
_FORMULA = re.compile(r"[=@]|[+-].*[(|!]")


def name_kind(value: Any) -> str:
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


def verbatim(longest: int | None = None) -> FieldReader:
    """Words exactly as they stand, since a fingerprint is taken of them; at most so many characters."""

    def read(value: Any) -> str:
        words = _string(storable(value))
        if longest is not None and len(words) > longest:
            raise InvalidValue(f"has {len(words)} characters; at most {longest} are kept")
        return words

    return read


def storable(value: Any) -> Any:
    """Any value whose texts a database keeps, keys of tables included."""
    if not all(map(is_storable, _texts(value))):
        raise InvalidValue("contains a character that cannot be stored (U+0000 or half a surrogate pair); remove it")
    return value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for pair in value.items() for part in pair for text in _texts(part))
    elif isinstance(value, list):
        yield from (text for part in value for text in _texts(part))


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidValue(f"must be text, not {name_kind(value)}")
    return value


def text(value: Any) -> str:
    """Words of any length, line ends made alike, the line end at the end of a file left out."""
    alike = _string(value).replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if control := _CONTROL.search(alike):
        raise InvalidValue(f"contains the control character U+{ord(control[0]):04X}; remove it")
    if len(alike.encode()) > LARGEST_TEXT:
        raise InvalidValue(f"is longer than {LARGEST_TEXT:,} bytes")
    return alike


def line(longest: int) -> FieldReader:
    """Words on one line, at most so many characters, without blanks around them."""

    def read(value: Any) -> str:
        words = str(text(value)).strip()
        if "\n" in words:
            raise InvalidValue("must stand on one line")
        if len(words) > longest:
            raise InvalidValue(f"has {len(words)} characters; at most {longest} are allowed")
        if _FORMULA.match(words):
            raise InvalidValue(f"{quote(words)} would run as a formula in a spreadsheet; begin with something else")
        return words

    return read


def name(grammar: Grammar, longest: int) -> FieldReader:
    """A name written by that grammar, at most so long."""

    def read(value: Any) -> str:
        name = str(line(longest)(value))
        grammar.check(name)
        return name

    return read


code = name(CODE, 80)
language = name(LANGUAGE, 12)


def slug(longest: int) -> FieldReader:
    return name(SLUG, longest)


def unreserved(field_reader: FieldReader, reserved: Collection[str]) -> FieldReader:
    """What the reader reads, unless it is one of the words that are kept for something else."""

    def read(value: Any) -> str:
        name = str(field_reader(value))
        if name in reserved:
            raise InvalidValue(f"{quote(name)} stands in addresses for something else; choose another")
        return name

    return read


def one_of(*choices: str) -> FieldReader:
    def read(value: Any) -> str:
        if value not in choices:
            raise InvalidValue(f"{quote(value)} is not one of {', '.join(choices)}")
        return str(value)

    return read


def whole_number(least: int, most: int) -> FieldReader:
    """A whole number within bounds; true and false are none, though Python says so."""

    def read(value: Any) -> int:
        if type(value) is not int:
            raise InvalidValue(f"must be a whole number, not {name_kind(value)}")
        if not least <= value <= most:
            raise InvalidValue(f"must be from {least} to {most}")
        return value

    return read


def boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidValue(f"must be true or false, not {name_kind(value)}")
    return value


def mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidValue(f"must be a table, such as {{ name = true }}, not {name_kind(value)}")
    return value


def tables(most: int) -> FieldReader:
    """A list of tables, at most so many."""

    def read(value: Any) -> list[dict[str, Any]]:
        if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
            raise InvalidValue("must be a list of tables; write each under a heading of its own, in double brackets")
        if len(value) > most:
            raise InvalidValue(f"has {len(value)} entries; at most {most} are read")
        return value

    return read


def email(value: Any) -> str:
    return _validated(line(254)(value), validate_email, "is not an e-mail address")


def url(value: Any) -> str:
    return _validated(line(500)(value), URLValidator(schemes=["http", "https"]), "is not an http or https address")


def _validated(words: str, check: Callable[[str], None], otherwise: str) -> str:
    try:
        check(words)
    except ValidationError:
        raise InvalidValue(f"{quote(words)} {otherwise}") from None
    return words


def read_table(
    raw: Mapping[str, Any], readers: Mapping[str, FieldReader], *, path: Path | str, location: str = ""
) -> dict[str, Any]:
    """The values of a table, typed. Raises DocumentError at the first unknown key or value that does not fit."""
    typed = {}
    for key, value in raw.items():
        field_location = f"{location}, {key}" if location else key
        if key not in readers:
            close = get_close_matches(key, readers, n=1)
            way_out = f"did you mean “{close[0]}”?" if close else f"known are {', '.join(readers)}. {NEWER}"
            raise DocumentError(path, field_location, f"there is no such key; {way_out}")
        try:
            typed[key] = readers[key](value)
        except InvalidValue as error:
            raise DocumentError(path, field_location, str(error)) from None
    return typed


def check_required(typed: Mapping[str, Any], keys: list[str], *, path: Path | str, location: str = "") -> None:
    """Raise DocumentError at the first of these keys that is missing or empty."""
    for key in keys:
        if is_empty(typed.get(key)):
            raise DocumentError(path, f"{location}, {key}" if location else key, "is missing or empty")


def find_file(folder: Path, name: str) -> Path:
    """The file of that name inside the folder. Raises InvalidValue for any way out of it, links included."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or "\\" in name or ":" in name or ".." in parts:
        raise InvalidValue(f"{quote(name)} must name a file inside the study's folder, as in “texts/one.txt”")
    file = folder
    for part in parts:
        file = file / part
        if file.is_symlink():
            raise InvalidValue(f"{quote(name)} is a link; put the file itself into the study's folder")
    if not file.is_file():
        raise InvalidValue(f"there is no file {quote(name)} in the study's folder")
    return file


def read_text(path: Path, *, largest: int) -> str:
    """What a file says, as text. Raises InvalidValue if it is too large, empty or not UTF-8."""
    return decode(read_bytes(path, largest=largest), largest=largest)


def read_bytes(path: Path, *, largest: int) -> bytes:
    """What a file holds; of one that is too large a byte too many. Raises InvalidValue if it is no ordinary file."""
    check_file(path)
    with path.open("rb") as file:
        return file.read(largest + 1)


def check_file(path: Path) -> None:
    """Raise InvalidValue unless this is an ordinary file, or nothing: a pipe or a device could be read for ever."""
    if path.exists() and not path.is_file():
        raise InvalidValue("is no ordinary file; copy what it holds into one")


def decode(content: bytes, *, largest: int) -> str:
    """The text in the bytes, at most so many. Raises InvalidValue if they are too many, empty or not UTF-8."""
    if len(content) > largest:
        raise InvalidValue(f"the file is larger than {largest:,} bytes")
    try:
        words = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        n = content[: error.start].count(b"\n") + 1
        raise InvalidValue(f"line {n} is not UTF-8; save the file as UTF-8") from None
    if not words.strip():
        raise InvalidValue("the file is empty")
    return words


def read_toml(path: Path, *, guide: str) -> dict[str, Any]:
    """The table in a TOML file. Raises DocumentError.

    guide : the page of the docs that has an example to start from
    """
    try:
        content = read_bytes(path, largest=LARGEST_TEXT)
    except InvalidValue as error:
        raise DocumentError(path, "file", str(error)) from None
    except OSError as error:
        raise DocumentError(path, "file", f"cannot be read: {error.strerror}") from None
    return parse_toml(content, path, guide=guide)


def parse_toml(content: str | bytes, path: Path | str, *, guide: str) -> dict[str, Any]:
    """The table that the TOML says; `path` names it in errors. Raises DocumentError."""
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    if not data.removeprefix(b"\xef\xbb\xbf").strip():
        raise DocumentError(path, "file", f"the file is empty; {guide} has an example to start from")
    try:
        return _table(decode(data, largest=LARGEST_TEXT))
    except InvalidValue as error:
        raise DocumentError(path, "file", str(error)) from None


def _table(toml: str) -> dict[str, Any]:
    # tomllib keeps every prefix of a dotted key, so that one long key would fill the memory.
    if long_key := LONG_KEY.search(toml):
        n = toml.count("\n", 0, long_key.start()) + 1
        raise InvalidValue(f"has a key of more than {MOST_PARTS} parts at line {n}; a key has one part")
    try:
        return tomllib.loads(toml, parse_float=_finite)
    except tomllib.TOMLDecodeError as error:
        raise InvalidValue(f"is not TOML: {error}") from None
    except InvalidValue:
        raise
    except RecursionError:
        raise InvalidValue("is nested too deeply") from None
    except ValueError:
        raise InvalidValue("holds a number with too many digits") from None


class Pairs(list[tuple[str, Any]]):
    """A JSON object as written, so that a key given twice can be seen."""


def parse_json(text: str) -> Any:
    """Parsed JSON with objects as Pairs. Raises InvalidValue with line and column."""
    try:
        return json.loads(text, object_pairs_hook=Pairs, parse_constant=_no_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise InvalidValue(f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise InvalidValue("is nested too deeply") from None
    except InvalidValue:
        raise
    except ValueError:
        raise InvalidValue("holds a number with too many digits") from None


def _no_constant(name: str) -> None:
    raise InvalidValue(f"holds {name}, which is not JSON")


def _finite(digits: str) -> float:
    """The number. Raises InvalidValue for one that is larger than any that can be kept, or is none."""
    number = float(digits)
    if not math.isfinite(number):
        raise InvalidValue(f"holds {digits[:20]}, which is no number that can be kept; write a smaller one")
    return number
