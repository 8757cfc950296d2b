"""A run worked off here and now, by the process that asks for it."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db.models import Count
from django.utils import timezone

from annotation.models import Rater
from judges import workers
from judges.lifecycle import finish, stop
from judges.models import Call, Run
from judges.runs import measurements
from judges.runs.measurements import CannotMeasure
from judges.runs.queues import QUEUED_SECONDS
from judges.workers import batches

# After so many stories a metric looks whether it should stop, and says how far it is.
N_MEASURED_AT_ONCE = 50
# How often a run that others work at is looked at.
POLL_SECONDS = 0.25


def count_calls(run: Run) -> dict[str, int]:
    """How many calls of the run stand in each state, states without any left out."""
    n_by_state = dict(run.calls.order_by().values_list("state").annotate(n=Count("pk")))
    return {state: n_by_state[state] for state in Call.State.values if state in n_by_state}


def drain(
    run: Run,
    *,
    seconds: float | None = None,
    tell: Callable[[dict[str, int]], None] = lambda counts: None,
    clock: Callable[[], datetime] = timezone.now,
) -> Run:
    """The run after its calls have been worked off, here and now: until none is left, it is halted, or time is up.

    seconds : how long to go on; None to go on until the end
    tell : hears the counts by state after every settlement
    Calls the endpoint of a model; a metric is computed in this process. Several may drain one run at once.
    """
    if run.judge.kind == Rater.Kind.METRIC:
        return measure(run, seconds=seconds, tell=tell, clock=clock)
    endpoint = run.judge.required_endpoint

    def report() -> None:
        tell(count_calls(run))

    shift = workers.Shift(seconds, clock=clock, tell=report)
    try:
        while not workers.work(endpoint, shift, only=run) and seconds is None:
            # Workers enough are at it. Should one of them die, its share lapses and is taken here.
            time.sleep(POLL_SECONDS)
            if not Run.objects.filter(pk=run.pk, state=Run.State.RUNNING).exists():
                break
        while run.sends_batches and seconds is None and Run.objects.filter(pk=run.pk, state=Run.State.RUNNING).exists():
            batches.advance(run, at=clock())
            report()
            time.sleep(POLL_SECONDS)
    except workers.CannotConnect as error:
        return stop(run, error.sentence, **error.values)
    run.refresh_from_db()
    return run


def measure(
    run: Run,
    *,
    seconds: float | None = None,
    tell: Callable[[dict[str, int]], None] = lambda counts: None,
    clock: Callable[[], datetime] = timezone.now,
) -> Run:
    """The run of a metric after its calls have been worked off, as `drain` does for a model."""
    until = None if seconds is None else clock() + timedelta(seconds=seconds)
    while not workers.stopping.is_set() and Run.objects.filter(pk=run.pk, state=Run.State.RUNNING).exists():
        now = clock()
        if until and now >= until:
            break
        Run.objects.filter(pk=run.pk).update(busy_until=now + timedelta(seconds=QUEUED_SECONDS))
        try:
            n_measured = measurements.measure(run, n=N_MEASURED_AT_ONCE, at=now)
        except CannotMeasure as error:
            return stop(run, str(error))
        if n_measured:
            tell(count_calls(run))
        else:
            finish(run, at=now)
    Run.objects.filter(pk=run.pk).update(busy_until=None)
    run.refresh_from_db()
    return run
