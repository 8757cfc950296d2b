"""The lists of runs, judges and prompts: how calls ended, what a list reads, and nothing of another study."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from judges import catalogue, runs
from judges.models import Call, Judge, Run
from studies.models import Study
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return factories.study(n_stories=2, n_items=1)


@pytest.fixture
def judge() -> Judge:
    return catalogue.make_stub_judge()


@pytest.fixture
def run(study: Study, judge: Judge) -> Run:
    return runs.start(study, judge, by="ann")


def test_the_list_of_runs_counts_the_calls_of_each_by_how_they_ended(client: Client, study: Study, run: Run) -> None:
    other = runs.start(study, catalogue.make_stub_judge("stub-other"), by="ann")
    first, second = run.calls.order_by("pk")[:2]
    Call.objects.filter(pk=first.pk).update(state=Call.State.OK)
    Call.objects.filter(pk=second.pk).update(state=Call.State.REFUSED)

    client.force_login(factories.staff("researcher"))
    rows = client.get("/studies/plums/runs/").context["rows"]

    assert {(row.run.pk, row.n_answered, row.n_without) for row in rows} == {(run.pk, 1, 1), (other.pk, 0, 0)}


def test_the_list_of_runs_leaves_their_documents_in_the_database(client: Client, run: Run) -> None:
    client.force_login(factories.staff("researcher"))

    with CaptureQueriesContext(connection) as queries:
        html = client.get("/studies/plums/runs/").content.decode()

    assert run.judge.slug in html
    assert not [query["sql"] for query in queries if '"judges_run"."document"' in query["sql"]]


@pytest.mark.parametrize("address", ["judges/", "prompts/"])
def test_lists_that_all_studies_share_count_the_runs_of_their_own_study_alone(
    client: Client, study: Study, judge: Judge, address: str
) -> None:
    elsewhere = factories.study("pears", n_stories=2, n_items=1)
    runs.start(study, judge, by="ann")
    runs.start(elsewhere, judge, by="ann")
    judge_of_pears = catalogue.make_stub_judge("stub-of-pears")
    runs.start(elsewhere, judge_of_pears, by="ann")

    client.force_login(factories.staff("researcher"))
    rows = client.get(f"/studies/plums/{address}").context["rows"]

    shared = [row[0] if isinstance(row, tuple) else row for row in rows]
    assert sum(row.n_runs for row in shared) == 1
