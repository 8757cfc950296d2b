"""The difference between two wordings, word by word: what stays, what goes and what comes."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from operator import attrgetter
from typing import Literal

# A word with what stands before it: taken together, all words are the text.
WORD = re.compile(r"\s*\S+|\s+$")
# Pairs of like words that are looked at: some 2,000 words of prose on either side, in a fraction of a second.
MOST_PAIRS = 50_000


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
    # No word counts as junk: "the" may be the very word that was left out. In long texts the frequent ones are matched
    # beside others alone, or one word, written a thousand times, would take half a minute.
    n_old, n_new = Counter(old), Counter(new)
    is_long = sum(n_old[word] * n for word, n in n_new.items()) > MOST_PAIRS
    for operation, a, b, c, d in SequenceMatcher(None, old, new, autojunk=is_long).get_opcodes():
        if operation == "equal":
            yield Passage("same", "".join(old[a:b]))
            continue
        # A word before which only the white space changed, as after a title that went, stays.
        word = old[b - 1].lstrip() if a < b and c < d and old[b - 1].lstrip() == new[d - 1].lstrip() else ""
        yield Passage("gone", "".join(old[a:b]).removesuffix(word))
        yield Passage("new", "".join(new[c:d]).removesuffix(word))
        yield Passage("same", word)


def _merge(passages: Iterator[Passage]) -> Iterator[Passage]:
    for kind, parts in groupby((passage for passage in passages if passage.text), key=attrgetter("kind")):
        yield Passage(kind, "".join(part.text for part in parts))


def shorten(passages: list[Passage], *, n_words: int = 20) -> list[Passage]:
    """The same with what stays cut down to so many words before and after what does not."""
    last = len(passages) - 1
    return [
        Passage("same", _cut(passage.text, n_words, has_before=n > 0, is_last=n == last))
        if passage.kind == "same"
        else passage
        for n, passage in enumerate(passages)
    ]


def _cut(text: str, n: int, *, has_before: bool, is_last: bool) -> str:
    """The first words, if something stands before them, and the last ones, if something follows."""
    words = WORD.findall(text)
    head, tail = n if has_before else 0, 0 if is_last else n
    if len(words) <= head + tail + 1:
        return text
    return "".join([*words[:head], " …" if head else "…", *(words[-tail:] if tail else [])])
