"""Passages that reasons quote, marked in the story: whose words overlap are marked once, for all who quote them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from annotation.responses.quotes import MarkedParagraph, Quote, mark_quotes, read_quotes
from studies.typography.paragraphs import number_paragraphs


@dataclass(frozen=True)
class MarkedStory:
    """A story with its quoted words marked.

    quoted_by : of each mark, counted from 1, the ids of the reasons that quote it
    marks_by_reason : of each reason the first mark of each of its passages, with its paragraph
    not_found : ids of reasons with a passage that is not in the text
    """

    paragraphs: Sequence[MarkedParagraph]
    quoted_by: dict[int, tuple[int, ...]] = field(default_factory=dict)
    marks_by_reason: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    not_found: frozenset[int] = frozenset()

    @property
    def n_passages(self) -> int:
        return len({mark for marks in self.marks_by_reason.values() for mark in marks})


def mark(text: str, raw_by_reason: Iterable[tuple[int, Sequence[Any]]]) -> MarkedStory:
    """The story as a page sets it, with what the reasons quote marked.

    raw_by_reason : ids of reasons and their quotes as stored
    """
    paragraphs = number_paragraphs(text)
    quotes_by_reason: dict[int, list[Quote]] = {}
    not_found = set()
    for reason, raw in raw_by_reason:
        quotes, n_lost = _locate(raw, text)
        if quotes:
            quotes_by_reason[reason] = quotes
        if n_lost:
            not_found.add(reason)
    words_by_number = {paragraph.number: paragraph.words.encode("utf-16-le") for paragraph in paragraphs}
    pieces = _pieces(quotes_by_reason, words_by_number)
    number_by_piece = {(piece.paragraph, piece.start): n for n, piece in enumerate(pieces, start=1)}
    quoted_by = {
        n: tuple(reason for reason, quotes in quotes_by_reason.items() if any(_covers(q, piece) for q in quotes))
        for n, piece in enumerate(pieces, start=1)
    }
    return MarkedStory(
        paragraphs=mark_quotes(paragraphs, pieces),
        quoted_by=quoted_by,
        marks_by_reason={
            reason: tuple((number_by_piece[quote.paragraph, quote.start], quote.paragraph) for quote in quotes)
            for reason, quotes in quotes_by_reason.items()
        },
        not_found=frozenset(not_found),
    )


def _locate(raw: Sequence[Any], text: str) -> tuple[list[Quote], int]:
    """The quotes where they stand in the text, and how many stand nowhere in it."""
    if not raw:
        return [], 0
    quotes = read_quotes(raw, text)
    found = [quote for quote in quotes if quote.is_found]
    return found, len(quotes) - len(found)


def _pieces(quotes_by_reason: dict[int, list[Quote]], words_by_number: dict[int, bytes]) -> list[Quote]:
    """All quoted words in stretches between any two ends of quotes, in the order of the text; none overlaps another."""
    by_paragraph: dict[int, list[Quote]] = defaultdict(list)
    for quotes in quotes_by_reason.values():
        for quote in quotes:
            by_paragraph[quote.paragraph].append(quote)
    pieces = []
    for number, quotes in sorted(by_paragraph.items()):
        ends = sorted({end for quote in quotes for end in (quote.start, quote.end)})
        for start, end in pairwise(ends):
            # Offsets count in units of UTF-16, as the browser's; each is two bytes.
            words = words_by_number[number][2 * start : 2 * end].decode("utf-16-le", "replace")
            piece = Quote(number, start, end, words)
            if any(_covers(quote, piece) for quote in quotes):
                pieces.append(piece)
    return pieces


def _covers(quote: Quote, piece: Quote) -> bool:
    return quote.paragraph == piece.paragraph and quote.start <= piece.start and piece.end <= quote.end
