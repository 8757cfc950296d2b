"""Fills from a file: one text per blank, by number, as somebody wrote them outside of Quire."""

from pathlib import Path
from typing import Any

from studies.documents import reader
from studies.documents.cloze import ClozeDocument, words
from studies.documents.errors import DocumentError, InvalidValue, quote


def read(path: Path, document: ClozeDocument) -> dict[int, str]:
    """The fills in that file by number of their blank; some can be open. Raises DocumentError."""
    return parse(path.read_bytes(), path.name, document)


def parse(content: str | bytes, name: str, document: ClozeDocument) -> dict[int, str]:
    """The fills that the TOML says by number of their blank; some can be open. Raises DocumentError.

    It has the keys cloze (the slug of the document), fills (a table: number = "text") and perhaps notes.
    """
    path = Path(name)
    table = reader.parse_toml(content, name, guide="docs/cloze.md")
    found = reader.read_table(table, {"cloze": words, "notes": words, "fills": _texts_by_number}, path=path)
    reader.check_required(found, ["cloze", "fills"], path=path)
    if found["cloze"] != document.slug:
        raise DocumentError(name, "cloze", f"{quote(found['cloze'])} is another cloze than “{document.slug}”")
    for number in found["fills"]:
        if number not in range(1, len(document.blanks) + 1):
            raise DocumentError(name, f"fills, {number}", f"there is no such blank; the last is {len(document.blanks)}")
    return {number: fill for number, fill in sorted(found["fills"].items()) if fill}


def _texts_by_number(value: Any) -> dict[int, str]:
    if not isinstance(value, dict):
        raise InvalidValue(f'must be a table, such as 1 = "a word", not {reader.name_kind(value)}')
    found = {}
    for number, text in value.items():
        if not (number.isascii() and number.isdigit() and len(number) <= 4):
            raise InvalidValue(f"{quote(number)} is no number of a blank; write it in digits")
        if int(number) in found:
            raise InvalidValue(f"{int(number)} stands twice")
        try:
            found[int(number)] = words(text)
        except InvalidValue as error:
            raise InvalidValue(f"{number} {error}") from None
    return found
