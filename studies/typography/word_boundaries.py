"""A text in words as measures compare them, also where no spaces stand between words.

Not what a story's length is counted in: that is what stands between spaces (`Story.n_words`).
"""

import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import cache

# Scripts that set no spaces between words: Thai, Lao, Burmese, Khmer, kana, Han. First and last code point of blocks.
UNSPACED = (
    *((0x0E00, 0x0E7F), (0x0E80, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x3400, 0x4DBF)),
    *((0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF)),
)
_UNSPACED = "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSPACED)  # between the brackets of an expression

# Some models and programs type them otherwise: one word is not to be two because of who typed it. The soft hyphen, the
# joiners and the byte order mark stand inside words and are not seen.
TYPED_ALIKE = str.maketrans(
    {"’": "'", "\u02bc": "'", "\u2010": "-", "\u2011": "-"} | dict.fromkeys("\u00ad\u200c\u200d\u2060\ufeff", "")
)


def split_words(text: str) -> list[str]:
    """The words of the text in their order, in lower case, composed (NFC), without punctuation.

    A word is a run of letters, digits and their marks; an apostrophe or hyphen inside it belongs to it, however it is
    typed (’ is ', and a hyphen that no line breaks at is -). Signs that nobody sees, such as soft hyphens, part none.
    In scripts that set no spaces between words every character, with its marks, is a word: nothing is looked up in a
    dictionary.
    """
    composed = unicodedata.normalize("NFC", text).lower().translate(TYPED_ALIKE)
    return _pattern().findall(composed)


def is_unspaced(text: str) -> bool:
    """Whether more than half of the text's words are single characters of a script without spaces between words."""
    if not _unspaced_letter().search(text):
        return False
    words = split_words(text)
    return 2 * sum(_unspaced_letter().match(word) is not None for word in words) > len(words)


@cache
def _unspaced_letter() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


@cache
def _pattern() -> re.Pattern[str]:
    marks = "".join(_marks())
    letter = rf"[^\W_{_UNSPACED}]"
    spaced = rf"{letter}[{marks}]*"
    return re.compile(rf"(?:{spaced})+(?:['\-](?:{spaced})+)*|(?=\w)[{_UNSPACED}][{marks}]*")


def _marks() -> Iterator[str]:
    """Ranges of what combines with the letter before it, which Python's expressions do not take for a letter's part."""
    first = last = -2
    for point in range(0x300, min(sys.maxunicode, 0xFFFF) + 1):
        if not unicodedata.category(chr(point)).startswith("M"):
            continue
        if point != last + 1:
            if first > 0:
                yield f"{chr(first)}-{chr(last)}"
            first = point
        last = point
    yield f"{chr(first)}-{chr(last)}"
