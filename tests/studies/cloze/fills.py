"""Fills from a file: one text per blank, by number, as somebody wrote them outside of Quire."""

from pathlib import Path
from typing import Any

from studies import files
from studies.cloze.document import ClozeDocument, table_of, words
from studies.documents import LARGEST, DocumentError
from studies.files import Unfit


def read(path: Path, document: ClozeDocument) -> dict[int, str]:
    """The fills in that file by number of their blank; some can be open. Raises DocumentError."""
    with path.open("rb") as file:
        return parse(file.read(LARGEST + 1), path.name, document)


def parse(content: str | bytes, name: str, document: ClozeDocument) -> dict[int, str]:
    """The fills that the TOML says by number of their blank; some can be open. Raises DocumentError.

    It has the keys cloze (the slug of the document), fills (a table: number = "text") and perhaps notes.
    """
    path = Path(name)
    try:
        found = files.table(
            table_of(content, name), {"cloze": words, "notes": words, "fills": _texts_by_number}, path=path
        )
    except RecursionError as error:
        raise DocumentError(name, "file", "is nested too deeply; fills need two levels") from error
    files.required(found, ["cloze", "fills"], path=path)
    if found["cloze"] != document.slug:
        raise DocumentError(name, "cloze", f"{files.shown(found['cloze'])} is another cloze than “{document.slug}”")
    for number in found["fills"]:
        if number not in range(1, len(document.blanks) + 1):
            raise DocumentError(name, f"fills, {number}", f"there is no such blank; the last is {len(document.blanks)}")
    return {number: fill for number, fill in sorted(found["fills"].items()) if fill}


def _texts_by_number(value: Any) -> dict[int, str]:
    if not isinstance(value, dict):
        raise Unfit(f'must be a table, such as 1 = "a word", not {files.named(value)}')
    found = {}
    for number, text in value.items():
        if not (number.isascii() and number.isdigit() and len(number) <= 4):
            raise Unfit(f"{files.shown(number)} is no number of a blank; write it in digits")
        if int(number) in found:
            raise Unfit(f"{int(number)} stands twice")
        try:
            found[int(number)] = words(text)
        except Unfit as unfit:
            raise Unfit(f"{number} {unfit}") from None
    return found
