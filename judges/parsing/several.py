"""The verdicts of all items of a step in one reply: one object with an entry for each, or lines that name them.

An entry is the answer alone, or an object with the answer and its reasons. A line is “Authenticity: 4”, by the key of
the item or its title, with the reasons after it or on the lines that follow; or a heading with “Score: 4” below it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judges import reasons
from judges.parsing import claims
from judges.parsing.cleanup import find_refusal, shorten, strip_code_marks, strip_fence
from judges.parsing.objects import Found, cut_objects, find_objects, walk_texts
from judges.parsing.outcomes import Contradiction, Failure, Verdict, Verdicts
from judges.parsing.single import announces_quotation, goes_on_with_another, is_cited, is_quotation, lines_of
from judges.parsing.values import DECORATION, NUMBER, Allowed, fold, leading_value, named_value, normalise, pattern_of
from judges.prompts import Question, strip_echoes
from studies.items import StoryLabel, is_empty

ANSWERS = ("answer", "score", "rating", "verdict", "value")
REASONS = ("rationale", "explanation", "reasoning", "reasons", "reason", "comment", "comments", "justification")
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
    """The verdict of every item, or the failure that the reply is."""
    subjects = [_Asked(item, Allowed(item, stories)) for item in items]
    own = strip_echoes(reply).strip()
    try:
        return _parse(reply, own, protocol, subjects)
    except Contradiction as error:
        return Failure("unreadable", str(error))


def _parse(reply: str, own: str, protocol: str, subjects: Sequence[_Asked]) -> Verdicts | Failure:
    """The same. Raises Contradiction."""
    keys = {entry.item.key.casefold() for entry in subjects}
    objects = [part for part in find_objects(strip_fence(own)) if keys.intersection(_names(part.content))]
    verdicts = (
        _from_objects(objects, protocol, subjects) if objects else find_refusal(own) or _from_lines(own, subjects)
    )
    if isinstance(verdicts, Verdicts):
        check_agreement(reply, verdicts, subjects)
    return verdicts


def _from_objects(objects: Sequence[Found], protocol: str, subjects: Sequence[_Asked]) -> Verdicts | Failure:
    """What the object in its place says of every item."""
    part = objects[-1 if protocol == "reasoning_first" else 0]
    if any(part.is_inner for part in objects):
        return Failure("unreadable", reasons.INNER)
    around = strip_code_marks(part.after if protocol == "reasoning_first" else part.before)
    if around and not (protocol == "verdict_first" and around.endswith(":") and "\n" not in around):
        return Failure("unreadable", reasons.OUT_OF_PLACE % {"words": shorten(around)})
    if is_cited(part.before):
        return Failure("unreadable", reasons.ALL_QUOTED)
    content = {name.strip().casefold(): value for name, value in part.content.items()}
    verdicts = {}
    for entry in subjects:
        verdict = _from_entry(content.pop(entry.item.key.casefold(), None), entry)
        if isinstance(verdict, Failure):
            return verdict
        if verdict is not None:
            verdicts[entry.item.key] = verdict
    if unknown := next((name for name, value in content.items() if not isinstance(value, str)), None):
        return Failure("unreadable", reasons.NOT_ASKED % {"item": shorten(unknown)})
    return Verdicts(verdicts)


def _from_entry(content: Any, entry: _Asked) -> Verdict | Failure | None:
    """The verdict that an entry of the object gives; None if it gives none and need not. Raises Contradiction."""
    value, rationale = content, ""
    if isinstance(content, dict) and (answers := [content[name] for name in _find_names(content, ANSWERS)]):
        value = answers[0]
        if any(not _agree(value, other, entry.allowed) for other in answers[1:]):
            raise Contradiction(reasons.TWO_IN_ONE % {"item": entry.item.key})
        texts = [content[name] for name in _find_names(content, REASONS)]
        rationale = "\n\n".join(text.strip() for text in texts if isinstance(text, str) and text.strip())
    if is_empty(value):
        return None if entry.is_optional else _missing(entry)
    if refusal := entry.allowed.refusal(value):
        return Failure("out_of_range", reasons.OF_ITEM % {"item": entry.item.key, "reason": refusal})
    return Verdict(value, rationale)


def _find_names(content: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """The names in the object that are one of these, however they are cased."""
    return [name for name in content if name.strip().casefold() in names]


def _agree(value: Any, other: Any, allowed: Allowed) -> bool:
    return allowed.same(other, value) if allowed.allows(value) else other == value


def _missing(entry: _Asked) -> Failure:
    return Failure("unreadable", reasons.NO_ANSWER_FOR % {"item": entry.item.key})


def _from_lines(reply: str, subjects: Sequence[_Asked]) -> Verdicts | Failure:
    """What lines say that name the items. Raises Contradiction."""
    block_by_key, verdicts = _blocks(reply, subjects), {}
    if not block_by_key:
        return Failure("unreadable", reasons.NO_ANSWER % {"words": shorten(reply)})
    for entry in subjects:
        block = block_by_key.get(entry.item.key)
        verdict = _from_block(block, entry) if block else None
        if isinstance(verdict, Failure):
            return verdict
        if verdict is None and not entry.is_optional:
            return _missing(entry)
        if verdict is not None:
            verdicts[entry.item.key] = verdict
    return Verdicts(verdicts)


def _blocks(reply: str, subjects: Sequence[_Asked]) -> dict[str, _Block]:
    """The lines about each item, by its key. Raises Contradiction if two places give it two answers."""
    blocks: dict[str, _Block] = {}
    current, previous = None, ""
    for line in lines_of(strip_fence(reply)):
        entry, rest = _named_item(line, subjects)
        if entry is None:
            if current:
                current.lines.append(line.strip())
        elif is_quotation(line) or (not current and announces_quotation(previous, line) and previous):
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
    """The verdict of the lines about one item; None if they give none. Raises Contradiction."""
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


def check_agreement(reply: str, verdicts: Verdicts, subjects: Sequence[_Asked]) -> None:
    """Raise Contradiction if the reply says otherwise of an item anywhere, quoted or in the reasons of another."""
    objects = find_objects(reply)
    text = cut_objects(reply, objects)
    for entry in subjects:
        key = entry.item.key
        if re.search(rf"[\"']{re.escape(key)}[\"']\s*:", text, re.IGNORECASE) and objects:
            raise Contradiction(reasons.SECOND_OBJECT % {"item": key})
        if key not in verdicts.by_key:
            continue
        value = verdicts[key].value
        for claim in _claims_about(entry, objects, text):
            if not _agree(value, claim, entry.allowed):
                values = {"item": key, "one": value, "other": shorten(str(claim))}
                raise Contradiction(reasons.TWO_VERDICTS_FOR % values)


def _claims_about(entry: _Asked, objects: Sequence[Found], text: str) -> Iterator[Any]:
    """Everything that the reply gives as the item's answer, wherever it stands."""
    texts = [text]
    for part in objects:
        for name, content in part.content.items():
            is_own = name.strip().casefold() == entry.item.key.casefold()
            if is_own:
                yield from _claims_of_entry(content, entry)
            texts += walk_texts(content)
    if not entry.allowed.takes_any_words:
        for words in texts:
            for line in words.splitlines():
                yield from claims.find_claims_by_name(normalise(line), entry.allowed)
        for block in _all_blocks(text, entry):
            yield from claims.find_claims(block, entry.allowed, is_marked=True)


def _claims_of_entry(content: Any, entry: _Asked) -> Iterator[Any]:
    """What the item's own entry says, in its answer and in its reasons."""
    if not isinstance(content, dict):
        yield content
        return
    for name, value in content.items():
        if name.strip().casefold() in ANSWERS and not is_empty(value):
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


def _names(content: Mapping[str, Any]) -> set[str]:
    return {name.strip().casefold() for name in content}
