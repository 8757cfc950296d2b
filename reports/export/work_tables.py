"""Tables of work in a package: stories; who read what, in which order and for how long; every save of an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import QuerySet

from annotation.models import ResponseEvent, StepTaken, Timing
from reports.dataset.premises import find_clusters
from reports.dataset.sources import list_factors
from reports.export.content import PackageContent, PackageTable, Row, TableField
from reports.export.long_table import factor_column
from reports.export.long_table_columns import iso
from reports.export.redistribution import find_redistributable_codes
from studies import protocol
from studies.models import Step
from studies.premises import Clusters

STORY = {
    "group": TableField("Code of a group that the story stands in; a row for each."),
    "cluster": TableField(
        "What the story was sampled with: its group, with others on the same of several prompts; of batches the story."
    ),
    "block": TableField(
        "What its stories share beside their raters, as a prompt, by the code of the first group; empty for nothing."
    ),
    "story": TableField("Code of the story."),
    "language": TableField("Language of the text."),
    "n_words": TableField(
        "Words of the text as it was shown; in a blind package empty of all stories if a text is withheld.", "integer"
    ),
    "sha256": TableField("SHA-256 of the text as it was shown, in UTF-8; empty where n_words is."),
    "has_text": TableField("Whether the text stands here.", "boolean"),
    "text": TableField("The text as it was shown; empty where there is no right to it."),
}


def story_fields(content: PackageContent) -> Mapping[str, TableField]:
    if not content.with_sources:
        return STORY
    of_source = {"source": TableField("Who wrote it."), "source_kind": TableField("Kind of author.")}
    factors = {
        factor_column(name): TableField(f"Factor “{name}” of the story.") for name in list_factors(content.study)
    }
    return STORY | of_source | factors


def story_rows(content: PackageContent) -> Iterator[Row]:
    """Every story by its code, once for each of its groups."""
    codes = find_redistributable_codes(content.study, with_sources=content.with_sources) if content.is_public else None
    sampled = clusters(content)
    stories = content.study.stories.order_by("code", "groups__code")
    fields = ("groups__code", "code", "language", "n_words", "sha256", "text")
    is_told = content.may_tell_texts_apart
    for group, code, language, n_words, sha256, text in stories.values_list(*fields):
        may_stand = is_told and bool(text) and (codes is None or code in codes)
        source = content.source_by_story.get(code)
        yield {
            "group": group or "",
            "cluster": sampled.name(group, code) if group else "",
            "block": sampled.block(group) if group else "",
            "story": code,
            "language": language,
            "n_words": n_words if is_told else None,
            "sha256": sha256 if is_told else "",
            "has_text": may_stand,
            "text": text if may_stand else "",
            **({"source": source.name, "source_kind": source.kind} if source else {}),
            **({factor_column(name): value for name, value in source.factors.items()} if source else {}),
        }


def clusters(content: PackageContent) -> Clusters:
    """What each story was sampled with, as in the report that goes along."""
    return find_clusters(content.study, content.source_by_story, content.items)


ASSIGNMENT = {
    "rater": TableField("Code of the rater."),
    "rater_kind": TableField("person, model or metric."),
    "is_simulated": TableField("Whether the rater was simulated.", "boolean"),
    "group": TableField("Code of the group; empty of the visit that holds what is asked once."),
    "seat": TableField("Number of the place within its group and kind of rater.", "integer"),
    "row": TableField("Row of places that one person reads along.", "integer"),
    "position": TableField(
        "Which of the groups that the rater reads this is, from 1; empty if nobody knows.", "integer"
    ),
    "stories": TableField("The stories in the order in which they were shown.", "array"),
    "order": TableField("Of a judge: in the planned order, or reversed."),
    "persona": TableField("As whom a judge read."),
    "repeat": TableField("Which time a run asked a judge the same.", "integer"),
    "protocol_version": TableField("Number of the protocol version.", "integer"),
    "status": TableField("open, submitted or given_up."),
    "is_second_reading": TableField("Whether the rater had read the group before; no result counts it.", "boolean"),
    "read_before": TableField("Whether the rater knew a story of the group before.", "boolean"),
    "started_at": TableField("When it began, ISO 8601, UTC.", "datetime"),
    "ended_at": TableField("When it ended.", "datetime"),
}


def assignment_rows(content: PackageContent) -> Iterator[Row]:
    rows = content.assignments.select_related("rater", "group", "seat", "version", "reading").defer("version__document")
    for assignment in rows.iterator(chunk_size=2000):
        seat, reading = assignment.seat, getattr(assignment, "reading", None)
        yield {
            "rater": assignment.rater.code,
            "rater_kind": assignment.rater_kind,
            "is_simulated": assignment.rater.is_simulated,
            "group": assignment.group.code if assignment.group else "",
            "seat": seat.number if seat else None,
            "row": seat.row if seat else None,
            "position": assignment.position,
            "stories": seat.order if seat else [],
            "order": reading.order if reading else "",
            "persona": reading.persona if reading else "",
            "repeat": reading.repeat if reading else None,
            "protocol_version": assignment.version.number,
            "status": assignment.status,
            "is_second_reading": assignment.repeats_id is not None,
            "read_before": assignment.read_before,
            "started_at": iso(assignment.started_at),
            "ended_at": iso(assignment.ended_at),
        }


CHECK = {
    "rater": TableField("Code of the rater."),
    "step": TableField("Key of the step, a comprehension check."),
    "attempt": TableField("Which attempt it was, from 1.", "integer"),
    "wrong": TableField("Keys of the items that were not answered rightly; empty if it was passed.", "array"),
    "outcome": TableField("passed, again (it could be tried once more), ended, or flagged (failed, and went on)."),
    "at": TableField("When, ISO 8601, UTC.", "datetime"),
}


def _attempts(content: PackageContent) -> QuerySet[StepTaken]:
    keys = [step.key for step, _options in protocol.load_protocol(protocol.latest(content.study)).checks]
    of_people = StepTaken.objects.filter(rater__study=content.study, rater__withdrawal=None)
    return of_people.filter(step__key__in=keys)


def check_rows(content: PackageContent) -> Iterator[Row]:
    """Every attempt at a comprehension check."""
    rows = _attempts(content).select_related("rater", "step").order_by("rater__code", "step__position", "attempt")
    for taken in rows.iterator(chunk_size=2000):
        failure = ("flagged" if taken.lets_on else "ended") if taken.is_last else "again"
        yield {
            "rater": taken.rater.code,
            "step": taken.step.key,
            "attempt": taken.attempt,
            "wrong": taken.wrong,
            "outcome": failure if taken.wrong else "passed",
            "at": iso(taken.at),
        }


TIMING = {
    "rater": TableField("Code of the rater."),
    "group": TableField("Code of the group."),
    "seat": TableField("Number of the place.", "integer"),
    "step": TableField("Key of the step."),
    "story": TableField("Code of the story; empty if the step is not about one."),
    "section": TableField("Section of a cloze.", "integer"),
    "active_seconds": TableField("Seconds with the page visible and active.", "integer"),
}


def _timings(content: PackageContent) -> QuerySet[Timing]:
    counted = Timing.objects.filter(assignment__in=content.assignments.order_by())
    return counted.exclude(step__kind=Step.Kind.PRACTICE)


def timing_rows(content: PackageContent) -> Iterator[Row]:
    fields = (
        *("assignment__rater__code", "assignment__group__code", "assignment__seat__number"),
        *("step__key", "story__code", "section", "active_seconds"),
    )
    rows = _timings(content).order_by(*fields[:3], "step__position", *fields[3:], "pk").values_list(*fields)
    return (dict(zip(TIMING, row, strict=True)) for row in rows.iterator(chunk_size=2000))


EVENT = {
    "rater": TableField("Code of the rater."),
    "group": TableField("Code of the group."),
    "seat": TableField("Number of the place.", "integer"),
    "step": TableField("Key of the step."),
    "item": TableField("Key of the item."),
    "story": TableField("Code of the story."),
    "revision": TableField("Which save of the answer this was.", "integer"),
    "at": TableField("When it was saved, ISO 8601, UTC.", "datetime"),
    "n_pasted": TableField("Characters that were pasted.", "integer"),
    "words": TableField("What was saved, as JSON with the salt of its commitment; empty if erased."),
    "commitment": TableField("SHA-256 of those words."),
    "digest": TableField("SHA-256 over this event and the digest of the one before."),
}


def _events(content: PackageContent) -> QuerySet[ResponseEvent]:
    counted = ResponseEvent.objects.filter(response__assignment__in=content.assignments.order_by())
    return counted.exclude(response__step__kind=Step.Kind.PRACTICE)


def event_rows(content: PackageContent) -> Iterator[Row]:
    fields = (
        *("response__assignment__rater__code", "response__assignment__group__code"),
        *("response__assignment__seat__number", "response__step__key", "response__item__key"),
        *("response__story__code", "revision", "at", "n_pasted", "words", "commitment", "digest"),
    )
    in_order = (*fields[:3], "response__step__position", "response__item__position", *fields[5:7], "response_id")
    rows: Any = _events(content).order_by(*in_order).values_list(*fields)
    for row in rows.iterator(chunk_size=2000):
        values = dict(zip(EVENT, row, strict=True))
        yield values | {"at": iso(values["at"])}


TABLES = (
    PackageTable(
        "stories.csv",
        "The stories, with the texts that may travel.",
        story_fields,
        story_rows,
        lambda content: content.study.stories.values("code", "groups__code").count(),
        is_needed=True,
    ),
    PackageTable(
        "assignments.csv",
        "Places, orders and states.",
        lambda content: ASSIGNMENT,
        assignment_rows,
        lambda content: content.assignments.count(),
        is_needed=True,
    ),
    PackageTable(
        "check_attempts.csv",
        "Every attempt at a comprehension check.",
        lambda content: CHECK,
        check_rows,
        lambda content: _attempts(content).count(),
    ),
    PackageTable(
        "timings.csv",
        "Active seconds by rater, step and story.",
        lambda content: TIMING,
        timing_rows,
        lambda content: _timings(content).count(),
    ),
    PackageTable(
        "events.csv",
        "The history of every answer.",
        lambda content: EVENT,
        event_rows,
        lambda content: _events(content).count(),
    ),
)
