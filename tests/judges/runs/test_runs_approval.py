"""A run that is planned sends nothing before a person approves it; what was estimated is kept with it."""

from decimal import Decimal
from typing import Any

import pytest

from annotation.models import Assignment, Rater, Seat
from judges import lifecycle, runs
from judges.models import Call, Run, Text
from judges.planning import CannotRun
from judges.planning.estimates import RunEstimate
from judges.runs import retries
from studies.models import Study
from tests.judges.conftest import judge_at, sendable
from tests.judges.planning.test_budget import price
from tests.judges.standin import StandIn

pytestmark = pytest.mark.django_db


@pytest.fixture
def planned(study: Study, standin: StandIn) -> Run:
    judge = judge_at(standin)
    price(judge)
    return runs.plan(sendable(study), judge, by="ann", budget=Decimal(1), resends_unknown=False)


def test_a_run_without_approval_sends_nothing_whoever_asks_for_it(
    planned: Run, standin: StandIn, queued: list[int]
) -> None:
    runs.drain(planned)
    with pytest.raises(CannotRun, match="has not been approved yet"):
        runs.resume(planned)
    with pytest.raises(CannotRun, match=retries.NO_CALLS.removeprefix("%(run)s ")):
        runs.retry(planned)

    planned.refresh_from_db()
    assert (planned.state, planned.approved_at, standin.hits, queued) == (Run.State.PLANNED, None, [], [])


def test_the_estimate_and_who_approved_it_are_kept(
    planned: Run, queued: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        run = runs.approve(planned, by="bea")

    assert (run.created_by, run.approved_by, run.budget, run.resends_unknown) == ("ann", "bea", 1, False)
    assert run.approved_at is not None
    assert queued == [run.judge.endpoint_id]
    estimate = RunEstimate.load(run.estimate)
    assert estimate is not None
    assert (estimate.n_calls, estimate.n_reused, estimate.n_tokens_out) == (8, 0, 2400)
    assert estimate.cost == (2 * Decimal(estimate.n_tokens_in) + 10 * 2400) / 1_000_000
    assert runs.drain(run).state == Run.State.FINISHED
    with pytest.raises(CannotRun, match="approved already"):
        runs.approve(run, by="bea")


def test_a_planned_run_is_taken_back_with_all_its_rows(planned: Run, study: Study) -> None:
    assert Text.objects.exclude(story=None).exists()

    runs.discard(planned)

    assert not Run.objects.exists()
    assert not Call.objects.exists()
    assert not Assignment.objects.exists()
    assert not Seat.objects.exclude(rater_kind="person").exists()
    assert not Rater.objects.exists()
    assert not Text.objects.exclude(story=None).exists()
    assert runs.start(study, planned.judge, by="ann").n_planned == 8


def test_an_approved_run_is_not_taken_back(planned: Run) -> None:
    run = runs.approve(planned, by="bea")

    with pytest.raises(CannotRun, match=lifecycle.APPROVED % {"run": run}):
        runs.discard(run)
    assert Call.objects.count() == 8
