"""How probable each answer was to the model, from the log-probabilities of the token with which its verdict begins."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from judges.parsing.cleanup import find_end_of_thoughts
from judges.parsing.outcomes import Verdicts
from judges.parsing.values import DECORATION, fold, pattern_of
from judges.prompts import Question

# What may stand between a name and its answer: “"answer": "yes"”, “**Verdict:** Yes”, “\boxed{Yes}”.
_BETWEEN = r"[\"'”’*_`\s]*(?:[:=]|\bis\b)[\"'“‘*_`\s]*"
_ENTRY = r"(?:\{\s*[\"']?(?:answer|verdict|score|rating|value)[\"']?\s*:\s*[\"']?)?"
_LABELS = r"(?:answer|verdict|decision|rating|score|conclusion|judge?ment)"
_LEAST_ALTERNATIVES = 2  # of the verdict's token alone nothing is known of the other answers


class ReplyToken(Protocol):
    """A token of a reply as providers read it: its bytes, its log-probability, and those of what could stand there."""

    @property
    def text(self) -> bytes: ...
    @property
    def logprob(self) -> float: ...
    @property
    def alternatives(self) -> Sequence[tuple[bytes, float]]: ...


@dataclass(frozen=True)
class Grade:
    """by_value : of each answer its probability among all that the item allows, by how it is written
    outside : the share of the token's probability that fell on none of them, or was not listed
    """

    by_value: Mapping[str, float]
    outside: float

    @property
    def document(self) -> dict[str, Any]:
        return {"by_value": dict(self.by_value), "outside": self.outside}


def grade_verdicts(
    tokens: Sequence[ReplyToken],
    verdicts: Verdicts,
    *,
    text: str,
    protocol: str,
    items: Sequence[Question],
    by_key: bool,
) -> dict[str, Grade]:
    """The grade of each verdict whose token can be found, by the item's key; of verdicts and of points of scales.

    tokens : of the whole reply, in order; empty where the server sent none
    text, protocol, items, by_key : as of `parse_reply`
    """
    reply = _Reply(tokens)
    if not tokens or not reply.spells(text):
        return {}
    grades = {}
    for item in items:
        verdict, values = verdicts.by_key.get(item.key), _values_of(item)
        if verdict is None or not values:
            continue
        value = _write(verdict.value)
        place = reply.find(value, item=item if by_key or len(items) > 1 else None, is_last=protocol != "verdict_first")
        if value in values and place is not None and (grade := reply.grade(place, value, values)):
            grades[item.key] = grade
    return grades


def _values_of(item: Question) -> list[str]:
    """How the answers are written that are graded; none of items that take others than Yes, No and points."""
    if item.type == "binary":
        return ["yes", "no"]
    if item.type == "scale":
        return [str(point) for point in range(item.settings["low"], item.settings["high"] + 1)]
    return []


def _write(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip(DECORATION + ".!").casefold()


class _Reply:
    """A reply as its tokens, in which places are found by bytes: a token may be a part of a letter."""

    def __init__(self, tokens: Sequence[ReplyToken]) -> None:
        self._tokens = tokens
        self._text = b"".join(token.text for token in tokens).decode("utf-8", "surrogateescape")
        self._begin = find_end_of_thoughts(self._text)

    def spells(self, text: str) -> bool:
        return text.strip() in self._text

    def find(self, value: str, *, item: Question | None, is_last: bool) -> int | None:
        """Where the verdict begins; None where that cannot be told.

        item : to which it belongs, where there are several; a verdict stands after its key or its title
        is_last : whether a verdict ends the reply, not begins it
        """
        word = rf"(?P<value>{re.escape(value)})(?![\w.]*\w)"
        names = [pattern_of(fold(name)) for name in filter(None, (item.key, item.title))] if item else [_LABELS]
        named = rf"\b(?:{'|'.join(names)}){_BETWEEN}{_ENTRY}{word}|\\boxed\{{\s*(?P<boxed>{re.escape(value)})\s*\}}"
        places = [match.start(match.lastgroup or 0) for match in self._matches(named)]
        if places or item:
            return places[-1 if is_last else 0] if places else None
        line, start = self._line(is_last=is_last)
        own = [match.start() for match in re.finditer(rf"(?<![\w.]){word}", line, re.IGNORECASE)]
        opens = bool(own) and not line[: own[0]].strip(DECORATION)
        return start + own[0] if opens or len(own) == 1 else None

    def _matches(self, pattern: str) -> list[re.Match[str]]:
        return list(re.compile(pattern, re.IGNORECASE).finditer(self._text, self._begin))

    def _line(self, *, is_last: bool) -> tuple[str, int]:
        """The last line with words, or the first, and where it begins."""
        lines = self._matches(r"[^\r\n]*\w[^\r\n]*")
        line = lines[-1 if is_last else 0] if lines else None
        return (line[0], line.start()) if line else ("", 0)

    def grade(self, place: int, value: str, values: Sequence[str]) -> Grade | None:
        """The grade of the verdict that begins there; None where its token's alternatives do not tell answers apart."""
        place = len(self._text[:place].encode("utf-8", "surrogateescape"))
        token = self._token_at(place)
        if token is None or not _begins(token.text, value, is_whole=value.isdigit()):
            return None
        alternatives = {token.text: token.logprob} | dict(token.alternatives)
        if len(alternatives) < _LEAST_ALTERNATIVES:
            return None
        is_number = value.isdigit()
        written = {_bare(text) for text in alternatives}
        # Digit by digit a 1 may begin a 10, unless tokens of several digits show that numbers are written whole.
        if any(len(v) > 1 for v in values if is_number) and not any(w.isdigit() and len(w) > 1 for w in written):
            return None
        sums = dict.fromkeys(values, 0.0)
        for text, logprob in alternatives.items():
            if own := [v for v in values if _begins(text, v, is_whole=is_number)]:
                sums[own[0]] += math.exp(logprob)
        total = math.fsum(sums.values())
        if total <= 0:
            return None
        return Grade({v: share / total for v, share in sums.items()}, outside=max(0.0, 1 - total))

    def _token_at(self, place: int) -> ReplyToken | None:
        end = 0
        for token in self._tokens:
            end += len(token.text)
            if place < end:
                return token
        return None


def _bare(text: bytes) -> str:
    return text.decode("utf-8", "replace").strip().strip(DECORATION + "{[(:").strip().casefold()


def _begins(text: bytes, value: str, *, is_whole: bool) -> bool:
    """Whether a token is the answer or its beginning: “ Yes”, “"Y”, “yes,”; a number only as a whole."""
    bare = _bare(text)
    if is_whole:
        return bare.rstrip("\"'.,}]") == value
    return bool(bare) and (value.startswith(bare) or re.fullmatch(rf"{value}\W.*", bare, re.DOTALL) is not None)
