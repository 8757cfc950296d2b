"""Values of a JSON document one after another, so that a large one is never held as a whole."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from studies.documents.errors import InvalidValue
from studies.documents.reader import Pairs

LONGEST_VALUE = 8_000_000  # characters of one row: a text of 1 MB whose characters are all escaped is shorter
DEPTH = 2  # of objects around a list that may be longer
_FIRST_LENGTH = 2_000
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


class JsonWords:
    """The words of a JSON document, read from place to place. Raises InvalidValue with line and column."""

    def __init__(self, words: str) -> None:
        self.words = words
        self._length = _FIRST_LENGTH

    def skip_blanks(self, place: int) -> int:
        """The place of the next sign that is no blank."""
        blanks = _BLANK.match(self.words, place)
        return blanks.end() if blanks else place

    def sign_at(self, place: int) -> str:
        return self.words[place : place + 1]

    def read_value(self, place: int) -> tuple[Any, int]:
        """The value at that place, and the place behind it."""
        length = self._length
        while True:
            part = self.words[place : place + length]
            is_rest = place + len(part) >= len(self.words)
            try:
                value, end = _DECODER.raw_decode(part)
            except RecursionError:
                raise InvalidValue(_("is nested too deeply")) from None
            except json.JSONDecodeError as error:
                is_cut = error.msg.startswith("Unterminated") or error.pos >= len(part) - _CUT_SHORT
                if is_rest or not is_cut:
                    raise self.fault(error.msg, place + error.pos) from None
            else:
                if is_rest or end < len(part):
                    self._length = max(_FIRST_LENGTH, 2 * end)
                    return value, place + end
            if length >= LONGEST_VALUE:
                message = _("has a row of more than %(n)d million characters")
                raise ValueTooLong(message % {"n": LONGEST_VALUE // 1_000_000})
            length = min(4 * length, LONGEST_VALUE)

    def list_ends(self, place: int) -> Iterator[tuple[int, Any]]:
        """The values of the list that opens at that place, each with the place behind it."""
        place = self.skip_blanks(place + 1)
        if self.sign_at(place) == "]":
            return
        while True:
            value, end = self.read_value(place)
            yield end, value
            end = self.skip_blanks(end)
            if self.sign_at(end) != ",":
                self._expect("]", end, "Expecting ',' delimiter")
                return
            place = self.skip_blanks(end + 1)

    def list_members(self, place: int, depth: int = DEPTH) -> Iterator[tuple[str, int, bool]]:
        """The keys of the object that opens at that place, with the place of each value, and whether it is a list of
        objects. The values are read too, so that all of the document is."""
        place = self.skip_blanks(place + 1)
        if self.sign_at(place) == "}":
            return
        while True:
            if self.sign_at(place) != '"':
                raise self.fault("Expecting property name enclosed in double quotes", place)
            key, end = self.read_value(place)
            end = self.skip_blanks(end)
            self._expect(":", end, "Expecting ':' delimiter")
            place = self.skip_blanks(end + 1)
            is_of_objects = self.sign_at(place) == "[" and self.sign_at(self.skip_blanks(place + 1)) == "{"
            yield key, place, is_of_objects
            end = self.skip_blanks(self.find_end(place, depth))
            if self.sign_at(end) != ",":
                self._expect("}", end, "Expecting ',' delimiter")
                return
            place = self.skip_blanks(end + 1)

    def find_end(self, place: int, depth: int = DEPTH) -> int:
        """The place behind the value at that place. It may be long if it is a list, or an object that holds one."""
        sign = self.sign_at(place)
        try:
            return self.read_value(place)[1]
        except ValueTooLong:
            if not depth or sign not in "[{":
                raise
        end = place + 1
        if sign == "[":
            for reached, _value in self.list_ends(place):
                end = reached
        else:
            for _key, start, _is_of_objects in self.list_members(place, depth - 1):
                end = start
            end = self.find_end(end, depth - 1)
        return self.skip_blanks(end) + 1

    def _expect(self, sign: str, place: int, message: str) -> None:
        if self.sign_at(place) != sign:
            raise self.fault(message, place)

    def fault(self, message: str, place: int) -> InvalidValue:
        line = self.words.count("\n", 0, place) + 1
        column = place - self.words.rfind("\n", 0, place)
        return InvalidValue(f"is not JSON: {message} at line {line}, column {column}")
