"""The difference between two wordings, word by word: what stays, what goes and what comes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

# A word with what stands before it: taken together, all words are the text.
WORD = re.compile(r"\s*\S+|\s+$")


@dataclass(frozen=True)
class Passage:
    """A passage of both wordings, of the old one alone, or of the new one alone."""

    kind: Literal["same", "gone", "new"]
    text: str


def find_differences(before: str, after: str) -> list[Passage]:
    """The passages of both wordings in reading order; those of the old one, joined, are it, and so are the new one's.

    >>> [(p.kind, p.text) for p in find_differences("use no search machine", "use no search engine")]
    [('same', 'use no search'), ('gone', ' machine'), ('new', ' engine')]
    """
    old, new = WORD.findall(before), WORD.findall(after)
    return list(_merge(_passages(old, new)))


def _passages(old: list[str], new: list[str]) -> Iterator[Passage]:
    # No word counts as junk: "the" may be the very word that was left out.
    for operation, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if operation == "equal":
            yield Passage("same", "".join(old[a:b]))
        else:
            yield Passage("gone", "".join(old[a:b]))
            yield Passage("new", "".join(new[c:d]))


def _merge(passages: Iterator[Passage]) -> Iterator[Passage]:
    yield from (passage for passage in passages if passage.text)


def count_words(passages: list[Passage], kind: str) -> int:
    """How many words went, or came."""
    return sum(len(passage.text.split()) for passage in passages if passage.kind == kind)
