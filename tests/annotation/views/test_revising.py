"""A step that revises an earlier one: what was answered there stands above the same question again."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Response
from studies import protocol
from studies.models import Item, Step, Study
from tests import factories, triggers
from tests.annotation import walk
from tests.replay import replayed

pytestmark = pytest.mark.django_db


@pytest.fixture
@replayed
def study() -> Study:
    """Measures are written once, and then beside each story."""
    made = factories.study(planned=False, comparative=False, n_stories=2)
    tests = Step.objects.get(version__study=made, key="tests")
    with triggers.lifted():
        Item._base_manager.filter(instrument=tests.instrument).update(type="text", rationale="none")
    Step.objects.filter(pk=tests.pk).update(position=3, revises="first")
    Step.objects.create(
        version=tests.version, position=2, key="first", kind="rating", instrument=tests.instrument, scope="once"
    )
    factories.plan(made)
    return made


@pytest.fixture
def client(study: Study) -> Client:
    """Somebody who has written the first measure and left the second out."""
    found = Client()
    rater = walk.come_in(found, study)
    found.post(reverse("annotation:consent"), {"agrees": "yes"})
    found.get(reverse("annotation:once", args=["first"]))
    visit = rater.assignments.get(seat=None)
    factories.answer(visit, step="first", letter="", value="Who is speaking?\nTo whom?")
    factories.answer(visit, step="first", letter="", item=2, value="Nothing.")
    found.post(reverse("annotation:once", args=["first"]))
    found.post(reverse("annotation:begin"))
    return found


def test_the_earlier_answer_stands_above_the_question(client: Client) -> None:
    mine = Response.objects.first().assignment.rater.assignments.exclude(seat=None).get()

    page = client.get(walk.address(mine)).text

    assert "Your earlier answer" in page
    assert "Who is speaking?\nTo whom?" in page
    assert "Nothing." not in page


def test_it_costs_one_query_and_nothing_where_nothing_is_revised(client: Client, django_assert_num_queries) -> None:
    mine = Response.objects.first().assignment.rater.assignments.exclude(seat=None).get()

    client.get(walk.address(mine))  # the protocol is in memory from now on
    with django_assert_num_queries(8):
        client.get(walk.address(mine))
    with triggers.lifted():
        Step.objects.update(revises="")
        factories.freeze_anew(Study.objects.get())
    client.get(walk.address(mine))
    with django_assert_num_queries(7):
        page = client.get(walk.address(mine)).text
    assert "Your earlier answer" not in page


@pytest.mark.parametrize("change", [{"key": "other"}, {"scope": "group"}, {"position": 9}])
def test_a_step_that_revises_none_that_fits_cannot_be_planned(study: Study, change: dict[str, object]) -> None:
    with triggers.lifted():
        Step.objects.filter(key="first").update(**change)

    findings = protocol.collect_findings(study, protocol.read_rows(study.versions.get()))

    assert [str(finding) for finding in findings if finding.level == "error"] == [
        "“The tests” revises “first”, which is no earlier step with the same instrument and scope"
    ]
