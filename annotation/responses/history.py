"""The history of responses: what an event says, how events are chained, and why they cannot be changed.

Each event commits to its words by SHA-256 and to the event before it. The database refuses to delete an event or to
change one, but for emptying its words: erasure removes what a person said, and the chain still verifies.
"""

import json
import secrets
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from annotation.models import Assignment, Response, ResponseEvent
from studies import hashing
from studies.models import Study
from studies.triggers import Trigger, any_changed

KEPT = ("id", "response_id", "revision", "at", "key", "n_pasted", "commitment", "digest")


def origin(response: Response) -> str:
    """Where a chain begins: what the response is an answer to, so that no event can be moved to another response."""
    return hashing.sha256(f"{response.assignment_id}/{response.step_id}/{response.item_id}/{response.story_id}")


def digest(event: ResponseEvent, previous: str) -> str:
    """What an event says of itself, but for its words, bound to the digest of the one before."""
    # The commitment stands for the words: they can be erased, and every digest after them is still right.
    fields = (previous, event.commitment, str(event.revision), event.at.isoformat(), event.key, str(event.n_pasted))
    return hashing.sha256("\n".join(fields))


def new_event(response: Response, *, at: datetime, key: str, n_pasted: int = 0) -> ResponseEvent:
    """The next event of a response as it now stands, not yet saved. Moves the response's head."""
    content = {
        "value": response.value,
        "outcome": response.outcome,
        "rationale": response.rationale,
        "quotes": response.quotes,
        # Without a salt, "yes" would be guessed from its hash after erasure.
        "salt": secrets.token_hex(16),
    }
    words = hashing.canonical_json(content)
    next_event = ResponseEvent(
        response=response,
        revision=response.revision,
        at=at,
        key=key,
        n_pasted=n_pasted,
        words=words,
        commitment=hashing.sha256(words),
    )
    # The response keeps the end of its chain: a chain whose last events are gone is whole in itself.
    next_event.digest = response.head = digest(next_event, response.head or origin(response))
    return next_event


def faults(response: Response, events: Iterable[ResponseEvent], *, has_lost_text: bool = False) -> list[str]:
    """What is wrong with the history of one response, in words; empty if nothing is.

    events : all events of the response, by revision
    has_lost_text : the text that it is about was erased, and with it the words that quoted it
    """
    events = list(events)
    messages: list[str] = []
    previous, last = origin(response), None
    for event in events:
        # Revisions may leave a gap, where a page was ahead of a restored database; the chain tells of a lost event.
        if event.revision <= (last.revision if last else 0):
            messages.append(f"event {event.revision} does not come after the one before")
        if event.words is not None and hashing.sha256(event.words) != event.commitment:
            messages.append(f"the words of event {event.revision} are not those it was committed with")
        if digest(event, previous) != event.digest:
            messages.append(f"event {event.revision} does not follow from the one before")
        previous, last = event.digest, event
    if previous != response.head:
        messages.append("the latest event is not the one that the response names")
    if last is not None and (last.revision, last.at) != (response.revision, response.last_edited_at):
        messages.append("the response's revision or time is not that of its latest event")
    if response.first_answered_at not in first_answers(events):
        messages.append("the response's first answer is not of the time that its events give")
    if last is not None and last.words is not None:
        content = parse_event(last)
        for field in ("value", "outcome", "rationale", "quotes"):
            if content.get(field) != getattr(response, field):
                messages.append(f"the response's {field} is not what its latest event says")
    if last is not None and last.words is None and not is_empty(response) and (not has_lost_text or response.quotes):
        messages.append("the response says something, though its latest event was erased")
    return messages


def parse_event(event: ResponseEvent) -> dict[str, Any]:
    """The content that the event holds, by field; empty if it holds none that can be believed: it was erased, or its
    words are not those that it committed to."""
    is_whole = event.words is not None and hashing.sha256(event.words) == event.commitment
    return dict(json.loads(event.words)) if event.words is not None and is_whole else {}


def first_answers(events: Iterable[ResponseEvent]) -> set[datetime | None]:
    """When the response may first have been answered, None for never: one time, unless words before it were erased."""
    times: set[datetime | None] = set()
    for event in events:
        content = parse_event(event)
        if content.get("outcome") != Response.Outcome.OPEN:
            times.add(event.at)
        if content and content["outcome"] != Response.Outcome.OPEN:
            return times
    return times | {None}


def is_empty(response: Response) -> bool:
    """Whether the response says nothing, as after erasure."""
    content = (response.value, response.outcome, response.rationale, response.quotes)
    return content == (None, Response.Outcome.OPEN, "", [])


_TABLE = ResponseEvent._meta.db_table
_SENTENCE = "history is append-only: an event cannot be changed or deleted"
# What is said in a rehearsal goes with it.
_IS_OF_REHEARSAL = (
    f"EXISTS (SELECT 1 FROM {Response._meta.db_table} response "
    f"JOIN {Assignment._meta.db_table} assignment ON assignment.id = response.assignment_id "
    f"JOIN {Study._meta.db_table} study ON study.id = assignment.study_id "
    "WHERE response.id = OLD.response_id AND study.rehearsal_of_id IS NOT NULL)"
)
TRIGGERS = [
    Trigger("event_is_kept", _TABLE, "DELETE", f"NOT {_IS_OF_REHEARSAL}", _SENTENCE),
    Trigger("event_is_final", _TABLE, "UPDATE", f"NEW.words IS NOT NULL OR {any_changed(KEPT)}", _SENTENCE),
]
