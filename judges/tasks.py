"""What Celery is told: ids only. All state is rows, so a message that comes twice or never changes nothing."""

from celery import shared_task
from django.utils import timezone

from judges import runs
from judges.models import Run

# After this long a worker gives way to other work and queues the run again.
TURN_SECONDS = 60


@shared_task  # type: ignore[untyped-decorator]
def work(run_id: int) -> None:
    """One worker's turn at a run."""
    run = Run.objects.select_related("judge__endpoint", "study").filter(pk=run_id).first()
    if run is not None and runs.drain(run, seconds=TURN_SECONDS).state == Run.State.RUNNING:
        runs.queue(run)


@shared_task  # type: ignore[untyped-decorator]
def sweep() -> None:
    """Open again what dead workers held, and queue what nobody has in hand."""
    runs.sweep(at=timezone.now())
