"""Proving the history: every chain, every receipt and every frozen protocol, read again and recomputed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import DatabaseError, connection
from django.db.models import Model, Q, QuerySet, TextField
from django.db.models.functions import Cast

from annotation.models import Assignment, Response, ResponseEvent, Withdrawal, payments
from annotation.responses import history, submission
from studies import hashing, protocol, story_edits, triggers
from studies.models import ProtocolVersion, StoryGroup, Study
from studies.protocol import amendments
from studies.protocol.triggers import TRIGGERS

TIMES_OF_EVENTS = ("at",)
TIMES_OF_RESPONSES = ("first_answered_at", "last_edited_at")
# What reading a damaged row can raise: the database itself, JSON, a date that is none.
UNREADABLE = (DatabaseError, ValueError, TypeError, AttributeError, KeyError)


@dataclass
class VerificationSummary:
    """What was read, and what is wrong with it, each fault as a sentence that names its place.

    n_erased : events whose words were erased; their commitments still stand in the chain
    n_receipts : assignments whose answers are final, under a receipt
    n_protocols : frozen versions, compared with the rows that raters' pages were made of
    n_amendments : changes after the launch, each bound to the one before
    """

    n_assignments: int = 0
    n_responses: int = 0
    n_events: int = 0
    n_erased: int = 0
    n_receipts: int = 0
    n_protocols: int = 0
    n_amendments: int = 0
    faults: list[str] = field(default_factory=list)


def verify(study: Study | None = None) -> VerificationSummary:
    """Everything that can be proved of one study, or of all. 4 queries an assignment.

    What no chain can know: a response of an assignment that is still open, deleted with its whole history.
    """
    summary, lost_texts = VerificationSummary(), _find_lost_texts()
    of_study = {"study__rehearsal_of": None} if study is None else {"study": study}
    assignments = Assignment.objects.filter(**of_study)
    for pk, code in assignments.order_by("pk").values_list("pk", "code").iterator():
        summary.n_assignments += 1
        try:
            summary.faults += [f"assignment {code}: {fault}" for fault in _faults(pk, summary, lost_texts)]
        except UNREADABLE as error:
            summary.faults.append(f"assignment {code}: its history cannot be read ({type(error).__name__})")
    for version in frozen_versions(study):
        summary.n_protocols += 1
        try:
            summary.faults += [f"protocol {version}: {fault}" for fault in protocol_faults(version)]
        except UNREADABLE as error:
            summary.faults.append(f"protocol {version}: it cannot be read ({type(error).__name__})")
    for amended in _amended_studies(study):
        summary.n_amendments += amended.amendments.count()
        try:
            summary.faults += [f"{amended}: {fault}" for fault in amendments.find_faults(amended)]
        except UNREADABLE as error:
            summary.faults.append(f"{amended}: its amendments cannot be read ({type(error).__name__})")
    return summary


def _amended_studies(study: Study | None) -> list[Study]:
    """Of the studies, or of this one, those that were amended, or have a version that says it amends another."""
    studies = Study.objects.all() if study is None else Study.objects.filter(pk=study.pk)
    is_amended = Q(amendments__isnull=False) | Q(versions__amends__isnull=False)
    return list(studies.filter(is_amended).distinct().order_by("slug"))


def find_missing_triggers() -> list[str]:
    """A sentence for each trigger that should refuse changes of events, frozen protocols and what they speak of, and
    is not there. One query."""
    expected = [*history.TRIGGERS, *payments.TRIGGERS, *TRIGGERS]
    return [
        f"the database lacks the trigger {trigger.name} on {trigger.table}; `manage.py migrate` puts it back"
        for trigger in triggers.find_missing(expected)
    ]


def frozen_versions(study: Study | None) -> list[ProtocolVersion]:
    """The frozen versions of one study, or of all, by study and number. One query."""
    versions = ProtocolVersion.objects.filter(study__rehearsal_of=None) if study is None else study.versions.all()
    return list(versions.exclude(frozen_at=None).select_related("study").order_by("study__slug", "number"))


def protocol_faults(version: ProtocolVersion) -> Iterator[str]:
    """Whether its document is the one that was frozen, and the rows of steps, items, stories and groups say the same.

    Of an earlier version only the steps and instruments are compared: the study may have been amended since.
    """
    if hashing.sha256(version.document) != version.sha256:
        yield "its document is not the one that was frozen: SHA-256 differs"
    later = ProtocolVersion.objects.filter(study=version.study_id, number__gt=version.number).exclude(frozen_at=None)
    yield from protocol.find_differences(version, protocol.read_rows(version), is_latest=not later.exists())


@dataclass(frozen=True)
class _LostTexts:
    """Ids of the stories whose texts were erased, and of the groups that they stand in."""

    stories: frozenset[int]
    groups: frozenset[int]

    def are_of(self, response: Response, assignment: Assignment) -> bool:
        """Whether the response is about one of them, or about a group with one."""
        return response.story_id in self.stories if response.story_id else assignment.group_id in self.groups


def _find_lost_texts() -> _LostTexts:
    erased = frozenset(story_edits.find_erased().values_list("pk", flat=True))
    groups = StoryGroup.objects.filter(stories__in=erased).values_list("pk", flat=True)
    return _LostTexts(erased, frozenset(groups))


def _faults(pk: int, summary: VerificationSummary, lost_texts: _LostTexts) -> Iterator[str]:
    """What is wrong with one assignment; counts what it reads."""
    assignment = Assignment.objects.get(pk=pk)
    responses = list(with_spelling(assignment.responses.all(), TIMES_OF_RESPONSES))
    events_by_response: dict[int, list[ResponseEvent]] = {response.pk: [] for response in responses}
    for event in events_of(assignment):
        events_by_response[event.response_id].append(event)
    n_to_withdraw = 0
    for response in responses:
        events = events_by_response[response.pk]
        n_erased, has_lost_text = sum(e.words is None for e in events), lost_texts.are_of(response, assignment)
        n_to_withdraw += 0 if has_lost_text else n_erased
        summary.n_responses += 1
        summary.n_events += len(events)
        summary.n_erased += n_erased
        for fault in [
            *history.faults(response, events, has_lost_text=has_lost_text),
            *spelling_faults([response], TIMES_OF_RESPONSES),
            *spelling_faults(events),
        ]:
            yield f"response {response.pk}: {fault}"
    summary.n_receipts += bool(assignment.receipt)
    yield from erasure_faults(assignment, n_to_withdraw)
    yield from receipt_faults(assignment)


def events_of(assignment: Assignment) -> QuerySet[ResponseEvent]:
    """All events of an assignment by revision, each with its time as the database spells it."""
    mine = ResponseEvent.objects.filter(response__assignment=assignment).order_by("response", "revision")
    return with_spelling(mine, TIMES_OF_EVENTS)


def with_spelling(rows: QuerySet[Any], times: Sequence[str]) -> QuerySet[Any]:
    """The rows, with these times also as the database spells them."""
    annotated: QuerySet[Any] = rows.annotate(**{f"spelt_{time}": Cast(time, TextField()) for time in times})
    return annotated


def spelling_faults(rows: Sequence[Model], times: Sequence[str] = TIMES_OF_EVENTS) -> Iterator[str]:
    """Times that are not written as they were: SQLite keeps times as text, and reads several spellings as one."""
    if connection.vendor != "sqlite":
        return
    for row in rows:
        for time in times:
            at = getattr(row, time)
            if at is not None and getattr(row, f"spelt_{time}", None) != connection.ops.adapt_datetimefield_value(at):
                yield f"{time} is not spelt as it was written in revision {getattr(row, 'revision', '')}"


def erasure_faults(assignment: Assignment, n_erased: int) -> Iterator[str]:
    """Erased words of a rater who never withdrew: the triggers let words go, and only a withdrawal may ask for it.

    n_erased : events of answers about texts that are still there, or about none
    """
    if n_erased and not Withdrawal.objects.filter(rater=assignment.rater_id).exists():
        are = "event are" if n_erased == 1 else "events are"
        yield f"the words of {n_erased} {are} erased, though its rater has not withdrawn"


def receipt_faults(assignment: Assignment) -> Iterator[str]:
    """Whether the receipt is that of the answers as they stand."""
    if assignment.status == Assignment.Status.SUBMITTED and not assignment.receipt:
        yield "it was submitted and has no receipt"
    if assignment.receipt and assignment.status in (Assignment.Status.OPEN, Assignment.Status.GIVEN_UP):
        yield "it has a receipt and was not submitted"
    if assignment.receipt and submission.receipt(assignment) != assignment.receipt:
        yield "the receipt is not that of its answers"
