"""How somebody filled a cloze: in which order, what they changed, what to look at again, and where they stopped.

All of it is read from the history of the answers; only what became of the whole is kept in a row of its own.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, Sum, TextField, Value
from django.db.models.functions import Concat

from annotation.models import Assignment, Fill, Rater, Response, ResponseEvent
from annotation.models.raters import WRITER_NAME
from studies import layouts
from studies.cloze import cascade, compilation
from studies.documents.cloze import ClozeDocument
from studies.models import Cloze


@dataclass(frozen=True)
class BlankSave:
    """What one save made of one blank; text is "" if it was cleared."""

    blank: int
    at: datetime
    text: str


@dataclass(frozen=True)
class BlankToCheck:
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
    keys = layouts.keys_that_fill_text()
    version = assignment.version.asked_by_id
    steps = Q(filling__step__version=version, filling__step__layout__in=keys)
    return Cloze.objects.filter(steps).first()


def text_by_blank(document: ClozeDocument, answers: Iterable[Response]) -> dict[int, str]:
    """What stands in each blank, open ones left out. The items of the answers must be at hand."""
    number_by_key = compilation.number_by_key(document)
    return {
        number_by_key[answer.item.key]: answer.value
        for answer in answers
        if answer.item.key in number_by_key and isinstance(answer.value, str) and answer.value.strip()
    }


def answers_of(assignment: Assignment, cloze: Cloze) -> list[Response]:
    """The answers to the blanks, with their items. One query."""
    return list(assignment.responses.filter(item__instrument=cloze.filling_id).select_related("item"))


def load_saves(assignment: Assignment, cloze: Cloze) -> list[BlankSave]:
    """Every save of a blank, oldest first; what was erased is left out. One query."""
    number_by_key = compilation.number_by_key(cloze.parsed)
    of_blanks = Q(response__assignment=assignment, response__item__instrument=cloze.filling_id)
    events = ResponseEvent.objects.filter(of_blanks).order_by("at", "pk")
    return [
        BlankSave(number_by_key[key], at, text_of(words))
        for key, at, words in events.values_list("response__item__key", "at", "words")
        if words is not None
    ]


def text_of(words: str) -> str:
    """What an event says was written; "" if the blank was cleared, or nothing could be read."""
    value = json.loads(words)["value"]
    return value if isinstance(value, str) else ""


def find_checks(document: ClozeDocument, history: Sequence[BlankSave]) -> dict[int, list[BlankToCheck]]:
    """By blank, which changes elsewhere it has not been looked at since. Open blanks have nothing to look at."""
    saves_by_blank: dict[int, list[BlankSave]] = defaultdict(list)
    for save in history:
        saves_by_blank[save.blank].append(save)
    checks: dict[int, list[BlankToCheck]] = defaultdict(list)
    for changed, saves in sorted(saves_by_blank.items()):
        now = saves[-1]
        for blank in cascade.find_affected(document, changed) if now.text.strip() else ():
            if blank not in saves_by_blank or not saves_by_blank[blank][-1].text.strip():
                continue
            saved_at = saves_by_blank[blank][-1].at
            before = next((save.text for save in reversed(saves) if save.at <= saved_at), "")
            if before.strip() != now.text.strip():
                checks[blank].append(BlankToCheck(blank, changed, before, now.text, now.at))
    return dict(sorted(checks.items()))


def may_need_checks(document: ClozeDocument, answers: Iterable[Response]) -> bool:
    """Whether a blank was said after one that hangs on it: only then is the history worth reading."""
    number_by_key = compilation.number_by_key(document)
    keys = number_by_key.keys()
    at = {number_by_key[answer.item.key]: answer.last_edited_at for answer in answers if answer.item.key in keys}
    return any(at[b] < at[changed] for changed in at for b in cascade.find_affected(document, changed) if b in at)


def seconds_by_section(assignment: Assignment) -> dict[int, int]:
    """Active seconds by section; those without any are left out. One query."""
    timings = assignment.timings.filter(section__isnull=False).values_list("section")
    return dict(timings.annotate(seconds=Sum("active_seconds")).order_by("section"))


def record_outcome(assignment: Assignment, *, is_submitted: bool, stopped_at: int | None = None) -> Fill | None:
    """What became of the cloze, now that the assignment has ended; None if none was asked for, or nothing filled.

    A participant who submitted a text with open blanks has dropped out, as in the paper (Zou & Xu, 2026, section 5.6).
    A model whose answer could not be taken apart has filled nothing.
    stopped_at : the section from which its writer could not go on, if they said so
    """
    cloze = cloze_of(assignment) if assignment.seat_id else None
    if cloze is None:
        return None
    fills = text_by_blank(cloze.parsed, answers_of(assignment, cloze))
    if not fills and stopped_at is None:
        return None
    first_open = cascade.find_open_section(cloze.parsed, fills)
    if is_submitted and first_open is None:
        return Fill.objects.create(assignment=assignment, state=Fill.State.SUBMITTED)
    section = stopped_at or first_open
    return Fill.objects.create(assignment=assignment, state=Fill.State.DROPPED_OUT, stopped_at=section)


def forget_outcome(assignment: Assignment) -> None:
    """Forget what became of a cloze whose writer goes on with it. What it became elsewhere stays."""
    Fill.objects.filter(assignment=assignment, state=Fill.State.DROPPED_OUT, story=None).delete()


def is_by_writer(field: str) -> Exists:
    """Whether a source is a person who filled a cloze here. field : of the query, the name of the source"""
    before, between = WRITER_NAME
    parts = (Value(before), "assignment__rater__code", Value(between), "assignment__study__slug")
    name = Concat(*parts, output_field=TextField())
    writers = Fill.objects.filter(assignment__rater_kind=Rater.Kind.PERSON).alias(writer_name=name)
    return Exists(writers.filter(writer_name=OuterRef(field)))
