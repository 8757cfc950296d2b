"""The verdict of one item: an object with an answer, or a line, at the end of the reply or at its beginning."""

import re
from collections.abc import Sequence

from judges import reasons
from judges.parsing import claims, free_forms
from judges.parsing.cleanup import find_refusal, is_courtesy, shorten, strip_code_marks, strip_fence
from judges.parsing.entries import find_answer, find_reasons
from judges.parsing.objects import Found, cut_objects, find_objects
from judges.parsing.outcomes import Contradiction, Failure, Verdict, freest
from judges.parsing.values import DECORATION, EMPHASIS, NUMBER, QUOTATION, Allowed, leading_value, named_value
from judges.prompts import strip_echoes
from studies.items import is_empty

_LABEL = re.compile(
    r"(?:\d+[.)]\s*)?[*_`\"'“]*(?:\w+,\s+)?(?:(?:my|the|so|and|final|overall)\s+)*"
    r"(?:answer|verdict|decision|rating|score|ranking|preferred|preference|choice|judge?ment|conclusion)"
    r"(?:\s+is\b\s*:?|[*_`\"'”]*\s*[:=])\s*(?P<rest>\S.*)$",
    re.IGNORECASE,
)
# How a last line can draw its conclusion: “So Yes.”
_CONCLUSION = re.compile(
    r"(?:so|thus|therefore|hence|overall|finally|ultimately|in (?:short|sum|conclusion))[,:]?\s+", re.IGNORECASE
)
_NOUN = re.compile(r"(?:story|response|text|option|version)\s+(?=\S)", re.IGNORECASE)
# The end of a verdict that goes on: "Yes, the story …", "4. The …", "No – the …".
_GOES_ON = re.compile(r"\s*(?:[.,;:!?](?=\s|$)|\s[-–—]+\s|—|\()")
_HEDGE = re.compile(
    r"(?:\W*\b(?:or|and|maybe|perhaps|possibly|but|though|leaning|almost|rather|also|then|even|to|towards?)\b)+"
)


def parse_one(reply: str, *, protocol: str, allowed: Allowed) -> Verdict | Failure:
    """The verdict that the cleaned reply gives, or the failure that it is.

    protocol : "reasoning_first" takes the answer from the end of the reply, "verdict_first" from its beginning
    """
    own = strip_echoes(reply).strip()
    if not own:
        return Failure("unreadable", reasons.ECHO)
    try:
        objects = find_objects(reply)
        verdict = _from_object(own, protocol, allowed) or _from_line(own, protocol, allowed)
        if isinstance(verdict, Failure) and free_forms.may_be_one(verdict):
            verdict = free_forms.find_verdict(lines_of(own), protocol=protocol, allowed=allowed) or verdict
    except Contradiction as error:
        return Failure("unreadable", str(error))
    if isinstance(verdict, Verdict) and (other := find_contradiction(reply, objects, verdict, allowed)):
        values = {"one": verdict.value, "other": shorten(other)}
        return Failure("unreadable", reasons.TWO_VERDICTS % values)
    return verdict


def find_contradiction(reply: str, objects: Sequence[Found], verdict: Verdict, allowed: Allowed) -> str:
    """Another verdict than that one which stands anywhere in the reply, quoted ones too; "" if there is none."""
    other = claims.contradicting(claims.find_object_claims(objects, allowed), verdict.value, allowed)
    if other is None:
        text = cut_objects(reply, list(objects))
        claimed = claims.find_claims(text, allowed, is_marked=verdict.is_marked)
        other = claims.contradicting(claimed, verdict.value, allowed)
        if other is None and not allowed.takes_any_words:
            heads = (named_value(_head(line), allowed) for line in _openings(text))
            other = claims.contradicting(filter(None, heads), verdict.value, allowed)
    return "" if other is None else str(other)


def _openings(text: str) -> list[str]:
    """Lines that can open with a verdict: all but the places of a list, and a number only in the first and the last."""
    lines = [line.strip(DECORATION + ">") for line in lines_of(text)]
    inner = [line for line in lines[1:-1] if not NUMBER.fullmatch(_head(line)) and not line.startswith(("-", "•"))]
    ends = [line for line in (*lines[:1], *lines[-1:]) if not NUMBER.fullmatch(_head(line))]
    return inner + ends


def _from_object(reply: str, protocol: str, allowed: Allowed) -> Verdict | Failure | None:
    """What a JSON object with an answer says, at the end of the reply or at its beginning; None if there is none."""
    for part in find_objects(strip_fence(reply)):
        before, after = strip_code_marks(part.before), strip_code_marks(part.after)
        is_in_place = not after or is_courtesy(after) if protocol == "reasoning_first" else _leads_in(before)
        answer = find_answer(part.content, allowed) if is_in_place and not part.is_inner else None
        if answer is None:
            continue
        if is_cited(part.before):
            return Failure("unreadable", reasons.QUOTED % {"words": shorten(_last_line(part.before))})
        value, form = answer
        if is_empty(value):
            return Failure("unreadable", reasons.LEFT_EMPTY)
        if refusal := allowed.refusal(value):
            return Failure("out_of_range", refusal)
        forms = [form, "json" if part.is_mended else "", "courtesy" if protocol == "reasoning_first" and after else ""]
        rationale = "\n\n".join(filter(None, [before, find_reasons(part.content), after]))
        return Verdict(value, rationale, is_marked=True, form=freest(forms))
    return None


def is_cited(before: str) -> bool:
    """Whether what stands before a verdict makes it a part of another sentence, or somebody else's."""
    if before.rpartition("\n")[2].strip(EMPHASIS) == "" and not strip_code_marks(before).endswith((":", ",", "—", "…")):
        return False
    lead = _last_line(strip_code_marks(before)).strip(EMPHASIS)
    is_open = lead.endswith((":", " is"))
    return not (is_open and claims.ANNOUNCES.search(lead)) or claims.CITES.search(lead) is not None


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2]


def _leads_in(before: str) -> bool:
    """Whether nothing stands before the answer, or no more than “Here is my answer:”."""
    return not before or (before.endswith(":") and "\n" not in before and len(before.split()) <= 8)


def _from_line(reply: str, protocol: str, allowed: Allowed) -> Verdict | Failure:
    """What the last line says, or the first word or line: a labelled answer, the answer alone, or one that goes on."""
    lines = lines_of(reply)
    if not lines:
        return Failure("unreadable", reasons.NO_ANSWER % {"words": shorten(reply)})
    is_last = protocol == "reasoning_first"
    line = lines[-1 if is_last else 0]
    label = _LABEL.match(line.strip(DECORATION))
    if not label and (refused := find_refusal(reply)):
        return refused
    if is_quotation(line) or (is_last and _is_announced_quotation(lines)):
        return Failure("unreadable", reasons.QUOTED % {"words": shorten(line)})
    claimed = _bare(label["rest"] if label else line)
    whole = claimed.rstrip(".!" + DECORATION)
    if _is_in_list(lines, _head(claimed)):
        return _no_answer(line)
    without_noun = _NOUN.sub("", whole, count=1)
    for candidate in (
        claimed,
        whole,
        _head(claimed),
        without_noun,
        _find_conclusion(whole),
        allowed.without_scale(whole),
    ):
        if candidate and allowed.allows(candidate):
            is_whole = candidate != _head(claimed) or candidate in (claimed, whole)
            if not is_whole and goes_on_with_another(claimed, candidate, allowed):
                break
            rest = (lines[:-1] if is_last else lines[1:]) if is_whole else lines
            return Verdict(candidate, "\n".join(rest).strip(), is_marked=label is not None)
    # Plainly meant as the answer, and not one that the item allows.
    if (label and len(whole.split()) <= 3) or NUMBER.fullmatch(_head(claimed) or whole):
        return Failure("out_of_range", allowed.refusal(whole))
    return _no_answer(line)


def _no_answer(line: str) -> Failure:
    return Failure("unreadable", reasons.NO_ANSWER % {"words": shorten(line.strip(DECORATION))})


def _bare(words: str) -> str:
    """The words without emphasis and quotation marks around them, nor the brackets of a form that was copied: “[A]”."""
    words = words.strip(DECORATION)
    return words[1:-1].strip(DECORATION) if re.fullmatch(r"\[[^\[\]]*\]", words) else words


def _find_conclusion(words: str) -> str:
    """What stands after “So” or “Overall,”; "" if nothing of the kind begins the words."""
    opening = _CONCLUSION.match(words)
    return words[opening.end() :].strip(DECORATION) if opening else ""


def lines_of(reply: str) -> list[str]:
    """The lines that say something."""
    return [line for line in reply.splitlines() if line.strip(DECORATION + ">")]


def is_quotation(line: str) -> bool:
    """Whether the line is a quoted block, or begins with a quotation and goes on: “Yes”, she said."""
    line = line.strip(EMPHASIS)
    if line.startswith(">"):
        return True
    inner = line.rstrip(".!" + EMPHASIS)
    return line[:1] in tuple(QUOTATION) and inner[-1:] not in tuple(QUOTATION)


def _is_announced_quotation(lines: Sequence[str]) -> bool:
    """Whether the last line is what the line before it announces to quote."""
    return len(lines) > 1 and announces_quotation(lines[-2], lines[-1])


def announces_quotation(lead: str, line: str) -> bool:
    """Whether the first of two lines says that somebody else said the second."""
    lead = lead.strip(EMPHASIS)
    if lead.endswith((":", ",", "—", "–", "…")):
        is_own = claims.ANNOUNCES.search(lead) is not None and not claims.CITES.search(lead)
        return not is_own or line.strip(EMPHASIS)[:1] in tuple(QUOTATION)
    return (
        re.search(r"\b(?:says?|reads?|is|writes?|quote)$", lead) is not None and claims.CITES.search(lead) is not None
    )


def _is_in_list(lines: Sequence[str], number: str) -> bool:
    """Whether the number that a line begins with is its place in a list: another line begins with one, too."""
    heads = [_head(line.strip(DECORATION)) for line in lines]
    return bool(NUMBER.fullmatch(number)) and sum(NUMBER.fullmatch(head) is not None for head in heads) > 1


def _head(line: str) -> str:
    """What stands before the first mark after which a verdict goes on; "" if there is none."""
    mark = _GOES_ON.search(line)
    return line[: mark.start()].strip(DECORATION) if mark else ""


def goes_on_with_another(line: str, value: str, allowed: Allowed) -> bool:
    """Whether the verdict at the beginning of a line is the first of several: “plot, style”, “3 – 4”, “4 (or 3)”."""
    mark = _GOES_ON.search(line)
    tail = line[mark.end() :].strip(DECORATION + "(").rstrip(".!)") if mark else ""
    number = NUMBER.match(tail)
    hedge = _HEDGE.match(tail)
    words = (tail, _head(tail), number[0] if number else "")
    if any(word and allowed.allows(word) for word in words):
        return True
    others = [leading_value(tail[hedge.end() :], allowed)] if hedge else []
    others += [named_value(piece.strip(DECORATION + ".!"), allowed) for piece in re.split(r"[,;/()]", tail)]
    last = re.search(r"\s(\d+)$", tail)
    others += [last[1]] if last and allowed.allows(last[1]) else []
    return any(other and not allowed.same(other, value) for other in others)
