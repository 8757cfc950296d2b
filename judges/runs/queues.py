"""Telling workers that there is work. A message that is lost is made good by the sweep."""

import logging
from datetime import datetime, timedelta

import kombu.exceptions
from celery import current_app
from django.db.models import Q
from django.utils import timezone

from judges.endpoints import limits
from judges.models import Endpoint, Run, Share
from judges.settlement import attempts
from judges.workers import batches

log = logging.getLogger(__name__)

# How long a message about a metric may be under way before the sweep sends another.
QUEUED_SECONDS = 60
# The sweep comes again after so long; its message says nothing new by then.
SWEEP_SECONDS = 10


def queue(run: Run) -> None:
    """Tell the workers that the run has work. A message that is lost is made good by the sweep."""
    Run.objects.filter(pk=run.pk).update(busy_until=timezone.now() + timedelta(seconds=QUEUED_SECONDS))
    if run.judge.endpoint_id:
        queue_endpoint(run.judge.endpoint_id)
    else:
        _send("judges.tasks.measure", run.pk)


def queue_endpoint(endpoint_id: int) -> None:
    """Tell as many workers as it is worth that the endpoint has work.

    At least one, since the worker at it may be about to leave.
    """
    for endpoint in Endpoint.objects.filter(pk=endpoint_id):
        for _n in range(max(1, _count_missing(endpoint, at=timezone.now()))):
            _send("judges.tasks.work", endpoint_id)


def sweep(*, at: datetime) -> int:
    """Open again what dead workers held, and tell the workers of all work that too few of them have in hand.

    How many messages were sent; they expire before the next sweep, so that none piles up while all are busy.
    """
    attempts.release_expired(at=at)
    limits.shorten(at=at)
    batches.shorten(at=at)
    n_sent = 0
    at_work = Run.objects.filter(state=Run.State.RUNNING)
    longest = at + timedelta(seconds=QUEUED_SECONDS)
    at_work.filter(busy_until__gt=longest).update(busy_until=longest)
    resting = Q(resting_until__gt=at) | ~Q(needs_attention="")
    busy = Endpoint.objects.filter(judges__runs__in=batches.exclude(at_work)).exclude(resting).distinct()
    for endpoint in busy:
        for _n in range(_count_missing(endpoint, at=at)):
            _send("judges.tasks.work", endpoint.pk, expires=SWEEP_SECONDS)
            n_sent += 1
    for pk in batches.find_due(at=at).values_list("pk", flat=True):
        _send("judges.tasks.batch", pk, expires=SWEEP_SECONDS)
        n_sent += 1
    metrics = at_work.filter(judge__endpoint=None).filter(Q(busy_until=None) | Q(busy_until__lt=at))
    for run in metrics.select_related("judge"):
        queue(run)
        n_sent += 1
    return n_sent


def _count_missing(endpoint: Endpoint, *, at: datetime) -> int:
    """How many workers more the endpoint is worth beside those that are at it."""
    n_there = Share.objects.filter(endpoint=endpoint, until__gte=at, is_leaving=False).count()
    return max(limits.n_workers(endpoint.n_at_once) - n_there, 0)


def _send(task: str, pk: int, **options: float) -> None:
    try:
        current_app.send_task(task, args=[pk], **options)
    except (kombu.exceptions.OperationalError, OSError) as error:
        log.warning("%s(%s) could not be queued (%s); the sweep will try again", task, pk, type(error).__name__)
