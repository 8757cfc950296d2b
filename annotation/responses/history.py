"""The history of responses: what an event says, how events are chained, and why they cannot be changed.

Each event commits to its words by SHA-256 and to the event before it. The database refuses to delete an event or to
change one, but for emptying its words: erasure removes what a person said, and the chain still verifies.
"""

import json
import secrets
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import connections

from annotation.models import Response, ResponseEvent
from studies import hashing

KEPT = ("id", "response_id", "revision", "at", "key", "n_pasted", "commitment", "digest")


def origin(response: Response) -> str:
    """Where a chain begins: what the response is an answer to, so that no event can be moved to another response."""
    return hashing.sha256(f"{response.assignment_id}/{response.step_id}/{response.item_id}/{response.story_id}")


def digest(event: ResponseEvent, previous: str) -> str:
    """What an event says of itself, but for its words, bound to the digest of the one before."""
    said = (previous, event.commitment, str(event.revision), event.at.isoformat(), event.key, str(event.n_pasted))
    return hashing.sha256("\n".join(said))


def event(response: Response, *, at: datetime, key: str, n_pasted: int = 0) -> ResponseEvent:
    """The next event of a response as it now stands, not yet saved. Moves the response's head."""
    said = {
        "value": response.value,
        "outcome": response.outcome,
        "rationale": response.rationale,
        "quotes": response.quotes,
        # Without a salt, "yes" would be guessed from its hash after erasure.
        "salt": secrets.token_hex(16),
    }
    words = hashing.canonical(said)
    next_event = ResponseEvent(
        response=response,
        revision=response.revision,
        at=at,
        key=key,
        n_pasted=n_pasted,
        words=words,
        commitment=hashing.sha256(words),
    )
    next_event.digest = response.head = digest(next_event, response.head or origin(response))
    return next_event


def faults(response: Response, events: Iterable[ResponseEvent]) -> list[str]:
    """What is wrong with the history of one response, in words; empty if nothing is.

    events : all events of the response, by revision
    """
    events = list(events)
    found: list[str] = []
    previous, last = origin(response), None
    for place, each in enumerate(events, start=1):
        if each.revision != place:
            found.append(f"event {each.revision} stands where {place} should")
        if each.words is not None and hashing.sha256(each.words) != each.commitment:
            found.append(f"the words of event {each.revision} are not those it was committed with")
        if digest(each, previous) != each.digest:
            found.append(f"event {each.revision} does not follow from the one before")
        previous, last = each.digest, each
    if previous != response.head:
        found.append("the latest event is not the one that the response names")
    if last is not None and (last.revision, last.at) != (response.revision, response.last_edited_at):
        found.append("the response's revision or time is not that of its latest event")
    if response.first_answered_at not in first_answers(events):
        found.append("the response's first answer is not of the time that its events give")
    if last is not None and last.words is not None:
        said = words_of(last)
        for field in ("value", "outcome", "rationale", "quotes"):
            if said.get(field) != getattr(response, field):
                found.append(f"the response's {field} is not what its latest event says")
    if last is not None and last.words is None and not is_empty(response):
        found.append("the response says something, though its latest event was erased")
    return found


def words_of(event: ResponseEvent) -> dict[str, Any]:
    """What the event says; nothing if it was erased, or if it is not what was committed to."""
    is_whole = event.words is not None and hashing.sha256(event.words) == event.commitment
    return dict(json.loads(event.words)) if event.words is not None and is_whole else {}


def first_answers(events: Iterable[ResponseEvent]) -> set[datetime | None]:
    """When the response may first have been answered, None for never: one time, unless words before it were erased."""
    found: set[datetime | None] = set()
    for event in events:
        said = words_of(event)
        if said.get("outcome") != Response.Outcome.OPEN:
            found.add(event.at)
        if said and said["outcome"] != Response.Outcome.OPEN:
            return found
    return found | {None}


def is_empty(response: Response) -> bool:
    """Whether the response says nothing, as after erasure."""
    said = (response.value, response.outcome, response.rationale, response.quotes)
    return said == (None, Response.Outcome.OPEN, "", [])


def protect(using: str = "default") -> None:
    """Install the triggers that refuse changes to events. Safe to call again."""
    connection = connections[using]
    if ResponseEvent._meta.db_table not in connection.introspection.table_names():
        return
    with connection.cursor() as cursor:
        for statement in _SQL[connection.vendor]:
            cursor.execute(statement)


_CHANGED = " OR ".join(f"NEW.{column} IS DISTINCT FROM OLD.{column}" for column in KEPT)
_MESSAGE = "history is append-only: an event cannot be changed or deleted"
_ON = "ON annotation_responseevent"
_REFUSE = f"BEGIN SELECT RAISE(ABORT, '{_MESSAGE}'); END"
_SQL = {
    "sqlite": [
        f"CREATE TRIGGER IF NOT EXISTS event_is_kept BEFORE DELETE {_ON} {_REFUSE}",
        f"CREATE TRIGGER IF NOT EXISTS event_is_final BEFORE UPDATE {_ON} "
        f"WHEN NEW.words IS NOT NULL OR {_CHANGED.replace('IS DISTINCT FROM', 'IS NOT')} {_REFUSE}",
    ],
    "postgresql": [
        "CREATE OR REPLACE FUNCTION quire_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{_MESSAGE}'; END $$",
        f"CREATE OR REPLACE TRIGGER event_is_kept BEFORE DELETE {_ON} FOR EACH ROW EXECUTE FUNCTION quire_refuse()",
        f"CREATE OR REPLACE TRIGGER event_is_final BEFORE UPDATE {_ON} FOR EACH ROW "
        f"WHEN (NEW.words IS NOT NULL OR {_CHANGED}) EXECUTE FUNCTION quire_refuse()",
    ],
}
