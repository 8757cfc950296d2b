"""More lines than an item allows: kept as they were typed, named as a fault, and in the way of submission only."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation import responses
from annotation.models import Assignment
from studies.models import Item, Study
from studies.protocol import load_protocol
from tests import factories, triggers
from tests.annotation.walk import address, begin, give, said
from tests.replay import replayed

pytestmark = pytest.mark.django_db
SIX = "one\ntwo\nthree\nfour\nfive\nsix"
FIVE = SIX.removesuffix("\nsix")
FAULT = "Please write at most 5 lines. So far there are 6."


@pytest.fixture
@replayed
def study() -> Study:
    """One story, one question about it, answered in at most five lines."""
    study = factories.study(n_stories=1, n_items=1, comparative=False, planned=False)
    (item,) = Item.objects.filter(instrument__slug="plums-tests")
    with triggers.lifted():
        Item._base_manager.filter(pk=item.pk).update(
            type="text", settings={"most_lines": 5}, rationale="none", rationale_least=0, is_skippable=True
        )
    factories.plan(study)
    return study


def check(client: Client, assignment: Assignment, method: str = "get"):
    return getattr(client, method)(reverse("annotation:check", args=[assignment.code]))


def test_the_sixth_line_is_kept_as_it_was_typed(client: Client, study: Study) -> None:
    assignment = begin(client, study)

    saved = give(client, assignment, SIX, "", htmx=True)

    assert saved.status_code == 200
    assert said(assignment) == [(SIX, "")]
    assert SIX in client.get(address(assignment)).text


def test_it_is_named_where_answers_are_checked_and_once_refused_at_the_question(client: Client, study: Study) -> None:
    assignment = begin(client, study)
    give(client, assignment, SIX, "")
    assert FAULT not in client.get(address(assignment)).text, "not before the rater has asked"

    assert FAULT in check(client, assignment).text
    assert FAULT not in client.get(address(assignment)).text, "a look at the answers is no refusal"
    check(client, assignment, "post")
    assert FAULT in client.get(address(assignment)).text


def test_it_is_not_submitted_until_a_line_is_gone(client: Client, study: Study) -> None:
    assignment = begin(client, study)
    give(client, assignment, SIX, "")

    refused = check(client, assignment, "post")
    assignment.refresh_from_db()
    assert (refused.status_code, assignment.status) == (400, "open")

    give(client, assignment, FIVE, "", base=1)
    check(client, assignment, "post")
    assignment.refresh_from_db()
    assert assignment.status == "submitted"


def test_a_question_with_too_much_in_it_is_begun_and_not_done(client: Client, study: Study) -> None:
    assignment = begin(client, study)
    give(client, assignment, SIX, "")

    (step,) = load_protocol(assignment.version).ratings
    (item,) = step.instrument.items.all()
    assert responses.find_shortfall(assignment.responses.get(), item) == FAULT
