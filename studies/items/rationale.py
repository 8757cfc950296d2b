"""Reasons given beside an answer: how long they are, and what they lack."""

import re
from dataclasses import dataclass
from typing import Any, Literal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

# What JavaScript's \s is. Python's own differs on six characters, and then the server would refuse what the browser's
# counter had promised.
SPACES = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
WORD = re.compile(f"[^{SPACES}]+")
END_OF_SENTENCE = re.compile(rf"""[.!?…]+["'”’»)\]]*(?=[{SPACES}]|$)|[。！？؟۔।॥]+|\n""")


@dataclass(frozen=True)
class Rule:
    """How much is asked for: `least` words or sentences if `kind` is "required"."""

    kind: Literal["none", "optional", "required"] = "none"
    least: int = 0
    unit: Literal["words", "sentences"] = "sentences"

    @classmethod
    def of(cls, item: Any) -> "Rule":
        """The rule of an item, which names its parts rationale, rationale_least and rationale_unit."""
        return cls(item.rationale, item.rationale_least, item.rationale_unit)


def count_words(text: str) -> int:
    """How many runs of characters stand between spaces, counted as the browser counts them."""
    return len(WORD.findall(text))


def count_sentences(text: str) -> int:
    """How many stretches with a letter or digit end in a stop, a line break or the end of the text.

    A stop is . ! ? … (with closing quotes) before a space, or 。！？؟۔।॥ anywhere. “e.g. this” therefore counts as two:
    the rule errs in the writer's favour.
    """
    return sum(any(c.isalnum() for c in part) for part in END_OF_SENTENCE.split(text))


def shortfall(rule: Rule, text: str) -> str:
    """What the text lacks, as a sentence; "" if it is enough. A rationale that is not required is always enough."""
    if rule.kind != "required":
        return ""
    least = max(rule.least, 1)
    count = count_words(text) if rule.unit == "words" else count_sentences(text)
    if count >= least:
        return ""
    if rule.unit == "words":
        message = ngettext("Please write at least one word.", "Please write at least %(least)d words.", least)
    else:
        message = ngettext("Please write at least one sentence.", "Please write at least %(least)d sentences.", least)
    so_far = _(" So far there are %(count)d.") if count > 1 else _(" So far there is one.") if count else ""
    return message % {"least": least} + so_far % {"count": count}
