"""Over a real broker: what the button queues, a worker in another process does."""

import os
import subprocess
import time
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotation.models import Response
from judges import catalogue, runs
from judges.models import Attempt, Run, Share
from judges.settlement import attempts
from tests import factories
from tests.judges import standin as told
from tests.judges.conftest import judge_at, started
from tests.judges.standin import Reply, StandIn
from tests.worker import until, working


@pytest.mark.services
def test_a_run_that_was_queued_is_worked_off_by_a_worker_elsewhere(
    committed: None, broker: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # the broker of these tests is the real one
    study = factories.study(n_groups=2, n_items=3)

    run = runs.start(study, catalogue.make_stub_judge(), by="tests")
    with working():
        done = until(lambda: Run.objects.get(pk=run.pk).state == Run.State.FINISHED)

    assert done
    assert runs.count_calls(run) == {"ok": run.n_planned}
    assert run.n_planned == 2 * (4 * 3 + 1 + 4)
    assert Response.objects.filter(assignment__rater__kind="model", outcome="answered").count() == run.n_planned


# A worker ends within 10 s (`tools.trials` counts those that do not). On a slow machine it is late by its own start of
# threads and processes; a lock is waited for 20 s, and calls take a minute.
MOST_SECONDS_TO_END = 15


def seconds_to_end(worker: subprocess.Popen[bytes]) -> float:
    """How long the worker takes to end once it is told to, as a container's stop tells it."""
    told_at = time.monotonic()
    worker.terminate()
    worker.wait(timeout=40)
    return time.monotonic() - told_at


@pytest.fixture
def slow_run(committed: None, broker: None, standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run of eight calls at a server that takes a minute for each."""
    monkeypatch.undo()  # the broker of these tests is the real one
    monkeypatch.setitem(os.environ, "QUIRE_ALLOWED_PRIVATE_ENDPOINTS", standin.base_url.split("/")[2])
    monkeypatch.setitem(os.environ, "STANDIN_API_KEY", "sk-1")
    standin.reply = lambda hit: Reply(told.YES.body, delay=60)
    return started(factories.study(comparative=False), judge_at(standin, timeout_seconds=120))


@pytest.mark.slow
@pytest.mark.services
def test_a_worker_that_is_told_to_end_does_not_wait_for_its_calls_and_marks_what_it_leaves(
    slow_run: Run, standin: StandIn
) -> None:
    with working("threads") as worker:
        assert until(lambda: len(standin.hits) == 2)
        assert seconds_to_end(worker) < MOST_SECONDS_TO_END

    assert list(Attempt.objects.values_list("outcome", flat=True)) == ["unknown_outcome"] * 2
    assert runs.count_calls(slow_run) == {"planned": 8}
    assert not Share.objects.exists()


@pytest.mark.slow
@pytest.mark.services
def test_a_worker_that_is_told_to_end_waits_for_no_lock_and_its_calls_are_opened_again(
    slow_run: Run, standin: StandIn
) -> None:
    with working("threads") as worker:
        assert until(lambda: len(standin.hits) == 2)
        with transaction.atomic():  # on SQLite the only one that may write
            if connection.vendor == "postgresql":
                connection.cursor().execute("LOCK TABLE judges_attempt, judges_share IN ACCESS EXCLUSIVE MODE")
            seconds = seconds_to_end(worker)
    runs.sweep(at=timezone.now() + timedelta(seconds=attempts.LEASE_SECONDS))

    assert seconds < MOST_SECONDS_TO_END
    assert list(Attempt.objects.values_list("outcome", flat=True)) == ["unknown_outcome"] * 2
    assert runs.count_calls(slow_run) == {"planned": 8}
