"""Runs: a judge takes its seats in a study, is asked, and its answers are recorded as everybody's are.

The rows are the truth. All calls are rows before the first is sent; a message only says that an endpoint has work. How
calls are sent stands in `workers` and `ledger`, how each is answered exactly once in `attempts` and `settlement`.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime, timedelta
from decimal import Decimal

import kombu.exceptions
from celery import current_app
from django.db import IntegrityError, transaction
from django.db.models import Count, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import design
from annotation.models import Assignment, Rater
from judges import attempts, calls, endpoints, measurements, planning, workers
from judges.lifecycle import close, finish, pause, stop, stop_at_budget, wait
from judges.measurements import CannotMeasure
from judges.models import Call, Endpoint, Judge, Prompt, Reading, Run, Share
from judges.planning import CannotRun, Plan, Scope
from judges.readings import Pass
from judges.requests import PlannedCall
from studies import protocol as protocols
from studies.models import Study

__all__ = [
    "CannotRun",
    "close",
    "count_calls",
    "drain",
    "finish",
    "measure",
    "pause",
    "queue",
    "queue_endpoint",
    "resume",
    "start",
    "stop",
    "stop_at_budget",
    "sweep",
    "wait",
]

log = logging.getLogger(__name__)

# After so many stories a metric looks whether it should stop, and says how far it is.
N_MEASURED_AT_ONCE = 50
# How long a message about a metric may be under way before the sweep sends another.
QUEUED_SECONDS = 60
# The sweep comes again after so long; its message says nothing new by then.
SWEEP_SECONDS = 10
# How often a run that others work at is looked at.
POLL_SECONDS = 0.25
# A person has to do something before these go on.
HALTED = (Run.State.PLANNED, Run.State.PAUSED, Run.State.WAITING, Run.State.STOPPED)


def start(study: Study, judge: Judge, *, by: str, scope: Scope | None = None, budget: Decimal | None = None) -> Run:
    """A new run with its rater, seats, assignments and calls, queued once it is committed. Raises CannotRun.

    scope : of a model, which stories it reads and how often
    budget : in US dollars; no call is sent that could take the run above it
    """
    if study.runs.filter(judge=judge).exists():
        message = _("%(judge)s has a run in %(study)s already; it can be resumed, not repeated")
        raise CannotRun(message % {"judge": judge.slug, "study": study.slug})
    if study.raters.filter(code=judge.slug).exists():
        message = _("%(study)s has a rater called %(judge)s already; give the judge another name")
        raise CannotRun(message % {"judge": judge.slug, "study": study.slug})
    try:
        with transaction.atomic():
            if judge.kind != Rater.Kind.METRIC:
                _freeze(study, judge, by=by)
                plan = planning.plan_run(study, judge, scope)
            else:
                plan = measurements.plan_measurements(study, judge)
            run = _write(study, judge, plan, scope or Scope(), budget=budget, by=by)
            transaction.on_commit(lambda: queue(run))
    except IntegrityError:
        # Two clicks at once: the other one made the run.
        message = _("%(judge)s has just been started in %(study)s")
        raise CannotRun(message % {"judge": judge.slug, "study": study.slug}) from None
    return run


def _freeze(study: Study, judge: Judge, *, by: str) -> None:
    """A run before the launch freezes the protocol too: what the judge was asked must not change after it.

    A metric is asked nothing, so that it freezes nothing; it waits until the protocol is frozen.
    """
    try:
        protocols.ensure_frozen(
            study, purpose=protocols.Purpose.RUN, reason=f"run of {judge.slug}", by=by, at=timezone.now()
        )
    except protocols.NotPlannable as error:
        raise CannotRun(str(error)) from None


def resume(run: Run) -> Run:
    """The run at work again after it was paused or stopped or has waited; queued once committed.

    Calls that have used up their tries or the budget are planned again, and those that were held are sent again. Those
    that were wrong in themselves stay as they ended: the request is frozen, so the same words would be refused again.
    Whoever resumes has seen to what its endpoint waited for. Raises CannotRun if the run is finished.
    """
    with transaction.atomic():
        row = Run.objects.filter(pk=run.pk).exclude(state=Run.State.FINISHED)
        if not row.update(state=Run.State.RUNNING, note="", n_probes_answered=0, n_probes_failed=0):
            raise CannotRun(_("%(run)s is finished") % {"run": run})
        again = Q(state__in=[Call.State.PLANNED, Call.State.HELD, Call.State.BUDGET_STOPPED]) | attempts.OUT_OF_TRIES
        run.calls.filter(again).update(state=Call.State.PLANNED, n_failures=0, n_overloads=0, not_before=None)
        if run.judge.endpoint_id:
            endpoints.mend(run.judge.endpoint_id)
        transaction.on_commit(lambda: queue(run))
    run.refresh_from_db()
    return run


def queue(run: Run) -> None:
    """Tell the workers that the run has work. A message that is lost is made good by the sweep."""
    Run.objects.filter(pk=run.pk).update(busy_until=timezone.now() + timedelta(seconds=QUEUED_SECONDS))
    if run.judge.endpoint_id:
        queue_endpoint(run.judge.endpoint_id)
    else:
        _send("judges.tasks.measure", run.pk)


def queue_endpoint(endpoint_id: int) -> None:
    """Tell the workers that the endpoint has work."""
    _send("judges.tasks.work", endpoint_id)


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

    try:
        while not workers.work(endpoint, only=run, seconds=seconds, clock=clock, tell=report) and seconds is None:
            # Workers enough are at it. Should one of them die, its share lapses and is taken here.
            time.sleep(POLL_SECONDS)
            if not Run.objects.filter(pk=run.pk, state=Run.State.RUNNING).exists():
                break
    except workers.CannotConnect as error:
        return stop(run, str(error))
    run.refresh_from_db()
    return run


def sweep(*, at: datetime) -> int:
    """Open again what dead workers held, and tell the workers of all work that too few of them have in hand.

    How many messages were sent; they expire before the next sweep, so that none piles up while all are busy.
    """
    attempts.release_expired(at=at)
    n_sent = 0
    at_work = Run.objects.filter(state=Run.State.RUNNING)
    resting = Q(resting_until__gt=at) | ~Q(needs_attention="")
    busy = Endpoint.objects.filter(judges__runs__in=at_work).exclude(resting).distinct()
    for endpoint in busy:
        n_there = Share.objects.filter(endpoint=endpoint, until__gte=at, is_leaving=False).count()
        for _n in range(endpoints.n_workers(endpoint.n_at_once) - n_there):
            _send("judges.tasks.work", endpoint.pk, expires=SWEEP_SECONDS)
            n_sent += 1
    metrics = at_work.filter(judge__endpoint=None).filter(Q(busy_until=None) | Q(busy_until__lt=at))
    for run in metrics.select_related("judge"):
        queue(run)
        n_sent += 1
    return n_sent


def measure(
    run: Run,
    *,
    seconds: float | None = None,
    tell: Callable[[dict[str, int]], None] = lambda counts: None,
    clock: Callable[[], datetime] = timezone.now,
) -> Run:
    """The run of a metric after its calls have been worked off, as `drain` does for a model."""
    until = None if seconds is None else clock() + timedelta(seconds=seconds)
    while Run.objects.filter(pk=run.pk, state=Run.State.RUNNING).exists():
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


def _send(task: str, pk: int, **options: float) -> None:
    try:
        current_app.send_task(task, args=[pk], **options)
    except (kombu.exceptions.OperationalError, OSError) as error:
        log.warning("%s(%s) could not be queued (%s); the sweep will try again", task, pk, type(error).__name__)


def _write(study: Study, judge: Judge, planned: Plan, scope: Scope, *, budget: Decimal | None, by: str) -> Run:
    rater = Rater.objects.create(study=study, code=judge.slug, kind=judge.kind, is_simulated=judge.is_stub)
    run = Run.objects.create(
        study=study,
        judge=judge,
        document=planned.document,
        sha256=planned.sha256,
        created_by=by,
        n_planned=planned.n_calls,
        selection=list(scope.selection),
        orders=list(scope.orders),
        n_repeats=scope.n_repeats,
        asks=judge.prompt.asks if judge.prompt else Prompt.Asks.ITEM,
        persona_set=scope.persona_set,
        canary=planned.canary,
        budget=budget,
    )
    shelf, rows = calls.Shelf(), []
    for planned_seat in planned.seats:
        group = planned_seat.group
        assignment = Assignment.objects.create(
            study=study,
            rater=rater,
            rater_kind=rater.kind,
            seat=design.add_judge_seat(study, group, planned_seat.order, kind=rater.kind),
            group=group,
            version=planned.protocol.version,
        )
        reading = planned_seat.reading
        Reading.objects.create(
            run=run, assignment=assignment, order=reading.order, persona=reading.persona, repeat=reading.repeat
        )
        rows += [_call(run, assignment, c, reading, shelf) for c in planned_seat.calls]
    rows += [_call(run, None, c, planned.first, shelf) for c in planned.guards]
    shelf.store()
    Call.objects.bulk_create(rows, batch_size=200)
    return run


def _call(run: Run, assignment: Assignment | None, planned: PlannedCall, reading: Pass, shelf: calls.Shelf) -> Call:
    """The row of one call; its texts are put onto the shelf, but of one that waits for another, which has none yet."""
    is_sent = "messages" in planned.request and not planned.waits
    unsent = {name: part for name, part in planned.request.items() if name != "messages"}
    of_reading = {"endpoint": run.judge.endpoint_id, **asdict(reading)}
    return Call(
        run=run,
        kind=planned.kind,
        assignment=assignment,
        step=planned.step,
        item=planned.item,
        story=planned.story,
        items=list(planned.keys),
        anchor=planned.anchor,
        section=planned.section,
        request=shelf.put_request(planned.request, planned.stories) if is_sent else unsent,
        request_sha256=calls.fingerprint(planned.request, **of_reading) if is_sent else "",
    )
