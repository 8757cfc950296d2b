"""What may be answered: one rule, and pages and saves that keep to it in every state."""

import random
import re
from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import responses
from annotation.models import Assignment, Timing
from annotation.participation import claims, consents, visits
from annotation.progress import outlines, places
from annotation.progress.refusals import Refusal, Standing, is_ahead
from studies import protocol
from studies.models import Step, Study
from studies.protocol import Protocol
from tests import factories
from tests.annotation import walk

AB = ["A", "B"]
SHUT = re.compile(r"<fieldset[^>]* disabled[ >]")


@pytest.mark.parametrize(
    ("scope", "letter", "n_begun", "ahead"),
    [
        ("story", "A", 0, False),
        ("story", "B", 0, True),
        ("story", "B", 1, False),
        ("group", "", 1, True),
        ("group", "", 2, False),
    ],
)
def test_a_story_opens_when_those_before_it_are_begun_and_the_comparison_when_all_are(scope, letter, n_begun, ahead):
    assert is_ahead(scope, letter, letters=AB, n_begun=n_begun, follows_reading=True) is ahead


def test_a_comparison_that_comes_first_waits_for_nothing():
    assert not is_ahead("group", "", letters=AB, n_begun=0, follows_reading=False)


# ── pages and saves, in every state ────────────────────────────────────────────────────────────────────────────────

STATUS = list(Assignment.Status)
STUDY = ["open", "closed", "past"]
# What can be answered in the study below: step, letter, scope.
PLACES = [("survey", ""), ("tests", "A"), ("tests", "B"), ("ranking", ""), ("guess", "A"), ("again", "A")]


@pytest.fixture
def study(db: None) -> Study:
    """Asked once, on the desk, about the group after a lock, about both stories, and on the desk again after a lock."""
    made = factories.study(n_stories=2, recognition=True, planned=False)
    version = made.versions.get()
    Step.objects.filter(version=version, key="ranking").update(locks=True)
    for position, key in ((9, "guess"), (8, "ranking"), (7, "tests")):
        Step.objects.filter(version=version, key=key).update(position=position)
    survey = factories.instrument("survey", n_items=2, rationale="none", rationale_least=0)
    Step.objects.create(version=version, position=2, key="survey", kind="rating", instrument=survey, scope="once")
    again = Step.objects.get(version=version, key="tests").instrument
    Step.objects.create(
        version=version, position=10, key="again", kind="rating", instrument=again, scope="story", locks=True
    )
    factories.plan(made)
    return made


def states() -> Iterator[dict[str, Any]]:
    """Every state, by what decides on it; n_opened counts the locking parts that were opened."""
    names = ("status", "study", "consents", "recognition", "n_begun", "n_opened")
    for values in product(STATUS, STUDY, [True, False], [None, False], [0, 1, 2], [0, 1, 2]):
        yield dict(zip(names, values, strict=True))


def put_into(mine: Assignment, visit: Assignment, state: dict[str, Any]) -> None:
    """The rows as they would be in that state."""
    closes_at = timezone.now() - timedelta(hours=1) if state["study"] == "past" else None
    study_state = Study.State.CLOSED if state["study"] == "closed" else Study.State.LIVE
    Study.objects.filter(pk=mine.study_id).update(state=study_state, closes_at=closes_at)
    outline = outlines.load_outline(mine.version)
    if state["consents"] and outline.protocol.consent:
        consents.record_consent(mine.rater, outline.protocol.consent)
    for each in (mine, visit):
        ended_at = None if state["status"] == Assignment.Status.OPEN else factories.NOON
        values = {"status": state["status"], "read_before": state["recognition"], "ended_at": ended_at}
        Assignment.objects.filter(pk=each.pk).update(**values)
    begin_and_open(mine, n_begun=state["n_begun"], n_opened=state["n_opened"])


def begin_and_open(mine: Assignment, *, n_begun: int, n_opened: int) -> None:
    outline = outlines.load_outline(mine.version)
    assert mine.seat is not None
    begun = [outline.story_id_by_code[code] for code in mine.seat.order[:n_begun]]
    Assignment.objects.filter(pk=mine.pk).update(begun=begun)
    for key in ("ranking", "again")[:n_opened]:
        step = outline.protocol.step(key)
        assert step is not None
        places.open_step(mine, step)


def offers(client: Client, mine: Assignment, step: str, letter: str) -> bool:
    """Whether the page to which the address of an item leads has an open field for it."""
    page = client.get(walk.address(mine, step, letter=letter), follow=True)
    name = "-".join(filter(None, (step, letter, "item-1")))
    _, is_there, item = page.text.partition(f'class="item" id="item-{name}"')
    return bool(is_there) and not SHUT.search(re.split('</form>|class="item"', item)[0])


def keeps(client: Client, mine: Assignment, step: str, letter: str) -> bool:
    value: dict[str, Any] = {"value": "ai"} if step == "guess" else {}
    if step == "ranking":
        value = {"value": None, "answer-ranking-item-1_A": 2, "answer-ranking-item-1_B": 1}
    why = "It is so." if step in ("tests", "again") else ""
    return (
        walk.give(client, mine, step=step, letter=letter, why=why, htmx=True, again="yes", **value).status_code == 200
    )


def every_third(among: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A third of all states, with every choice of values of any four of what decides; of most five."""
    values = {name: list(dict.fromkeys(state[name] for state in among)) for name in among[0]}
    return [s for s in among if sum(values[name].index(value) for name, value in s.items()) % 3 == 0]


@pytest.mark.parametrize("n", [20, pytest.param(None, marks=pytest.mark.slow)])
def test_in_every_state_a_page_offers_what_a_save_accepts(client: Client, study: Study, n: int | None) -> None:
    rater = walk.come_in(client, study)
    mine, visit = claims.claim(rater), visits.ensure_visit(rater)
    every = list(states())
    at_work = {"status": "open", "study": "open", "consents": True, "recognition": False}
    sample = every_third(every) if n is None else random.Random(7).sample(every, n)
    tried = sample + [state for state in every if at_work.items() <= state.items() and state not in sample]

    outcomes = [
        (state, step, letter, *in_state(client, mine, visit, state, step, letter))
        for state in tried
        for step, letter in PLACES
    ]

    differing = [outcome for outcome in outcomes if outcome[3] != outcome[4]]
    assert not differing, "\n".join(map(str, differing))
    assert {(step, is_kept) for _, step, _, _, is_kept in outcomes} == {
        (step, is_kept) for step, _ in PLACES for is_kept in (True, False)
    }, "every place is offered in some state and refused in another"


def in_state(
    client: Client, mine: Assignment, visit: Assignment, state: dict[str, Any], step: str, letter: str
) -> tuple[bool, bool]:
    """Whether the page offers to answer there in that state, and whether a save is accepted; all is taken back.

    What is asked once before the first group has its turn as long as there is no group.
    """
    to = visit if step == "survey" else mine
    with transaction.atomic():
        put_into(mine, visit, state)
        if to == visit:
            Timing.objects.filter(assignment=mine).delete()
            Assignment.objects.filter(pk=mine.pk).delete()
        outcome = offers(client, to, step, letter), keeps(client, to, step, letter)
        transaction.set_rollback(True)
    return outcome


def standing(asked: Protocol, **values: Any) -> Standing:
    given = {"status": "open", "is_open": True, "owes_consent": False, "owes_recognition": False}
    return Standing(asked, **given | {"letters": AB, "n_begun": 2, "locked_before": 0} | values)


@pytest.mark.parametrize(
    ("values", "step", "letter", "refusal"),
    [
        ({}, "tests", "B", None),
        ({"status": "submitted", "is_open": False}, "tests", "A", Refusal.ENDED),
        ({"is_open": False, "owes_consent": True}, "tests", "A", Refusal.CLOSED),
        ({"owes_consent": True, "owes_recognition": True}, "tests", "A", Refusal.OWES_CONSENT),
        ({"owes_recognition": True, "n_begun": 0}, "tests", "B", Refusal.OWES_RECOGNITION),
        ({"n_begun": 0}, "tests", "B", Refusal.AHEAD),
        ({"n_begun": 1}, "ranking", "", Refusal.AHEAD),
        ({}, "ranking", "", Refusal.UNOPENED),
        ({}, "guess", "A", Refusal.AHEAD),
        ({"locked_before": 8}, "tests", "A", Refusal.LOCKED),
        ({"locked_before": 8}, "guess", "A", None),
        ({"locked_before": 8}, "again", "A", Refusal.UNOPENED),
        ({"locked_before": 10}, "again", "B", None),
        ({"n_begun": 0}, "survey", "", None),
    ],
)
def test_the_reason_is_the_first_that_holds(study: Study, values, step, letter, refusal) -> None:
    asked = protocol.load_protocol(study.versions.get())

    assert standing(asked, **values).refusal_at(asked.step(step), letter) is refusal


def test_every_reason_has_its_sentence() -> None:
    assert all(refusal.sentence for refusal in Refusal)
    assert Refusal.ENDED.sentence == responses.ENDED


def test_a_desk_that_locks_is_opened_like_any_other_part(client: Client, study: Study) -> None:
    mine = claims.claim(walk.come_in(client, study))
    put_into(
        mine, visits.ensure_visit(mine.rater), next(states()) | {"recognition": False, "n_begun": 2, "n_opened": 1}
    )
    page = reverse("annotation:part", args=[mine.code, "again"])

    shown = client.get(walk.address(mine, "again"))
    early = walk.give(client, mine, step="again")

    assert shown.url == page
    assert "can no longer be changed" in client.get(page).text
    assert early.status_code == 409
