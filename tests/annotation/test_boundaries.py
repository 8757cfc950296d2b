"""Where one rater ends and another begins, and where one question ends: holes that were found and closed."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment, Response
from annotation.responses import submission
from studies import protocol
from studies.models import Step
from tests import factories
from tests.annotation import walk
from tests.factories import NOON

pytestmark = pytest.mark.django_db


def with_step(slug: str, **step: object):
    """A study with one step more, before the questions about stories."""
    study = factories.study(slug, planned=False)
    version = study.versions.get()
    for each in version.steps.order_by("-position").exclude(key="consent"):
        Step.objects.filter(pk=each.pk).update(position=each.position + 1)
    Step.objects.create(version=version, position=2, **step)
    factories.plan(study)
    return study


def test_a_second_rater_in_the_same_browser_is_briefed_too() -> None:
    study = with_step("briefed", key="brief", kind="briefing", text="Read slowly.")
    client = Client()
    walk.come_in(client, study)
    client.post(reverse("annotation:consent"), {"agrees": "yes"})
    client.post(reverse("annotation:briefing", args=["brief"]))

    walk.come_in(client, study)
    agreed = client.post(reverse("annotation:consent"), {"agrees": "yes"})

    assert agreed.url == reverse("annotation:briefing", args=["brief"])


def test_what_is_asked_once_is_not_answered_in_a_group_nor_the_reverse() -> None:
    survey = factories.instrument("survey", n_items=1, rationale="none", rationale_least=0)
    study = with_step("asked", key="survey", kind="rating", instrument=survey, scope="once")
    client = Client()
    rater = walk.come_in(client, study)
    client.post(reverse("annotation:consent"), {"agrees": "yes"})
    client.post(reverse("annotation:item", args=[visit_of(client, rater).code, "survey", "item-1"]), answer("survey"))
    client.post(reverse("annotation:once", args=["survey"]))
    client.post(reverse("annotation:begin"))
    mine = rater.assignments.exclude(seat=None).get()
    n_before = Response.objects.count()

    in_group = client.post(reverse("annotation:item", args=[mine.code, "survey", "item-1"]), answer("survey"))
    in_visit = client.post(
        reverse("annotation:item", args=[rater.assignments.get(seat=None).code, "ranking", "item-1"]), answer("ranking")
    )

    assert (in_group.status_code, in_visit.status_code) == (404, 404)
    assert n_before == Response.objects.count() == 1


def visit_of(client: Client, rater) -> Assignment:
    client.get(reverse("annotation:once", args=["survey"]))
    return rater.assignments.get(seat=None)


def answer(step: str) -> dict[str, str]:
    return {f"answer-{step}-item-1": "yes", "rationale": "", "base": "0"}


def test_an_answer_cleared_while_the_group_is_submitted_stops_the_submission() -> None:
    mine = factories.assignment(factories.study())
    factories.answer_all(mine)

    def cleared() -> bool:
        Response.objects.filter(assignment=mine, item__key="item-1", step__key="tests").update(
            outcome="open", value=None
        )
        return not Response.objects.filter(assignment=mine, outcome="open").exists()

    with pytest.raises(submission.Incomplete):
        submission.submit(mine, at=NOON, is_complete=cleared)

    mine.refresh_from_db()
    assert (mine.status, mine.receipt) == ("open", "")


def test_the_frozen_protocol_holds_the_premises_that_raters_see() -> None:
    study = factories.study(planned=False)
    study.shows_premise = True
    study.save()
    before = protocol.write_document(protocol.load_protocol(protocol.draft(study)))

    study.groups.update(premise="Another premise")

    assert protocol.write_document(protocol.load_protocol(protocol.draft(study))) != before


@pytest.mark.parametrize("back", ["admin", "foo", "//example.org", "javascript:alert(1)", "https://example.org/", ""])
def test_reading_settings_send_nobody_elsewhere(back: str) -> None:
    kept = Client().post(reverse("annotation:reading"), {"back": back})

    assert (kept.status_code, kept.url) == (302, reverse("annotation:home"))
