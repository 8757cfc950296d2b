"""A verdict that no object and no label gives, but that the end of a reply says all the same, or its beginning.

What was read so is kept with the name of its form, so that it can be counted, and left out. Whatever else the reply
says is held against the verdict afterwards, as against any other.
"""

import re
from collections.abc import Iterator, Sequence

from judges import reasons
from judges.parsing import claims
from judges.parsing.cleanup import is_courtesy
from judges.parsing.outcomes import Failure, Verdict
from judges.parsing.values import DECORATION, QUOTATION, Allowed, named_value

MOST_LETTERS = 1_000  # of a line in which one is looked for
_BOX = re.compile(r"\\boxed\s*\{\s*(?:\\(?:text\w*|mathrm)\s*\{)?\s*(?P<words>[^{}\n]{1,60}?)\s*\}")
_OPTION = re.compile(r"\(?[A-Za-z][.):]\)?\s+(?P<words>\S[^\n]{0,60})")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_YES_OR_NO = re.compile(r"(?P<before>\S*?)\b(?P<word>yes|no)\b(?P<after>\S*)", re.IGNORECASE)
# Somebody else's words.
_SPEECH = re.compile(
    r"\b(?:says|said|reads?|writes?|wrote|quot\w+|ends? with|instruct\w*|claims?|asks?|asked|tells?|told|answers|"
    r"answered|repl\w+|demands?|inserted|hidden|embedded|author|narrator|whispers?|shouts?|(?:she|he|they|you|who)\s+say)\b",
    re.IGNORECASE,
)
# A sentence that denies something, makes it depend on something, or leaves it open; of what, is not looked at.
_UNCERTAIN = re.compile(
    r"\b(?:not|cannot|never|no one|nobody|nothing|none|neither|nor|hardly|barely|almost|nearly|if|unless|whether|than|"
    r"without|had|(?:would|could|might|should) have|with an?|reluctant\w*|hesitat\w+|fail\w*|short of|far from|wrong|"
    r"first|initially|(?:could|might|may)(?:\s+\w+)?\s+be|hard to (?:say|tell))\b|n['’]t\b",
    re.IGNORECASE,
)
_SOMEBODY = re.compile(r"\b(?:she|he|they|her|him|his|their|them)\b", re.IGNORECASE)


def may_be_one(failure: Failure) -> bool:
    """Whether a reply that failed so may hold a verdict in another form: none was found, rather than one refused."""
    opening = reasons.NO_ANSWER.partition("%(words)s")[0]
    return failure.state == "unreadable" and failure.reason.startswith(opening)


def find_verdict(lines: Sequence[str], *, protocol: str, allowed: Allowed) -> Verdict | None:
    """The verdict of the line in whose place one is looked for; None if it gives none, or could give two."""
    lines = [line for n, line in enumerate(lines) if n == 0 or not is_courtesy(line.strip(DECORATION))]
    if not lines or allowed.takes_any_words:
        return None
    is_last = protocol == "reasoning_first"
    line = lines[-1 if is_last else 0].strip()
    sentence = _last_sentence(line) if is_last else ""
    is_quoted = line.startswith((">", *QUOTATION)) or "{" in _BOX.sub("", line)
    if is_quoted or len(line) > MOST_LETTERS or (_is_option(line) and sum(map(_is_option, lines)) > 1):
        return None
    for form, words, values in (
        ("box", line, _read_box(line, allowed)),
        ("option", line, _read_option(line, allowed)),
        ("sentence", sentence, _read_sentence(sentence, allowed)),
        ("last_word", sentence, _read_last_words(sentence, allowed)),
    ):
        if answers := list(dict.fromkeys(filter(None, values))):
            is_one = not any(allowed.mentions_another(words, value) for value in answers)
            rationale = "\n".join(lines).strip()
            return Verdict(answers[0], rationale, is_marked=form != "last_word", form=form) if is_one else None
    return None


def _last_sentence(line: str) -> str:
    return next((part for part in reversed(_SENTENCE.findall(line)) if part.strip(DECORATION + ".!?) ")), "").strip()


def _read_box(line: str, allowed: Allowed) -> Iterator[str]:
    """What stands in a box of LaTeX that is the line, or that its words announce: “The final answer is \\boxed{4}”."""
    for box in _BOX.finditer(line):
        lead = line[: box.start()].strip(DECORATION + "$ ")
        is_own = not lead or (
            claims.ANNOUNCES.search(lead) and not _SPEECH.search(lead) and not _UNCERTAIN.search(lead)
        )
        if is_own and not re.search(r"\w", line[box.end() :]):
            yield named_value(box["words"].strip(DECORATION + ".!"), allowed)


def _is_option(line: str) -> bool:
    return _OPTION.fullmatch(line.strip().strip(DECORATION)) is not None


def _read_option(line: str, allowed: Allowed) -> Iterator[str]:
    """“A) Yes”: the letter of an option before its words, unless letters are what the item takes."""
    option = _OPTION.fullmatch(line.strip(DECORATION))
    if option and not allowed.allows("A"):
        yield named_value(option["words"].strip(DECORATION + ".!"), allowed)


def _read_sentence(sentence: str, allowed: Allowed) -> Iterator[str]:
    """What a sentence gives as the writer's own verdict: “Considering all this, the answer is: **Yes**”."""
    if not (_SPEECH.search(sentence) or _UNCERTAIN.search(sentence)):
        yield from claims.find_claims(sentence, allowed, is_marked=True)


def _read_last_words(sentence: str, allowed: Allowed) -> Iterator[str]:
    """Every yes or no that is meant as one: the last word, or one that is set off by a capital or by marks."""
    if not allowed.takes_yes_or_no or ":" in sentence:
        return
    if _SPEECH.search(sentence) or _SOMEBODY.search(sentence) or _UNCERTAIN.search(sentence):
        return
    for match in _YES_OR_NO.finditer(sentence):
        is_last = not sentence[match.end() :].strip(DECORATION + ".!)")
        is_set_off = match["before"][-1:] in tuple(DECORATION) and match["after"][:1] in tuple(DECORATION)
        is_capital = match["word"][0].isupper() and match.start() > 0
        if is_last or (match["before"] and is_set_off) or is_capital:
            yield match["word"]
