"""Bringing in answers that were given elsewhere: a published release, a survey on paper. All of them, or none."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from django.db import transaction
from django.db.models import Max

from annotation.models import Assignment, Rater, Response, Seat
from annotation.responses import Answer, Entry, record_many, submission
from studies import protocol
from studies.items.base import is_empty
from studies.items.text import is_storable
from studies.models import Item, ProtocolVersion, Step, Story, StoryGroup, Study

Thing = TypeVar("Thing")
EVENT_KEY = "import"  # of the events of imported answers


@dataclass(frozen=True)
class Row:
    """One answer as a file has it. Everything is named by code or key; stories in an answer too, not by letter.

    location : the file and the row in it, for messages
    story : "" for an answer about the group as a whole
    """

    location: str
    rater: str
    group: str
    story: str
    step: str
    item: str
    answer: Answer
    kind: str = Rater.Kind.PERSON


class InvalidRow(ValueError):
    """A row cannot be brought in; the message says where, which field, and why."""

    def __init__(self, location: str, field: str, reason: str) -> None:
        super().__init__(f"{location}, {field}: {reason}")
        self.location, self.field, self.reason = location, field, reason


@dataclass(frozen=True)
class ImportSummary:
    """How much came in."""

    n_raters: int
    n_assignments: int
    n_responses: int


@transaction.atomic
def import_rows(study: Study, rows: Iterable[Row], *, version: ProtocolVersion, at: datetime) -> ImportSummary:
    """Raters, seats, submitted assignments and responses with their history, for rows that hold together.

    Each rater gets one assignment for each group, in a seat of its own whose order is that of the story codes: a file
    of answers does not say in which order its stories were read. Answers go through `responses.record_many`; rules for
    rationales bind whoever submits, not what was published long ago. A version that is still a draft is frozen first.
    Raises InvalidRow at the first row that does not fit, NotPlannable if the version cannot be frozen; then nothing
    has come in.
    """
    if version.frozen_at is None:
        version = protocol.freeze(version, purpose=protocol.Purpose.IMPORT, reason="import", by="import", at=at)
    resolved = _Names(study, version).resolve(rows)
    raters = _create_raters(study, resolved)
    assignments = _create_assignments(study, resolved, raters, version=version, at=at)
    _give_receipts(_record(resolved, assignments, at=at))
    return ImportSummary(len(raters), len(assignments), len(resolved))


@dataclass(frozen=True)
class _Resolved:
    row: Row
    group: StoryGroup
    step: Step
    item: Item
    story: Story | None


class _Names:
    """What the codes and keys of a file stand for in one study."""

    def __init__(self, study: Study, version: ProtocolVersion) -> None:
        groups = study.groups.prefetch_related("stories")
        self.group_by_code = {group.code: group for group in groups}
        self.story_by_code = {group.code: {s.code: s for s in group.stories.all()} for group in groups}
        self.step_by_key = {step.key: step for step in protocol.load_protocol(version).ratings}
        self.item_by_key = {key: {i.key: i for i in protocol.items_of(step)} for key, step in self.step_by_key.items()}

    def resolve(self, rows: Iterable[Row]) -> list[_Resolved]:
        keys: set[tuple[str, ...]] = set()
        resolutions = []
        for row in rows:
            key = (row.rater, row.group, row.step, row.item, row.story)
            if key in keys:
                raise InvalidRow(row.location, "item", f"{row.rater} has answered {row.item} about this already")
            keys.add(key)
            resolutions.append(self._resolve(row))
        return resolutions

    def _resolve(self, row: Row) -> _Resolved:
        group = _look_up(self.group_by_code, row, "group")
        step = _look_up(self.step_by_key, row, "step")
        item = _look_up(self.item_by_key[row.step], row, "item")
        about_one = step.scope in (Step.Scope.STORY, Step.Scope.STORIES)
        if row.story and not about_one:
            raise InvalidRow(row.location, "story", f"step {step.key} asks about the group, not about one story")
        story = _look_up(self.story_by_code[row.group], row, "story") if about_one else None
        if not is_storable(row.answer.rationale):
            raise InvalidRow(row.location, "rationale", "it holds a character that no database keeps")
        if row.answer.outcome in ("", Response.Outcome.ANSWERED) and is_empty(row.answer.value):
            raise InvalidRow(row.location, "value", "there is no answer; leave the row out")
        return _Resolved(row, group, step, item, story)


def _look_up(thing_by_name: dict[str, Thing], row: Row, field: str) -> Thing:
    """What the row names in that field. Raises InvalidRow."""
    name = getattr(row, field)
    if name not in thing_by_name:
        raise InvalidRow(row.location, field, f"“{name}” is not in the study")
    return thing_by_name[name]


def _create_raters(study: Study, resolved: Sequence[_Resolved]) -> dict[str, Rater]:
    """Each rater by code: those there were, and new ones."""
    rater_by_code = {r.code: r for r in study.raters.all()}
    fresh: dict[str, Rater] = {}
    for resolution in resolved:
        row = resolution.row
        rater = rater_by_code.get(row.rater) or fresh.get(row.rater)
        if rater is None:
            fresh[row.rater] = Rater(study=study, code=row.rater, kind=row.kind)
        elif rater.kind != row.kind:
            raise InvalidRow(row.location, "rater", f"{row.rater} is a {rater.kind} already, not a {row.kind}")
    Rater.objects.bulk_create(fresh.values())
    rater_by_code |= fresh
    return {resolution.row.rater: rater_by_code[resolution.row.rater] for resolution in resolved}


def _create_assignments(
    study: Study,
    resolved: Sequence[_Resolved],
    raters: dict[str, Rater],
    *,
    version: ProtocolVersion,
    at: datetime,
) -> dict[tuple[str, str], Assignment]:
    """A submitted assignment by rater and group, each in a further seat of its group."""
    existing = set(study.assignments.exclude(group=None).values_list("rater__code", "group__code"))
    lasts = study.seats.order_by().values_list("group_id", "rater_kind").annotate(last=Max("number"))
    last_number = {(group, kind): last for group, kind, last in lasts}
    assignments: dict[tuple[str, str], Assignment] = {}
    for resolution in resolved:
        row, group, rater = resolution.row, resolution.group, raters[resolution.row.rater]
        if (row.rater, row.group) in assignments:
            continue
        if (row.rater, row.group) in existing:
            raise InvalidRow(row.location, "rater", f"{row.rater} has had group {row.group} in this study already")
        number = last_number.get((group.pk, rater.kind), 0) + 1
        last_number[(group.pk, rater.kind)] = number
        order = sorted(s.code for s in group.stories.all())
        seat = Seat(study=study, group=group, rater_kind=rater.kind, number=number, order=order, is_taken=True)
        assignments[(row.rater, row.group)] = Assignment(
            study=study,
            rater=rater,
            rater_kind=rater.kind,
            seat=seat,
            group=group,
            version=version,
            status=Assignment.Status.SUBMITTED,
            ended_at=at,
        )
    Seat.objects.bulk_create(a.seat for a in assignments.values() if a.seat)
    Assignment.objects.bulk_create(assignments.values())
    return assignments


def _record(
    resolved: Sequence[_Resolved], assignments: dict[tuple[str, str], Assignment], *, at: datetime
) -> list[Response]:
    """The responses with one event each. A chain begins at the row's own place, so assignments must be saved before."""
    entries = [
        Entry(
            assignment=assignments[(resolution.row.rater, resolution.row.group)],
            step=resolution.step,
            item=resolution.item,
            story=resolution.story,
            answer=resolution.row.answer,
            at=at,
            key=EVENT_KEY,
        )
        for resolution in resolved
    ]
    responses = []
    for resolution, result in zip(resolved, record_many(entries, imported=True), strict=True):
        if not isinstance(result, Response):
            row = resolution.row
            raise InvalidRow(row.location, "value", f"{row.answer.value!r} is no answer to {row.item}. {result}")
        responses.append(result)
    return responses


def _give_receipts(responses: Iterable[Response]) -> None:
    """A receipt for every assignment of these responses, as a submission in the browser would give; and what was begun
    in it."""
    heads: dict[Assignment, list[tuple[int, int, str, str]]] = {}
    for response in responses:
        if response.step.scope == Step.Scope.STORY and response.story_id not in response.assignment.begun:
            response.assignment.begun.append(response.story_id)
        story = response.story.code if response.story else ""
        head = (response.step.position, response.item.position, story, response.head)
        heads.setdefault(response.assignment, []).append(head)
    for assignment, its_heads in heads.items():
        assignment.receipt = submission.receipt_over(its_heads)
    Assignment.objects.bulk_update(heads, ["receipt", "begun"], batch_size=500)
