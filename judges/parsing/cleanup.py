"""A reply before it is read: what is no part of it, and what makes it none."""

import re

from judges import reasons
from judges.parsing.outcomes import Failure

# How a reply that is no answer begins. Only its beginning counts, so that reasons which mention a refusal stay reasons.
_BLOCKED = re.compile(r"\W*content[ _](?:was )?(?:blocked|filtered)\b", re.IGNORECASE)
_REFUSED = re.compile(
    r"\W*(?:no\W+)?(?:(?:(?:i['’]?m|i am|we are|we['’]re) (?:so |very |really )?)?sorry\W+|i apologi[sz]e\W+)?"
    r"(?:unfortunately\W+)?(?:but\W+)?(?:as an ai\b[^.,\n]{0,40},\s*)?"
    r"(?:i|we)(?:['’]m| am|['’]re| are)? "
    r"(?:can['’]?t|cannot|can not|won['’]?t|will not|unable to|not able to|must decline to)\s+"
    r"(?:help\b(?!\s+(?:but|\w+ing)\b)|(?:assist|comply|continue|fulfil+|provide|engage|evaluate|assess|judge|discuss|"
    r"complete|answer|do)\b)",
    re.IGNORECASE,
)
# A last line that says nothing of the story: “Let me know if you need more!”
_COURTESY = re.compile(
    r"(?:please )?(?:let me know|feel free|(?:i )?hope|thank(?:s| you)|if you (?:need|have|would|want)|would you like)"
    r"[^\n\d:=]{0,120}",
    re.IGNORECASE,
)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# What local models think aloud before they answer, up to the last mark of its end. Thoughts without an end hide no
# answer behind them. Where they begin may stand in the template and not come back; then the end is a line of its own,
# and there is one: a text that is quoted can hold the mark, too.
_THOUGHTS = re.compile(r"<think(?:ing)?>(?:.*</think(?:ing)?>|.*)", re.DOTALL | re.IGNORECASE)
_END_OF_THOUGHTS = re.compile(r"^[ \t]*</think(?:ing)?>[ \t]*$", re.MULTILINE | re.IGNORECASE)


def clean_reply(text: str, *, finish_reason: str) -> str | Failure:
    """What a reply says once thoughts are taken from it, or the failure that the provider or its emptiness makes it."""
    text = strip_unstorable(text).strip()
    if finish_reason == "content_filter" or _BLOCKED.match(text):
        return Failure("blocked", shorten(text) or reasons.BLOCKED)
    if finish_reason == "refusal":
        return Failure("refused", shorten(text))
    if finish_reason == "length":
        return Failure("truncated", reasons.TRUNCATED)
    return text[find_end_of_thoughts(text) :].strip() or Failure("unreadable", reasons.EMPTY)


def find_end_of_thoughts(text: str) -> int:
    """Where what is said aloud begins."""
    if thoughts := _THOUGHTS.match(text):
        return thoughts.end()
    ends = list(_END_OF_THOUGHTS.finditer(text))
    return ends[0].end() if len(ends) == 1 else 0


def find_refusal(reply: str) -> Failure | None:
    """The refusal that the words begin with; None if they begin otherwise."""
    return Failure("refused", shorten(reply)) if _REFUSED.match(reply) else None


def is_courtesy(words: str) -> bool:
    """Whether the words close a reply and say nothing of the story."""
    return _COURTESY.fullmatch(words.strip()) is not None


def strip_fence(reply: str) -> str:
    """The words without the fence of a code block around all of them."""
    return re.sub(r"^```\w*\s*|\s*```$", "", reply).strip()


def strip_code_marks(text: str) -> str:
    """The text without the fences of code blocks in it."""
    return re.sub(r"```\w*", "", text).strip()


def strip_unstorable(text: str) -> str:
    """The text without what databases cannot keep: NUL, and halves of surrogate pairs, both of which JSON can spell."""
    return _UNSTORABLE.sub("\ufffd", text)


def shorten(text: str) -> str:
    """The text, cut off where it is too long for a reason."""
    return text if len(text) <= 200 else f"{text[:200]}…"
