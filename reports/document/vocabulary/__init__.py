"""The columns of the report's tables: one name for each idea, with the kind of its values, their unit and a meaning.

A figure may give its file columns only names that are found here. A new name is one line in `words`, or in `measured`
with a unit; VERSION counts up when a name is taken away or comes to mean something else, and `renamed` says what
stands in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reports.document.vocabulary import measured, words
from reports.document.vocabulary.particular import PARTICULAR
from reports.document.vocabulary.renamed import RENAMED

VERSION = 1
WITHIN = "within "  # and a source: columns of agreement among its stories alone

__all__ = ["PARTICULAR", "RENAMED", "VERSION", "WORDS", "ColumnWord", "UnknownColumn", "column_word", "old_names"]


class UnknownColumn(LookupError):
    """A column has a name that the vocabulary does not hold."""


@dataclass(frozen=True, kw_only=True)
class ColumnWord:
    """What a column holds. kind : of its values, as Frictionless Data names them; lists and objects are JSON in a cell

    unit : "" where it is that of the outcome which the row is about, or where there is none
    """

    kind: str
    meaning: str
    unit: str = ""


def _words() -> dict[str, ColumnWord]:
    by_kind: Mapping[str, Mapping[str, str]] = {
        "string": words.STRINGS,
        "boolean": words.BOOLEANS,
        "integer": {**{f"n_{name}": f"How many {name}." for name in words.COUNTED}, **words.INTEGERS},
        "array": words.ARRAYS,
        "object": words.OBJECTS,
    }
    entries = [
        *((name, kind, "", meaning) for kind, meanings in by_kind.items() for name, meaning in meanings.items()),
        *((name, "number", unit, meaning) for name, (unit, meaning) in measured.NUMBERS.items()),
    ]
    word_by_name = {name: ColumnWord(kind=kind, unit=unit, meaning=meaning) for name, kind, unit, meaning in entries}
    if len(word_by_name) < len(entries):
        raise ValueError("a name stands twice in the vocabulary")
    return word_by_name


WORDS: Mapping[str, ColumnWord] = _words()
# What a name may end with, after a name of a measured number: its interval and its chance floor.
ENDINGS = {
    "_chance_mean": "Chance floor, mean",
    "_chance_upper": "Chance floor, 97.5th percentile",
    "_low": "Lower end of the 95 % interval",
    "_high": "Upper end of the 95 % interval",
}


def column_word(table: str, name: str) -> ColumnWord:
    """What a column of a table holds. Raises UnknownColumn if the vocabulary has no such name."""
    if particular := PARTICULAR.get(table, {}).get(name):
        kind, unit, meaning = particular
        return ColumnWord(kind=kind, unit=unit, meaning=meaning)
    if name in WORDS:
        return WORDS[name]
    if name.startswith(WITHIN):
        meaning = f"The same coefficient among the stories of {name.removeprefix(WITHIN)}."
        return ColumnWord(kind="number", unit=measured.COEFFICIENT, meaning=meaning)
    for ending, words_of_ending in ENDINGS.items():
        base = base_name(name.removesuffix(ending))
        if name.endswith(ending) and base:
            word = column_word(table, base)
            return ColumnWord(kind="number", unit=word.unit, meaning=f"{words_of_ending}. {word.meaning}")
    raise UnknownColumn(f"{table}: {name} is not in the vocabulary")


def base_name(stem: str) -> str:
    """The measured number whose interval or floor names with this stem belong to: longer_low to longer_percent."""
    return next((name for name in (stem, f"{stem}_percent", f"{stem}_probability") if name in measured.NUMBERS), "")


def old_names(table: str, name: str) -> list[str]:
    """What the column was called before."""
    return [old for old, new in RENAMED.get(table, {}).items() if new == name]
