"""How somebody filled a cloze: in which order, what they changed, what to look at again, and where they stopped.

All of it is read from the history of the answers; only what became of the whole is kept in a row of its own.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.db.models import Q, Sum

from annotation.models import Assignment, Fill, Response, ResponseEvent
from studies.cloze import cascade, compiling
from studies.documents.cloze import ClozeDocument
from studies.models import Cloze, Step


@dataclass(frozen=True)
class Said:
    """What one save made of one blank; text is "" if it was cleared."""

    blank: int
    at: datetime
    text: str


@dataclass(frozen=True)
class Check:
    """A blank to look at again, because another, on which it hangs, has changed since it was last said.

    before : what the other said then; "" if it was open
    at : when the other was last changed
    """

    blank: int
    changed: int
    before: str
    now: str
    at: datetime


def cloze_of(assignment: Assignment) -> Cloze | None:
    """The cloze that this assignment asks to be filled. One query."""
    steps = Q(filling__step__version=assignment.version_id, filling__step__layout=Step.Layout.CLOZE)
    return Cloze.objects.filter(steps).first()


def filled(document: ClozeDocument, answers: Iterable[Response]) -> dict[int, str]:
    """What stands in each blank, open ones left out. The items of the answers must be at hand."""
    number_by_key = compiling.number_by_key(document)
    return {
        number_by_key[each.item.key]: each.value
        for each in answers
        if each.item.key in number_by_key and isinstance(each.value, str) and each.value.strip()
    }


def answers_of(assignment: Assignment, cloze: Cloze) -> list[Response]:
    """The answers to the blanks, with their items. One query."""
    return list(assignment.responses.filter(item__instrument=cloze.filling_id).select_related("item"))


def history(assignment: Assignment, cloze: Cloze) -> list[Said]:
    """Every save of a blank, oldest first; what was erased is left out. One query."""
    number_by_key = compiling.number_by_key(cloze.parsed)
    of_blanks = Q(response__assignment=assignment, response__item__instrument=cloze.filling_id)
    events = ResponseEvent.objects.filter(of_blanks).order_by("at", "pk")
    return [
        Said(number_by_key[key], at, text_of(words))
        for key, at, words in events.values_list("response__item__key", "at", "words")
        if words is not None
    ]


def text_of(words: str) -> str:
    """What an event says was written; "" if the blank was cleared, or nothing could be read."""
    value = json.loads(words)["value"]
    return value if isinstance(value, str) else ""


def order_of_filling(said: Iterable[Said]) -> list[int]:
    """The blanks in the order in which they were first filled."""
    return list(dict.fromkeys(each.blank for each in said if each.text.strip()))


def n_changes(said: Iterable[Said]) -> dict[int, int]:
    """How often each filled blank was filled otherwise after something else had been done in between.

    What is saved while somebody is still writing at it belongs to one filling. Blanks never filled are left out.
    """
    text_by_blank: dict[int, str] = {}
    found: dict[int, int] = {}
    for blank, saves in groupby(said, key=lambda each: each.blank):
        before, *_, now = text_by_blank.get(blank, ""), *(each.text for each in saves)
        text_by_blank[blank] = now
        if now.strip():
            found.setdefault(blank, 0)
        if before.strip() and before != now:
            found[blank] += 1
    return found


def checks(document: ClozeDocument, said: Sequence[Said]) -> dict[int, list[Check]]:
    """By blank, which changes elsewhere it has not been looked at since. Open blanks have nothing to look at."""
    saves: dict[int, list[Said]] = defaultdict(list)
    for each in said:
        saves[each.blank].append(each)
    found: dict[int, list[Check]] = defaultdict(list)
    for changed, its_saves in sorted(saves.items()):
        now = its_saves[-1]
        for blank in cascade.affected(document, changed) if now.text.strip() else ():
            if blank not in saves or not saves[blank][-1].text.strip():
                continue
            last_said = saves[blank][-1].at
            before = next((each.text for each in reversed(its_saves) if each.at <= last_said), "")
            if before.strip() != now.text.strip():
                found[blank].append(Check(blank, changed, before, now.text, now.at))
    return dict(sorted(found.items()))


def may_need_checks(document: ClozeDocument, answers: Iterable[Response]) -> bool:
    """Whether a blank was said after one that hangs on it: only then is the history worth reading."""
    number_by_key = compiling.number_by_key(document)
    at = {number_by_key[each.item.key]: each.last_edited_at for each in answers if each.item.key in number_by_key}
    return any(at[b] < at[changed] for changed in at for b in cascade.affected(document, changed) if b in at)


def seconds_by_section(assignment: Assignment) -> dict[int, int]:
    """Active seconds by section; those without any are left out. One query."""
    timings = assignment.timings.filter(section__isnull=False).values_list("section")
    return dict(timings.annotate(seconds=Sum("active_seconds")).order_by("section"))


def settle(assignment: Assignment, *, is_submitted: bool, stopped_at: int | None = None) -> Fill | None:
    """What became of the cloze, now that the assignment has ended; None if none was asked for, or nothing filled.

    Whoever sent in a text with open blanks has dropped out, as in the paper (Zou & Xu, 2026, section 5.6).
    A model whose answer could not be taken apart has filled nothing.
    stopped_at : the section from which its writer could not go on, if they said so
    """
    cloze = cloze_of(assignment) if assignment.seat_id else None
    if cloze is None:
        return None
    fills = filled(cloze.parsed, answers_of(assignment, cloze))
    if not fills and stopped_at is None:
        return None
    first_open = cascade.stopped_at(cloze.parsed, fills)
    if is_submitted and first_open is None:
        return Fill.objects.create(assignment=assignment, state=Fill.State.SUBMITTED)
    section = stopped_at or first_open
    return Fill.objects.create(assignment=assignment, state=Fill.State.DROPPED_OUT, stopped_at=section)
