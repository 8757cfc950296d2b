"""Practising on a story: one's own answers first, then sample answers beside them, and none of it in any result."""

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation import progress
from annotation.models import Rater, Response
from annotation.progress.rater_progress import load_rater_progress
from judges import catalogue, planning
from reports import results
from reports.dataset import Dataset
from reports.export import codebook, long_table
from studies import protocol
from studies.models import Step, Study
from tests import factories, triggers
from tests.annotation import walk
from tests.replay import replayed

pytestmark = pytest.mark.django_db
PAGE = "/once/practice/"
WHY = "A sample reason that stands nowhere else."


@pytest.fixture
@replayed
def study() -> Study:
    return factories.practising_study()


@pytest.fixture
def rater(client: Client, study: Study) -> Rater:
    """Somebody who has agreed to take part."""
    found = walk.come_in(client, study)
    client.post(reverse("annotation:consent"), {"agrees": "yes"})
    return found


def answer(client: Client, rater: Rater) -> None:
    client.get(PAGE)
    visit = rater.assignments.get(seat=None)
    walk.give(client, visit, "yes", "Because.", step="practice", item=2, letter="")


def test_the_practice_stands_between_consent_and_the_first_group(client: Client, rater: Rater) -> None:
    page = client.get("/", follow=True)

    assert page.redirect_chain[-1][0] == PAGE
    assert "Somebody <i>still</i> sold tickets." in page.text
    assert "Is it good in way 2?" in page.text
    assert "Is it good in way 1?" not in page.text


def test_the_sample_answer_shows_only_beside_ones_own(client: Client, rater: Rater) -> None:
    assert WHY not in client.get(PAGE).text
    lacking = client.post(PAGE, {"compared": "yes"})
    assert (lacking.status_code, WHY in lacking.text) == (400, False)
    answer(client, rater)
    assert WHY not in client.get(PAGE).text

    compared = client.post(PAGE)

    assert compared.status_code == 200
    assert WHY in compared.text
    assert '<strong><span lang="en">No</span></strong>' in compared.text
    assert client.get("/", follow=True).redirect_chain[-1][0] == PAGE, "comparing is not going on"


def test_a_sample_answer_is_said_as_it_would_be_stored(client: Client, study: Study, rater: Rater) -> None:
    with triggers.lifted():
        Step.objects.filter(key="practice").update(samples={"item-2": {"value": "YES", "why": WHY}})
        factories.freeze_anew(study)
    answer(client, rater)

    assert '<strong><span lang="en">Yes</span></strong>' in client.post(PAGE).text


def test_the_page_takes_twelve_queries(
    client: Client, rater: Rater, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    answer(client, rater)
    client.get(PAGE)  # the protocol is in memory from now on

    with django_assert_num_queries(12):
        page = client.get(PAGE)
    with django_assert_num_queries(12):
        compared = client.post(PAGE)

    assert (page.status_code, compared.status_code) == (200, 200)
    assert (WHY in page.text, WHY in compared.text) == (False, True)


def test_after_comparing_one_goes_on_and_does_not_come_back(client: Client, rater: Rater) -> None:
    answer(client, rater)
    client.post(PAGE)

    assert client.post(PAGE, {"compared": "yes"}).headers["Location"] == reverse("annotation:begin")
    assert client.get(PAGE).headers["Location"] == reverse("annotation:begin")
    rater.refresh_from_db()
    assert progress.next_page(load_rater_progress(rater)).name == "begin"


def test_no_result_and_no_file_counts_it_and_the_report_says_how_many_were_left_out(
    client: Client, study: Study, rater: Rater
) -> None:
    answer(client, rater)
    assert Response.objects.filter(step__key="practice").count() == 1

    found = results.compute(study)

    assert {key for key, _ in [item.key for item in Dataset.of(study).items]} == {"tests"}
    assert list(long_table.rows(study, with_sources=False)) == []
    assert not [row for row in codebook.rows(study, with_sources=False) if row["name"].startswith("practice/")]
    assert (found["progress"]["n_answers"], found["progress"]["left_out"]["practice"]) == (0, 1)


def test_what_was_practised_cannot_be_revised_by_a_step(study: Study) -> None:
    """A step that revises another shows its answers; a practice is about another story."""
    read = protocol.load_protocol(study.versions.get())
    tests = read.step("tests")
    assert tests is not None
    tests.revises = "practice"

    assert read.revised_by(tests) is None


def test_judges_do_not_practise(study: Study) -> None:
    (calls,) = planning.plan_run(study, catalogue.make_stub_judge()).calls.values()

    assert {call.step.key for call in calls} == {"tests"}
