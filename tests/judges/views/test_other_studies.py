"""Pages of judges and prompts, which all studies share, show nothing of a study that their reader is no member of."""

from collections.abc import Iterator
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from judges import catalogue, runs
from judges.models import Attempt, Call, Judge, Price, Run
from studies.models import Membership, Study
from tests import factories
from tests.judges.views.pages import words

pytestmark = pytest.mark.django_db
NAME = "Sorrel pears"


@pytest.fixture
def judge() -> Judge:
    return catalogue.make_stub_judge()


@pytest.fixture
def run(judge: Judge) -> Run:
    """A run of another study, which has cost something and been answered."""
    elsewhere = factories.study("sorrel", n_stories=3, n_items=1, state="draft", planned=False)
    Study.objects.filter(pk=elsewhere.pk).update(title=NAME)
    sums = {"valid_from": timezone.localdate(), "usd_per_million_in": 3, "usd_per_million_out": 15}
    Price.objects.create(adapter=judge.required_endpoint.adapter, model=judge.model, **sums)
    run = runs.start(elsewhere, judge, by="sorrel-coordinator", budget=Decimal("76.54"))
    runs.drain(run)
    Attempt.objects.update(cost=Decimal("1.23456"))
    return run


@pytest.fixture
def member(client: Client) -> Client:
    """A researcher of one study alone, who is no member of the other."""
    study = factories.study(n_stories=2, n_items=1)
    user = factories.staff("")
    Membership.objects.create(study=study, user=user, role="researcher")
    client.force_login(user)
    return client


def addresses(run: Run) -> Iterator[str]:
    yield from ("judges/", "prompts/", "judges/new/", "runs/", "runs/new/", "judges/panel/", "prompts/new/")
    judge = run.judge
    yield from (f"judges/{judge.pk}/", f"judges/new/?like={judge.pk}", f"runs/new/?judge={judge.pk}")
    yield from (f"prompts/{judge.prompt_id}/", f"prompts/new/?like={judge.prompt_id}")


def test_shared_pages_name_no_other_study_none_of_its_runs_and_no_cost(member: Client, run: Run) -> None:
    for address in addresses(run):
        response = member.get(f"/studies/plums/{address}")

        assert response.status_code == 200, address
        html = response.content.decode()
        for leak in ("sorrel", NAME, f"/runs/{run.pk}/", "76.54", "1.23", "6.17"):
            assert leak not in html, (address, leak)
        if address in ("judges/", "prompts/"):
            rows = [row[0] if isinstance(row, tuple) else row for row in response.context["rows"]]
            assert sum(row.n_runs for row in rows) == 0, address


def test_a_run_of_another_study_is_not_found_by_its_number(member: Client, run: Run) -> None:
    call = Call.objects.filter(run=run)[0]

    for address in (f"runs/{run.pk}/", f"runs/{run.pk}/calls/", f"runs/{run.pk}/calls/{call.pk}/"):
        assert member.get(f"/studies/plums/{address}").status_code == 404, address
        assert member.get(f"/studies/sorrel/{address}").status_code in (403, 404), address


def test_there_is_something_to_leak(client: Client, run: Run) -> None:
    client.force_login(factories.staff("researcher"))

    page = words(client.get(f"/studies/sorrel/runs/{run.pk}/").content.decode())
    listed = client.get("/studies/sorrel/runs/").content.decode()

    assert NAME in page
    assert "76.54" in page
    assert f"/runs/{run.pk}/" in listed
    assert run.judge.slug in listed
