"""The database side of a worker: what it has under way, what it may begin, and what follows from what came back.

Everything here runs in the one thread that keeps the worker's database; the loop that sends is `worker`.
"""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from statistics import median

from django.db import close_old_connections, connection
from django.db.models import F

from judges import lifecycle, settlement
from judges.endpoints import connections, limits
from judges.endpoints.limits import Allowance
from judges.endpoints.pace import Pace
from judges.models import Attempt, Call, Endpoint, Parse, Run
from judges.planning import prices
from judges.providers import CallFailed, Client, Completion, FailureKind
from judges.settlement import Ended, attempts, subjects
from judges.workers.endpoint_troubles import Troubles
from judges.workers.jobs import Job, Jobs, Ready, is_due, seconds_to_next

HOUSEKEEPING_SECONDS = 5.0
SHARE_RENEWAL_SECONDS = 1.0
SHARING_SECONDS = 0.2  # while a share passes from one worker to another
# From so many of the last answers a worker that begins tells how long one usually takes.
N_USUAL = 16


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


class Ledger:
    """One worker at one endpoint."""

    def __init__(self, endpoint: Endpoint, *, only: Run | None = None, at: datetime) -> None:
        """only : work at this run and leave the endpoint's others alone"""
        self.endpoint = endpoint
        self.worker = secrets.token_hex(16)
        self.is_leaving = False
        self.is_wanted_elsewhere = False
        self._allowance: Allowance | None = None
        self._jobs = Jobs(endpoint, self.worker, only=only)
        self._troubles = Troubles(endpoint)
        self._kept_at = at - timedelta(days=1)
        self._renewed_at = at
        self._share_at = at - timedelta(days=1)
        self._noted_size: int | None = None
        self._usual_seconds: float | None = None

    def enter(self, *, at: datetime) -> bool:
        """Take a share of the endpoint; False if there are workers enough without this one."""
        self._take_share(n_busy=0, at=at)
        if self._allowance is None:
            return False
        self._usual_seconds = _load_usual_seconds(self.endpoint)
        return True

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

    def begin_pace(self) -> Pace:
        """The window of a worker that has sent nothing yet."""
        return Pace(share=self.share, size=self.first_size, usual_seconds=self._usual_seconds)

    def turn(
        self,
        ended: Sequence[Ended],
        unsent: Sequence[Attempt],
        *,
        n_wanted: int,
        n_busy: int,
        size: int | None,
        at: datetime,
    ) -> Turn:
        """Settle what came back, then write down up to n_wanted attempts more.

        unsent : attempts that were written down and are not to be sent after all
        n_busy : how many calls are under way or stand ready
        size : how many calls at once the endpoint was found to bear; None if that was not tried
        """
        _renew_connection()
        self._note_learnt(size, is_due=is_due(self._kept_at, HOUSEKEEPING_SECONDS, at=at))
        if unsent:
            attempts.give_back(unsent)
            for attempt in unsent:
                self._jobs.note_ended(attempt.call, is_answered=False, at=at)
        if ended:
            self._settle(ended, at=at)
            for e in ended:
                self._jobs.note_ended(e.call, is_answered=isinstance(e.result, Completion), at=at)
        self._keep(n_busy=n_busy, at=at)
        jobs = self._jobs.find_open(at=at)
        ready: list[Ready] = []
        pause = self._rest_seconds(at)
        n = 0 if pause or self.is_leaving else n_wanted
        for job in jobs:
            if n > len(ready):
                ready += self._jobs.lease(job, n - len(ready), at=at)
        is_idle = not ready and not n_busy and not self._is_work_left(jobs, at=at)
        return Turn(
            ready=ready,
            open_runs=frozenset() if pause else frozenset(job.run.pk for job in jobs),
            share=self.share,
            is_idle=is_idle,
            pause=min(pause or seconds_to_next(jobs, at=at), self._sharing_seconds),
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
        self._note_learnt(size, is_due=True)
        if unsent:
            attempts.give_back(unsent)
        attempts.release(attempts.in_flight_of(self.worker))
        limits.give_up_share(self.endpoint.pk, self.worker)

    # What came back

    def _settle(self, ended: Sequence[Ended], *, at: datetime) -> None:
        for e in ended:
            job = self._jobs[e.call.run_id]
            if isinstance(e.result, Completion) and job.tariff:
                e.cost = prices.cost_of(job.tariff, e.result)
                job.lengths = job.lengths.add(e.result, limit=e.attempt.n_tokens_limit)
        of_probes = [e for e in ended if e.attempt.is_probe and not self._jobs[e.call.run_id].is_probed]
        for e in of_probes:
            e.ends_nothing = isinstance(e.result, CallFailed) and not e.result.is_of_its_text
        self._troubles.note_refusals(ended)
        for call, refusal in settlement.settle(ended):
            lifecycle.stop(self._jobs[call.run_id].run, lifecycle.UNRECORDED, reason=str(refusal))
        self._troubles.follow(ended, share=self.share, at=at)
        reason_by_attempt = _find_unreadable(of_probes)
        for e in of_probes:
            run, unreadable = self._jobs[e.call.run_id].run, reason_by_attempt.get(e.attempt.pk)
            self._judge_probe(run, e, unreadable, batch=[other.call.pk for other in of_probes])

    def _judge_probe(self, run: Run, ended: Ended, unreadable: str | None, *, batch: Sequence[int]) -> None:
        """Count the probe; stop the run, in one sentence, if it cannot be answered as things stand.

        unreadable : why its reply could not be read; None if it could, or if there is none
        batch : ids of the calls that are settled together with it
        """
        result, row = ended.result, Run.objects.filter(pk=run.pk)
        if isinstance(result, CallFailed) and result.is_of_its_text and _is_text_alone(ended.call, batch=batch):
            return
        if isinstance(result, Completion) and result.refusal:
            return  # it shows neither that others are answered nor that they are not
        if isinstance(result, Completion) and unreadable is None:
            row.update(n_probes_answered=F("n_probes_answered") + 1)
        elif isinstance(result, CallFailed) and result.kind in (FailureKind.OVERLOAD, FailureKind.CONNECTION):
            return
        elif not _is_counted(run, ended):
            row.update(n_probes_failed=F("n_probes_failed") + 1)
            run.refresh_from_db(fields=["n_probes_failed"])
            if run.n_probes_failed < attempts.N_PROBES:
                return
            if isinstance(result, CallFailed):
                values = {"kind": result.kind.value, "reason": str(result)}
                lifecycle.stop(run, lifecycle.PROBES_FAILED, n=attempts.N_PROBES, **values)
            else:
                lifecycle.stop(run, lifecycle.PROBES_UNREADABLE, n=attempts.N_PROBES, reason=unreadable or "")

    # What is under way

    def _note_learnt(self, size: int | None, *, is_due: bool) -> None:
        """Keep how many calls at once the endpoint bears, for whoever works at it next: more than before if due."""
        noted = self.first_size if self._noted_size is None else self._noted_size
        if size is None or size == noted or (size > noted and not is_due):
            return
        self._noted_size = size
        limit = self.endpoint.n_at_once
        learnt = None if size >= self.share else max(1, round(limit * size / self.share))
        Endpoint.objects.filter(pk=self.endpoint.pk).update(learnt_at_once=learnt)

    def _keep(self, *, n_busy: int, at: datetime) -> None:
        """Renew what this worker holds, and open again what dead ones held, each once in a while."""
        if is_due(self._renewed_at, attempts.RENEWAL_SECONDS, at=at):
            attempts.renew(self.worker, at=at)
            self._renewed_at = at
        if is_due(self._kept_at, HOUSEKEEPING_SECONDS, at=at):
            attempts.release_expired(at=at)
            limits.shorten(at=at)
            self.is_wanted_elsewhere = limits.is_other_waiting(self.endpoint.pk, at=at)
            self._kept_at = at
        if is_due(self._share_at, self._sharing_seconds, at=at):
            self._take_share(n_busy=n_busy, at=at)

    @property
    def _sharing_seconds(self) -> float:
        """How often to look what this worker may have of the limit."""
        is_final = self._allowance is not None and self._allowance.is_final and not self.is_leaving
        return SHARE_RENEWAL_SECONDS if is_final else SHARING_SECONDS

    def _take_share(self, *, n_busy: int, at: datetime) -> None:
        allowance = limits.take_share(self.endpoint.pk, self.worker, n_busy=n_busy, is_leaving=self.is_leaving, at=at)
        if not self.is_leaving:  # what the endpoint bears is told from what the worker had before
            self._allowance = allowance
        self._share_at = at

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


def _is_text_alone(call: Call, *, batch: Sequence[int]) -> bool:
    """Whether a probe that failed for its text says nothing of others: one was answered, or its story failed before.

    batch : ids of the calls that are settled together; of these the one with the lowest id is the first
    """
    if Run.objects.filter(pk=call.run_id, n_probes_answered__gt=0).exists():
        return True
    failed = Call.objects.filter(run=call.run_id, state__in=[Call.State.TOO_LARGE, Call.State.BLOCKED])
    before = failed.exclude(pk__in=[pk for pk in batch if pk >= call.pk])
    stories = subjects.find_stories(call)
    return any(
        not stories.isdisjoint(subjects.find_stories(other))
        for other in before.select_related("assignment__seat", "story")
    )


def _is_counted(run: Run, ended: Ended) -> bool:
    """Whether the probe's call was tried before, which says nothing of the calls that are not tried yet."""
    return ended.attempt.number > 1 and attempts.find_due(run, at=ended.at).filter(attempts=None).exists()


def _find_unreadable(ended: Iterable[Ended]) -> dict[int, str]:
    """Why the replies to judges' questions among these could not be read, by the id of the attempt."""
    answered = [e.attempt.pk for e in ended if isinstance(e.result, Completion) and e.call.kind in Call.ANSWERING]
    if not answered:
        return {}
    parses = Parse.objects.filter(attempt__in=answered, state=Call.State.UNREADABLE)
    return dict(parses.values_list("attempt", "reason"))


def _load_usual_seconds(endpoint: Endpoint) -> float | None:
    """How long the last answers took to come that others got for runs at work here; None if there were none.

    Without it a worker whose first few calls all hang would not see that they do, and send no other beside them.
    """
    runs = Run.objects.filter(judge__endpoint=endpoint, state=Run.State.RUNNING, sends_batches=False)
    pks = list(runs.filter(n_probes_answered__gt=0).values_list("pk", flat=True))
    if not pks:
        return None
    answered = Attempt.objects.filter(call__run__in=pks, outcome=Attempt.Outcome.ANSWERED)
    times = answered.order_by("-pk").values_list("sent_at", "ended_at")[:N_USUAL]
    return median(took) if (took := [(end - start).total_seconds() for start, end in times if end]) else None


def _renew_connection() -> None:
    """Have the next query ask for a connection that is alive, unless a transaction holds this one."""
    if not connection.in_atomic_block:
        close_old_connections()
