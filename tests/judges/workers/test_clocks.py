"""A clock that is set back by two hours: nothing of judges waits longer than it ever does."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from judges import catalogue, runs
from judges.endpoints import limits
from judges.models import Attempt, ProviderBatch, Run, Share
from judges.runs import queues
from judges.settlement import attempts
from judges.workers import batches
from judges.workers.jobs import is_due
from judges.workers.ledger import Ledger
from studies.models import Study
from tests import factories

pytestmark = pytest.mark.django_db
BACK = timedelta(hours=2)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def now() -> datetime:
    """After the clock was set back."""
    return timezone.now() - BACK


@pytest.fixture
def study() -> Study:
    return factories.study(n_stories=2, n_items=1)


@pytest.fixture
def run(study: Study) -> Run:
    return runs.start(study, catalogue.make_stub_judge(), by="ann")


def begin(run: Run, worker: str, *, lease_seconds: float = attempts.LEASE_SECONDS) -> Attempt:
    """An attempt that was sent before the clock was set back."""
    at = timezone.now()
    calls = attempts.choose_due(run, n=1, at=at)
    (attempt,) = attempts.begin(calls, worker=worker, probes=(), shares={}, at=at, lease_seconds=lease_seconds)
    return attempt


def test_a_rest_ends_and_a_dead_workers_share_is_free_as_soon_as_after_any_other(now: datetime, run: Run) -> None:
    endpoint = run.judge.required_endpoint
    limits.rest(endpoint, "HTTP 429", seconds=30, at=now + BACK)
    limits.take_share(endpoint.pk, "dead", n_busy=0, at=now + BACK)

    queues.sweep(at=now)

    endpoint.refresh_from_db()
    assert endpoint.resting_until is not None
    assert endpoint.resting_until <= now + 10 * MINUTE
    assert Share.objects.get().until <= now + timedelta(seconds=limits.SHARE_SECONDS)


def test_a_worker_by_itself_shortens_rests_too(now: datetime, run: Run) -> None:
    endpoint = run.judge.required_endpoint
    ledger = Ledger(endpoint, at=now + BACK)
    ledger.turn([], [], n_wanted=0, n_busy=0, size=None, at=now + BACK)
    limits.rest(endpoint, "HTTP 429", seconds=30, at=now + BACK)

    ledger.turn([], [], n_wanted=0, n_busy=0, size=None, at=now)

    endpoint.refresh_from_db()
    assert endpoint.resting_until is not None
    assert endpoint.resting_until <= now + 10 * MINUTE


def test_a_dead_workers_call_is_opened_again_after_its_lease_and_a_batchs_is_not(now: datetime, run: Run) -> None:
    dead = begin(run, "dead")
    ProviderBatch.objects.create(run=run, name="batch", n_calls=1, created_at=now + BACK, due_at=now + BACK)
    waiting = begin(run, "batch", lease_seconds=batches.LEASE_SECONDS)

    n_released = [attempts.release_expired(at=now + timedelta(seconds=seconds)) for seconds in (0, 29, 31)]

    assert n_released == [0, 0, 1]
    assert [attempt.outcome for attempt in Attempt.objects.order_by("pk")] == ["unknown_outcome", ""]
    waiting.refresh_from_db()
    assert (dead.pk < waiting.pk, waiting.lease_until) == (True, waiting.sent_at + timedelta(hours=26))


def test_a_worker_that_lives_renews_its_leases_after_the_step(now: datetime, run: Run) -> None:
    endpoint = run.judge.required_endpoint
    ledger = Ledger(endpoint, at=now + BACK)
    begin(run, ledger.worker)

    ledger.turn([], [], n_wanted=0, n_busy=1, size=None, at=now)
    ledger.turn([], [], n_wanted=0, n_busy=1, size=None, at=now + timedelta(seconds=20))

    assert Attempt.objects.get().lease_until == now + timedelta(seconds=20 + attempts.LEASE_SECONDS)
    assert attempts.release_expired(at=now + timedelta(seconds=40)) == 0


def test_a_call_is_tried_again(now: datetime, run: Run) -> None:
    run.calls.update(not_before=now + BACK + MINUTE)

    assert len(attempts.choose_due(run, n=9, at=now)) == run.calls.count()
    run.calls.update(not_before=now + MINUTE)
    assert not attempts.choose_due(run, n=9, at=now)


def test_a_metric_and_a_batch_are_looked_at_again(now: datetime, study: Study, run: Run) -> None:
    measured = runs.start(study, catalogue.make_metric_judge("length"), by="ann")
    Run.objects.filter(pk=measured.pk).update(busy_until=now + BACK + MINUTE)
    ProviderBatch.objects.create(run=run, name="batch", n_calls=1, created_at=now, due_at=now + BACK + MINUTE)

    queues.sweep(at=now)

    measured.refresh_from_db()
    assert measured.busy_until is not None
    assert measured.busy_until <= now + MINUTE
    assert ProviderBatch.objects.get().due_at <= now + 10 * MINUTE


def test_what_is_done_every_few_seconds_is_due_after_the_step(now: datetime) -> None:
    due = [is_due(now, 10, at=now + timedelta(seconds=seconds)) for seconds in (-7200, -1, 0, 9, 10)]

    assert due == [True, True, False, False, True]
