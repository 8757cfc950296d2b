"""The database side of a worker: what it has under way, what it may begin, and what follows from what came back.

Everything here runs in the one thread that keeps the worker's database; the loop that sends is `workers`.
"""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from math import ceil

from django.db import close_old_connections, connection, transaction
from django.db.models import F, Min

from annotation.models import Assignment
from judges import attempts, calls, connections, endpoints, lifecycle, prices, settlement
from judges.endpoints import Allowance
from judges.models import Attempt, Call, Endpoint, Run
from judges.prices import Tariff
from judges.providers import CallFailed, CannotConnect, Client, Completion, FailureKind, Request
from judges.settlement import Ended
from studies.models import Item, Step, Story

N_PROBES = 3
# Kinds of failure after which no request gets an answer before a person has mended something.
OF_ENDPOINT = (FailureKind.KEY, FailureKind.CREDIT, FailureKind.REDIRECT, FailureKind.ADDRESS)
N_EQUAL_BAD_REQUESTS = 5
# Overloads that do not ask for a wait: so many without an answer between, and the endpoint needs a rest.
N_FAILED_IN_A_ROW = 3
# HTTP statuses that ask for less.
TOO_MUCH = (429, 503, 529)
HOUSEKEEPING_SECONDS = 5.0
SHARE_RENEWAL_SECONDS = 1.0
# While a share passes from one worker to another.
SHARING_SECONDS = 0.2


@dataclass(frozen=True)
class Ready:
    """An attempt that is written down and can be sent now."""

    attempt: Attempt
    request: Request
    protocol: str


@dataclass(frozen=True)
class Turn:
    """What a worker may do after it has settled what came back.

    ready : what it may send
    open_runs : ids of the runs whose calls may still be sent
    is_idle : nothing is left to send, now or in a while
    pause : seconds until it is worth looking again if nothing comes back
    """

    ready: list[Ready]
    open_runs: frozenset[int]
    share: int
    is_idle: bool
    pause: float


@dataclass
class Job:
    """A run that this worker works at, with what stays the same while it does."""

    run: Run
    protocol: str
    tariff: Tariff | None
    assignments: dict[int, Assignment]

    @property
    def is_probed(self) -> bool:
        """Whether so many probes were answered that all its calls may go."""
        return self.run.n_probes_answered >= N_PROBES


@dataclass
class Troubles:
    """Failures since the last answer."""

    n_in_a_row: int = 0
    bad_requests: list[Ended] = field(default_factory=list)

    def clear(self) -> None:
        self.n_in_a_row = 0
        self.bad_requests.clear()


class Ledger:
    """One worker at one endpoint."""

    def __init__(self, endpoint: Endpoint, *, only: Run | None = None, at: datetime) -> None:
        """only : work at this run and leave the endpoint's others alone"""
        self.endpoint = endpoint
        self.only = only
        self.worker = secrets.token_hex(16)
        self.is_leaving = False
        self.is_wanted_elsewhere = False
        self._allowance: Allowance | None = None
        self._jobs: dict[int, Job] = {}
        self._content_by_hash: dict[str, str] = {}
        self._items: dict[int, Item] = {}
        self._steps: dict[int, Step] = {}
        self._stories: dict[int, Story] = {}
        self._kept_at = at - timedelta(days=1)
        self._renewed_at = at
        self._share_at = at - timedelta(days=1)
        self._troubles = Troubles()
        self._rested = False

    def enter(self, *, at: datetime) -> bool:
        """Take a share of the endpoint; False if there are workers enough without this one."""
        self._take_share(n_busy=0, at=at)
        return self._allowance is not None

    def connect(self) -> Client:
        """A client for the endpoint. Raises CannotConnect."""
        return connections.connect(self.endpoint)

    @property
    def share(self) -> int:
        """How many calls at once this worker may have."""
        return self._allowance.n if self._allowance else 0

    @property
    def first_size(self) -> int:
        """How many calls at once the endpoint has borne lately, of this worker's share."""
        learnt, limit = self.endpoint.learnt_at_once, self.endpoint.n_at_once
        return self.share if learnt is None else max(1, min(self.share, ceil(learnt * self.share / limit)))

    def turn(
        self,
        ended: Sequence[Ended],
        unsent: Sequence[Attempt],
        *,
        n_wanted: int,
        n_busy: int,
        narrowed_to: int | None,
        at: datetime,
    ) -> Turn:
        """Settle what came back, then write down up to n_wanted attempts more.

        unsent : attempts that were written down and are not to be sent after all
        n_busy : how many calls are under way or stand ready
        narrowed_to : how many calls at once the endpoint bears, if that is fewer since the last turn
        """
        _renew_connection()
        if narrowed_to is not None:
            self._note_learnt(narrowed_to)
        if unsent:
            attempts.give_back(unsent)
        if ended:
            self._settle(ended, at=at)
        self._keep(n_busy=n_busy, at=at)
        jobs = self._find_jobs()
        ready: list[Ready] = []
        pause = self._rest_seconds(at)
        n = 0 if pause or self.is_leaving else n_wanted
        for job in jobs:
            if n > len(ready):
                ready += self._lease(job, n - len(ready), at=at)
        is_idle = not ready and not n_busy and not self._is_work_left(jobs, at=at)
        return Turn(
            ready=ready,
            open_runs=frozenset() if pause else frozenset(job.run.pk for job in jobs),
            share=self.share,
            is_idle=is_idle,
            pause=min(pause or self._seconds_to_next(jobs, at=at), self._sharing_seconds),
        )

    def begin_leaving(self, *, n_busy: int, at: datetime) -> None:
        """Begin no more calls, and leave to others what of the share is not under way."""
        self.is_leaving = True
        self._take_share(n_busy=n_busy, at=at)

    def leave(self, unsent: Sequence[Attempt], *, size: int | None, at: datetime) -> None:
        """End the work: what was not sent is given back, what is still under way is marked, the share is given up.

        size : how many calls at once the endpoint was found to bear; None if that was not tried
        """
        _renew_connection()
        if size is not None and size != self.first_size:
            self._note_learnt(size)
        if unsent:
            attempts.give_back(unsent)
        attempts.release(attempts.in_flight_of(self.worker))
        endpoints.give_up_share(self.endpoint.pk, self.worker)

    # What came back

    def _settle(self, ended: Sequence[Ended], *, at: datetime) -> None:
        for e in ended:
            job = self._jobs[e.call.run_id]
            if isinstance(e.result, Completion) and job.tariff:
                e.cost = prices.cost_of(job.tariff, e.result)
        of_probes = [e for e in ended if e.attempt.is_probe and not self._jobs[e.call.run_id].is_probed]
        for e in of_probes:
            e.ends_nothing = isinstance(e.result, CallFailed)
        self._follow_bad_requests(ended)
        for call, refusal in settlement.settle(ended):
            lifecycle.stop(self._jobs[call.run_id].run, f"an answer could not be recorded: {refusal}")
        self._follow(ended, at=at)
        for e in of_probes:
            self._judge_probe(self._jobs[e.call.run_id].run, e.result)

    def _follow_bad_requests(self, ended: Iterable[Ended]) -> None:
        """Of equal refusals in a row the last plans its call again, as those before it will be: it is not the words."""
        for e in ended:
            if isinstance(e.result, Completion):
                self._troubles.bad_requests.clear()
            elif e.result.kind == FailureKind.BAD_REQUEST and not e.ends_nothing:
                before = self._troubles.bad_requests
                if before and str(before[-1].result) != str(e.result):
                    before.clear()
                before.append(e)

    def _follow(self, ended: Iterable[Ended], *, at: datetime) -> None:
        """Rest the endpoint, or have a person see to it, as its failures say."""
        for e in ended:
            if isinstance(e.result, Completion):
                self._troubles.n_in_a_row = 0
                if self._rested:
                    endpoints.note_answer(self.endpoint)
                    self._rested = False
            elif e.ends_nothing and e.result.kind not in (FailureKind.OVERLOAD, FailureKind.CONNECTION):
                continue  # a probe's, which stops its run alone
            else:
                self._follow_failure(e.result, at=at)
        if len(bad := self._troubles.bad_requests) >= N_EQUAL_BAD_REQUESTS:
            pks = [e.call.pk for e in bad]
            Call.objects.filter(pk__in=pks, state=Call.State.PROVIDER_ERROR).update(state=Call.State.PLANNED)
            sentence = f"{len(bad)} requests in a row were refused with the same words: {bad[-1].result}"
            endpoints.ask_attention(self.endpoint, sentence)
            bad.clear()

    def _follow_failure(self, failure: CallFailed, *, at: datetime) -> None:
        if failure.kind in OF_ENDPOINT or failure.kind == FailureKind.UNKNOWN_MODEL:
            endpoints.ask_attention(self.endpoint, str(failure))
        elif failure.kind in (FailureKind.OVERLOAD, FailureKind.CONNECTION, FailureKind.TIMEOUT):
            self._troubles.n_in_a_row += 1
            asks_for_less = failure.status in TOO_MUCH or failure.retry_after is not None
            if asks_for_less or self._troubles.n_in_a_row >= N_FAILED_IN_A_ROW:
                endpoints.rest(self.endpoint, str(failure), seconds=failure.retry_after, at=at)
                self._rested = True

    def _judge_probe(self, run: Run, result: Completion | CallFailed) -> None:
        """Count the probe; stop the run, in one sentence, if it cannot be answered as things stand."""
        row = Run.objects.filter(pk=run.pk)
        if isinstance(result, Completion):
            row.update(n_probes_answered=F("n_probes_answered") + 1)
        elif result.kind not in (FailureKind.OVERLOAD, FailureKind.CONNECTION):
            row.update(n_probes_failed=F("n_probes_failed") + 1)
            run.refresh_from_db(fields=["n_probes_failed"])
            if run.n_probes_failed >= N_PROBES:
                lifecycle.stop(run, f"The first {N_PROBES} calls got no answer, the last because: {result}")

    # What is under way

    def _note_learnt(self, size: int) -> None:
        """Keep how many calls at once the endpoint bears, for whoever works at it next."""
        limit = self.endpoint.n_at_once
        learnt = None if size >= self.share else max(1, round(limit * size / self.share))
        Endpoint.objects.filter(pk=self.endpoint.pk).update(learnt_at_once=learnt)

    def _keep(self, *, n_busy: int, at: datetime) -> None:
        """Renew what this worker holds, and open again what dead ones held, each once in a while."""
        if at - self._renewed_at >= timedelta(seconds=attempts.RENEWAL_SECONDS):
            attempts.renew(self.worker, at=at)
            self._renewed_at = at
        if at - self._kept_at >= timedelta(seconds=HOUSEKEEPING_SECONDS):
            attempts.release_expired(at=at)
            self.is_wanted_elsewhere = endpoints.is_other_waiting(self.endpoint.pk, at=at)
            self._kept_at = at
        if at - self._share_at >= timedelta(seconds=self._sharing_seconds):
            self._take_share(n_busy=n_busy, at=at)

    @property
    def _sharing_seconds(self) -> float:
        """How often to look what this worker may have of the limit."""
        is_final = self._allowance is not None and self._allowance.is_final and not self.is_leaving
        return SHARE_RENEWAL_SECONDS if is_final else SHARING_SECONDS

    def _take_share(self, *, n_busy: int, at: datetime) -> None:
        allowance = endpoints.take_share(
            self.endpoint.pk, self.worker, n_busy=n_busy, is_leaving=self.is_leaving, at=at
        )
        if not self.is_leaving:  # what the endpoint bears is told from what the worker had before
            self._allowance = allowance
        self._share_at = at

    def _find_jobs(self) -> list[Job]:
        """The runs at this endpoint that are at work, as they are now."""
        at_work = Run.objects.filter(judge__endpoint=self.endpoint.pk, state=Run.State.RUNNING).order_by("pk")
        if self.only:
            at_work = at_work.filter(pk=self.only.pk)
        jobs: list[Job] = []
        for run in at_work.select_related("judge__endpoint", "judge__prompt", "study"):
            job = self._jobs.get(run.pk) or self._open(run)
            if job is not None:
                job.run = run
                self._jobs[run.pk] = job
                jobs.append(job)
        return jobs

    def _open(self, run: Run) -> Job | None:
        """The run as a job, if it may still be sent; it is stopped if not."""
        try:
            connections.check(run)
        except CannotConnect as error:
            lifecycle.stop(run, str(error))
            return None
        asked = run.calls.exclude(step=None).order_by().values("step").distinct()
        steps = Step.objects.filter(pk__in=asked).select_related("instrument").prefetch_related("instrument__items")
        self._steps |= {step.pk: step for step in steps}
        self._items |= {item.pk: item for step in steps if step.instrument for item in step.instrument.items.all()}
        stories = Story.objects.filter(study=run.study_id).defer("text")
        self._stories |= {story.pk: story for story in stories}
        assignments = Assignment.objects.filter(reading__run=run).select_related("seat", "rater")
        return Job(
            run=run,
            protocol=run.reply_protocol,
            tariff=prices.find_tariff(run.judge, on=self._share_at.date()),
            assignments={assignment.pk: assignment for assignment in assignments},
        )

    def _lease(self, job: Job, n: int, *, at: datetime) -> list[Ready]:
        """Up to n attempts of the run, committed and about to be sent."""
        run = job.run
        with transaction.atomic():
            if not job.is_probed:
                in_flight = Attempt.objects.filter(call__run=run, is_probe=True, outcome=Attempt.Outcome.IN_FLIGHT)
                n = min(n, N_PROBES - run.n_probes_answered - in_flight.count())
            due = attempts.choose_due(run, n=n, at=at) if n > 0 else []
            self._content_by_hash |= calls.load_texts((c.request for c in due), besides=self._content_by_hash)
            requests = {call.pk: calls.render_with(call.request, self._content_by_hash) for call in due}
            due, worst_by_call = self._within_budget(job, due, requests)
            if due:
                n_tokens = max(prices.n_tokens(requests[call.pk]) for call in due)
                due = due[: endpoints.take_of_minute(self.endpoint.pk, len(due), n_tokens=n_tokens, at=at)]
            for call in due:
                self._attach(job, call)
            probes = [] if job.is_probed else [call.pk for call in due]
            rows = attempts.begin(due, worker=self.worker, probes=probes, worst=worst_by_call, at=at)
        return [Ready(row, requests[row.call.pk], job.protocol) for row in rows]

    def _within_budget(
        self, job: Job, due: list[Call], requests: dict[int, Request]
    ) -> tuple[list[Call], dict[int, Decimal]]:
        """Of the calls those that the budget bears at their worst, and what that is; the run waits if it bears none."""
        tariff, run = job.tariff, job.run
        if tariff is None or not due:
            return due, {}
        worst_by_call = {call.pk: prices.worst_cost(tariff, requests[call.pk]) for call in due}
        if run.budget is None:
            return due, worst_by_call
        Run.objects.select_for_update(no_key=True).get(pk=run.pk)  # two workers must not spend the same rest of it
        balance = run.budget - attempts.spent(run)
        borne: list[Call] = []
        for call in due:
            balance -= worst_by_call[call.pk]
            if balance < 0:
                break
            borne.append(call)
        in_flight = Attempt.objects.filter(call__run=run, outcome=Attempt.Outcome.IN_FLIGHT)
        if not borne and not in_flight.exists():  # what is under way may cost less than its worst
            lifecycle.stop_at_budget(run)
        return borne, worst_by_call

    def _attach(self, job: Job, call: Call) -> None:
        """Give the call what it names, without a query."""
        call.run = job.run
        call.assignment = job.assignments[call.assignment_id] if call.assignment_id else None
        call.step = self._steps[call.step_id] if call.step_id else None
        call.item = self._items[call.item_id] if call.item_id else None
        call.story = self._stories[call.story_id] if call.story_id else None

    def _is_work_left(self, jobs: Iterable[Job], *, at: datetime) -> bool:
        """Whether calls are left that this worker could send some time; runs without any come to their end."""
        return any(not lifecycle.finish(job.run, at=at) for job in jobs)

    def _rest_seconds(self, at: datetime) -> float:
        """For how long nothing may be sent to the endpoint; 0.0 if something may."""
        self.endpoint.refresh_from_db(fields=["resting_until", "needs_attention", "n_at_once"])
        if self.endpoint.needs_attention:
            return 1.0
        until = self.endpoint.resting_until
        return max((until - at).total_seconds(), 0.0) if until else 0.0

    def _seconds_to_next(self, jobs: Iterable[Job], *, at: datetime) -> float:
        """Seconds until a call of these runs may be tried again; 1.0 if none waits for its time."""
        planned = Call.objects.filter(run__in=[job.run for job in jobs], state=Call.State.PLANNED)
        soonest = planned.filter(not_before__gt=at).aggregate(soonest=Min("not_before"))["soonest"]
        return max((soonest - at).total_seconds(), 0.01) if soonest else 1.0


def _renew_connection() -> None:
    """Have the next query ask for a connection that is alive, unless a transaction holds this one."""
    if not connection.in_atomic_block:
        close_old_connections()
