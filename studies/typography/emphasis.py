"""Marks around words, such as the stars of `*italics*`, found in one walk through a text.

A pattern with `.+?` between an opening and a closing mark reads on to the end of the line from each mark that is left
open: minutes for a text of 60,000 of them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class EmphasisMark:
    """A mark: where it opens and where it closes, as patterns of which neither reads on.

    opening, closing : each matches the mark itself with what may stand around it in lookarounds
    """

    text: str
    opening: str
    closing: str


class Emphasis:
    """Words between marks of the same kind: from each mark that opens to the next that closes, on one line or not."""

    def __init__(self, *marks: EmphasisMark, spans_lines: bool = False) -> None:
        self.marks = marks
        self.spans_lines = spans_lines
        # Lookaheads, so that marks that overlap, as in three stars, are all found.
        self._openings = re.compile("|".join(f"(?={mark.opening})()" for mark in marks))
        self._closings = [re.compile(f"(?={mark.closing})") for mark in marks]

    def find(self, text: str) -> Iterator[tuple[int, int, int]]:
        """Where marks and the words between them begin and end, and how long the mark is; from left to right, none
        within another."""
        closings = [[match.start() for match in pattern.finditer(text)] for pattern in self._closings]
        places = [0] * len(self.marks)
        end, line_end = 0, -1
        for opening in self._openings.finditer(text):
            start, kind = opening.start(), (opening.lastindex or 1) - 1
            if start < end:
                continue
            if line_end < start:
                line_end = -1 if self.spans_lines else text.find("\n", start)
                line_end = len(text) if line_end < 0 else line_end
            width, ends = len(self.marks[kind].text), closings[kind]
            while places[kind] < len(ends) and ends[places[kind]] <= start + width:
                places[kind] += 1
            if places[kind] < len(ends) and ends[places[kind]] < line_end:
                end = ends[places[kind]] + width
                yield start, end, width

    def count(self, text: str) -> int:
        return sum(1 for _span in self.find(text))

    def unwrap(self, text: str) -> str:
        """The text without the marks; the words between them stay."""
        parts, end = [], 0
        for start, after, width in self.find(text):
            parts += [text[end:start], text[start + width : after - width]]
            end = after
        return "".join([*parts, text[end:]])

    def split(self, text: str) -> list[str]:
        """The text in parts: outside, with its marks, outside …"""
        parts, end = [], 0
        for start, after, _width in self.find(text):
            parts += [text[end:start], text[start:after]]
            end = after
        return [*parts, text[end:]]
