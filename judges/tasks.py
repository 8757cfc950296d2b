"""Celery tasks. They take ids only; all state is in the database, so a lost or repeated message does no harm."""

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from celery import shared_task
from celery.signals import worker_shutting_down
from django.utils import timezone

from judges import runs, signals, workers
from judges.endpoints import connection_tests
from judges.models import ConnectionTest, Endpoint, Run
from judges.runs import planning_jobs
from judges.workers import batches

# After this long a worker gives way to other work, if any waits, and queues what is left again.
TURN_SECONDS = 60
# A process that was told to end has so long; whatever it still waits for then, a lock or a provider, it leaves.
END_SECONDS = 9.0
# What takes longer than a moment where judges run.
OWN_TASKS = frozenset(f"judges.tasks.{name}" for name in ("work", "batch", "measure"))
_busy: set[int] = set()  # endpoints at which this process works
_turns: set[object] = set()  # turns of judges that this process has in hand
_lock = threading.Lock()

log = logging.getLogger(__name__)


@worker_shutting_down.connect  # type: ignore[untyped-decorator]
def stop_workers(**_: object) -> None:
    """Have the loops of this process begin no more calls; if it is at one, have it end in time."""
    workers.stopping.set()
    if _turns:
        timer = threading.Timer(END_SECONDS, _end)
        timer.daemon = True
        timer.start()


def _end() -> None:
    """End the process at once, unless it is at something else than judges.

    Nothing is lost, as by kill -9: what was not committed is rolled back, and what is under way is opened again when
    its lease runs out.
    """
    from celery.worker import state  # here, so that processes which only send tasks come without it

    if any(request.name not in OWN_TASKS for request in state.active_requests):
        return
    if _turns:
        log.warning("told to end %g seconds ago and still at work: leaving it to others", END_SECONDS)
    os._exit(1 if _turns else 0)


@contextmanager
def _turn() -> Iterator[None]:
    """Note that a turn is in hand as long as this holds."""
    token = object()
    _turns.add(token)
    try:
        yield
    finally:
        _turns.discard(token)


@shared_task  # type: ignore[untyped-decorator]
def work(endpoint_id: int) -> None:
    """One worker's turn at an endpoint; nothing if this process or enough others are at it."""
    with _turn():
        _work(endpoint_id)


def _work(endpoint_id: int) -> None:
    endpoint = Endpoint.objects.filter(pk=endpoint_id).first()
    with _lock:
        is_surplus = endpoint_id in _busy or workers.stopping.is_set()
        if endpoint is None or is_surplus:
            return
        _busy.add(endpoint_id)
    successor_may_come = threading.Event()

    def hand_over() -> None:
        successor_may_come.set()
        _leave(endpoint_id)
        runs.queue_endpoint(endpoint_id)

    try:
        has_worked = workers.work(endpoint, workers.Shift(TURN_SECONDS, stays=True, hand_over=hand_over))
    except workers.CannotConnect as error:
        for run in Run.objects.filter(judge__endpoint=endpoint, state=Run.State.RUNNING):
            runs.stop(run, error.sentence, **error.values)
        return
    finally:
        if not successor_may_come.is_set():
            _leave(endpoint_id)
    if successor_may_come.is_set() or workers.stopping.is_set() or not has_worked:
        return
    if Run.objects.filter(judge__endpoint=endpoint_id, state=Run.State.RUNNING).exists():
        runs.queue_endpoint(endpoint_id)


def _leave(endpoint_id: int) -> None:
    with _lock:
        _busy.discard(endpoint_id)


@shared_task  # type: ignore[untyped-decorator]
def measure(run_id: int) -> None:
    """One worker's turn at the run of a metric."""
    with _turn():
        run = Run.objects.select_related("judge", "study").filter(pk=run_id).first()
        if run is not None and runs.measure(run, seconds=TURN_SECONDS).state == Run.State.RUNNING:
            runs.queue(run)


@shared_task  # type: ignore[untyped-decorator]
def batch(run_id: int) -> None:
    """Hand in the run's next batch, or look how the one that was handed in is getting on."""
    with _turn():
        run = Run.objects.select_related("judge__endpoint", "study").filter(pk=run_id).first()
        if run is not None and not workers.stopping.is_set():
            batches.advance(run, at=timezone.now())


@shared_task  # type: ignore[untyped-decorator]
def sweep() -> None:
    """Open again what dead workers held, and queue what too few have in hand; others look for theirs."""
    at = timezone.now()
    runs.sweep(at=at)
    signals.swept.send(sweep, at=at)


@shared_task  # type: ignore[untyped-decorator]
def preview_run(job_id: int) -> None:
    """Look what a run of many calls would ask; nothing if that is done or another worker is at it."""
    planning_jobs.carry_out_preview(job_id)


@shared_task  # type: ignore[untyped-decorator]
def plan_run(job_id: int) -> None:
    """Plan a run of many calls, all of it or nothing; nothing if that is done or another worker is at it."""
    planning_jobs.carry_out_planning(job_id)


@shared_task  # type: ignore[untyped-decorator]
def approve_run(job_id: int) -> None:
    """Approve a run of many calls; nothing if that is done or another worker is at it."""
    planning_jobs.carry_out_approval(job_id)


@shared_task  # type: ignore[untyped-decorator]
def test_connection(test_id: int) -> None:
    """Try an endpoint where judges run, with the keys that are set there."""
    test = ConnectionTest.objects.select_related("endpoint").filter(pk=test_id).first()
    if test is not None:
        connection_tests.run(test)
