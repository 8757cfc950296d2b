"""What the header of a column says: its words, and which stories, questions and options they name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeVar

from annotation.answer_import.names import fold

_WORD = re.compile(r"[^\W_]+")
_BRACKETED = re.compile(r"\[([^\[\]]+)\]")
LONGEST_HEADER = 120  # words of a header that are looked at
# Words that stand beside a question's name and say nothing of it; the number of a question is one, too.
_FILLERS = frozenset(
    (
        *("answer", "answers", "label", "score", "rating", "value", "response", "input", "please", "rate"),
        *("the", "a", "of", "for", "about", "on", "in", "to", "is", "and"),
    )
)
_NUMBER_OF_QUESTION = re.compile(r"(?:q|qid|question)?[0-9]{1,3}")
REASONS = frozenset(("why", "reason", "reasons", "rationale", "comment", "comments", "explanation", "justification"))
Thing = TypeVar("Thing")


@dataclass(frozen=True)
class Word:
    """A word of a header. plain : without case and accents; start, end : where it stands"""

    plain: str
    start: int
    end: int


@dataclass(frozen=True)
class Header:
    """A header and its words, some of which may have been taken as the name of something."""

    text: str
    words: tuple[Word, ...]

    @classmethod
    def of(cls, text: str) -> Header:
        matches = _WORD.finditer(text)
        words = [Word(fold(m[0]), m.start(), m.end()) for m, _n in zip(matches, range(LONGEST_HEADER), strict=False)]
        return cls(text, tuple(words))

    def without(self, first: int, last: int) -> Header:
        """The header without those words, and without “story” beside them."""
        while first and self.words[first - 1].plain in ("story", "text", "passage"):
            first -= 1
        return Header(self.text, (*self.words[:first], *self.words[last:]))

    def spell(self, words: Sequence[Word] | None = None) -> str:
        """These words as the header writes them; with the signs between them where none is left out."""
        words = self.words if words is None else words
        if not words:
            return ""
        is_whole = all(not _WORD.search(self.text[a.end : b.start]) for a, b in pairwise(words))
        if is_whole:
            return self.text[words[0].start : words[-1].end]
        return " ".join(self.text[word.start : word.end] for word in words)


@dataclass(frozen=True)
class NameMatch(Generic[Thing]):
    """What words first to last (that one not) of a header name."""

    thing: Thing
    first: int
    last: int


class NameIndex(Generic[Thing]):
    """Finds names in headers. Names that stand for two things are in none."""

    def __init__(self, pairs: Iterable[tuple[str, Thing]]) -> None:
        things: dict[tuple[str, ...], list[Thing]] = {}
        for name, thing in pairs:
            key = tuple(word.plain for word in Header.of(name).words)
            if key and thing not in things.setdefault(key, []):
                things[key].append(thing)
        self.thing_by_words: Mapping[tuple[str, ...], Thing] = {k: v[0] for k, v in things.items() if len(v) == 1}
        self.lengths = sorted({len(key) for key in self.thing_by_words}, reverse=True)

    def find(self, header: Header) -> NameMatch[Thing] | None:
        """The longest name in the header; None if there is none, or two of different things that are as long."""
        plain = [word.plain for word in header.words]
        for length in self.lengths:
            matches = [
                NameMatch(self.thing_by_words[key], first, first + length)
                for first in range(len(plain) - length + 1)
                if (key := tuple(plain[first : first + length])) in self.thing_by_words
            ]
            if matches:
                things = {id(match.thing): match for match in matches}
                return matches[0] if len(things) == 1 else None
        return None

    def find_alone(self, header: Header) -> tuple[Thing, bool] | None:
        """What the header names beside fillers, and whether it is its reason; None if it says something else too.

        What stands in square brackets, as in a grid of questions, counts alone.
        """
        for words in _BRACKETED.findall(header.text):
            key = tuple(word.plain for word in Header.of(words).words)
            if key in self.thing_by_words:
                return self.thing_by_words[key], False
        match = self.find(header)
        if match is None:
            return None
        rest = {word.plain for word in (*header.words[: match.first], *header.words[match.last :])}
        others = {word for word in rest - REASONS if word not in _FILLERS and not _NUMBER_OF_QUESTION.fullmatch(word)}
        return None if others else (match.thing, bool(rest & REASONS))
