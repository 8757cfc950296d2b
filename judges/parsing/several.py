"""The verdicts of all items of a step in one reply: one object with an entry for each, or lines that name them.

An entry is the answer alone, or an object with the answer and its reasons. A line is “Authenticity: 4”, by the key of
the item or its title, with the reasons after it or on the lines that follow; or a heading with “Score: 4” below it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judges import reasons
from judges.parsing import claims
from judges.parsing.cleanup import find_refusal, is_courtesy, shorten, strip_code_marks, strip_fence
from judges.parsing.entries import ANSWER_NAMES, agree, find_names, find_reasons, spell
from judges.parsing.objects import Found, cut_objects, find_objects, walk_texts
from judges.parsing.outcomes import Contradiction, Failure, Verdict, Verdicts, freest
from judges.parsing.single import announces_quotation, goes_on_with_another, is_cited, is_quotation, lines_of
from judges.parsing.values import DECORATION, NUMBER, Allowed, fold, leading_value, named_value, normalise, pattern_of
from judges.prompts import Question, strip_echoes
from studies.items import StoryLabel, is_empty

# What may stand around an item's name on its line: “2. **Authenticity (1-5) score**: 4”.
_BEFORE_NAME = re.compile(r"[\s>*_#`\"'“”|•–(\[-]*(?:\d{1,2}[.)]\s*)?[\s*_`\"'“”(\[]*")
_GENERIC = re.compile(
    r"\W*(?:(?:my|the|final|overall)\s+)*(?:score|rating|answer|verdict)\b[*_`\s]*[:=]\s*(?P<rest>\S.*)$", re.IGNORECASE
)


@dataclass
class _Block:
    """What the lines about one item say: its line, and those below it up to the next item's."""

    rest: str
    lines: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Asked:
    """An item with what it allows, and the names by which a reply can call it."""

    item: Question
    allowed: Allowed

    @property
    def is_optional(self) -> bool:
        return bool(getattr(self.item, "is_skippable", False))


def parse_several(
    reply: str, *, protocol: str, items: Sequence[Question], stories: Sequence[StoryLabel]
) -> Verdicts | Failure:
    """The verdict of every item that has one and why the others have none, or the failure that the whole reply is."""
    subjects = [_Asked(item, Allowed(item, stories)) for item in items]
    own = strip_echoes(reply).strip()
    if refusal := find_refusal(own):
        return refusal
    try:
        objects = [part for part in find_objects(strip_fence(own)) if _names_one(part.content, subjects)]
        outcomes = _from_objects(objects, protocol, subjects) if objects else _from_lines(own, subjects)
        return outcomes if isinstance(outcomes, Failure) else _sort(find_contradictions(reply, outcomes, subjects))
    except Contradiction as error:
        return Failure("unreadable", str(error))


def _sort(outcome_by_key: Mapping[str, Verdict | Failure]) -> Verdicts | Failure:
    """Verdicts apart from failures.

    The first failure is the whole reply's where there is no verdict, or where no answer at all is given to as many
    items as have one: what is left may be another's.
    """
    verdicts = {key: outcome for key, outcome in outcome_by_key.items() if isinstance(outcome, Verdict)}
    failures = {key: outcome for key, outcome in outcome_by_key.items() if isinstance(outcome, Failure)}
    n_missing = sum(failure.reason == reasons.NO_ANSWER_FOR % {"item": key} for key, failure in failures.items())
    return next(iter(failures.values())) if failures and n_missing >= len(verdicts) else Verdicts(verdicts, failures)


def _names_one(content: Mapping[str, Any], subjects: Sequence[_Asked]) -> bool:
    names = {fold(name) for name in content}
    return any(names.intersection(entry.allowed.names) for entry in subjects)


def _from_objects(
    objects: Sequence[Found], protocol: str, subjects: Sequence[_Asked]
) -> dict[str, Verdict | Failure] | Failure:
    """What the object in its place says of every item. Raises Contradiction if two names are one item's."""
    part = objects[-1 if protocol == "reasoning_first" else 0]
    if any(part.is_inner for part in objects):
        return Failure("unreadable", reasons.INNER)
    around = strip_code_marks(part.after if protocol == "reasoning_first" else part.before)
    is_closed = is_courtesy(around) if protocol == "reasoning_first" else around.endswith(":") and "\n" not in around
    if around and not is_closed:
        return Failure("unreadable", reasons.OUT_OF_PLACE % {"words": shorten(around)})
    if is_cited(part.before):
        return Failure("unreadable", reasons.ALL_QUOTED)
    forms = ["json" if part.is_mended else "", "courtesy" if around and protocol == "reasoning_first" else ""]
    content, verdicts = dict(part.content), {}
    for entry in subjects:
        names = find_names(content, entry.allowed.names)
        if len(names) > 1:
            raise Contradiction(reasons.SAID_TWICE)
        name = names[0] if names else ""
        forms.append("" if not name or name.strip().casefold() == entry.item.key.casefold() else "names")
        verdict = _from_entry(content.pop(name, None), entry)
        if verdict is not None:
            verdicts[entry.item.key] = verdict
    forms.append("extra" if any(not isinstance(value, str) for value in content.values()) else "")
    return {key: _with_form(verdict, forms) for key, verdict in verdicts.items()}


def _with_form(verdict: Verdict | Failure, forms: Sequence[str]) -> Verdict | Failure:
    return replace(verdict, form=freest([*forms, verdict.form])) if isinstance(verdict, Verdict) else verdict


def _from_entry(content: Any, entry: _Asked) -> Verdict | Failure | None:
    """The verdict that an entry of the object gives; None if it gives none and need not."""
    value, rationale = content, ""
    if isinstance(content, dict) and (answers := [content[name] for name in find_names(content, ANSWER_NAMES)]):
        value, rationale = answers[0], find_reasons(content)
        if any(not agree(value, other, entry.allowed) for other in answers[1:]):
            return Failure("unreadable", reasons.TWO_IN_ONE % {"item": entry.item.key})
    if is_empty(value):
        return None if entry.is_optional else _missing(entry)
    value, form = spell(value, entry.allowed)
    if refusal := entry.allowed.refusal(value):
        return Failure("out_of_range", reasons.OF_ITEM % {"item": entry.item.key, "reason": refusal})
    return Verdict(value, rationale, form=form)


def _missing(entry: _Asked) -> Failure:
    return Failure("unreadable", reasons.NO_ANSWER_FOR % {"item": entry.item.key})


def _from_lines(reply: str, subjects: Sequence[_Asked]) -> dict[str, Verdict | Failure] | Failure:
    """What lines say that name the items."""
    block_by_key, verdicts = _blocks(reply, subjects), {}
    if not block_by_key:
        return Failure("unreadable", reasons.NO_ANSWER % {"words": shorten(reply)})
    for entry in subjects:
        block = block_by_key.get(entry.item.key)
        verdict = _from_block(block, entry) if block else None
        if verdict is not None:
            verdicts[entry.item.key] = verdict
        elif not entry.is_optional:
            verdicts[entry.item.key] = _missing(entry)
    return verdicts


def _blocks(reply: str, subjects: Sequence[_Asked]) -> dict[str, _Block]:
    """The lines about each item, by its key."""
    blocks: dict[str, _Block] = {}
    current, previous = None, ""
    for line in lines_of(strip_fence(reply)):
        entry, rest = _named_item(line, subjects)
        if entry is None and line.lstrip().startswith("#"):
            current = None  # what stands below another heading is said of another thing
        elif entry is None:
            if current:
                current.lines.append(line.strip())
        elif is_quotation(line):
            current = None
        elif not current and previous and announces_quotation(previous, line):
            if not blocks:
                return {}  # the lines after it are the same quotation's
            current = None
        elif entry.item.key in blocks:
            current = blocks[entry.item.key]
            current.lines.append(rest)
        else:
            current = blocks[entry.item.key] = _Block(rest)
        previous = line
    return blocks


def _named_item(line: str, subjects: Sequence[_Asked]) -> tuple[_Asked | None, str]:
    """The item that a line begins with, and what it says of it; a line that is the name alone is a heading."""
    start = _BEFORE_NAME.match(line)
    bare = line[start.end() :] if start else line
    for entry in subjects:
        for name in entry.allowed.names:
            if opening := re.match(rf"{pattern_of(name)}{claims.AFTER_NAME}", bare, re.IGNORECASE):
                return entry, bare[opening.end() :].strip()
            if fold(re.sub(r"\([^)]*\)", "", bare)) == name:
                return entry, ""
    return None, ""


def _from_block(block: _Block, entry: _Asked) -> Verdict | Failure | None:
    """The verdict of the lines about one item; None if they give none."""
    generic = [match["rest"] for line in block.lines if (match := _GENERIC.match(line))]
    for words in filter(None, [block.rest, *generic]):
        whole = words.strip(DECORATION).rstrip(".!" + DECORATION)
        whole_value = named_value(whole, entry.allowed)
        if value := whole_value or _leading(words, entry):
            return Verdict(value, "\n".join([*([] if whole_value else [words]), *block.lines]).strip())
        if NUMBER.match(whole) or len(whole.split()) <= 3:
            refusal = entry.allowed.refusal(whole)
            return Failure("out_of_range", reasons.OF_ITEM % {"item": entry.item.key, "reason": refusal})
    return None


def _leading(words: str, entry: _Asked) -> str:
    """The value that begins the words, unless another follows it at once: “3 – 4”, “4 or 5”."""
    value = leading_value(words, entry.allowed)
    tail = words.strip(DECORATION)[len(value) :]
    others = re.match(r"\s*(?:[-–—/,]|or|and|to)+\s*(?P<rest>\S.*)$", tail)
    is_range = others and (
        NUMBER.match(others["rest"]) or named_value(others["rest"].split()[0].strip(",.;"), entry.allowed)
    )
    return "" if is_range or goes_on_with_another(words.strip(DECORATION), value, entry.allowed) else value


def find_contradictions(
    reply: str, verdicts: Mapping[str, Verdict | Failure], subjects: Sequence[_Asked]
) -> dict[str, Verdict | Failure]:
    """The same, but a failure for each item of which the reply says otherwise anywhere, quoted or in other reasons."""
    objects = find_objects(reply)
    text = cut_objects(reply, objects)
    checked = dict(verdicts)
    for entry in subjects:
        verdict = verdicts.get(entry.item.key)
        if reason := _contradicts(entry, verdict if isinstance(verdict, Verdict) else None, objects, text):
            checked[entry.item.key] = Failure("unreadable", reason)
    return checked


def _contradicts(entry: _Asked, verdict: Verdict | None, objects: Sequence[Found], text: str) -> str:
    """What else the reply says of the item, as a reason; "" if nothing."""
    key = entry.item.key
    if re.search(rf"[\"']{re.escape(key)}[\"']\s*:", text, re.IGNORECASE) and objects:
        return reasons.SECOND_OBJECT % {"item": key}
    if verdict is None:
        return ""
    for claim in _claims_about(entry, objects, text):
        if not agree(verdict.value, claim, entry.allowed):
            return reasons.TWO_VERDICTS_FOR % {"item": key, "one": verdict.value, "other": shorten(str(claim))}
    return ""


def _claims_about(entry: _Asked, objects: Sequence[Found], text: str) -> Iterator[Any]:
    """Everything that the reply gives as the item's answer, wherever it stands."""
    texts = [text]
    for part in objects:
        for name, content in part.content.items():
            if is_about(name, entry.allowed):
                yield from _claims_of_entry(content, entry)
            texts += walk_texts(content)
    if not entry.allowed.takes_any_words:
        for words in texts:
            for line in words.splitlines():
                yield from claims.find_claims_by_name(normalise(line), entry.allowed)
        for block in _all_blocks(text, entry):
            yield from claims.find_claims(block, entry.allowed, is_marked=True)


def is_about(name: str, allowed: Allowed) -> bool:
    """Whether a name in an object is the item's or holds it: “empathy_final”."""
    return any(re.search(rf"\b{re.escape(own)}\b", fold(name)) for own in allowed.names)


def _claims_of_entry(content: Any, entry: _Asked) -> Iterator[Any]:
    """What the item's own entry says, in its answer and in its reasons."""
    if not isinstance(content, dict):
        yield content
        return
    for name, value in content.items():
        if fold(name) in ANSWER_NAMES and not is_empty(value):
            yield value
        elif not entry.allowed.takes_any_words:
            for words in walk_texts(value):
                yield from claims.find_claims(words, entry.allowed, is_marked=True)


def _all_blocks(text: str, entry: _Asked) -> Iterator[str]:
    """The lines below a heading of the item; what they claim, they claim of it."""
    blocks = _blocks(text, [entry])
    for block in blocks.values():
        generic = [line for line in block.lines if _GENERIC.match(line)]
        yield "\n".join([block.rest, *(generic[:1] if len(blocks) == 1 else [])])
