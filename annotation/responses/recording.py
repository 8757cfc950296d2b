"""Recording answers: the one function through which every answer goes, single or in a batch, from people and models."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Self

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotation.models import Assignment, Response, ResponseEvent
from annotation.prepared_queries import PreparedQuery
from annotation.responses import history, holds
from annotation.responses.holds import ENDED, AssignmentEnded
from studies import items
from studies.items import InvalidAnswer, StoryLabel
from studies.items.rationale import Rule, shortfall
from studies.models import Item, Step, Story

TRIES = 5
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
CONTENT = ("value", "outcome", "rationale", "quotes")
CHANGING = (*CONTENT, "revision", "head", "first_answered_at", "last_edited_at")
UNANSWERED = gettext_noop("This has not been answered yet.")
# Assignment, step, item and story, or no story: what no two responses share.
ResponseKey = tuple[int, int, int, int | None]


class Stale(Exception):
    """The answer was changed elsewhere since this page was opened. Carries the response as it stands."""

    def __init__(self, response: Response) -> None:
        super().__init__("This answer was changed in another window since you opened this page.")
        self.response = response


Rejection = InvalidAnswer | AssignmentEnded | Stale


@dataclass(frozen=True)
class Answer:
    """What somebody gives: a raw value as the form, the model or the file has it, stories named by letter.

    value : None or "" for no answer (a draft, or one that was cleared)
    outcome : DECLINED or UNREADABLE where a judge gave no usable answer
    """

    value: Any = None
    rationale: str = ""
    quotes: list[dict[str, Any]] = field(default_factory=list)
    outcome: str = ""


@dataclass(frozen=True)
class Entry:
    """An answer with the response that it belongs to, for `record_many`. The fields are the arguments of `record`."""

    assignment: Assignment
    step: Step
    item: Item
    story: Story | None
    answer: Answer
    at: datetime
    base: int | None = None
    key: str = ""
    is_confirmation: bool = False
    n_pasted: int = 0

    @property
    def response_key(self) -> ResponseKey:
        return self.assignment.pk, self.step.pk, self.item.pk, self.story.pk if self.story else None

    def new_response(self) -> Response:
        """The response to this item before anything was answered; not saved."""
        return Response(assignment=self.assignment, step=self.step, item=self.item, story=self.story)


def is_untouched(entry: Entry, stored: Response) -> bool:
    """Whether an entry says what stood at its base, so that its sender has changed nothing. One query."""
    content = asdict(_read_content(entry))
    event = stored.events.filter(revision=entry.base).first() if entry.base else None
    before = history.parse_event(event) if event else asdict(_Content(None, Response.Outcome.OPEN, "", []))
    return all(before.get(name) == content[name] for name in CONTENT)


def letters(order: Sequence[str]) -> dict[str, str]:
    """Story code by letter, for one order of stories: what a rater may call a story."""
    return dict(zip(LETTERS, order, strict=False))


def record(
    assignment: Assignment,
    *,
    step: Step,
    item: Item,
    story: Story | None,
    answer: Answer,
    at: datetime,
    base: int | None = None,
    key: str = "",
    is_confirmation: bool = False,
    n_pasted: int = 0,
    is_from_page: bool = False,
) -> Response:
    """The response after this answer is committed, with its event in the history.

    base : the revision that the sender saw; None to write without looking, as judges and imports do
    key : the sender's own name for this save, "page-n" for the n-th of one page. A repeated key changes nothing and
        gets the response, its revision that of this save; a page whose earlier save is the latest event has not
        missed anything, though it never heard that it arrived
    is_confirmation : keep it even if it says the same as before: somebody looked at it once more, and it stands
    n_pasted : characters of a large paste into the rationale
    is_from_page : it counts among the saves that a page may make in a time; raises TooManySaves if they are too many
    Raises InvalidAnswer, AssignmentEnded if the assignment has ended, Stale if someone else wrote since. A base that is
    above what is stored (a database restored from an older copy) is no conflict.
    """
    if assignment.status != Assignment.Status.OPEN:
        raise AssignmentEnded(ENDED)
    entry = Entry(assignment, step, item, story, answer, at, base, key, is_confirmation, n_pasted)
    content = _read_content(entry)
    for _try in range(TRIES):
        try:
            with transaction.atomic():
                story_ids_begun = holds.hold_for_page(assignment, at=at) if is_from_page else holds.hold(assignment)
                response = _stored(assignment, step=step, item=item, story=story) or entry.new_response()
                revision = response.revision
                response, event = _apply(entry, content, response, _relevant_events)
                if event is not None:
                    _write(response, event, revision=revision)
                    if step.scope == Step.Scope.STORY and story and story.pk not in story_ids_begun:
                        Assignment.objects.filter(pk=assignment.pk).update(begun=[*story_ids_begun, story.pk])
                return response
        except (_Overtaken, IntegrityError):
            # Another save of this answer made or changed the row between our reading and our writing: look again.
            continue
    raise Stale(Response.objects.get(assignment=assignment, step=step, item=item, story=story))


def record_many(
    entries: Sequence[Entry], *, imported: bool = False, is_from_page: bool = False
) -> list[Response | Rejection]:
    """For each entry the response after it is committed, or why it was refused. In one transaction, by the batch.

    The rules are those of `record`. What is refused keeps nothing else from being recorded, and nothing is written of
    it. Several entries may be about one response: they are taken in their order, and get it as the last of them leaves
    it. One query each for the assignments, for the responses as they stand, for the events of those with a base, for
    new rows, changed rows and events, and more only where a database takes a bounded number of values in one statement.

    imported : answers that were given elsewhere, to assignments that the caller's transaction has made, whatever their
        status: nothing is there to be looked up. An answer names stories by code, and must be one that could be
        submitted, since nobody will mend it
    is_from_page : a page of one assignment, posted as a whole, which counts as one save. Raises TooManySaves, and
        AssignmentEnded if the assignment has ended
    """
    with transaction.atomic(savepoint=is_from_page):  # a page that came too fast is shown, so its queries go on
        batch = _Batch.of_new() if imported else _Batch.read(entries, is_from_page=is_from_page)
        results = [batch.take(entry, imported=imported) for entry in entries]
        batch.write()
    return results


class _Overtaken(Exception):
    """Somebody wrote between our reading and our writing."""


@dataclass(frozen=True)
class _Content:
    """What a response says."""

    value: Any
    outcome: str
    rationale: str
    quotes: list[dict[str, Any]]


def _read_content(entry: Entry, *, imported: bool = False) -> _Content:
    """What a response will say, the value as it is stored. Raises InvalidAnswer."""
    answer = entry.answer
    if answer.outcome not in ("", Response.Outcome.ANSWERED):
        return _Content(None, answer.outcome, answer.rationale, answer.quotes)
    value = _read_value(entry, imported=imported)
    outcome = Response.Outcome.OPEN if value is None else Response.Outcome.ANSWERED
    return _Content(value, outcome, answer.rationale, answer.quotes)


def _read_value(entry: Entry, *, imported: bool) -> Any:
    raw, seat = entry.answer.value, entry.assignment.seat
    if raw is None or raw in ("", []):
        return None
    order = seat.order if seat else []
    kind = items.find_type(entry.item.type)
    if imported:
        # Shown under their codes, stories come back under their codes.
        return kind.clean(entry.item, raw, stories=[StoryLabel(code) for code in order])
    code_by_letter = letters(order)
    value = kind.clean_draft(entry.item, raw, stories=[StoryLabel(letter) for letter in code_by_letter])
    return kind.renamed(value, code_by_letter)


def _stored(assignment: Assignment, *, step: Step, item: Item, story: Story | None) -> Response | None:
    """The response to that item as it stands."""
    ids = {"assignment": assignment.pk, "step": step.pk, "item": item.pk}
    return _STORED_WITH_STORY.first(**ids, story=story.pk) if story else _STORED.first(**ids)


def _responses(**ids: int) -> QuerySet[Response]:
    return Response.objects.filter(**ids) if "story" in ids else Response.objects.filter(**ids, story=None)


_STORED = PreparedQuery(_responses, assignment=918273645, step=918273646, item=918273647)
_STORED_WITH_STORY = PreparedQuery(_responses, assignment=918273645, step=918273646, item=918273647, story=918273648)


def _apply(
    entry: Entry,
    content: _Content,
    response: Response,
    events_of: Callable[[Entry, Response], Sequence[ResponseEvent]],
) -> tuple[Response, ResponseEvent | None]:
    """The response to give back, and the event to write with it; no event if nothing changes. Raises Stale.

    events_of : asked only where the base is not the revision that stands
    """
    if _says_the_same(response, content) and not entry.is_confirmation:
        return response, None
    if entry.base is not None and response.revision != entry.base:
        events = events_of(entry, response) if response.revision else []
        earlier = next((event for event in events if entry.key and event.key == entry.key), None)
        if earlier is not None:
            # Not the latest revision: a page that takes it for its base must still hear of what others wrote on top.
            response = copy(response)
            response.revision = earlier.revision
            return response, None
        latest = next((event for event in events if event.revision == response.revision), None)
        is_ahead = entry.base > response.revision
        if not is_ahead and (latest is None or not _follows(entry.key, latest.key)):
            raise Stale(copy(response))
    return response, _change(response, entry, content)


def _relevant_events(entry: Entry, response: Response) -> Sequence[ResponseEvent]:
    """The latest event of the response, and that of the entry's key if it has arrived before. One query."""
    is_relevant = Q(revision=response.revision) | (Q(key=entry.key) if entry.key else Q())
    return list(response.events.filter(is_relevant))


def _follows(key: str, earlier: str) -> bool:
    """Whether both name saves of one page, the first after the second."""
    page, _, n = key.rpartition("-")
    earlier_page, _, earlier_n = earlier.rpartition("-")
    return bool(page) and page == earlier_page and n.isdecimal() and earlier_n.isdecimal() and int(n) > int(earlier_n)


def _says_the_same(response: Response, content: _Content) -> bool:
    is_there = response.revision > 0 or content.outcome == Response.Outcome.OPEN
    return is_there and all(getattr(response, name) == getattr(content, name) for name in CONTENT)


def _change(response: Response, entry: Entry, content: _Content) -> ResponseEvent:
    """The event by which the response comes to say this, neither saved yet."""
    for name in CONTENT:
        setattr(response, name, getattr(content, name))
    # A page may be ahead of us, as after a restore. Above what it saw, so that no page from before the restore takes
    # another answer for the one it knows.
    response.revision = max(response.revision, entry.base or 0) + 1
    response.last_edited_at = entry.at
    if response.first_answered_at is None and response.outcome != Response.Outcome.OPEN:
        response.first_answered_at = entry.at
    return history.new_event(response, at=entry.at, key=entry.key, n_pasted=entry.n_pasted)


def _write(response: Response, event: ResponseEvent, *, revision: int) -> None:
    """Save both. revision: the one that was read. Raises _Overtaken if another stands there by now."""
    if response.pk is None:
        response.save()
        event.response = response
    else:
        # The revision in the condition is the optimistic lock: of two writers at once, one changes no row.
        changed = Response.objects.filter(pk=response.pk, revision=revision).update(
            **{name: getattr(response, name) for name in CHANGING}
        )
        if not changed:
            raise _Overtaken
    event.save(force_insert=True)


class _Batch:
    """The responses of many entries as they come to stand, in memory until all are decided.

    begun_by_assignment : of the assignments that are open the stories begun in each; None if answers to any assignment
        are taken, and their maker notes what is begun
    events : by key, oldest first; those of earlier saves only where an entry has a base
    """

    def __init__(
        self,
        begun_by_assignment: dict[int, list[int]] | None,
        response_by_key: dict[ResponseKey, Response],
        events: Iterable[tuple[ResponseKey, ResponseEvent]],
    ) -> None:
        self._begun_by_assignment = begun_by_assignment
        self._assignments_begun: dict[int, Assignment] = {}  # those whose stories begun have changed
        self._response_by_key = response_by_key
        self._events_by_key: dict[ResponseKey, list[ResponseEvent]] = defaultdict(list)
        for key, event in events:
            self._events_by_key[key].append(event)
        self._responses: dict[ResponseKey, Response] = {}  # those to write, by when they were first changed
        self._events: list[ResponseEvent] = []

    @classmethod
    def of_new(cls) -> Self:
        """A batch for assignments that have no response yet. No query."""
        return cls(None, {}, [])

    @classmethod
    def read(cls, entries: Sequence[Entry], *, is_from_page: bool) -> Self:
        """A batch over the responses as they stand, their assignments held open until the end of the transaction.

        Read after the assignments are held, and every writer holds them first: so that nobody can overtake us.
        """
        if is_from_page:
            page = entries[0]
            begun_by_assignment = {page.assignment.pk: holds.hold_for_page(page.assignment, at=page.at)}
        else:
            begun_by_assignment = holds.hold_many(entry.assignment for entry in entries)
        rows = Response.objects.filter(
            assignment__in=begun_by_assignment,
            step__in={entry.step.pk for entry in entries},
            item__in={entry.item.pk for entry in entries},
        )
        response_by_key = {(r.assignment_id, r.step_id, r.item_id, r.story_id): r for r in rows}
        with_base = {entry.response_key for entry in entries if entry.base is not None} & set(response_by_key)
        key_by_response = {response_by_key[key].pk: key for key in with_base}
        events = ResponseEvent.objects.filter(response__in=key_by_response).order_by("response", "revision")
        return cls(begun_by_assignment, response_by_key, [(key_by_response[e.response_id], e) for e in events])

    def take(self, entry: Entry, *, imported: bool) -> Response | Rejection:
        """The response as this entry leaves it, or why it is refused. Writes nothing yet."""
        if self._begun_by_assignment is not None and entry.assignment.pk not in self._begun_by_assignment:
            return AssignmentEnded(ENDED)
        key = entry.response_key
        current = self._response_by_key.get(key) or entry.new_response()
        try:
            content = _read_content(entry, imported=imported)
            response, event = _apply(entry, content, current, lambda *_: self._events_by_key[key])
        except (InvalidAnswer, Stale) as refusal:
            return refusal
        if event is not None:
            self._response_by_key[key] = self._responses[key] = response
            self._events_by_key[key].append(event)
            self._events.append(event)
            self._begin(entry)
        return response

    def _begin(self, entry: Entry) -> None:
        """Note that something has been said about the entry's story on the desk."""
        if self._begun_by_assignment is None or entry.step.scope != Step.Scope.STORY or entry.story is None:
            return
        assignment, story_ids = entry.assignment, self._begun_by_assignment[entry.assignment.pk]
        if entry.story.pk not in story_ids:
            story_ids.append(entry.story.pk)
            assignment.begun = story_ids
            self._assignments_begun[assignment.pk] = assignment

    def write(self) -> None:
        """Save what was taken: new rows, changed rows, events, and which stories are begun by it."""
        created = [response for response in self._responses.values() if response.pk is None]
        changed = [response for response in self._responses.values() if response.pk is not None]
        Response.objects.bulk_create(created)
        Response.objects.bulk_update(changed, CHANGING)
        ResponseEvent.objects.bulk_create(self._events)
        Assignment.objects.bulk_update(self._assignments_begun.values(), ["begun"])


def find_shortfall(response: Response | None, item: Item) -> str:
    """What an answer still lacks before it can be submitted, as a sentence; empty if nothing."""
    if response is None or response.outcome == Response.Outcome.OPEN:
        lacks = "" if item.is_skippable else _(UNANSWERED)
        return lacks if response is None or not response.rationale else _("Your reasons are here, but no answer yet.")
    lacks = items.find_type(item.type).shortfall(item, response.value) if response.value is not None else ""
    return lacks or shortfall(Rule.of(item), response.rationale)
