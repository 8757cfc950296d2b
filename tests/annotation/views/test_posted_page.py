"""A page of several questions that is posted as a whole, as browsers do in which no script has run."""

import re
from unittest.mock import patch

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import responses
from annotation.models import Assignment, Response, ResponseEvent
from annotation.progress.rater_progress import load_rater_progress
from studies.models import Step
from tests import factories
from tests.annotation import walk
from tests.annotation.arriving import check, steps_around
from tests.annotation.plain_browser import Sheet

pytestmark = pytest.mark.django_db


def posted(page: str, **answers: str) -> dict[str, object]:
    """What the form with the page's principal button sends, these fields filled in."""
    form = next(form for form in Sheet(page).forms if form.principal)
    fields = {c.name: c.value for c in form.controls if c.kind in ("hidden", "textarea") and c.name}
    assert set(answers) <= {c.name for c in form.controls}, "all fields stand in one form"
    return fields | answers


def test_a_check_is_passed_without_scripts(client: Client) -> None:
    visit = check(client)
    answers = {"answer-about-item-1": "no", "answer-about-item-2": "no"}

    passed = client.post("/once/about/", posted(client.get("/once/about/").text, **answers))

    assert passed.url == "/group/"
    assert [value for value, _ in walk.said(visit)] == ["no", "no"]


@pytest.mark.parametrize(
    ("options", "way"), [({"attempts": 1, "on_failure": "continue"}, "/group/"), ({"attempts": 1}, "/done/")]
)
def test_a_failing_check_that_is_posted_twice_at_once_fails_once(
    client: Client, options: dict[str, object], way: str
) -> None:
    visit = check(client, options=options)
    page = posted(client.get("/once/about/").text, **{f"answer-about-item-{n}": "yes" for n in (1, 2)})
    stale = load_rater_progress(visit.rater)

    first = client.post("/once/about/", page)
    # The second was let in before the first was kept.
    with patch(
        "annotation.views.rater.routing.load_rater_progress", side_effect=[stale, load_rater_progress(visit.rater)]
    ):
        client.post("/once/about/", page)
    client.post("/once/about/", page | {"attempt": "2"})

    assert first.url == client.get("/once/about/").url == way
    taken = visit.rater.steps_taken.filter(step__key="about")
    assert list(taken.values_list("attempt", "wrong")) == [(1, ["item-1", "item-2"])]


def test_what_could_not_be_kept_stands_at_its_item_and_the_rest_is_stored(client: Client) -> None:
    visit = check(client)
    page = client.get("/once/about/").text
    answers = {"answer-about-item-1": "no", "answer-about-item-2": "maybe"}

    refused = client.post("/once/about/", posted(page, **{"answer-about-item-1": "no"}) | answers)

    assert refused.status_code == 400
    assert "Not everything could be saved" in refused.text
    assert 'href="#item-about-item-2"' in refused.text
    assert [value for value, _ in walk.said(visit)] == ["no"]
    assert not visit.rater.steps_taken.filter(step__key="about").exists(), "that was no attempt"


def test_a_page_that_is_posted_twice_writes_once(client: Client) -> None:
    assignment = walk.begin(client, factories.study(n_stories=2))
    for letter in "AB":
        walk.give(client, assignment, letter=letter)
    url = reverse("annotation:part", args=[assignment.code, "ranking"])
    answers = {f"answer-guess-{letter}-item-1": "ai" for letter in "AB"}
    answers |= {"answer-ranking-item-1_A": "2", "answer-ranking-item-1_B": "1"}
    n_before = ResponseEvent.objects.count()
    sent = posted(client.get(url).text, **answers)

    pages = [client.post(url, sent) for _ in range(2)]

    assert {page.url for page in pages} == {reverse("annotation:check", args=[assignment.code])}
    assert ResponseEvent.objects.count() == n_before + 3


def test_an_answer_that_nobody_touched_here_is_no_conflict_and_one_that_was_is(client: Client) -> None:
    visit = check(client)
    sent = posted(client.get("/once/about/").text)
    walk.give(client, visit, "no", "", step="about", item=1, letter="")
    walk.give(client, visit, "no", "", step="about", item=2, letter="")

    untouched = client.post("/once/about/", sent)
    touched = client.post("/once/about/", sent | {"answer-about-item-2": "yes"})

    assert untouched.url == "/group/"
    assert touched.status_code == 409, "the check is passed, and nothing is written over"
    assert "You have moved on in another window" in touched.text
    assert "Yes</blockquote>" in touched.text
    assert [value for value, _ in walk.said(visit)] == ["no", "no"]


def test_words_from_a_window_that_was_left_behind_come_back_to_be_copied(client: Client) -> None:
    study = factories.study(planned=False)
    steps_around(study)
    study_once = factories.instrument("about-you", n_items=1, type="text", rationale="none", rationale_least=0)
    Step.objects.filter(key="about").update(instrument=study_once)
    factories.plan(study)
    walk.come_in(client, study)
    client.post("/consent/", {"agrees": "yes"})
    client.post("/briefing/welcome/")
    sent = posted(client.get("/once/about/").text, **{"answer-about-item-1": "I teach."})
    client.post("/once/about/", sent)

    again = client.post("/once/about/", sent)
    behind = client.post("/once/about/", sent | {"answer-about-item-1": "I teach,\n    and I write."})

    assert again.url == "/group/", "what is saved in these words is not lost"
    assert behind.status_code == 409
    assert "\nI teach,\n    and I write.</blockquote>" in behind.text
    assert Response.objects.get().value == "I teach."


def test_an_answer_changed_in_two_windows_is_said_and_kept_when_saved_once_more(client: Client) -> None:
    assignment = walk.begin(client, factories.study(n_stories=2))
    for letter in "AB":
        walk.give(client, assignment, letter=letter)
    url = reverse("annotation:part", args=[assignment.code, "ranking"])
    sent = posted(client.get(url).text, **{"answer-guess-A-item-1": "ai"})
    walk.give(client, assignment, "amateur", "", step="guess")

    conflict = client.post(url, sent)
    client.post(url, posted(conflict.text, **{"answer-guess-A-item-1": "ai"}))

    assert conflict.status_code == 400
    assert "Changed in another window" in conflict.text
    assert Response.objects.get(step__key="guess").value == "ai"


def test_a_page_that_comes_too_fast_comes_back_with_its_answers_and_can_be_sent_again(client: Client) -> None:
    visit = check(client)
    sent = posted(client.get("/once/about/").text, **{"answer-about-item-1": "no", "answer-about-item-2": "no"})
    Assignment.objects.update(saves_until=timezone.now().timestamp() + 11)

    refused = client.post("/once/about/", sent)

    assert (refused.status_code, walk.said(visit)) == (429, [])
    assert 1 <= int(refused.headers["Retry-After"]) <= 6
    assert refused.text.count(responses.TOO_FAST) >= 2
    assert len(re.findall(r'name="answer-about-item-\d"[^>]* value="no"[^>]* checked', refused.text)) == 2
    assert not visit.rater.steps_taken.filter(step__key="about").exists(), "that was no attempt"

    Assignment.objects.update(saves_until=0)

    assert client.post("/once/about/", sent).url == "/group/"
    assert [value for value, _ in walk.said(visit)] == ["no", "no"]


def test_a_page_of_comparisons_that_comes_too_fast_goes_nowhere(client: Client) -> None:
    assignment = walk.begin(client, factories.study(n_stories=2))
    for letter in "AB":
        walk.give(client, assignment, letter=letter)
    url = reverse("annotation:part", args=[assignment.code, "ranking"])
    sent = posted(client.get(url).text, **{"answer-guess-A-item-1": "ai"})
    Assignment.objects.update(saves_until=timezone.now().timestamp() + 11)

    refused = client.post(url, sent)

    assert refused.status_code == 429
    assert "Retry-After" in refused.headers
    assert Response.objects.filter(step__key="guess").count() == 0
