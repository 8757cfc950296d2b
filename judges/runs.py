"""Runs: a judge takes its seats in a study, is asked, and its answers are recorded as everybody's are.

The rows are the truth. All calls are rows before the first is sent; a message only says that an endpoint has work. How
calls are sent stands in `workers` and `ledger`, how each is answered exactly once in `attempts` and `settlement`.
"""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal

import kombu.exceptions
from celery import current_app
from django.db import IntegrityError, transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Assignment, Rater
from annotation.responses import submission
from judges import attempts, batches, endpoints, extensions, measurements, preparation, reuse, workers
from judges.lifecycle import close, discard, finish, pause, set_budget, stop, stop_at_budget, wait
from judges.measurements import CannotMeasure
from judges.models import Attempt, Call, Endpoint, Judge, Run, Share
from judges.planning import CannotRun, Scope
from studies import protocol as protocols
from studies.models import Study

__all__ = [
    "CannotRun",
    "approve",
    "close",
    "count_calls",
    "discard",
    "drain",
    "find_retryable",
    "finish",
    "measure",
    "pause",
    "plan",
    "queue",
    "queue_endpoint",
    "resume",
    "retry",
    "set_budget",
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
# Ended without a usable answer. What a model or its provider declined is an answer of its kind.
RETRYABLE = (
    *(Call.State.PROVIDER_ERROR, Call.State.TOO_LARGE),
    *(Call.State.UNREADABLE, Call.State.TRUNCATED, Call.State.OUT_OF_RANGE),
)


def start(
    study: Study,
    judge: Judge,
    *,
    by: str,
    scope: Scope | None = None,
    budget: Decimal | None = None,
    resends_unknown: bool = True,
    sends_batches: bool = False,
) -> Run:
    """A new run that the one who plans it approves, at work at once. The arguments are those of `plan`."""
    options = {"resends_unknown": resends_unknown, "sends_batches": sends_batches}
    # Two transactions: on SQLite one that also took many earlier replies would keep raters waiting.
    return approve(plan(study, judge, by=by, scope=scope, budget=budget, **options), by=by)


def plan(
    study: Study,
    judge: Judge,
    *,
    by: str,
    scope: Scope | None = None,
    budget: Decimal | None = None,
    resends_unknown: bool = True,
    sends_batches: bool = False,
) -> Run:
    """A new run with its rater, seats, assignments, calls and estimate, which sends nothing before it is approved.

    A judge that has read in the study before is asked only what it has not been asked. Raises CannotRun.

    scope : of a model, which stories it reads and how often
    budget : in US dollars; no call is sent that could take the run above it
    resends_unknown : what was sent and whose answer nobody heard is sent again; else it waits for a person
    sends_batches : calls are handed in as batches, which cost half and are answered within a day
    """
    if sends_batches and not (judge.endpoint and judge.endpoint.takes_batches):
        raise CannotRun(_("%(judge)s cannot be asked in batches: its endpoint takes none") % {"judge": judge.slug})
    try:
        with transaction.atomic():
            if judge.kind != Rater.Kind.METRIC:
                _freeze(study, judge, by=by)
            planned = extensions.plan(study, judge, scope)
            run = preparation.write(study, planned, scope or Scope(), budget=budget, by=by)
            estimate_of_run = preparation.estimate(study, planned)
            run.resends_unknown, run.sends_batches = resends_unknown, sends_batches
            run.estimate = estimate_of_run.document if estimate_of_run else {}
            run.save(update_fields=["resends_unknown", "sends_batches", "estimate"])
    except IntegrityError:
        # Two clicks at once: the other one made the run.
        message = _("%(judge)s has just been started in %(study)s")
        raise CannotRun(message % {"judge": judge.slug, "study": study.slug}) from None
    return run


def approve(run: Run, *, by: str) -> Run:
    """The run at work, with who approved it and when. Raises CannotRun unless it is planned.

    Calls that ask what the study has paid for already take the earlier reply. The workers hear of it once committed.
    """
    at = timezone.now()
    planned = Run.objects.filter(pk=run.pk, state=Run.State.PLANNED)
    if not planned.exists():
        raise CannotRun(_("%(run)s has been approved already") % {"run": run})
    reuse.take_earlier(run, at=at)
    with transaction.atomic():
        if not planned.update(state=Run.State.RUNNING, approved_by=by, approved_at=at):
            raise CannotRun(_("%(run)s has been approved already") % {"run": run})
        transaction.on_commit(lambda: queue(run))
    run.refresh_from_db()
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
    Whoever resumes has seen to what its endpoint waited for. Raises CannotRun if the run is finished or not approved.
    """
    again = Q(state__in=[Call.State.PLANNED, Call.State.HELD, Call.State.BUDGET_STOPPED]) | attempts.OUT_OF_TRIES
    with transaction.atomic():
        row = Run.objects.filter(pk=run.pk).exclude(state__in=[Run.State.FINISHED, Run.State.PLANNED])
        if not row.exists():
            is_planned = Run.objects.filter(pk=run.pk, state=Run.State.PLANNED).exists()
            sentence = _("%(run)s has not been approved yet") if is_planned else _("%(run)s is finished")
            raise CannotRun(sentence % {"run": run})
        _set_to_work(run, run.calls.filter(again))
    run.refresh_from_db()
    return run


def retry(run: Run) -> int:
    """How many calls without a usable answer are asked once more, with the same words; queued once committed.

    At most one fresh try follows a reply: a call that has got two is left as it is, and so is what a model declined.
    Where the run was finished, the assignments concerned are open again until it has come to its end anew; a text that
    was written into a cloze and sent in is left. Raises CannotRun if there is no such call.
    """
    if run.judge.kind == Rater.Kind.METRIC or run.state == Run.State.PLANNED:
        raise CannotRun(_("%(run)s has no calls to ask again") % {"run": run})
    calls = find_retryable(run)
    try:
        with transaction.atomic():
            pks = list(calls.order_by("pk").values_list("pk", flat=True))
            if not pks:
                raise CannotRun(_("%(run)s has no calls to ask again") % {"run": run})
            submission.reopen(set(calls.values_list("assignment", flat=True)))
            _set_to_work(run, Call.objects.filter(pk__in=pks))
    except IntegrityError:
        message = _("%(judge)s has an unfinished run in %(study)s; let it go on, or close it first")
        raise CannotRun(message % {"judge": run.judge.slug, "study": run.study.slug}) from None
    run.refresh_from_db()
    return len(pks)


def find_retryable(run: Run) -> QuerySet[Call]:
    """The calls of the run that `retry` asks once more. What was erased cannot be sent again.

    What the budget stopped is among them once the run is finished; until then it is asked by `resume`.
    """
    states = (*RETRYABLE, Call.State.BUDGET_STOPPED) if run.state == Run.State.FINISHED else RETRYABLE
    replied = Count("attempts", filter=Q(attempts__outcome__in=[Attempt.Outcome.ANSWERED, Attempt.Outcome.REUSED]))
    calls = run.calls.filter(state__in=states).exclude(request={}).annotate(n_replies=replied).filter(n_replies__lt=2)
    return calls.exclude(kind=Call.Kind.FILL, assignment__status=Assignment.Status.SUBMITTED)


def _set_to_work(run: Run, calls: QuerySet[Call]) -> None:
    """Have the run go on, with these calls to be asked."""
    Run.objects.filter(pk=run.pk).update(
        state=Run.State.RUNNING, note="", finished_at=None, n_probes_answered=0, n_probes_failed=0
    )
    calls.update(state=Call.State.PLANNED, reason="", answered_at=None, n_failures=0, n_overloads=0, not_before=None)
    reuse.take_earlier(run, at=timezone.now())
    if run.judge.endpoint_id:
        endpoints.mend(run.judge.endpoint_id)
    transaction.on_commit(lambda: queue(run))


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
        while run.sends_batches and seconds is None and Run.objects.filter(pk=run.pk, state=Run.State.RUNNING).exists():
            batches.advance(run, at=clock())
            report()
            time.sleep(POLL_SECONDS)
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
    busy = Endpoint.objects.filter(judges__runs__in=batches.exclude(at_work)).exclude(resting).distinct()
    for endpoint in busy:
        n_there = Share.objects.filter(endpoint=endpoint, until__gte=at, is_leaving=False).count()
        for _n in range(endpoints.n_workers(endpoint.n_at_once) - n_there):
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
