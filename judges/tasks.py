"""What Celery is told: ids only. All state is rows, so a message that comes twice or never changes nothing."""

import threading

from celery import shared_task
from celery.signals import worker_shutting_down
from django.utils import timezone

from judges import connection_tests, runs, workers
from judges.models import ConnectionTest, Endpoint, Run

# After this long a worker gives way to other work, if any waits, and queues what is left again.
TURN_SECONDS = 60
_busy: set[int] = set()  # endpoints at which this process works
_lock = threading.Lock()


@worker_shutting_down.connect  # type: ignore[untyped-decorator]
def stop_workers(**_: object) -> None:
    """Have the loops of this process begin no more calls."""
    workers.stopping.set()


@shared_task  # type: ignore[untyped-decorator]
def work(endpoint_id: int) -> None:
    """One worker's turn at an endpoint; nothing if this process or enough others are at it."""
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
        has_worked = workers.work(endpoint, seconds=TURN_SECONDS, stays=True, hand_over=hand_over)
    except workers.CannotConnect as error:
        for run in Run.objects.filter(judge__endpoint=endpoint, state=Run.State.RUNNING):
            runs.stop(run, str(error))
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
    run = Run.objects.select_related("judge", "study").filter(pk=run_id).first()
    if run is not None and runs.measure(run, seconds=TURN_SECONDS).state == Run.State.RUNNING:
        runs.queue(run)


@shared_task  # type: ignore[untyped-decorator]
def sweep() -> None:
    """Open again what dead workers held, and queue what too few have in hand."""
    runs.sweep(at=timezone.now())


@shared_task  # type: ignore[untyped-decorator]
def test_connection(test_id: int) -> None:
    """Try an endpoint where judges run, with the keys that are set there."""
    test = ConnectionTest.objects.select_related("endpoint").filter(pk=test_id).first()
    if test is not None:
        connection_tests.run(test)
