"""Passages that a rater quotes from a story beside their reasons: looked for in its words, and marked among them."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

from django.utils.text import Truncator
from django.utils.translation import gettext as _

from studies.items import InvalidAnswer
from studies.items.spans import clean_passages
from studies.typography.paragraphs import Paragraph, TextRun, number_paragraphs


@dataclass(frozen=True)
class Quote:
    """A passage. start, end : where it stands in its paragraph, counted as the browser counts; both 0 if it was not
    found there or nobody said"""

    paragraph: int
    start: int
    end: int
    text: str

    @property
    def is_found(self) -> bool:
        return self.end > 0

    def as_stored(self) -> dict[str, Any]:
        """Its fields, without a place where it has none."""
        return asdict(self) if self.is_found else {"paragraph": self.paragraph, "text": self.text}

    @property
    def json(self) -> str:
        """What its form posts back."""
        return json.dumps(self.as_stored(), ensure_ascii=False)


@dataclass(frozen=True)
class Stretch:
    """Runs that belong together: to the quote of that number, counted from 1, or to none (0)."""

    quote: int
    runs: tuple[TextRun, ...]


@dataclass(frozen=True)
class MarkedParagraph:
    """A paragraph with the passages in it that are quoted."""

    number: int
    opens: str
    stretches: tuple[Stretch, ...]
    css: str = ""


def read_quotes(raw: Sequence[Any], text: str) -> list[Quote]:
    """The quotes that somebody gives, each once, in the order given; without a place where the text has no such words,
    as on a page that a browser has translated. Raises InvalidAnswer if one is no passage at all."""
    words_by_number = {paragraph.number: paragraph.words for paragraph in number_paragraphs(text)}
    quotes = [_located(passage, words_by_number.get(passage["paragraph"], "")) for passage in clean_passages(raw, [])]
    return list(dict.fromkeys(quotes))


def _located(passage: dict[str, Any], within: str) -> Quote:
    # Stored passages may hold an editor's line break where the paragraph has a space; each counts one.
    text = passage["text"] if "\n" in within else passage["text"].replace("\n", " ")
    if "start" in passage:
        start, end = _place(text, within, passage["start"], passage["end"])
        if _cut(within, start, end) == _units(text):
            return Quote(passage["paragraph"], start, end, text)
    if text not in within:
        return Quote(passage["paragraph"], 0, 0, passage["text"])
    start = _length(within.partition(text)[0])
    return Quote(passage["paragraph"], start, start + _length(text), text)


def describe_lost(quotes: Iterable[Quote]) -> str:
    """Which of the quotes have no place in the text, in words; nothing if all have one."""
    sentences = [
        _("The passage “%(words)s” was not found in paragraph %(n)d; it is kept without its place.")
        % {"words": Truncator(quote.text).words(8), "n": quote.paragraph}
        for quote in quotes
        if not quote.is_found
    ]
    return " ".join(sentences)


def _place(text: str, within: str, start: int, end: int) -> tuple[int, int]:
    """Where the text stands in its paragraph: as it was counted, or so much later as the first line is indented, if it
    was counted when paragraphs had no indents."""
    indent = _length(within) - _length(within.lstrip())
    is_shifted = indent and _cut(within, start, end) != _units(text)
    if is_shifted and _cut(within, start + indent, end + indent) == _units(text):
        return start + indent, end + indent
    return start, end


def readable_quotes(raw: Iterable[Any]) -> list[Quote]:
    """The quotes for a page, stored ones or such as a form posted; what makes no sense is left out."""
    quotes: list[Quote] = []
    for quote in raw:
        try:
            (passage,) = clean_passages([quote], [])
        except InvalidAnswer:
            continue
        quotes.append(Quote(passage["paragraph"], passage.get("start", 0), passage.get("end", 0), passage["text"]))
    return quotes


def serialise_quotes(quotes: Iterable[Quote]) -> list[dict[str, Any]]:
    """The quotes as a response keeps them."""
    return [quote.as_stored() for quote in quotes]


def mark_quotes(set_text: Iterable[Paragraph], quotes: Sequence[Quote]) -> list[MarkedParagraph]:
    """The paragraphs with the quotes marked in them. Where quotes overlap, the words belong to the first."""
    return [MarkedParagraph(p.number, p.opens, tuple(_stretches(p, quotes)), p.css) for p in set_text]


def _stretches(paragraph: Paragraph, quotes: Sequence[Quote]) -> Iterable[Stretch]:
    places = [
        (n, *_place(quote.text, paragraph.words, quote.start, quote.end))
        for n, quote in enumerate(quotes, start=1)
        if quote.paragraph == paragraph.number and quote.is_found
    ]
    length = _length(paragraph.words)
    cuts = sorted({0, length, *(min(at, length) for _, *ends in places for at in ends)})
    pieces: list[tuple[int, int, int]] = []
    for start, end in pairwise(cuts):
        owner = next((n for n, begins, stops in places if begins <= start and end <= stops), 0)
        if pieces and pieces[-1][0] == owner:
            start = pieces.pop()[1]
        pieces.append((owner, start, end))
    return [Stretch(owner, _runs_between(paragraph.runs, start, end)) for owner, start, end in pieces]


def _runs_between(runs: Sequence[TextRun], start: int, end: int) -> tuple[TextRun, ...]:
    parts: list[TextRun] = []
    begins = 0
    for run in runs:
        part = _cut(run.text, max(start - begins, 0), max(end - begins, 0)).decode("utf-16-le", "replace")
        if part:
            parts.append(replace(run, text=part))
        begins += _length(run.text)
    return tuple(parts)


# JavaScript counts a text in units of UTF-16, Python in characters; an emoji is two of the former.
def _units(text: str) -> bytes:
    return text.encode("utf-16-le")


def _length(text: str) -> int:
    return len(_units(text)) // 2


def _cut(text: str, start: int, end: int) -> bytes:
    return _units(text)[2 * start : 2 * end]
