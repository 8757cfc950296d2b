"""Values of a JSON document one after another, so that a large one is never held as a whole."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from studies.documents.errors import InvalidValue
from studies.documents.reader import Pairs

LONGEST_VALUE = 7_000_000  # characters of one row: a text of 1 MB whose characters are all escaped is shorter
DEPTH = 2  # of objects around a list that may be longer
_WINDOW = 1 << 16
_MOST_DIGITS = 300
_BLANK = re.compile(r"[ \t\r\n\ufeff]*")
_CUT_SHORT = 12  # characters before the end of a slice within which an error may come of the cut


def _read_number(digits: str) -> float | str:
    number = float(digits)
    return number if math.isfinite(number) else digits


_DECODER = json.JSONDecoder(
    object_pairs_hook=Pairs,
    # As Python writes what is missing; others are kept as they are spelled.
    parse_constant=lambda name: None if name == "NaN" else name,
    parse_float=_read_number,
    parse_int=lambda digits: int(digits) if len(digits) <= _MOST_DIGITS else digits,
)


class ValueTooLong(InvalidValue):
    """A value has more characters than one row may have."""


@dataclass(frozen=True)
class JsonMember:
    """A value of an object, from its place to the one behind it. is_of_objects : whether it is a list of objects"""

    key: str
    start: int
    end: int
    is_of_objects: bool


class JsonWords:
    """The words of a JSON document, read from place to place. Raises InvalidValue with line and column.

    A value is read from a window of the words that grows with it, up to the longest that is read.

    most_values : of a list or an object that is read value by value
    """

    def __init__(self, words: str, *, most_values: int) -> None:
        self.words = words
        self._most = most_values
        self._window, self._start = words[:_WINDOW], 0

    def skip_blanks(self, place: int) -> int:
        """The place of the next sign that is no blank."""
        blanks = _BLANK.match(self.words, place)
        return blanks.end() if blanks else place

    def sign_at(self, place: int) -> str:
        return self.words[place : place + 1]

    def read_value(self, place: int) -> tuple[Any, int]:
        """The value at that place, and the place behind it. Raises ValueTooLong."""
        if not self._start <= place < self._start + len(self._window):
            self._move_window(place, _WINDOW)
        while True:
            is_rest = self._start + len(self._window) >= len(self.words)
            try:
                value, end = _DECODER.raw_decode(self._window, place - self._start)
            except RecursionError:
                raise InvalidValue(_("is nested too deeply")) from None
            except json.JSONDecodeError as error:
                is_cut = error.msg.startswith("Unterminated") or error.pos >= len(self._window) - _CUT_SHORT
                if is_rest or not is_cut:
                    raise self.fault(error.msg, self._start + error.pos) from None
            else:
                if is_rest or end < len(self._window):
                    return value, self._start + end
            if place == self._start and len(self._window) >= LONGEST_VALUE:
                message = _("has a row of more than %(n)d million characters")
                raise ValueTooLong(message % {"n": LONGEST_VALUE // 1_000_000})
            length = 4 * len(self._window) if place == self._start else _WINDOW
            self._move_window(place, min(length, LONGEST_VALUE))

    def _move_window(self, start: int, length: int) -> None:
        self._window, self._start = self.words[start : start + length], start

    def list_values(self, place: int) -> Iterator[tuple[Any, int]]:
        """The values of the list that opens at that place, each with the place behind it."""
        place = self.skip_blanks(place + 1)
        if self.sign_at(place) == "]":
            return
        for _n in range(self._most + 1):
            value, end = self.read_value(place)
            yield value, end
            end = self.skip_blanks(end)
            if self.sign_at(end) != ",":
                self._expect("]", end, "Expecting ',' delimiter")
                return
            place = self.skip_blanks(end + 1)
        raise self._too_many()

    def list_members(self, place: int, depth: int = DEPTH) -> Iterator[JsonMember]:
        """The values of the object that opens at that place, each of which is read."""
        place = self.skip_blanks(place + 1)
        if self.sign_at(place) == "}":
            return
        for _n in range(self._most + 1):
            if self.sign_at(place) != '"':
                raise self.fault("Expecting property name enclosed in double quotes", place)
            key, end = self.read_value(place)
            end = self.skip_blanks(end)
            self._expect(":", end, "Expecting ':' delimiter")
            start = self.skip_blanks(end + 1)
            is_of_objects = self.sign_at(start) == "[" and self.sign_at(self.skip_blanks(start + 1)) == "{"
            end = self._find_end(start, depth, is_of_objects=is_of_objects)
            yield JsonMember(key, start, end, is_of_objects)
            end = self.skip_blanks(end)
            if self.sign_at(end) != ",":
                self._expect("}", end, "Expecting ',' delimiter")
                return
            place = self.skip_blanks(end + 1)
        raise self._too_many()

    def _find_end(self, place: int, depth: int, *, is_of_objects: bool) -> int:
        """The place behind the value at that place. It may be long if it is a list, or an object that holds one."""
        end = place + 1
        if is_of_objects and depth:
            for _value, reached in self.list_values(place):
                end = reached
        else:
            try:
                return self.read_value(place)[1]
            except ValueTooLong:
                if not depth or self.sign_at(place) != "{":
                    raise
            for member in self.list_members(place, depth - 1):
                end = member.end
        return self.skip_blanks(end) + 1

    def _expect(self, sign: str, place: int, message: str) -> None:
        if self.sign_at(place) != sign:
            raise self.fault(message, place)

    def _too_many(self) -> InvalidValue:
        return InvalidValue(_("has more than %(n)d values in one list or object") % {"n": self._most})

    def fault(self, message: str, place: int) -> InvalidValue:
        """What is wrong at that place, with its line and column."""
        line = self.words.count("\n", 0, place) + 1
        column = place - self.words.rfind("\n", 0, place)
        return InvalidValue(f"is not JSON: {message} at line {line}, column {column}")
