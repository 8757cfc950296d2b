"""Runs: a judge takes its seats in a study, is asked, and its answers are recorded as everybody's are.

The rows are the truth. All calls are rows before the first is sent; a message only says that a run has work. How a call
is taken, sent and answered exactly once stands in `attempts`.
"""

import json
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from datetime import datetime, timedelta

import kombu.exceptions
from celery import current_app
from django.db import IntegrityError, close_old_connections, connection, transaction
from django.db.models import Count, Max, Min, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import design, responses
from annotation.models import Assignment, Rater
from annotation.responses import submission
from judges import attempts, connections, measurements, planning
from judges.measurements import CannotMeasure
from judges.models import Attempt, Call, Judge, Run
from judges.planning import CannotRun, Plan
from judges.providers import CallFailed, CannotConnect, Client, Completion, Request
from studies import protocol as protocols
from studies.models import Study

log = logging.getLogger(__name__)

# After so many stories a metric looks whether it should stop, and says how far it is.
N_MEASURED_AT_ONCE = 50
# How long a message may be under way before the sweep sends another.
QUEUED_SECONDS = 60
# So many in a row without an answer, and the endpoint is the trouble, not the calls.
N_FATAL_IN_A_ROW = 3
N_FAILED_IN_A_ROW = 20


def start(study: Study, judge: Judge, *, by: str) -> Run:
    """A new run with its rater, seats, assignments and calls, queued once it is committed. Raises CannotRun."""
    if study.runs.filter(judge=judge).exists():
        message = _("%(judge)s has a run in %(study)s already; it can be resumed, not repeated")
        raise CannotRun(message % {"judge": judge.slug, "study": study.slug})
    if study.raters.filter(code=judge.slug).exists():
        message = _("%(study)s has a rater called %(judge)s already; give the judge another name")
        raise CannotRun(message % {"judge": judge.slug, "study": study.slug})
    make_plan = measurements.plan_measurements if judge.kind == Rater.Kind.METRIC else planning.plan_run
    try:
        with transaction.atomic():
            if judge.kind != Rater.Kind.METRIC:
                _freeze(study, judge, by=by)
            run = _write(study, judge, make_plan(study, judge), by=by)
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
    """The run at work again after it was stopped, with fresh tries for what failed; queued once committed.

    Calls that have used up their tries are planned again. Those that were wrong in themselves stay as they ended:
    the request is frozen, so the same words would be refused again. Raises CannotRun if the run is finished.
    """
    with transaction.atomic():
        if not Run.objects.filter(pk=run.pk).exclude(state=Run.State.FINISHED).update(state=Run.State.RUNNING, note=""):
            raise CannotRun(_("%(run)s is finished") % {"run": run})
        run.calls.filter(Q(state=Call.State.PLANNED) | attempts.OUT_OF_TRIES).update(
            state=Call.State.PLANNED, n_failures=0, not_before=None
        )
        transaction.on_commit(lambda: queue(run))
    run.refresh_from_db()
    return run


def stop(run: Run, reason: str) -> Run:
    """The run stopped, with the reason; what is in flight is still taken in, and it can be resumed."""
    Run.objects.filter(pk=run.pk, state=Run.State.RUNNING).update(state=Run.State.STOPPED, note=reason)
    run.refresh_from_db()
    return run


def queue(run: Run) -> None:
    """Tell the workers that the run has work. A message that is lost is made good by the sweep."""
    Run.objects.filter(pk=run.pk).update(busy_until=timezone.now() + timedelta(seconds=QUEUED_SECONDS))
    try:
        current_app.send_task("judges.tasks.work", args=[run.pk])
    except (kombu.exceptions.OperationalError, OSError) as error:
        log.warning("run %s could not be queued (%s); the sweep will try again", run.pk, type(error).__name__)


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
    sleep: Callable[[float], None] = time.sleep,
) -> Run:
    """The run after its calls have been worked off, here and now: until none is left, it is stopped, or time is up.

    seconds : how long to go on; None to go on until the end
    tell : hears the counts by state after every batch
    Calls the endpoint of a model; a metric is computed in this process. Several may drain one run at once.
    """
    until = None if seconds is None else clock() + timedelta(seconds=seconds)
    if run.judge.kind == Rater.Kind.METRIC:
        return _measure(run, until, tell=tell, clock=clock)
    try:
        client = connections.connect(run)
    except CannotConnect as error:
        return stop(run, str(error))
    n_at_once = run.judge.required_endpoint.n_at_once
    failures: list[CallFailed] = []  # in a row, up to now
    with closing(client), ThreadPoolExecutor(max_workers=n_at_once) as pool:
        while Run.objects.filter(pk=run.pk, state=Run.State.RUNNING).exists():
            now = clock()
            if until and now >= until:
                break
            Run.objects.filter(pk=run.pk).update(busy_until=now + attempts.lease_time(run))
            attempts.release_leases(at=now)
            if batch := attempts.lease_calls(run, n=n_at_once, at=now):
                _work(run, batch, client, pool, failures, clock=clock)
                tell(count_calls(run))
                if trouble := _trouble(failures):
                    stop(run, trouble)
            elif not finish(run, at=now):
                sleep(_pause(run, at=now))
                _renew_connection()
    Run.objects.filter(pk=run.pk).update(busy_until=None)
    run.refresh_from_db()
    return run


def finish(run: Run, *, at: datetime) -> bool:
    """End the run and submit its assignments if no call is left to ask. False if some are.

    While calls are out of tries the run is stopped instead and nothing is submitted, so that it can be resumed.
    """
    # All in one query: between two, a call that is planned again would be seen by neither.
    counts_left = run.calls.aggregate(
        n_pending=Count("pk", filter=Q(state__in=Call.PENDING)),
        n_failed=Count("pk", filter=attempts.OUT_OF_TRIES),
        reason=Max("reason", filter=attempts.OUT_OF_TRIES),
    )
    if counts_left["n_pending"]:
        return False
    if counts_left["n_failed"]:
        stop(
            run,
            f"calls without an answer after {attempts.N_TRIES} tries: {counts_left['n_failed']}, "
            f"such as: {counts_left['reason']}",
        )
        return True
    with transaction.atomic():
        if Run.objects.filter(pk=run.pk, state=Run.State.RUNNING).update(state=Run.State.FINISHED, finished_at=at):
            for assignment in Assignment.objects.filter(calls__run=run).distinct():
                submission.submit(assignment, at=at)
    return True


def sweep(*, at: datetime) -> list[Run]:
    """Open again what dead workers held, and queue every running run that nobody has in hand. Those runs."""
    attempts.release_leases(at=at)
    idle = list(Run.objects.filter(state=Run.State.RUNNING).filter(Q(busy_until=None) | Q(busy_until__lt=at)))
    for run in idle:
        queue(run)
    return idle


def _write(study: Study, judge: Judge, planned: Plan, *, by: str) -> Run:
    rater = Rater.objects.create(study=study, code=judge.slug, kind=judge.kind, is_simulated=judge.is_stub)
    run = Run.objects.create(
        study=study,
        judge=judge,
        document=planned.document,
        sha256=planned.sha256,
        created_by=by,
        n_planned=planned.n_calls,
    )
    calls: list[Call] = []
    for group, planned_calls in planned.calls.items():
        assignment = Assignment.objects.create(
            study=study,
            rater=rater,
            rater_kind=rater.kind,
            seat=design.add_judge_seat(study, group, planned.orders[group], kind=rater.kind),
            group=group,
            version=planned.protocol.version,
        )
        calls += [
            Call(run=run, assignment=assignment, step=c.step, item=c.item, story=c.story, request=c.request)
            for c in planned_calls
        ]
    Call.objects.bulk_create(calls, batch_size=200)
    return run


def _measure(
    run: Run, until: datetime | None, *, tell: Callable[[dict[str, int]], None], clock: Callable[[], datetime]
) -> Run:
    """The run of a metric after its calls have been worked off, as `drain` does for a model."""
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


def _work(
    run: Run,
    batch: list[Attempt],
    client: Client,
    pool: ThreadPoolExecutor,
    failures: list[CallFailed],
    *,
    clock: Callable[[], datetime],
) -> None:
    """Send the attempts at once and settle each as it comes back.

    The database stays in this thread; the others only wait for the endpoint.
    failures : those in a row until now, oldest first; is kept up to date
    """
    protocol = json.loads(run.document)["prompt"]["protocol"]
    attempt_by_future = {pool.submit(_complete, client, attempt.call.request): attempt for attempt in batch}
    for future in as_completed(attempt_by_future):
        attempt = attempt_by_future[future]
        _renew_connection()  # the endpoint may have taken longer than the database's connection lived
        try:
            attempts.commit_attempt(attempt, future.result(), protocol=protocol, at=clock())
            failures.clear()
        except CallFailed as failure:
            attempts.fail_attempt(attempt, failure, outcome=Attempt.Outcome.FAILED, at=clock())
            # What is wrong with one request says nothing about the endpoint.
            if failure.is_transient or failure.is_fatal:
                failures.append(failure)
        except responses.AssignmentEnded as refusal:
            # It was paid for and cannot be kept. So it would be the next time: no call like it is sent again.
            attempts.fail_attempt(attempt, CallFailed(str(refusal)), outcome=Attempt.Outcome.LATE, at=clock())
            stop(run, f"an answer could not be recorded: {refusal}")


def _renew_connection() -> None:
    """Have the next query ask for a connection that is alive, unless a transaction holds this one."""
    if not connection.in_atomic_block:
        close_old_connections()


def _complete(client: Client, request: Request) -> Completion:
    try:
        return client.complete(request)
    except CallFailed:
        raise
    except Exception as error:
        # A client's own fault must not take down the calls beside it. No traceback: it could show the key.
        log.warning("a client failed with %s", type(error).__name__)
        raise CallFailed(f"the client failed with {type(error).__name__}") from None


def _trouble(failures: list[CallFailed]) -> str:
    """Why something other than single calls seems to be at fault; "" if it does not."""
    n_fatal = next((n for n, failure in enumerate(reversed(failures)) if not failure.is_fatal), len(failures))
    if n_fatal >= N_FATAL_IN_A_ROW or len(failures) >= N_FAILED_IN_A_ROW:
        return f"{len(failures)} calls in a row got no answer, the last because: {failures[-1]}"
    return ""


def _pause(run: Run, *, at: datetime) -> float:
    """Seconds until it is worth looking again, at most one: leases run out elsewhere, and runs are stopped."""
    planned = run.calls.filter(state=Call.State.PLANNED)
    if planned.filter(not_before=None).exists():
        return 0.01  # another worker was quicker to take what we chose, and there is more
    soonest = planned.aggregate(soonest=Min("not_before"))["soonest"]
    return min(max((soonest - at).total_seconds(), 0.01), 1.0) if soonest else 1.0
