"""A check of understanding: what was not right is said, and it can be tried once more."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from annotation import responses
from annotation.models import Assignment, ResponseEvent, StepTaken
from annotation.participation import invitations
from tests import factories
from tests.annotation import walk
from tests.annotation.arriving import check
from tests.factories import NOON

pytestmark = pytest.mark.django_db


def say(client: Client, visit: Assignment, *values: str, base: int = 0) -> None:
    for item, value in enumerate(values, start=1):
        walk.give(client, visit, value, "", step="about", item=item, letter="", base=base)


def test_a_check_says_what_was_not_right_and_can_be_tried_once_more(client):
    visit = check(client)
    say(client, visit, "no", "yes")

    first = client.post("/once/about/", {"attempt": "1"}, follow=True)
    briefing = client.get("/briefing/welcome/")
    say(client, visit, "no", "no", base=1)
    second = client.post("/once/about/", {"attempt": "2"}, follow=True)

    assert first.redirect_chain[-1][0] == "/once/about/"
    assert "1 answer is not right" in first.text
    summary = first.text.split('id="not-right"')[1].split("</section>")[0]
    assert ("Is it good in way 1?" in summary, "Is it good in way 2?" in summary) == (False, True)
    assert "Words of <i>welcome</i>." in briefing.text
    assert second.redirect_chain[-1][0] == "/group/"
    assert list(visit.rater.steps_taken.filter(step__key="about").values_list("attempt", "wrong")) == [
        (1, ["item-2"]),
        (2, []),
    ]
    changed = ResponseEvent.objects.filter(response__item__key="item-2").order_by("revision")
    assert [json.loads(event.words)["value"] for event in changed] == ["yes", "no"], "both answers are in the history"


def test_who_fails_a_check_twice_is_thanked_and_offered_no_group_on_any_device(client):
    visit = check(client)
    say(client, visit, "yes", "yes")
    client.post("/once/about/", {"attempt": "1"})
    say(client, visit, "no", base=1)

    failed = client.post("/once/about/", {"attempt": "2"}, follow=True)
    elsewhere = Client()
    elsewhere.post(reverse("annotation:invitation", args=[invitations.replace_link(visit.rater.invitation, at=NOON)]))
    group = elsewhere.post("/group/")

    assert failed.redirect_chain[-1][0] == "/done/"
    assert "the study ends here for you" in failed.text
    assert "Words of <i>debrief</i>." not in failed.text
    assert group.url == "/done/"
    assert not Assignment.objects.exclude(seat=None).exists()
    visit.refresh_from_db()
    assert (visit.status, len(visit.receipt)) == ("submitted", 64)
    assert walk.give(elsewhere, visit, "no", "", step="about", letter="", base=1).status_code == 409


FLAG = {"on_failure": "continue"}


def test_who_fails_a_check_that_only_flags_goes_on_and_the_failure_is_kept(client):
    visit = check(client, options=FLAG)
    say(client, visit, "yes", "yes")
    first = client.post("/once/about/", {"attempt": "1"}, follow=True)
    say(client, visit, "no", base=1)

    second = client.post("/once/about/", {"attempt": "2"}, follow=True)
    client.post("/group/")
    back = client.get("/once/about/")

    rule = "If an answer is not right in your last attempt, that is noted, and you go on all the same."
    assert f"{rule} This is your last attempt." in first.text
    assert second.redirect_chain[-1][0] == "/group/"
    assert back.url == f"/a/{Assignment.objects.exclude(seat=None).get().code}/"
    visit.refresh_from_db()
    assert visit.status == "open", "what is asked at the end is still to come"
    assert list(StepTaken.failures().values_list("attempt", "wrong")) == [(2, ["item-2"])]
    assert not StepTaken.ends().exists()


@pytest.mark.parametrize(
    ("options", "sentences"),
    [
        ({"attempts": 1}, ["You have one attempt."]),
        ({"attempts": 3}, ["You have 3 attempts.", "This is attempt 2 of 3.", "This is your last attempt."]),
    ],
)
def test_a_check_is_tried_as_often_as_its_step_says(client, options, sentences):
    visit = check(client, options=options)
    pages = []

    for attempt in range(1, len(sentences) + 1):
        pages.append(client.get("/once/about/").text)
        say(client, visit, "yes", ("no", "yes")[attempt % 2], base=attempt - 1)
        client.post("/once/about/", {"attempt": str(attempt)})

    for sentence, page in zip(sentences, pages, strict=True):
        assert f"All answers must be right to go on. {sentence}" in page
    assert client.get("/once/about/").url == "/done/"
    assert StepTaken.ends().get().attempt == len(sentences)


@pytest.mark.parametrize("attempt", ["1", "", "3", "x"])
def test_a_page_of_a_check_that_is_sent_twice_is_one_attempt(client, attempt):
    visit = check(client)
    say(client, visit, "yes", "yes")
    client.post("/once/about/", {"attempt": "1"})

    again = client.post("/once/about/", {"attempt": attempt})

    assert again.url == "/once/about/"
    assert visit.rater.steps_taken.filter(step__key="about").count() == 1


def test_going_on_without_changing_an_answer_is_no_second_attempt(client):
    visit = check(client)
    say(client, visit, "yes", "yes")
    client.post("/once/about/", {"attempt": "1"})

    again = client.post("/once/about/", {"attempt": "2"}, follow=True)

    assert again.redirect_chain[-1][0] == "/once/about/"
    assert "2 answers are not right" in again.text
    assert visit.rater.steps_taken.filter(step__key="about").count() == 1


def test_a_check_with_open_answers_is_no_attempt(client):
    visit = check(client)
    say(client, visit, "yes")

    page = client.post("/once/about/", {"attempt": "1"})

    assert page.status_code == 400
    assert f"Is it good in way 2?</span></a> {responses.UNANSWERED}" in page.text
    assert not visit.rater.steps_taken.filter(step__key="about").exists()


def test_looking_at_ones_answers_reproaches_nobody_and_a_refused_submission_says_what_lacks(client):
    assignment = walk.begin(client, factories.study())
    url = reverse("annotation:check", args=[assignment.code])

    looked = client.get(url).text
    untouched = client.get(walk.address(assignment)).text
    refused = client.post(url)
    told = client.get(walk.address(assignment)).text

    assert ("error-summary" in looked, 'class="problem"' in looked) == (False, False)
    assert responses.UNANSWERED not in untouched
    assert (refused.status_code, "error-summary" in refused.text) == (400, True)
    assert responses.UNANSWERED in told
