"""Many answers at once are recorded by the rules of one: the same rows, the same history, the same refusals."""

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from annotation import responses
from annotation.models import Assignment, Response, ResponseEvent
from annotation.participation import claims
from annotation.responses import Answer, AssignmentEnded, Entry, Stale, history, submission
from studies import protocol
from studies.items import InvalidAnswer
from studies.models import Story
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db


def entry(assignment: Assignment, *, step: str = "tests", item: int = 1, letter: str = "A", **more: Any) -> Entry:
    """An answer to one item about the story of that letter, or about none if the step asks about the group."""
    at_step = protocol.load_protocol(assignment.version).step(step)
    code = responses.letters(assignment.seat.order)[letter]
    story = None if step == "ranking" else Story.objects.get(study=assignment.study, code=code)
    fields = {"answer": Answer("yes", "It is so."), "at": NOON} | more
    return Entry(assignment, at_step, protocol.items_of(at_step)[item - 1], story, **fields)


def record(entry: Entry) -> Response:
    fields = {name: value for name, value in vars(entry).items() if name != "assignment"}
    return responses.record(entry.assignment, **fields)


def rows() -> list[tuple[Any, ...]]:
    """Every response with its events, by what they say and not by the number of their row."""
    about = ("assignment_id", "step_id", "item_id", "story_id")
    says = ("value", "outcome", "rationale", "quotes", "revision", "head", "first_answered_at", "last_edited_at")
    event = ("revision", "at", "key", "n_pasted", "words", "commitment", "digest")
    table = [
        (*row, list(ResponseEvent.objects.filter(response=pk).order_by("revision").values_list(*event)))
        for pk, *row in Response.objects.values_list("pk", *about, *says)
    ]
    return sorted(table, key=lambda row: str(row[:4]))


def faults() -> list[str]:
    return [fault for r in Response.objects.all() for fault in history.faults(r, r.events.order_by("revision"))]


ANSWERS = {
    "tests": [
        *(Answer("yes", "It is so."), Answer("no", "It is not."), Answer("no"), Answer(None, "Not yet."), Answer("")),
        *(Answer("perhaps"), Answer(outcome="declined"), Answer(outcome="unreadable", rationale="Hm.")),
        *(Answer("yes", quotes=[{"paragraph": 1, "start": 0, "end": 3, "text": "The"}]), Answer("Yes")),
    ],
    "ranking": [Answer([["B"], ["A"]]), Answer([["A"], ["B"]]), Answer([["A"]]), Answer("B > A"), Answer(None)],
    "guess": [Answer("ai"), Answer("expert"), Answer("somebody"), Answer()],
}


def entries_by_chance(assignments: list[Assignment], rng: random.Random, *, n: int) -> Iterator[Entry]:
    """Answers at few places, so that they meet: with and without a base, with keys that repeat and follow."""
    for minute in range(n):
        step = rng.choice(["tests", "tests", "ranking", "guess"])
        yield entry(
            rng.choice(assignments),
            step=step,
            item=rng.choice([1, 2]) if step == "tests" else 1,
            letter=rng.choice("AB"),
            answer=rng.choice(ANSWERS[step]),
            at=NOON + timedelta(minutes=minute),
            base=rng.choice([None, None, None, 0, 1, 2]),
            key=rng.choice(["", "page-1", "page-2", "page-3", "other-1"]),
            is_confirmation=rng.random() < 0.2,
            n_pasted=rng.choice([0, 0, 700]),
        )


def record_one_by_one(entries: list[Entry]) -> list[str]:
    """How each ended."""
    ends = []
    for one in entries:
        try:
            ends.append(f"revision {record(one).revision}")
        except (InvalidAnswer, AssignmentEnded, Stale) as refusal:
            ends.append(repr(refusal))
    return ends


def record_in_batches(entries: list[Entry], rng: random.Random) -> list[str]:
    """How each ended; where several of a batch are about one place, its response is as the last of them left it."""
    ends = []
    while entries:
        size = rng.choice([1, 2, 5, 20])
        batch, entries = entries[:size], entries[size:]
        results = responses.record_many(batch)
        ends += [f"revision {r.revision}" if isinstance(r, Response) else repr(r) for r in results]
    return ends


@pytest.mark.parametrize("seed", range(12))
def test_one_by_one_and_by_the_batch_come_to_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    study = factories.study(n_stories=2, k=3)
    assignments = [factories.assignment(study) for _ in range(3)]
    claims.give_up(assignments[2], at=NOON)
    entries = list(entries_by_chance(assignments, random.Random(seed), n=120))

    def salted() -> None:
        numbers = count()
        monkeypatch.setattr(history.secrets, "token_hex", lambda _: f"salt {next(numbers)}")

    salted()
    with transaction.atomic():
        one_by_one = record_one_by_one(entries)
        expected = rows()
        transaction.set_rollback(True)
    salted()
    by_the_batch = record_in_batches(entries, random.Random(seed))

    assert len(expected) >= 5
    assert any(row[8] > 2 for row in expected), "some answers were changed several times"
    assert {"Stale", "InvalidAnswer", "AssignmentEnded"} <= {end.partition("(")[0] for end in one_by_one}
    assert rows() == expected
    assert [end.startswith("revision") or end for end in by_the_batch] == [
        end.startswith("revision") or end for end in one_by_one
    ]
    assert faults() == []


def test_what_is_refused_keeps_nothing_else_from_being_recorded() -> None:
    study = factories.study()
    mine, theirs = factories.assignment(study), factories.assignment(study)
    submission.submit(theirs, at=NOON)
    batch = [
        entry(mine),
        entry(theirs),
        entry(mine, item=2, answer=Answer("perhaps")),
        entry(mine, answer=Answer("no"), base=0),
        entry(mine, step="ranking", answer=Answer([["B"], ["A"], ["D"], ["C"]])),
    ]

    results = responses.record_many(batch)

    assert [type(result) for result in results] == [Response, AssignmentEnded, InvalidAnswer, Stale, Response]
    order = mine.seat.order
    assert sorted(map(str, Response.objects.values_list("value", flat=True))) == sorted(
        ["yes", str([[order[n]] for n in (1, 0, 3, 2)])]
    )
    assert [result.pk for result in results if isinstance(result, Response)] == [r.pk for r in Response.objects.all()]
    assert (ResponseEvent.objects.count(), faults()) == (2, [])


def test_a_cleared_answer_has_no_value_in_the_database() -> None:
    mine = factories.assignment(factories.study())
    responses.record_many([entry(mine)])

    responses.record_many([entry(mine, answer=Answer(None, "It was so."))])

    assert Response.objects.filter(value__isnull=True, outcome="open", rationale="It was so.").count() == 1


def test_a_save_that_was_repeated_gets_its_own_revision_and_the_row_keeps_the_latest() -> None:
    mine = factories.assignment(factories.study())
    first = entry(mine, base=0, key="page-1")
    batch = [first, replace(first, answer=Answer("no"), base=1, key="other-1"), first]

    results = responses.record_many(batch)

    assert [result.revision for result in results if isinstance(result, Response)] == [2, 2, 1]
    assert Response.objects.get().value == "no"


def test_nothing_of_a_batch_is_written_if_the_database_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = factories.assignment(factories.study())
    entries = [entry(mine), entry(mine, item=2)]

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(ResponseEvent.objects, "bulk_create", fail)
    with pytest.raises(OSError, match="disk"), transaction.atomic():
        responses.record_many(entries)

    assert not Response.objects.exists()


def test_the_number_of_queries_does_not_grow_with_the_answers() -> None:
    study = factories.study(n_items=5)
    assignments = [factories.assignment(study) for _ in range(2)]
    entries = [entry(a, item=n, letter=x) for a in assignments for n in range(1, 6) for x in "ABCD"]

    with CaptureQueriesContext(connection) as for_one:
        responses.record_many(entries[:1])
    with CaptureQueriesContext(connection) as for_many:
        responses.record_many(entries)
    with CaptureQueriesContext(connection) as for_changes:
        responses.record_many([replace(e, answer=Answer("no", "On reflection."), base=1) for e in entries[:20]])

    # Assignments, responses, new rows, events, stories begun; of changes with a base their events, and nothing begun.
    assert (len(for_one), len(for_many), len(for_changes)) == (5, 5, 5)
    assert Response.objects.filter(revision=2).count() == 20
