"""Whether a model knows a text: what it answered to the probe, and how much of it is true."""

import re
from dataclasses import dataclass

from judges import reasons
from judges.parsing.cleanup import clean_reply, strip_code_marks, strip_fence
from judges.parsing.objects import find_objects
from judges.parsing.outcomes import Contradiction, Failure

PARTS = ("known", "title", "author", "continuation")
MIN_COPIED_WORDS = 8  # words in a row that nobody writes by accident as another did


@dataclass(frozen=True)
class RecognitionReply:
    """What a model says that it knows of a text."""

    is_known: bool
    title: str = ""
    author: str = ""
    continuation: str = ""


@dataclass(frozen=True)
class Knowledge:
    """How much of it is true. n_words : the longest run of words that goes on as the text does."""

    has_title: bool
    has_author: bool
    n_words: int

    @property
    def is_proven(self) -> bool:
        """Whether the model showed that it knows the text, whatever it says of itself."""
        return self.has_title or self.has_author or self.n_words >= MIN_COPIED_WORDS


def parse_recognition(text: str, *, finish_reason: str) -> RecognitionReply | Failure:
    """What the reply to the probe says, or the failure that it is."""
    reply = clean_reply(text, finish_reason=finish_reason)
    if isinstance(reply, Failure):
        return reply
    try:
        objects = [entry for entry in find_objects(strip_fence(reply)) if not entry.is_inner]
    except Contradiction as error:
        return Failure("unreadable", str(error))
    if len(objects) != 1 or strip_code_marks(objects[0].before + objects[0].after):
        return Failure("unreadable", reasons.NOT_ONE_OBJECT)
    content = objects[0].content
    if not set(content) <= set(PARTS) or not all(isinstance(part, str) for part in content.values()):
        return Failure("unreadable", reasons.OTHER_PARTS % {"parts": ", ".join(PARTS)})
    is_known = content.get("known", "").strip().casefold().rstrip(".")
    if is_known not in ("yes", "no"):
        return Failure("out_of_range", reasons.KNOWN_OR_NOT)
    parts = {name: content.get(name, "").strip() for name in PARTS[1:]}
    if is_known == "no" and any(parts.values()):
        return Failure("unreadable", reasons.UNKNOWN_YET_TOLD)
    return RecognitionReply(is_known == "yes", **parts)


def score_recognition(recognition: RecognitionReply, *, title: str, author: str, rest: str) -> Knowledge:
    """How much of what the model says is true.

    title, author : as they stand in the provenance, "" if there is none; rest : the text after the excerpt
    """
    return Knowledge(
        has_title=_names(recognition.title, title),
        has_author=_names(recognition.author, author),
        n_words=_longest_run(_words(recognition.continuation), _words(rest)),
    )


def _names(claim: str, truth: str) -> bool:
    """Whether both are the same words, but for the article; nothing is named by nothing."""
    claimed, true = ([word for word in _words(text) if word not in ("a", "an", "the")] for text in (claim, truth))
    return bool(true) and claimed == true


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _longest_run(claimed: list[str], true: list[str]) -> int:
    """The length of the longest run of words that stands in both."""
    longest, runs = 0, [0] * (len(true) + 1)
    for word in claimed[:500]:
        runs = [0, *(runs[i] + 1 if word == other else 0 for i, other in enumerate(true[:5_000]))]
        longest = max(longest, *runs)
    return longest
