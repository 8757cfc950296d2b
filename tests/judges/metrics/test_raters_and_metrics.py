"""A metric has run while people are at work: their way, their pages and their answers know nothing of it."""

from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation import simulation
from annotation.models import Assignment, Response
from annotation.progress import work
from judges import catalogue, runs
from studies import protocol
from studies.models import Step, Study
from tests import factories, triggers
from tests.annotation.test_simulation import even
from tests.annotation.walk import HTMX, address, answer_all, begin, come_in, give
from tests.factories import NOON

pytestmark = pytest.mark.django_db

KEY = "metric-length-2"
ITEMS = ("words", "sentences", "paragraphs")
PAGES = ("assignment", "check", "overview")


def measure(study: Study) -> None:
    runs.drain(runs.start(study, catalogue.make_metric_judge("length"), by="tests"))
    assert Response.objects.filter(assignment__rater__kind="metric").exists()


def pages(client: Client, assignment: Assignment) -> dict[str, tuple[int, str]]:
    """Status and text of everything that the rater can look at, without what is new on every page."""
    addresses = [reverse(f"annotation:{name}", args=[assignment.code]) for name in PAGES]
    addresses += [address(assignment, item=item, letter=letter) for item in (1, 2) for letter in "ABCD"]
    addresses += [reverse("annotation:home"), reverse("annotation:part", args=[assignment.code, "ranking"])]
    responses = {path: client.get(path) for path in addresses}
    return {path: (page.status_code, without_tokens(page.text)) for path, page in responses.items()}


def without_tokens(text: str) -> str:
    lines = text.splitlines()
    return "\n".join(line for line in lines if "csrf" not in line.lower() and "nonce" not in line)


def test_a_raters_pages_are_the_same_before_and_after(client: Client) -> None:
    study = factories.study()
    assignment = begin(client, study)
    give(client, assignment)
    pages(client, assignment)  # where the rater last was stands on a page, and looking moves it
    before = pages(client, assignment)

    measure(study)

    assert pages(client, assignment) == before
    assert [status for status, _ in before.values()].count(200) >= 6


def addresses(assignment: Assignment, step: str) -> list[str]:
    """Every address that a step could have, with the items of the metric."""
    by_step = [reverse(f"annotation:{name}", args=[assignment.code, step]) for name in ("part", "stop")]
    by_step += [reverse(f"annotation:{name}", args=[step]) for name in ("once", "briefing")]
    for item in ITEMS:
        by_step.append(reverse("annotation:item", args=[assignment.code, step, item]))
        by_step.append(reverse("annotation:story_item", args=[assignment.code, step, "A", item]))
    return by_step


def form(step: str) -> dict[str, str]:
    return {f"answer-{step}-{item}": "3" for item in ITEMS} | {f"answer-{step}-A-{item}": "3" for item in ITEMS}


@pytest.mark.parametrize("manner", ["get", "post"])
def test_no_address_leads_to_what_a_metric_measures(client: Client, manner: str) -> None:
    study = factories.study()
    assignment = begin(client, study)
    measure(study)
    ask = client.get if manner == "get" else partial(client.post, data=form(KEY))

    statuses = [ask(path, headers=HTMX).status_code for path in addresses(assignment, KEY)]

    assert statuses == [ask(path, headers=HTMX).status_code for path in addresses(assignment, "nowhere")]
    assert set(statuses) <= {302, 404, 405}
    assert not assignment.responses.exists()


def test_a_rater_submits_without_it(client: Client) -> None:
    study = factories.study()
    assignment = begin(client, study)
    measure(study)

    answer_all(client, assignment)
    client.post(reverse("annotation:check", args=[assignment.code]))

    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.SUBMITTED
    assert not assignment.responses.filter(step__key=KEY).exists()


def test_whoever_comes_after_is_led_the_same_way(client: Client) -> None:
    study = factories.study()
    measure(study)

    rater = come_in(client, study)

    page = client.get(reverse("annotation:home"), follow=True)
    assert page.status_code == 200
    assert KEY not in page.text
    assert rater.kind == "person"


def test_work_and_protocol_do_not_know_the_step(client: Client) -> None:
    study = factories.study()
    assignment = begin(client, study)
    measure(study)

    at_work = work.load_work(assignment.code, rater=assignment.rater_id, at=NOON)

    assert at_work is not None
    assert KEY not in [step.key for part in at_work.parts for step in part.steps]
    assert KEY not in [step.key for step in protocol.load_protocol(assignment.version).steps]
    assert Step.objects.get(version=assignment.version, kind="metric").key == KEY


def test_a_study_without_a_reading_desk_does_not_get_one(client: Client) -> None:
    study = factories.study(recognition=True)
    with triggers.lifted():
        Step.objects.filter(version__study=study, key="tests").delete()
        factories.freeze_anew(study)
    assignment = begin(client, study)
    before = facts(assignment)

    measure(study)

    assert facts(assignment) == before


def facts(assignment: Assignment) -> dict[str, Any]:
    at_work = work.load_work(assignment.code, rater=assignment.rater_id, at=NOON)
    assert at_work is not None
    return {"fills_text": at_work.protocol.fills_text, "standing": at_work.standing}


def test_simulated_raters_answer_nothing_of_it() -> None:
    study = factories.study()
    measure(study)

    simulation.simulate(study, even(study), seed=1, begins=NOON)

    of_people = Response.objects.filter(assignment__rater__kind="person")
    assert of_people.exists()
    assert not of_people.filter(step__key=KEY).exists()
