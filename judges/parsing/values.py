"""Which values an item allows, and which of them the beginning of some words gives."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from judges.prompts import Question
from studies import items
from studies.items import InvalidAnswer, StoryLabel

EMPHASIS = "*_#`~ \t"
QUOTATION = "\"'“”‘’«»„"
DECORATION = EMPHASIS + QUOTATION
# An item that takes these takes any words.
ANY_WORDS = "words of one's own that stand in no list of answers"
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
NUMBER_BY_WORD = {
    word: str(n)
    for n, word in enumerate("zero one two three four five six seven eight nine ten".split())  # noqa: SIM905 - a list of words reads as one
}
WORD_BY_WORD = NUMBER_BY_WORD | dict.fromkeys(("nope", "nah"), "no") | dict.fromkeys(("yep", "yeah", "yup"), "yes")
_OUT_OF = re.compile(r"(?P<value>\d+)\s*(?:/|out of)\s*(?P<most>\d+)", re.IGNORECASE)
# Where a value can end: before punctuation, or before a word that gives its reason or qualifies it.
_END = re.compile(
    r"\s*(?:$|[.,](?=\s|$)|[;:!?()\[\]{}<>\"“”»|/\\*_`\n]|—|–|['’](?!\w)|\.\.|…)"
    r"|\s+-+\s"
    r"|\s+(?=(?:because|since|as|for|but|and|given|due|or|rather|instead|overall|here|then|now|on|in|with|though|although|"
    r"after|if|when|so|out|even|at|is|of|by|over|is|to|stars?|points?|than)\b)",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"(?:(?:an?|the|story|response|text|option|version|number|solid|firm|clear|definite|resounding|about|only|just|"
    r"score|rating|of|simply|probably|definitely|certainly|clearly)\s+){1,4}",
    re.IGNORECASE,
)
_YES_OR_NO = re.compile(r"\b(?:yes|no(?!\s+(?:doubt|question|one|longer|more|matter)\b))\b", re.IGNORECASE)
_MOST_LETTERS = 120


class Allowed:
    """The values that an item allows."""

    def __init__(self, item: Question, stories: Sequence[StoryLabel]) -> None:
        self._item, self._stories = item, stories
        self._kind = items.find_type(item.type)
        self._by_text: dict[str, tuple[Any, str]] = {}

    def clean(self, raw: Any) -> Any:
        """The value that the item stores. Raises InvalidAnswer."""
        return self._kind.clean(self._item, raw, stories=self._stories)

    def refusal(self, raw: Any) -> str:
        """Why the item does not allow the answer; "" if it does."""
        return self._read(raw)[1]

    def allows(self, raw: Any) -> bool:
        return not self.refusal(raw)

    def same(self, raw: Any, value: Any) -> bool:
        """Whether both are the same answer; one that is not allowed is the same as none."""
        cleaned, refusal = self._read(raw)
        return not refusal and bool(cleaned == self._read(value)[0])

    @property
    def names(self) -> list[str]:
        """What a reply can call the item: its key and its title, folded."""
        return list(dict.fromkeys(filter(None, map(fold, (self._item.key, self._item.title)))))

    @property
    def question(self) -> str:
        """The item's question, folded."""
        return fold(self._item.question)

    def mentions_another(self, words: str, value: Any) -> bool:
        """Whether another of the values that the item offers stands among the words, whatever is said of it."""
        scale = self._item.settings
        if "high" in scale:
            words = re.sub(rf"\s*(?:/|\b(?:out )?of)\s*{scale['high']}\b", "", words)
            by_word = (NUMBER_BY_WORD.get(word) for word in words.casefold().split())
            offered = [*NUMBER.findall(words), *filter(None, by_word)]
        elif self.takes_yes_or_no:
            offered = _YES_OR_NO.findall(words)
        else:
            names = [
                str(option[name]) for option in self._item.options for name in ("value", "label") if name in option
            ]
            names += [story.letter for story in self._stories]
            offered = [name for name in names if _stands_in(name, words)]
        return any(self.allows(other) and not self.same(other, value) for other in offered)

    def without_scale(self, words: str) -> str:
        """The number alone if the words are it and the end of the item's scale: “4/5”; else the words."""
        match = _OUT_OF.fullmatch(words)
        return match["value"] if match and match["most"] == str(self._item.settings.get("high", "")) else words

    def parts_of_scale(self, line: str) -> list[str]:
        """Every number that stands before the end of the item's scale: 3 and 4 in “3/5, or rather 4 out of 5”."""
        most = str(self._item.settings.get("high", ""))
        return [match["value"] for match in _OUT_OF.finditer(line) if match["most"] == most]

    @cached_property
    def takes_any_words(self) -> bool:
        return self.allows(ANY_WORDS)

    @cached_property
    def takes_yes_or_no(self) -> bool:
        return self.allows("yes") and self.allows("no") and not self.takes_any_words

    def _read(self, raw: Any) -> tuple[Any, str]:
        if not isinstance(raw, str):
            return self._try(raw)
        if raw not in self._by_text:
            self._by_text[raw] = self._try(raw)
        return self._by_text[raw]

    def _try(self, raw: Any) -> tuple[Any, str]:
        try:
            return self.clean(raw), ""
        except InvalidAnswer as error:
            return None, str(error)


def normalise(text: str) -> str:
    """The text with wide and decorated letters made plain, and without what does not show."""
    if text.isascii() and text.isprintable():
        return text
    plain = unicodedata.normalize("NFKC", text)
    return "".join(c for c in plain if c == "\n" or unicodedata.category(c) not in ("Cf", "Cc", "Mn"))


def leading_value(words: str, allowed: Allowed) -> str:
    """The value that the words begin with and that ends there as an answer does; "" if they begin otherwise.

    “no” begins “no, since …” and “No.”, but not “no doubt”.
    """
    bare = words.strip()[:_MOST_LETTERS].lstrip("".join(set(DECORATION)) + "([{<>|=:→✗✓✔✘•-")
    for attempt in dict.fromkeys((bare, _LEADING.sub("", bare, count=1) if _LEADING.match(bare) else bare)):
        for end in list(_END.finditer(attempt))[:8]:
            candidate = attempt[: end.start()].strip(DECORATION).rstrip(".!")
            if value := named_value(candidate, allowed):
                return value
    return ""


def named_value(words: str, allowed: Allowed) -> str:
    """The value that all of the words are, a number in letters too; "" if they are none.

    A small letter names no story: it is an article far more often.
    """
    if not words or (len(words) == 1 and words.islower()):
        return ""
    other = WORD_BY_WORD.get(words.casefold(), "") or allowed.without_scale(words)
    return next((word for word in (words, other) if word and allowed.allows(word)), "")


def fold(name: str) -> str:
    """The name in small letters, with one blank for whatever parts its words."""
    return " ".join(re.sub(r"[\W_]+", " ", name.casefold()).split())


def pattern_of(name: str) -> str:
    """A pattern for the folded name, whatever parts its words."""
    return r"[\W_]{1,3}".join(map(re.escape, name.split()))


def _stands_in(name: str, words: str) -> bool:
    """Whether the name is among the words; a letter only as it is written, since small it is an article."""
    flags = re.IGNORECASE if len(name) > 1 else 0
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", words, flags) is not None
