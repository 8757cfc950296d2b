"""Everything in a reply that can be meant as a verdict, wherever it stands and whoever is quoted.

The verdict is read from its place; what is collected here must not contradict it. So this errs on the side of finding
too much: a reply that could be read in two ways is unreadable, and costs one answer; read wrongly, it costs the truth.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from judges.parsing.entries import spell
from judges.parsing.objects import Found, walk_names, walk_texts
from judges.parsing.values import DECORATION, NUMBER, Allowed, leading_value, named_value, normalise, pattern_of
from studies.items import is_empty

_NOUNS = (
    "answer|verdict|decision|rating|score|ranking|preferred|preference|choice|pick|winner|judge?ment|conclusion|vote|"
    "assessment|evaluation|grade|result"
)
# A label anywhere in a line: “my final answer is”, “Verdict (final):”, “"answer":”, “| Score |”.
_LABEL = re.compile(
    r"(?<!\w)(?P<lead>(?:(?:my|the|our|this|so|and|final|overall|first|initial|second|revised|new|correct|actual|true|"
    r"real|own|updated|last)[\s_-]+)*)"
    rf"(?:{_NOUNS})\b"
    r"(?:\s*\([^)\n]{0,40}\))?(?:\s+(?:to|for|of|about)\s+(?:the|this|that)\s+(?:question|story|text|item|test))?"
    r"[\"'”’*_`\]\s]{0,6}"
    r"(?P<mark>(?:would|should|must|will|can only|has to|ought to)\s+(?:[a-z]+\s+){0,3}?be\b|is\b|was\b|"
    r"remains\b|stays\b|becomes\b|->|=>|[:=→|>]|[-–—](?=\s))",
    re.IGNORECASE,
)
_SOMEBODYS = re.compile(
    r"(?:\b(?:his|her|their|its|whose|your|no|any|an|one|another|what)|['’]s|s['’])\s+$", re.IGNORECASE
)
# Somebody who says what they decide: “I'd go with”, “I would rate it”, “we choose”.
_STATEMENT = re.compile(
    r"(?<![\w'’])(?:I|we)(?:\s+|['’](?:d|ll|ve|m)\s+)"
    r"(?:(?:would|will|must|have to|shall|do|now|still|hereby|therefore|thus|finally|ultimately|rather|instead|also|"
    r"tentatively|eventually|think|am)\s+){0,3}"
    r"(?:answer|say|vote|rate|rank|score|give|choose|chose|pick|select|prefer|favou?r|conclude|judge|decide|go|going|"
    r"lean|leaning|settle|change|revise|assign|award|mean|meant|respond|reply|think|"
    r"thought|believe|feel|felt)\b"
    r"(?:\s+(?:it|this|that|the|story|text|with|for|on|to|towards?|as|at|by|my|mind|answer|verdict|rating|score|is|was|of|"
    r"be|been|should)\b){0,8}",
    re.IGNORECASE,
)
# “B is better.”, “Story A wins”
_PRAISE = re.compile(
    r"(?P<value>[^\s.,;:!?]{1,24})[\"'”’*_`]{0,4}\s+(?:(?:is|was)\s+(?:(?:clearly|slightly|overall|simply|much|far|still|"
    r"indeed|the|my)\s+)*(?:better|best|stronger|superior|preferable|preferred|winner|choice|pick|preference)"
    r"(?:\s+(?:one|story|response|text|choice|of the two|overall))*|wins)"
    r"\s*(?=[.,;:!?*_\"”]|$|\s+(?:because|since|as|and|but)\b)",
    re.IGNORECASE,
)
# The same without a writer: “it is a yes”, “it deserves a 3”, “choose A”, “a 3 would be right”.
_AWARD = re.compile(
    r"\b(?:(?:it|this|that|the story|the text)(?:['’]s|\s+is|\s+was|\s+would be)\s+(?=an?\s)|"
    r"(?:deserves?|earns?|merits?|scores?|rates?|gets?|receives?|warrants?)\s+)|"
    r"(?:^|[.!?]\s+)(?:choose|pick|select|prefer|vote(?:\s+for)?|go with|answer|respond|reply|say)\s+",
    re.IGNORECASE,
)
_WOULD_BE = re.compile(r"\ban?\s+(?P<value>\d+)\s+(?:would|seems|feels|is|might|could|may)\b", re.IGNORECASE)
_BEATS = re.compile(r"(?P<value>\w+)\s*>\s*\w+\W*")
_YES_IT_IS = re.compile(r"(?P<value>\w+)\s+(?:it|they|this|that|the story)\s+\w+", re.IGNORECASE)
# Words that take back what was said before, and may be followed by anything that a verdict may be followed by.
_RETRACTION = re.compile(
    r"(?<![\w'’])(?:actually|wait|correction|corrected|scratch that|strike that|or rather|make (?:that|it)|"
    r"on (?:second thoughts?|reflection|balance)|edit(?:ed)?|revis(?:ed|ion|ing)|updated?|hm+|instead|in fact|"
    r"reconsider(?:ing|ed)?|i (?:was|am) wrong|never ?mind|no,? wait|sorry|oops|"
    r"let me (?:rephrase|correct(?: myself| that)?))\b[\s,:;.…–—!-]*"
    r"(?:(?:it|this|that|then|the answer|i)(?:['’]s|\s+is|['’]d say|\s+say|\s+would say|\s+should be|\s+must be)?\s+)?",
    re.IGNORECASE,
)
# Words that go on from what was said, and words that sum it up; a verdict after them is one only if nothing else
# follows it: “So Yes.” Reasons go on so from number to number, too: “So 2.”
_STEP, _SUM = (
    re.compile(
        rf"(?<![\w'’])(?:{words})\b[,:]?\s+(?P<rest>[^.!?\n]{{1,40}})(?=[.!]|$)",
        re.IGNORECASE,
    )
    for words in (
        "so|thus|therefore|hence|but|then|yet|still|well|again",
        "overall|finally|ultimately|all in all|in (?:short|sum|conclusion|the end)|to conclude",
    )
)
# What may stand between an item's name and what is said of it: “**Authenticity (1-5) score**: ”.
AFTER_NAME = (
    r"[\"'”’*_`\s)\]]*(?:\([^)\n]{0,30}\))?[*_`\s]*(?:(?:score|rating|answer|verdict)\b)?[\"'”’*_`\s)\]]*"
    r"(?P<mark>[:=→|]|->|[-–—](?=\s)|\b(?:is|gets|at|should be|would be|deserves|scores)\b)"
)
_TAG = re.compile(
    rf"<(?P<tag>{_NOUNS})>\s*(?P<inner>[^<\n]{{0,200}})|\\boxed\{{(?P<box>[^}}\n]{{0,60}})|\[\[(?P<pair>[^\]\n]{{0,60}})\]\]",
    re.IGNORECASE,
)
_LIST_PLACE = re.compile(r"\s*(?:[-*•–→]|\(?\d{1,2}[.)])\s+")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_SYMBOLS = re.compile(r"^[\W_]+|[\W_]+$")
_MOST_LINES = 5_000


# Words that announce a verdict of one's own, and words that announce somebody else's.
ANNOUNCES = re.compile(
    r"\b(?:answer|verdict|decision|rating|score|ranking|conclusion|conclude|json|assessment|evaluation|judge?ment|"
    r"overall|result|response|reply|output|therefore|thus|hence|so|short|sum|summary|final(?:ly)?|preferred)\b",
    re.IGNORECASE,
)
CITES = re.compile(
    r"\b(?:says?|said|reads?|writes?|wrote|quot\w+|lines?|words?|ends? with|instruct\w*|contains?|claims?|asks?|tells?|"
    r"demands?|inserted|hidden|embedded|story|text|author|narrator|passage)\b",
    re.IGNORECASE,
)


def find_claims(text: str, allowed: Allowed, *, is_marked: bool) -> Iterator[str]:
    """Every value that the text gives as a verdict, in the order of its lines; one can come several times.

    is_marked : whether the verdict itself stands in an object or after a label; then numbers are left out that
        nothing marks as a verdict: “So 2.”, “4/5 of it”
    """
    if allowed.takes_any_words:
        yield from _labelled_lines(text)
        return
    for line in text.splitlines()[:_MOST_LINES]:
        if line := normalise(line).strip():
            yield from filter(None, _claims_of_line(line, allowed))
            reasons = filter(None, _claims_of_reasons(line, allowed))
            yield from (claim for claim in reasons if not (is_marked and NUMBER.fullmatch(claim)))


def find_object_claims(objects: Sequence[Found], allowed: Allowed) -> Iterator[Any]:
    """The same of JSON objects: what stands under a name for a verdict, however deep, and what their texts claim."""
    for part in objects:
        if part.is_inner:
            continue
        for name, value in walk_names(part.content):
            value = spell(value, allowed)[0]
            is_strict = "answer" in name or "verdict" in name
            is_named = is_strict or re.fullmatch(_NOUNS, name) is not None
            if (
                is_named
                and not is_empty(value)
                and not isinstance(value, dict)
                and (is_strict or allowed.allows(value))
            ):
                yield value
        if not allowed.takes_any_words:
            for text in walk_texts(part.content, but=("answer",)):
                yield from find_claims(text, allowed, is_marked=True)


def contradicting(claims: Iterator[Any], value: Any, allowed: Allowed) -> Any:
    """The first claim that is not that value; None if there is none."""
    return next((claim for claim in claims if not allowed.same(claim, value)), None)


def _claims_of_line(line: str, allowed: Allowed) -> Iterator[str]:
    place = _LIST_PLACE.match(line)
    for whole in dict.fromkeys((line, line[place.end() :] if place else line)):
        bare = whole.strip(DECORATION + ">").rstrip(".!" + DECORATION)
        yield from (named_value(words, allowed) for words in dict.fromkeys((bare, _SYMBOLS.sub("", whole))))
    for label in _LABEL.finditer(line):
        yield _read_labelled(line, label, allowed)
    for opening in (*_STATEMENT.finditer(line), *_RETRACTION.finditer(line)):
        yield leading_value(line[opening.end() :], allowed)
    for award in _AWARD.finditer(line):
        yield leading_value(line[award.end() :], allowed)
    for praise in (*_PRAISE.finditer(line), *_WOULD_BE.finditer(line), *filter(None, [_BEATS.fullmatch(line)])):
        yield named_value(_SYMBOLS.sub("", praise["value"]), allowed)
    yield from find_claims_by_name(line, allowed)
    for conclusion in _SUM.finditer(line):
        yield named_value(conclusion["rest"].strip(DECORATION), allowed)
    for tag in _TAG.finditer(line):
        yield leading_value(tag["inner"] or tag["box"] or tag["pair"] or "", allowed)
    yield from _lone_sentences(line, allowed)


def _claims_of_reasons(line: str, allowed: Allowed) -> Iterator[str]:
    """What is a verdict where it names the answer, and may be one of many numbers where it names a number."""
    yield from allowed.parts_of_scale(line)
    for step in _STEP.finditer(line):
        yield named_value(step["rest"].strip(DECORATION), allowed)


def _read_labelled(line: str, label: re.Match[str], allowed: Allowed) -> str:
    """What follows the label, unless it is somebody's: “his answer is no”."""
    before, mark = line[: label.start()], label["mark"].casefold()
    if _SOMEBODYS.search(before):
        return ""
    is_first = not before.strip(DECORATION + "-•>|{[(0123456789.") or before.rstrip().endswith(
        (".", ",", ";", ":", "!", "?", "—")
    )
    if mark.isalpha() and not label["lead"] and not is_first:
        return ""
    rest = line[label.end() :]
    if value := leading_value(rest, allowed):
        return value
    # A number that the item does not allow is a claim, too: a score of 7 beside one of 4.
    number = NUMBER.match(rest.strip().lstrip(DECORATION))
    return number[0] if number and is_first and not mark.isalpha() and _takes_numbers(allowed) else ""


def find_claims_by_name(line: str, allowed: Allowed) -> Iterator[str]:
    """What the line gives as the item's answer by its name or after its question: “empathy: 2”, “Is it? No.”"""
    for name in allowed.names:
        for place in re.finditer(rf"(?<!\w){pattern_of(name)}{AFTER_NAME}", line, re.IGNORECASE):
            rest = line[place.end() :]
            number = NUMBER.match(rest.strip(DECORATION + "{[")) if place["mark"] in (":", "=") else None
            is_number = number is not None and _takes_numbers(allowed)
            if claim := leading_value(rest, allowed) or (number[0] if number and is_number else ""):
                yield claim
    if allowed.question:
        for place in re.finditer(rf"(?<!\w){pattern_of(allowed.question)}[\W_]*", line, re.IGNORECASE):
            if claim := leading_value(line[place.end() :], allowed):
                yield claim


def _takes_numbers(allowed: Allowed) -> bool:
    return any(allowed.allows(n) for n in range(11))


def _lone_sentences(line: str, allowed: Allowed) -> Iterator[str]:
    """Values that are a sentence by themselves and answer no question of the writer's own: “It ends. No.”"""
    is_answer = False
    for sentence in _SENTENCE.findall(line)[:200]:
        words = sentence.strip().strip(DECORATION)
        if not is_answer and not NUMBER.fullmatch(words.rstrip(".!")):
            yield named_value(words.rstrip(".!" + DECORATION), allowed)
            if opening := _YES_IT_IS.match(words):
                yield named_value(opening["value"], allowed) if not opening["value"].isdigit() else ""
        is_answer = words.endswith("?")


def _labelled_lines(text: str) -> Iterator[str]:
    """What follows a label at the beginning of a line: of an answer in words no more can be told from its reasons."""
    for line in text.splitlines()[:_MOST_LINES]:
        label = _LABEL.match(line.strip(DECORATION))
        if label and not label["mark"].isalpha():
            yield line.strip(DECORATION)[label.end() :].strip(DECORATION)
