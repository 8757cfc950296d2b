"""Who filled the blanks of a cloze, and how."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import Q

from annotation.models import Assignment, Rater, Response, ResponseEvent, Timing
from annotation.responses import fills
from annotation.responses.fills import BlankSave
from reports.dataset.answers import has_real_people
from studies import layouts
from studies.cloze import compilation
from studies.models import Cloze, Step, Study


@dataclass(frozen=True)
class Writer:
    """One text, and all that is recorded of how it was written."""

    assignment: Assignment
    filled: frozenset[int]
    events: tuple[BlankSave, ...]
    seconds: dict[int, int]


def find_cloze(study: Study) -> Cloze | None:
    """The cloze that was to be filled, if one was. One query."""
    steps = Step.objects.filter(version__study=study, layout__in=layouts.keys_that_fill_text())
    return Cloze.objects.filter(filling__step__in=steps).first()


def read_writers(study: Study, cloze: Cloze) -> list[Writer]:
    """Everybody who had a seat, but for who withdrew and for stand-ins among real people. Four queries."""
    seated = study.assignments.exclude(seat=None).filter(
        Q(version__steps__instrument=cloze.filling_id) | Q(version__amends__steps__instrument=cloze.filling_id)
    )
    stayed = seated.exclude(rater__withdrawal__isnull=False)
    assignments = list(stayed.select_related("rater", "fill").order_by("rater__code", "pk"))
    is_mixed = has_real_people(assignments)
    answers = Response.objects.filter(assignment__study=study, item__instrument=cloze.filling_id)
    number_by_key = compilation.number_by_key(cloze.parsed)
    filled = defaultdict[int, set[int]](set)
    for pk, key, value in answers.values_list("assignment_id", "item__key", "value"):
        if isinstance(value, str) and value.strip():
            filled[pk].add(number_by_key[key])
    events = defaultdict[int, list[BlankSave]](list)
    fields = ("response__assignment_id", "response__item__key", "at", "words")
    for pk, key, at, words in (
        ResponseEvent.objects.filter(response__in=answers).order_by("at", "pk").values_list(*fields)
    ):
        if words is not None:
            events[pk].append(BlankSave(number_by_key[key], at, fills.text_of(words)))
    seconds = defaultdict[int, dict[int, int]](dict)
    timings = Timing.objects.filter(assignment__study=study)
    for pk, section, n in timings.values_list("assignment_id", "section", "active_seconds"):
        if section is not None:
            seconds[pk][section] = n
    return [
        Writer(a, frozenset(filled[a.pk]), tuple(events[a.pk]), seconds[a.pk])
        for a in assignments
        if not (is_mixed and a.rater.is_simulated and a.rater_kind == Rater.Kind.PERSON)
    ]
