"""What a model's reply says: a verdict with its reasons, or why there is none. No Django models here.

Parsing is a step of its own over replies that are kept as they came, so that it can be improved and run again without
a call. What does not parse is unreadable; nothing is guessed, and nothing missing ever counts as No. A verdict stands
on a line of its own and is the only one: a reply that gives two different ones, or only a quoted one, is unreadable.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from judges.prompts import Question
from studies import items
from studies.items import InvalidAnswer, StoryLabel, is_empty

VERSION = 2

Clean = Callable[[Any], Any]
State = Literal["refused", "blocked", "truncated", "unreadable", "out_of_range"]


@dataclass(frozen=True)
class Verdict:
    """An answer that the item allows, as the model gave it (not yet cleaned), and what was said around it."""

    value: Any
    rationale: str


@dataclass(frozen=True)
class Failure:
    """A reply without a usable answer, by the name of what went wrong, with the reason in words."""

    state: State
    reason: str


class _Doubled(ValueError):
    """A JSON object that says one thing twice."""


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
_LABEL = re.compile(
    r"(?:\w+,\s+)?(?:(?:my|the|so|and|final|overall)\s+)*(?:answer|verdict|decision|rating|score|ranking)"
    r"(?:\s+is\b\s*:?|\s*[:=])\s*(?P<rest>\S.*)$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
# The end of a verdict that goes on: "Yes, the story …", "4. The …", "No – the …".
_GOES_ON = re.compile(r"\s*(?:[.,;:!?](?=\s|$)|\s[-–—]+\s|—|\()")
# What local models think aloud before they answer. Thoughts without an end hide no answer behind them.
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
# An item that takes these takes any words.
ANY_WORDS = "words of one's own that stand in no list of answers"
_EMPHASIS = "*_#`~ \t"
_QUOTATION = "\"'“”‘’«»„"
_DECORATION = _EMPHASIS + _QUOTATION
# Words that announce a verdict of one's own, and words that announce somebody else's.
_ANNOUNCES = re.compile(
    r"\b(?:answer|verdict|decision|rating|score|ranking|conclusion|conclude|json|assessment|evaluation|judge?ment|"
    r"overall|result|response|reply|output|therefore|thus|hence)\b",
    re.IGNORECASE,
)
_CITES = re.compile(
    r"\b(?:says?|said|reads?|writes?|wrote|quot\w+|lines?|words?|ends? with|instruct\w*)\b", re.IGNORECASE
)


def parse_verdict(
    text: str, *, finish_reason: str, protocol: str, item: Question, stories: Sequence[StoryLabel] = ()
) -> Verdict | Failure:
    """The verdict of one reply, or the failure that it is.

    finish_reason : as the provider says it; "refusal" if the provider marked the text as one
    protocol : "reasoning_first" takes the answer from the end of the reply, "verdict_first" from its beginning
    """
    reply = clean_reply(text, finish_reason=finish_reason)
    if isinstance(reply, Failure):
        return reply

    def clean(raw: Any) -> Any:
        """The value that the item stores. Raises InvalidAnswer."""
        return items.find_type(item.type).clean(item, raw, stories=stories)

    try:
        verdict = _from_object(reply, protocol, clean) or _from_line(reply, protocol, clean)
    except _Doubled as error:
        return Failure("unreadable", str(error))
    if isinstance(verdict, Verdict) and (other := _contradiction(reply, verdict.value, clean)):
        return Failure("unreadable", f"the reply gives two verdicts: “{verdict.value}” and “{_quoted(other)}”")
    return verdict


def _refusal_of(raw: Any, clean: Clean) -> str:
    """Why the item does not allow the answer; "" if it does."""
    try:
        clean(raw)
    except InvalidAnswer as error:
        return str(error)
    return ""


def clean_reply(text: str, *, finish_reason: str) -> str | Failure:
    """What a reply says once thoughts are taken from it, or the failure that the provider or its emptiness makes it."""
    text = strip_unstorable(text).strip()
    if finish_reason == "content_filter" or _BLOCKED.match(text):
        return Failure("blocked", _quoted(text) or "the provider blocked the reply")
    if finish_reason == "refusal":
        return Failure("refused", _quoted(text))
    if finish_reason == "length":
        return Failure("truncated", "the reply ended at the limit of its length")
    thoughts = _THOUGHTS.match(text)
    reply = text[thoughts.end() :].strip() if thoughts else text
    return reply or Failure("unreadable", "the reply is empty")


def find_refusal(reply: str) -> Failure | None:
    """The refusal that the words begin with; None if they begin otherwise."""
    return Failure("refused", _quoted(reply)) if _REFUSED.match(reply) else None


def strip_fence(reply: str) -> str:
    """The words without the fence of a code block around all of them."""
    return re.sub(r"^```\w*\s*|\s*```$", "", reply).strip()


def strip_unstorable(text: str) -> str:
    """The text without what databases cannot keep: NUL, and halves of surrogate pairs, both of which JSON can spell."""
    return "".join("\ufffd" if c == "\x00" or "\ud800" <= c <= "\udfff" else c for c in text)


def _from_object(reply: str, protocol: str, clean: Clean) -> Verdict | Failure | None:
    """What a JSON object with an answer says, at the end of the reply or at its beginning; None if there is none."""
    for before, content, after in _objects(strip_fence(reply)):
        is_in_place = not _plain(after) if protocol == "reasoning_first" else _leads_in(_plain(before))
        if not is_in_place or "answer" not in content:
            continue
        if _is_cited(before):
            return Failure("unreadable", f"the answer is quoted: “{_quoted(_last_line(before))}”")
        value = content["answer"]
        if is_empty(value):
            return Failure("unreadable", "the answer is left empty")
        if refusal := _refusal_of(value, clean):
            return Failure("out_of_range", refusal)
        own = content.get("rationale")
        parts = [_plain(before), own.strip() if isinstance(own, str) else "", _plain(after)]
        return Verdict(value, "\n\n".join(part for part in parts if part))
    return None


def _is_cited(before: str) -> bool:
    """Whether what stands before a verdict makes it a part of another sentence, or somebody else's."""
    if before.rpartition("\n")[2].strip(_EMPHASIS) == "" and not _plain(before).endswith(":"):
        return False
    lead = _last_line(_plain(before)).strip(_EMPHASIS)
    is_open = lead.endswith((":", " is"))
    return not (is_open and _ANNOUNCES.search(lead)) or _CITES.search(lead) is not None


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2]


def _objects(text: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Every JSON object in the text with what stands before and after it, outer ones before the ones they hold."""
    decoder = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refuse)
    for start in (m.start() for m in re.finditer(r"\{", text)):
        try:
            content, end = decoder.raw_decode(text, start)
        except _Doubled:
            raise
        except (ValueError, RecursionError):
            continue
        yield text[:start], content, text[end:]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise _Doubled("the reply says one thing twice in its JSON")
    return dict(pairs)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _from_line(reply: str, protocol: str, clean: Clean) -> Verdict | Failure:
    """What the last line says, or the first word or line: a labelled answer, the answer alone, or one that goes on."""
    lines = _lines(reply)
    if not lines:
        return Failure("unreadable", f"there is no answer in “{_quoted(reply)}”")
    is_last = protocol == "reasoning_first"
    line = lines[-1 if is_last else 0]
    label = _LABEL.match(line.strip(_DECORATION))
    if not label and (refused := find_refusal(reply)):
        return refused
    if _is_quotation(line) or (is_last and _is_announced_quotation(lines)):
        return Failure("unreadable", f"the answer is quoted: “{_quoted(line)}”")
    claimed = (label["rest"] if label else line).strip(_DECORATION)
    whole = claimed.rstrip(".!" + _DECORATION)
    if _is_in_list(lines, _head(claimed)):
        return _no_answer(line)
    for candidate in (claimed, whole, _head(claimed)):
        if candidate and not _refusal_of(candidate, clean):
            if candidate not in (claimed, whole) and _goes_on_with_another(claimed, clean):
                break
            rest = (lines[:-1] if is_last else lines[1:]) if candidate in (claimed, whole) else lines
            return Verdict(candidate, "\n".join(rest).strip())
    # Plainly meant as the answer, and not one that the item allows.
    if (label and len(whole.split()) <= 3) or _NUMBER.fullmatch(_head(claimed) or whole):
        return Failure("out_of_range", _refusal_of(whole, clean))
    return _no_answer(line)


def _no_answer(line: str) -> Failure:
    return Failure("unreadable", f"there is no answer in “{_quoted(line.strip(_DECORATION))}”")


def _lines(reply: str) -> list[str]:
    """The lines that say something."""
    return [line for line in reply.splitlines() if line.strip(_DECORATION + ">")]


def _is_quotation(line: str) -> bool:
    """Whether the line is a quoted block, or begins with a quotation and goes on: “Yes”, she said."""
    line = line.strip(_EMPHASIS)
    if line.startswith(">"):
        return True
    inner = line.rstrip(".!" + _EMPHASIS)
    return line[:1] in tuple(_QUOTATION) and inner[-1:] not in tuple(_QUOTATION)


def _is_announced_quotation(lines: list[str]) -> bool:
    """Whether the last line is what the line before it announces to quote."""
    lead = lines[-2].strip(_EMPHASIS) if len(lines) > 1 else ""
    return lead.endswith(":") and (lines[-1].strip(_EMPHASIS)[:1] in tuple(_QUOTATION) or bool(_CITES.search(lead)))


def _is_in_list(lines: list[str], number: str) -> bool:
    """Whether the number that a line begins with is its place in a list: another line begins with one, too."""
    heads = [_head(line.strip(_DECORATION)) for line in lines]
    return bool(_NUMBER.fullmatch(number)) and sum(_NUMBER.fullmatch(head) is not None for head in heads) > 1


def _contradiction(reply: str, value: Any, clean: Clean) -> str:
    """Another verdict than that value which stands anywhere in the reply, quoted ones too; "" if there is none."""
    agreed = clean(value)
    contents = [content for _, content, _ in _objects(reply)]
    for answer in (content["answer"] for content in contents if not is_empty(content.get("answer"))):
        if _cleaned(answer, clean) != agreed:
            return str(answer)
    if not _refusal_of(ANY_WORDS, clean):
        return ""  # every line would be another answer in words
    rationales = [content["rationale"] for content in contents if isinstance(content.get("rationale"), str)]
    lines = [line.strip(_DECORATION + ">") for line in _lines(reply)]
    lines += [line for rationale in rationales for line in _lines(rationale)]
    claims = [claim for line in lines for claim in _claims(line)]
    # Prose goes on after a verdict at its beginning or its end only; a number there is the place in a list.
    claims += [head for line in (lines[0], lines[-1]) if not _NUMBER.fullmatch(head := _head(line))]
    for claim in claims:
        if claim and not _refusal_of(claim, clean) and clean(claim) != agreed:
            return claim
    return ""


def _cleaned(raw: Any, clean: Clean) -> Any:
    """The value as the item stores it; as it came if the item does not allow it."""
    return raw if _refusal_of(raw, clean) else clean(raw)


def _claims(line: str) -> list[str]:
    """What a line gives as a verdict: all of it, or what follows a label."""
    label = _LABEL.match(line.strip(_DECORATION))
    claimed = (label["rest"] if label else line).strip(_DECORATION)
    return [claimed.rstrip(".!" + _DECORATION), _head(claimed) if label else ""]


def _head(line: str) -> str:
    """What stands before the first mark after which a verdict goes on; "" if there is none."""
    mark = _GOES_ON.search(line)
    return line[: mark.start()].strip(_DECORATION) if mark else ""


def _goes_on_with_another(line: str, clean: Clean) -> bool:
    """Whether the verdict at the beginning of a line is the first of several: “plot, style”, “3 – 4”."""
    mark = _GOES_ON.search(line)
    tail = line[mark.end() :].strip(_DECORATION + "(").rstrip(".!)") if mark else ""
    number = _NUMBER.match(tail)
    claims = (tail, _head(tail), number[0] if number else "")
    return any(claim and not _refusal_of(claim, clean) for claim in claims)


def _leads_in(before: str) -> bool:
    """Whether nothing stands before the answer, or no more than “Here is my answer:”."""
    return not before or (before.endswith(":") and "\n" not in before and len(before.split()) <= 8)


def _plain(text: str) -> str:
    """The text without the fences of a code block around it."""
    return re.sub(r"```\w*", "", text).strip()


def _quoted(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}…"
