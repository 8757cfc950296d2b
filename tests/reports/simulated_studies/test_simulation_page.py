"""The page of a simulated study: a form, a worker, and what was planted and found; for those who may rehearse."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.design import rehearsals
from reports import tasks
from reports.simulated_studies import jobs
from studies.models import Membership, Study, StudyJob
from tests import factories
from tests.factories import NOON
from tests.reports.simulated_studies.test_coverage import scales_and_tests

pytestmark = pytest.mark.django_db
ADDRESS = "/reports/plums/simulation/"


@pytest.fixture
def study() -> Study:
    return scales_and_tests(n_groups=6)


@pytest.fixture
def root(client: Client, study: Study) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


def simulate(client: Client, **fields: Any) -> Any:
    """Press the button, and have a worker do it."""
    response = client.post(ADDRESS, {"n": "12", "seed": "1"} | fields)
    for job in StudyJob.objects.filter(task=jobs.SIMULATE):
        tasks.simulate_study(job.pk)
    return response


def body(client: Client) -> str:
    return re.sub(r"\s+", " ", client.get(ADDRESS).content.decode())


def test_the_page_waits_for_a_worker_and_then_says_what_was_planted_and_found(root: Client, study: Study) -> None:
    assert root.post(ADDRESS, {"n": "12", "seed": "1"}).headers["Location"] == ADDRESS
    assert "<progress" in body(root)
    job = StudyJob.objects.get(task=jobs.SIMULATE)

    tasks.simulate_study(job.pk)

    page = body(root)
    assert "<progress" not in page
    job.refresh_from_db()
    summary = jobs.read_outcome(job)
    assert summary is not None
    assert f"All tests: {summary.outcomes[0].sentence}." in page
    assert [outcome.found_words in page for outcome in summary.outcomes] == [True] * 3
    assert 'href="/reports/plums/rehearsal/"' in page


def test_what_is_under_way_is_not_begun_twice(root: Client, study: Study) -> None:
    for seed in (1, 2):
        root.post(ADDRESS, {"n": "12", "seed": str(seed)})

    assert StudyJob.objects.filter(task=jobs.SIMULATE).count() == 1


@pytest.mark.parametrize(
    "fields", [{"n": "1"}, {"n": "501"}, {"n": "many"}, {"seed": "-1"}, {"effect": "-1"}, {"effect": "nan"}]
)
def test_a_form_that_is_not_right_begins_nothing(root: Client, study: Study, fields: dict[str, str]) -> None:
    response = root.post(ADDRESS, {"n": "12", "seed": "1"} | fields)

    assert response.status_code == 400
    assert b"error-summary" in response.content
    assert not StudyJob.objects.exists()


def test_too_large_an_effect_is_refused_and_the_rehearsal_stays(root: Client, study: Study) -> None:
    user = User.objects.get(username="root")
    rehearsal = rehearsals.renew(study, by=user, sees_sources=True, at=NOON)

    simulate(root, effect="500")

    assert "Choose a smaller effect" in body(root)
    assert rehearsals.find_rehearsal(study, user) == rehearsal


def test_a_launched_study_is_not_simulated(root: Client, study: Study) -> None:
    Study.objects.update(state="live")

    response = root.post(ADDRESS, {"n": "12", "seed": "1"})

    assert response.status_code == 409
    assert not StudyJob.objects.exists()


def test_a_study_that_is_launched_meanwhile_is_not_simulated(root: Client, study: Study) -> None:
    root.post(ADDRESS, {"n": "12", "seed": "1"})
    Study.objects.update(state="live")

    tasks.simulate_study(StudyJob.objects.get().pk)

    assert "changed in the meantime" in StudyJob.objects.get().problem
    assert Study.every.count() == 1


def test_who_may_not_see_sources_is_told_of_halves_alone(client: Client, study: Study) -> None:
    blind = factories.staff("coordinator")
    Membership.objects.create(study=study, user=blind, role="lead")
    client.force_login(blind)
    client.post(ADDRESS, {"n": "12", "seed": "1"})
    job = StudyJob.objects.get()

    # Somebody who lost the right meanwhile: the worker looks at what the account may now.
    StudyJob.objects.update(arguments=job.arguments | {"sees_sources": False})

    assert jobs.find(study, by=blind, sees_sources=False) is not None
    StudyJob.objects.update(arguments=job.arguments | {"sees_sources": True})
    assert jobs.find(study, by=blind, sees_sources=False) is None


def test_somebody_else_sees_nothing_of_it(root: Client, study: Study) -> None:
    simulate(root)
    colleague = Client()
    colleague.force_login(User.objects.create_superuser("colleague"))

    summary = jobs.read_outcome(StudyJob.objects.get())
    assert summary is not None
    assert summary.between in body(root)
    assert summary.between not in body(colleague)


def test_rehearse_has_the_form_and_it_leads_there(root: Client, study: Study) -> None:
    page = root.get("/studies/plums/rehearsal/").content.decode()

    assert f'action="{ADDRESS}"' in page
    assert [f'name="{name}"' in page for name in ("n", "seed")] == [True, True]
