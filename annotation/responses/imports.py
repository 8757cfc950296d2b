"""Bringing in answers that were given elsewhere: a published release, a survey on paper. All of them, or none."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, TypeVar

from django.db import connection, transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from annotation.models import Assignment, Rater, Response, Seat
from annotation.responses import Answer, Entry, record_many, submission
from studies import items, protocol
from studies.incoming_tables.problems import InvalidRow
from studies.items import InvalidAnswer, StoryLabel
from studies.items.base import is_empty
from studies.items.text import is_storable
from studies.models import Item, ProtocolVersion, Step, Story, StoryGroup, Study

Thing = TypeVar("Thing")
LONGEST_QUOTED = 80  # characters of what a file says that a refusal repeats
EVENT_KEY = "import"  # of the events of imported answers


@dataclass(frozen=True)
class Row:
    """One answer as a file has it. Everything is named by code or key; stories in an answer too, not by letter.

    location : the file and the row in it, for messages
    group : "" for an answer to what is asked once, outside of groups
    story : "" for an answer about the group as a whole
    at : when it was given, if the file says so; else the time of import
    """

    location: str
    rater: str
    group: str
    story: str
    step: str
    item: str
    answer: Answer
    kind: str = Rater.Kind.PERSON
    at: datetime | None = None


_OF_ANSWER = {field.name for field in fields(Answer)}


def make_row(**values: Any) -> Row:
    """The row of these values, which are fields of it or of its answer: all that a role of a file's column can be."""
    of_answer = {name: values.pop(name) for name in _OF_ANSWER & values.keys()}
    return Row(answer=Answer(**of_answer), **values)


@dataclass(frozen=True)
class ImportSummary:
    """How much was imported."""

    n_raters: int
    n_assignments: int
    n_responses: int


@transaction.atomic
def import_rows(
    study: Study,
    rows: Iterable[Row],
    *,
    version: ProtocolVersion,
    at: datetime,
    steps: Sequence[Step] | None = None,
) -> ImportSummary:
    """Raters, seats, submitted assignments and responses with their history, for rows that hold together.

    Each rater gets one assignment for all that is asked once and one for each group, in a seat of its own whose order
    becomes that of the story codes: a file of answers does not say in which order its stories were read. Answers go
    through `responses.record_many`; rules for rationales bind people who submit, not what was published long ago. A
    version that is still a draft is frozen first.
    steps : that the rows may name, if not those of the protocol, as of a metric
    Raises InvalidRow at the first row that does not fit, NotPlannable if the version cannot be frozen; then nothing
    has come in.
    """
    if version.frozen_at is None:
        version = protocol.freeze(version, purpose=protocol.Purpose.IMPORT, reason="import", by="import", at=at)
    names = _Names(study, version, steps)
    resolved, problems = names.resolve(rows)
    if problems:
        raise problems[0]
    raters = _create_raters(study, resolved, names.rater_by_code)
    assignments = _create_assignments(study, resolved, raters, version=version, at=at)
    _give_receipts(_record(resolved, assignments, at=at))
    return ImportSummary(len(raters), len(assignments), len(resolved))


def find_problems(
    study: Study, rows: Iterable[Row], *, version: ProtocolVersion, steps: Sequence[Step] | None = None
) -> list[InvalidRow]:
    """Every row that would not come in, and why, in the order of the rows. Writes nothing; a few queries."""
    return _Names(study, version, steps).resolve(rows)[1]


@dataclass(frozen=True)
class _Resolved:
    row: Row
    group: StoryGroup | None
    step: Step
    item: Item
    story: Story | None


class _Names:
    """What the codes and keys of a file stand for in one study."""

    def __init__(self, study: Study, version: ProtocolVersion, steps: Sequence[Step] | None) -> None:
        groups = study.groups.prefetch_related("stories")
        self.group_by_code = {group.code: group for group in groups}
        self.story_by_code = {group.code: {s.code: s for s in group.stories.all()} for group in groups}
        loaded_protocol = protocol.load_protocol(version)
        ratings = (*loaded_protocol.ratings, *loaded_protocol.asked_once) if steps is None else steps
        self.step_by_key = {step.key: step for step in ratings}
        self.item_by_key = {key: {i.key: i for i in protocol.items_of(step)} for key, step in self.step_by_key.items()}
        self.rater_by_code = {rater.code: rater for rater in study.raters.all()}
        self.kind_by_rater = {code: str(rater.kind) for code, rater in self.rater_by_code.items()}
        had = study.assignments.values_list("rater__code", "group__code")
        self.answered = {(rater, group or "") for rater, group in had}
        self._reason_by_value: dict[tuple[int, str, str], str] = {}

    def resolve(self, rows: Iterable[Row]) -> tuple[list[_Resolved], list[InvalidRow]]:
        """The rows that fit, and why others do not."""
        keys: set[tuple[str, ...]] = set()
        resolutions, problems = [], []
        for row in rows:
            key = (row.rater, row.group, row.step, row.item, row.story)
            try:
                if key in keys:
                    reason = _("%(rater)s has answered %(item)s about this already; keep one of the two answers")
                    raise InvalidRow(row.location, "item", reason % vars(row))
                keys.add(key)
                resolutions.append(self._resolve(row))
            except InvalidRow as problem:
                problems.append(problem)
        return resolutions, problems

    def _resolve(self, row: Row) -> _Resolved:
        step = _look_up(self.step_by_key, row, "step")
        group = None if step.scope == Step.Scope.ONCE else _look_up(self.group_by_code, row, "group")
        item = _look_up(self.item_by_key[row.step], row, "item")
        is_measured = step.kind == Step.Kind.METRIC
        about_one = bool(row.story) if is_measured else step.scope in (Step.Scope.STORY, Step.Scope.STORIES)
        if group is None and (row.group or row.story):
            raise InvalidRow(row.location, "step", _("step %(step)s asks each rater once, about no group") % vars(row))
        if row.story and not about_one:
            raise InvalidRow(
                row.location, "story", _("step %(step)s asks about the group, not about one story") % vars(row)
            )
        story = _look_up(self.story_by_code[row.group], row, "story") if about_one else None
        self._check_rater(row)
        self._check_answer(row, item)
        return _Resolved(row, group, step, item, story)

    def _check_rater(self, row: Row) -> None:
        kind = self.kind_by_rater.setdefault(row.rater, row.kind)
        if kind != row.kind:
            raise InvalidRow(
                row.location, "rater", _("%(rater)s is a %(old)s already, not a %(kind)s") % (vars(row) | {"old": kind})
            )
        if (row.rater, "") in self.answered and not row.group:
            reason = _("%(rater)s has been asked in this study what is asked once") % vars(row)
            raise InvalidRow(row.location, "rater", reason)
        if (row.rater, row.group) in self.answered:
            raise InvalidRow(
                row.location, "rater", _("%(rater)s has had group %(group)s in this study already") % vars(row)
            )

    def _check_answer(self, row: Row, item: Item) -> None:
        answer = row.answer
        if not is_storable(answer.rationale):
            raise InvalidRow(row.location, "rationale", _("it holds a character that no database keeps"))
        if answer.outcome not in ("", Response.Outcome.ANSWERED):
            return
        if is_empty(answer.value):
            raise InvalidRow(row.location, "value", _("there is no answer; leave the row out"))
        if reason := self._refusal(item, answer.value, row.group):
            raise InvalidRow(row.location, "value", _explain_refusal(row, reason))

    def _refusal(self, item: Item, value: Any, group: str) -> str:
        """Why the item's own validator refuses the value; "" if it does not. The same value is read once."""
        kind = items.find_type(item.type)
        key = (item.pk, repr(value), group if kind.about_stories else "")
        if key not in self._reason_by_value:
            labels = [StoryLabel(code) for code in sorted(self.story_by_code.get(group, {}))]
            try:
                kind.clean(item, value, stories=labels)
                self._reason_by_value[key] = ""
            except InvalidAnswer as error:
                self._reason_by_value[key] = str(error)
        return self._reason_by_value[key]


def _explain_refusal(row: Row, reason: str) -> str:
    """Why the answer of the row is none, in a line: a long answer is cut."""
    sentence = _("%(value)s is no answer to %(item)s.") % {"value": _cut(repr(row.answer.value)), "item": row.item}
    return f"{sentence} {reason}"


def _cut(words: str) -> str:
    return words if len(words) <= LONGEST_QUOTED else f"{words[: LONGEST_QUOTED - 1]}…"


def _look_up(thing_by_name: Mapping[str, Thing], row: Row, field: str) -> Thing:
    """What the row names in that field. Raises InvalidRow."""
    name = getattr(row, field)
    if name not in thing_by_name:
        raise InvalidRow(row.location, field, _("“%(name)s” is not in the study") % {"name": _cut(name)})
    return thing_by_name[name]


def _create_raters(study: Study, resolved: Sequence[_Resolved], rater_by_code: Mapping[str, Rater]) -> dict[str, Rater]:
    """Each rater by code: those there were, and new ones."""
    kind_by_code = {resolution.row.rater: resolution.row.kind for resolution in resolved}
    fresh = {c: Rater(study=study, code=c, kind=kind) for c, kind in kind_by_code.items() if c not in rater_by_code}
    Rater.objects.bulk_create(fresh.values())
    return {code: fresh.get(code) or rater_by_code[code] for code in kind_by_code}


def _create_assignments(
    study: Study,
    resolved: Sequence[_Resolved],
    raters: dict[str, Rater],
    *,
    version: ProtocolVersion,
    at: datetime,
) -> dict[tuple[str, str], Assignment]:
    """A submitted assignment by rater and group; in no seat for what is asked once.

    A person takes a free seat of the group if there is one, as raters do who read here: what is asked for is answered.
    Without one, and for judges, it is a further seat.
    """
    free_seats = _find_free_seats(study)
    lasts = study.seats.order_by().values_list("group_id", "rater_kind").annotate(last=Max("number"))
    last_number = {(group, kind): last for group, kind, last in lasts}
    order_by_group: dict[int, list[str]] = {}
    assignments: dict[tuple[str, str], Assignment] = {}
    for resolution in resolved:
        row, group, rater = resolution.row, resolution.group, raters[resolution.row.rater]
        if assignment := assignments.get((row.rater, row.group)):
            _begin(assignment, resolution)
            continue
        seat = None
        if group:
            is_planned = rater.kind == Rater.Kind.PERSON and bool(free_seats[group.pk])
            seat = free_seats[group.pk].pop() if is_planned else Seat(study=study, group=group, rater_kind=rater.kind)
            if not is_planned:
                seat.number = last_number.get((group.pk, rater.kind), 0) + 1
                last_number[(group.pk, rater.kind)] = seat.number
            if group.pk not in order_by_group:
                order_by_group[group.pk] = sorted(s.code for s in group.stories.all())
            seat.order = order_by_group[group.pk]
            seat.is_taken = True
        assignment = assignments[(row.rater, row.group)] = Assignment(
            study=study,
            rater=rater,
            rater_kind=rater.kind,
            seat=seat,
            group=group,
            version=version,
            status=Assignment.Status.SUBMITTED,
            ended_at=at,
        )
        _begin(assignment, resolution)
    seats = [assignment.seat for assignment in assignments.values() if assignment.seat]
    Seat.objects.bulk_update([seat for seat in seats if seat.pk], ["order", "is_taken"], batch_size=400)
    Seat.objects.bulk_create(seat for seat in seats if not seat.pk)
    Assignment.objects.bulk_create(assignments.values())
    return assignments


def _begin(assignment: Assignment, resolution: _Resolved) -> None:
    """Note that something has been said about the story, as is noted of what is answered in the browser."""
    story = resolution.story
    if story and resolution.step.scope == Step.Scope.STORY and story.pk not in assignment.begun:
        assignment.begun.append(story.pk)


def _find_free_seats(study: Study) -> defaultdict[int, list[Seat]]:
    """The seats of people by group, free and held for nobody, which nobody else takes meanwhile. Two queries.

    First those along whose row somebody reads, so that the last one is to be taken first: of a row that nobody holds,
    with the lowest number.
    """
    held = set(study.raters.exclude(row=None).values_list("row", flat=True))
    free = study.seats.select_for_update().filter(rater_kind=Rater.Kind.PERSON, is_taken=False, held_by=None)
    seats: defaultdict[int, list[Seat]] = defaultdict(list)
    for seat in sorted(free, key=lambda seat: (seat.row in held, seat.number), reverse=True):
        seats[seat.group_id].append(seat)
    return seats


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
            at=resolution.row.at or at,
            key=EVENT_KEY,
        )
        for resolution in resolved
    ]
    responses = []
    for resolution, result in zip(resolved, record_many(entries, imported=True), strict=True):
        if not isinstance(result, Response):
            raise InvalidRow(resolution.row.location, "value", _explain_refusal(resolution.row, str(result)))
        responses.append(result)
    return responses


def _give_receipts(responses: Iterable[Response]) -> None:
    """A receipt for every assignment of these responses, as a submission in the browser would give."""
    heads: dict[int, list[tuple[int, int, str, str]]] = defaultdict(list)
    for response in responses:
        story = response.story.code if response.story else ""
        head = (response.step.position, response.item.position, story, response.head)
        heads[response.assignment_id].append(head)
    receipts = [(submission.receipt_over(its_heads), key) for key, its_heads in heads.items()]
    # A `bulk_update` compiles a condition for each of ten thousand rows, which takes longer than all else.
    with connection.cursor() as cursor:
        cursor.executemany(f"UPDATE {Assignment._meta.db_table} SET receipt = %s WHERE id = %s", receipts)  # noqa: S608
