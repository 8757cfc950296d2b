"""Checking, submitting, the receipt."""

import json
import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags

from annotation.models import Assignment, Response
from studies.models import Item, Step, Study
from tests import factories, triggers
from tests.annotation.walk import address, answer_all, begin, give

pytestmark = pytest.mark.django_db


def check(assignment: Assignment) -> str:
    return reverse("annotation:check", args=[assignment.code])


def test_the_check_shows_every_answer_in_words_and_what_is_still_open_with_links(client):
    assignment = begin(client, factories.study(n_stories=2))
    give(client, assignment, "no", "Three words here.")
    give(client, assignment, "yes", "", item=2)

    page = client.post(check(assignment)).text

    assert "Three words here.</blockquote>" in page
    assert "6 answers still open" in page, "one without reasons, two of story B, the ranking, two guesses"
    link = f'<a href="{address(assignment, item=2)}">Story A, <span lang="en">Item 2</span></a>'
    assert f"{link}: Please write at least one sentence." in page


def test_the_check_shows_reasons_in_full_as_they_were_written_with_what_they_quote(client):
    study = factories.study(n_stories=2)
    assignment = begin(client, study)
    reasons = "It waits:\n    it says so twice.\n\n" + "And a word more. " * 60
    passage = {"paragraph": 1, "start": 0, "end": 3, "text": "The"}
    give(client, assignment, "no", reasons, quotes=json.dumps(passage))

    page = client.get(check(assignment)).text

    assert f'<blockquote class="verse" lang="en">{reasons.strip()}' in page
    assert '<q class="" lang="en">The</q>' in page
    assert "¶ 1" in page


def test_what_is_lacking_is_said_in_the_same_words_at_the_item(client):
    assignment = begin(client, factories.study())
    give(client, assignment, "yes", "")
    lacks = "Please write at least one sentence."
    assert lacks not in client.get(address(assignment)).text, "not before the rater has tried to submit"

    client.post(check(assignment))

    assert lacks in client.get(address(assignment)).text


def test_an_incomplete_group_cannot_be_submitted(client):
    assignment = begin(client, factories.study(n_stories=2))
    answer_all(client, assignment)
    give(client, assignment, "yes", "", base=1)

    refused = client.post(check(assignment))

    assert refused.status_code == 400
    assert "1 answer still open" in refused.text
    assignment.refresh_from_db()
    assert (assignment.status, assignment.receipt) == ("open", "")


def test_an_item_that_may_be_left_out_does_not_block_submission(client):
    study = factories.study(n_stories=2, planned=False)
    with triggers.lifted():
        Item._base_manager.filter(instrument__slug="plums-ranking").update(is_skippable=True)
    factories.plan(study)
    assignment = begin(client, study)
    answer_all(client, assignment)
    cleared = {"answer-ranking-item-1_A": "", "answer-ranking-item-1_B": ""}
    give(client, assignment, None, "", step="ranking", letter="", base=1, **cleared)

    assert "Left out" in client.get(check(assignment)).text
    assert client.post(check(assignment)).url == reverse("annotation:receipt", args=[assignment.code])


def test_submitting_gives_a_receipt_and_ends_all_changes(client):
    assignment = begin(client, factories.study(n_stories=2))
    answer_all(client, assignment)

    submitted = client.post(check(assignment), follow=True)

    assignment.refresh_from_db()
    assert submitted.redirect_chain[-1][0] == reverse("annotation:receipt", args=[assignment.code])
    assert len(assignment.receipt) == 64
    for shown in (assignment.receipt, "<dd>2</dd>", "<dd>7</dd>"):
        assert shown in submitted.text
    changed = give(client, assignment, "no", base=1)
    assert changed.status_code == 409
    assert Response.objects.filter(value="no").count() == 0
    assert client.get(address(assignment), follow=True).redirect_chain[-1][0].endswith("/receipt/")


def test_submitting_twice_gives_the_same_receipt(client):
    assignment = begin(client, factories.study(n_stories=2))
    answer_all(client, assignment)
    client.post(check(assignment))
    assignment.refresh_from_db()
    first = (assignment.receipt, assignment.ended_at)

    again = client.post(check(assignment))

    assignment.refresh_from_db()
    assert again.status_code == 302
    assert (assignment.receipt, assignment.ended_at) == first


def test_a_receipt_differs_if_one_answer_does():
    study = factories.study(n_stories=2, n_groups=2)
    receipts = []
    for last in ("It is so.", "It is so!"):
        client = Client()
        assignment = begin(client, study)
        answer_all(client, assignment)
        give(client, assignment, "yes", last, item=2, letter="B", base=1)
        client.post(check(assignment))
        assignment.refresh_from_db()
        receipts.append(assignment.receipt)

    assert len(set(receipts)) == 2


def test_there_is_no_receipt_before_submission(client):
    assignment = begin(client, factories.study())

    page = client.get(reverse("annotation:receipt", args=[assignment.code]), follow=True)

    assert page.redirect_chain[-1][0] == address(assignment)


def test_after_a_group_another_is_offered_and_is_another_one(client):
    study = factories.study(n_groups=2, n_stories=2)
    first = begin(client, study)
    answer_all(client, first)
    receipt = client.post(check(first), follow=True)

    client.post("/group/")

    second = first.rater.assignments.exclude(pk=first.pk).get()
    assert "You can read another group" in receipt.text
    assert second.group != first.group
    assert client.get("/", follow=True).redirect_chain[-1][0] == address(second)


def test_after_the_last_group_there_are_thanks(client):
    assignment = begin(client, factories.study(n_stories=2))
    answer_all(client, assignment)
    receipt = client.post(check(assignment), follow=True)

    end = client.get("/", follow=True)

    assert "There are no more groups for you." in receipt.text
    assert "questions about the whole remain" not in receipt.text
    assert "That was everything." in end.text
    assert "You can close this page." in end.text


# Session, assignment, answers, the stories' opening words.
@pytest.mark.parametrize("n", [2, 3])
def test_the_check_takes_as_many_queries_for_two_stories_as_for_three(client, django_assert_num_queries, n):
    assignment = begin(client, factories.study(n_stories=n, comparative=False))
    for letter in "ABC"[:n]:
        for item in (1, 2):
            give(client, assignment, letter=letter, item=item)

    with django_assert_num_queries(4):
        client.get(check(assignment))


# Session, assignment, the groups of the sitting, their answers and times, and what the offer of another group looks at.
@pytest.mark.parametrize("n", [1, 3])
def test_the_receipt_takes_as_many_queries_for_one_group_as_for_three(client, django_assert_num_queries, n):
    assignment = begin(client, factories.study(n_groups=n, n_stories=2))
    answer_all(client, assignment)
    client.post(check(assignment))

    with django_assert_num_queries(8):
        client.get(reverse("annotation:receipt", args=[assignment.code]))


@pytest.mark.parametrize(("kind", "name"), [("story", "Story B"), ("idea", "Idea B")])
def test_the_better_of_two_is_called_there_as_it_is_on_the_page_where_it_is_chosen(client, kind, name):
    study = factories.study(n_stories=2, comparative=False, planned=False)
    better = factories.instrument("better", n_items=1, type="pair", rationale="none", rationale_least=0)
    Step.objects.filter(key="tests").update(instrument=better, scope="group")
    Study.objects.update(text_kind=kind)
    factories.plan(study)
    assignment = begin(client, Study.objects.get())
    factories.answer(assignment, letter="", value="B", why="")

    page = client.get(check(assignment)).text

    assert strip_tags(re.search(r'class="given ">(.+?)</td>', page, re.DOTALL)[1]).strip() == name
