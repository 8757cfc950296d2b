"""What became of the clozes that a study asked to be filled: who gave up and where, who submitted, who was shortlisted.

The three groups are those of Zou & Xu (2026), section 5.6: mid-task dropout, submitted, shortlisted.
"""

import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

from annotation import fills
from annotation.fills import Said
from annotation.models import Assignment, Fill, Rater, Response, ResponseEvent, Timing
from reports import frames
from stats.agreement import Incomputable
from stats.rates import wilson
from studies.cloze import cascade, compiling
from studies.models import Cloze, Step, Study


@dataclass(frozen=True)
class Writer:
    """One text, and all that is known of how it was written."""

    assignment: Assignment
    filled: frozenset[int]
    said: tuple[Said, ...]
    seconds: dict[int, int]


def cloze(study: Study) -> dict[str, Any] | None:
    """The three groups, for people and for models, and where texts were given up; None if no cloze was to be filled."""
    steps = Step.objects.filter(version__study=study, layout=Step.Layout.CLOZE)
    asked = Cloze.objects.filter(filling__step__in=steps).first()
    if asked is None:
        return None
    rows = [_row(writer, asked, is_over=study.state == Study.State.CLOSED) for writer in _writers(study, asked)]
    by_kind = {kind: [row for row in rows if row["kind"] == kind] for kind in (Rater.Kind.PERSON, Rater.Kind.MODEL)}
    return {
        "slug": asked.slug,
        "version": asked.version,
        "title": asked.title,
        "n_blanks": len(asked.parsed.blanks),
        "people": _groups(by_kind[Rater.Kind.PERSON]),
        "models": _groups(by_kind[Rater.Kind.MODEL]),
        "sections": _sections(asked, by_kind[Rater.Kind.PERSON]),
        "writers": rows,
    }


def _writers(study: Study, asked: Cloze) -> list[Writer]:
    """Everybody who had a seat, but for who withdrew and for stand-ins among real people. Five queries."""
    seated = study.assignments.exclude(seat=None).filter(version__steps__instrument=asked.filling_id)
    stayed = seated.exclude(rater__withdrawal__isnull=False)
    assignments = list(stayed.select_related("rater", "fill").order_by("rater__code", "pk"))
    mixes = frames.has_real_people(assignments)
    number_by_key = compiling.number_by_key(asked.parsed)
    filled = defaultdict[int, set[int]](set)
    answers = Response.objects.filter(assignment__study=study, item__instrument=asked.filling_id)
    for pk, key, value in answers.values_list("assignment_id", "item__key", "value"):
        if isinstance(value, str) and value.strip():
            filled[pk].add(number_by_key[key])
    said = defaultdict[int, list[Said]](list)
    events = ResponseEvent.objects.filter(response__in=answers).order_by("at", "pk")
    told = ("response__assignment_id", "response__item__key", "at", "words")
    for pk, key, at, words in events.values_list(*told):
        if words is not None:
            said[pk].append(Said(number_by_key[key], at, fills.text_of(words)))
    seconds = defaultdict[int, dict[int, int]](dict)
    timings = Timing.objects.filter(assignment__study=study)
    for pk, section, n in timings.values_list("assignment_id", "section", "active_seconds"):
        if section is not None:
            seconds[pk][section] = n
    return [
        Writer(a, frozenset(filled[a.pk]), tuple(said[a.pk]), seconds[a.pk])
        for a in assignments
        if not (mixes and a.rater.is_simulated and a.rater_kind == Rater.Kind.PERSON)
    ]


def _row(writer: Writer, asked: Cloze, *, is_over: bool) -> dict[str, Any]:
    """One writer as the report tells of them.

    is_over : the study is closed, so whoever is still at it has left it
    """
    outcome = _outcome(writer, is_over=is_over)
    kept = getattr(writer.assignment, "fill", None)
    first_open = cascade.stopped_at(asked.parsed, writer.filled)
    order = fills.order_of_filling(writer.said)
    changes = fills.n_changes(writer.said)
    section_by_blank = asked.parsed.section_by_blank
    changed = Counter[int]()
    for blank, n in changes.items():
        changed[section_by_blank[blank]] += n
    return {
        "rater": writer.assignment.rater.code,
        "kind": writer.assignment.rater_kind,
        "assignment": writer.assignment.code,
        "outcome": outcome,
        "stopped_at": ((kept and kept.stopped_at) or first_open) if outcome == "dropped_out" else None,
        "n_filled": len(writer.filled),
        "n_changes": sum(changes.values()),
        "active_seconds": sum(writer.seconds.values()),
        "order": order,
        "seconds_by_section": {str(section): n for section, n in sorted(writer.seconds.items())},
        "changes_by_section": {str(section): n for section, n in sorted(changed.items())},
    }


def _outcome(writer: Writer, *, is_over: bool) -> str:
    """One of the three groups; or still at work, never begun, or without a readable text."""
    assignment = writer.assignment
    if kept := getattr(assignment, "fill", None):
        return str(kept.state)
    if assignment.status == Assignment.Status.SUBMITTED:
        return "unreadable"
    if assignment.status == Assignment.Status.OPEN and not is_over:
        return "at_work"
    return "dropped_out" if writer.filled else "never_begun"


def _groups(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """How many belong to each group, with its share of those who have ended; and who belongs to none."""
    n_by_outcome = Counter(row["outcome"] for row in rows)
    n = sum(n_by_outcome[group] for group in Fill.State.values)
    return {
        "n": n,
        "groups": [{"group": group} | _share(n_by_outcome[group], n) for group in Fill.State.values],
        "n_at_work": n_by_outcome["at_work"],
        "n_never_begun": n_by_outcome["never_begun"],
        "n_unreadable": n_by_outcome["unreadable"],
    }


def _share(n: int, of: int) -> dict[str, Any]:
    try:
        interval = wilson(n, of)
    except Incomputable as reason:
        return {"n": n, "value": None, "interval": {"low": None, "high": None}, "why": str(reason)}
    return {"n": n, "value": 100 * n / of, "interval": {"low": interval.low, "high": interval.high}}


def _sections(asked: Cloze, people: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Where people gave up, and what each section cost those who were at it."""
    stopped = Counter(row["stopped_at"] for row in people if row["stopped_at"])
    found = []
    for section in asked.parsed.sections:
        key = str(section.number)
        minutes = [row["seconds_by_section"][key] / 60 for row in people if row["seconds_by_section"].get(key)]
        found.append(
            {
                "section": section.number,
                "title": section.title,
                "n_blanks": len(asked.parsed.blanks_of(section.number)),
                "n_stopped": stopped[section.number],
                "n_changes": sum(row["changes_by_section"].get(key, 0) for row in people),
                "median_minutes": statistics.median(minutes) if minutes else None,
                "n_timed": len(minutes),
            }
        )
    return found
