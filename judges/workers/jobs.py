"""The runs that a worker works at, and what of them is written down to be sent next."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Min

from annotation.models import Assignment
from judges import lifecycle
from judges.endpoints import connections, limits
from judges.models import Attempt, Call, Endpoint, Prompt, Run
from judges.planning import prices
from judges.planning.prices import ReplyLengths, Tariff
from judges.providers import CannotConnect, Request
from judges.requests import texts
from judges.settlement import attempts, budgets, reuse
from judges.settlement.budgets import BudgetShare
from judges.workers import batches
from judges.workers.cached_texts import CachedTexts
from studies.models import Item, Step, Story

# Leave to send a text, and to use an endpoint, can be taken back at any time; a worker may stay for hours.
CHECK_SECONDS = 5.0


def is_due(last: datetime, seconds: float, *, at: datetime) -> bool:
    """Whether so many seconds have passed; also if the clock was set back since, when nobody knows how many."""
    return not last <= at < last + timedelta(seconds=seconds)


@dataclass(frozen=True)
class Ready:
    """An attempt that is written down and can be sent now."""

    attempt: Attempt
    request: Request
    protocol: str


@dataclass
class Job:
    """A run that this worker works at, with what stays the same while it does.

    lengths : of the model's replies so far, for a run with a budget; what comes back here is added at once, what comes
        to other workers with the next check
    cached_texts : what its provider has in its cache; None where it takes no marks, or nothing is asked twice of a text
    checked_at : when it was asked last whether it may still be sent, and what it costs
    """

    run: Run
    protocol: str
    tariff: Tariff | None
    assignments: dict[int, Assignment]
    checked_at: datetime
    lengths: ReplyLengths = field(default_factory=ReplyLengths)
    cached_texts: CachedTexts | None = None

    @property
    def is_probed(self) -> bool:
        """Whether so many probes were answered that all its calls may go."""
        n_enough = attempts.N_PROBES if self.run.sends_batches else attempts.N_PROBES_ENOUGH
        return self.run.n_probes_answered >= n_enough


class Jobs:
    """The jobs of one worker at one endpoint, with the rows that their calls name, each loaded once."""

    def __init__(self, endpoint: Endpoint, worker: str, *, only: Run | None) -> None:
        """only : work at this run and leave the endpoint's others alone"""
        self.endpoint = endpoint
        self.worker = worker
        self.only = only
        self._job_by_run: dict[int, Job] = {}
        self._content_by_hash: dict[str, str] = {}
        self._items: dict[int, Item] = {}
        self._steps: dict[int, Step] = {}
        self._stories: dict[int, Story] = {}

    def __getitem__(self, run_id: int) -> Job:
        return self._job_by_run[run_id]

    def find_open(self, *, at: datetime) -> list[Job]:
        """The runs at this endpoint that are at work, as they are now, and whose calls are sent one by one."""
        running = Run.objects.filter(judge__endpoint=self.endpoint.pk, state=Run.State.RUNNING).order_by("pk")
        at_work = reuse.mark_shared(batches.exclude(running))
        if self.only:
            at_work = at_work.filter(pk=self.only.pk)
        jobs: list[Job] = []
        for run in at_work.select_related("judge__endpoint", "judge__prompt", "study"):
            job = self._job_by_run.get(run.pk)
            if job is None or is_due(job.checked_at, CHECK_SECONDS, at=at):
                if not _check(run):
                    continue
                job = job or self._open(run, at=at)
                job.checked_at, job.tariff = at, prices.find_tariff(run.judge, on=at.date())
                if job.tariff and run.budget is not None:
                    job.lengths = prices.load_lengths(run.judge)
            job.run = run
            self._job_by_run[run.pk] = job
            jobs.append(job)
        return jobs

    def lease(self, job: Job, n: int, *, at: datetime) -> list[Ready]:
        """Up to n attempts of the run, committed and about to be sent."""
        run = job.run
        with transaction.atomic():
            if not job.is_probed:
                in_flight = Attempt.objects.filter(call__run=run, is_probe=True, outcome=Attempt.Outcome.IN_FLIGHT)
                # What is under way may fail as well: no more than so many ever do.
                n_ended = max(run.n_probes_answered, run.n_probes_failed)
                n = min(n, attempts.N_PROBES - n_ended - in_flight.count())
            due = _choose_due(job, n=n, at=at) if n > 0 else []
            self._content_by_hash |= texts.load_texts((c.request for c in due), besides=self._content_by_hash)
            requests = {call.pk: texts.render_with(call.request, self._content_by_hash) for call in due}
            due, shares = _choose_within_budget(job, due, requests)
            due = reuse.leave_equal(run, due, at=at)  # what is not sent takes nothing of the minute
            if due:
                n_tokens = max(prices.n_tokens(requests[call.pk]) for call in due)
                due = due[: limits.take_of_minute(self.endpoint.pk, len(due), n_tokens=n_tokens, at=at)]
            for call in due:
                self._attach(job, call)
            probes = [] if job.is_probed else [call.pk for call in due]
            rows = attempts.begin(due, worker=self.worker, probes=probes, shares=shares, at=at)
        if job.cached_texts:
            job.cached_texts.note_sent(due, at=at)
            for call in filter(job.cached_texts.is_shared, due):
                requests[call.pk] = texts.mark_shared(call.request, self._content_by_hash)
        return [Ready(row, prices.limit_reply(requests[row.call.pk], row.n_tokens_limit), job.protocol) for row in rows]

    def note_ended(self, call: Call, *, is_answered: bool, at: datetime) -> None:
        """A call of one of the jobs has come back, or was not sent after all."""
        job = self._job_by_run.get(call.run_id)
        if job and job.cached_texts:
            job.cached_texts.note_ended(call, is_answered=is_answered, at=at)

    def _open(self, run: Run, *, at: datetime) -> Job:
        """The run as a job, with the rows that its calls name."""
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
            tariff=None,
            assignments={assignment.pk: assignment for assignment in assignments},
            checked_at=at,
            cached_texts=_find_cached_texts(run),
        )

    def _attach(self, job: Job, call: Call) -> None:
        """Give the call what it names, without a query."""
        call.run = job.run
        call.assignment = job.assignments[call.assignment_id] if call.assignment_id else None
        call.step = self._steps[call.step_id] if call.step_id else None
        call.item = self._items[call.item_id] if call.item_id else None
        call.story = self._stories[call.story_id] if call.story_id else None


def _find_cached_texts(run: Run) -> CachedTexts | None:
    endpoint = run.judge.required_endpoint
    if run.asks != Prompt.Asks.ITEM or not (endpoint.provider and endpoint.provider.marks_shared_texts):
        return None
    return CachedTexts(run, patience_seconds=endpoint.timeout_seconds + attempts.LEASE_SECONDS)


def _choose_due(job: Job, *, n: int, at: datetime) -> list[Call]:
    """Up to n calls that may be sent now, held until the end of the transaction."""
    if not job.is_probed or job.cached_texts is None:
        return attempts.choose_due(job.run, n=n, at=at, are_probes=not job.is_probed)
    among = job.cached_texts.choose(job.run, n=n, at=at)
    return attempts.choose_due(job.run, n=n, at=at, among=among) if among else []


def _check(run: Run) -> bool:
    """Whether the run may still be sent; it is stopped if not."""
    try:
        connections.check(run)
    except CannotConnect as error:
        lifecycle.stop(run, error.sentence, **error.values)
        return False
    return True


def _choose_within_budget(
    job: Job, due: list[Call], requests: dict[int, Request]
) -> tuple[list[Call], dict[int, BudgetShare]]:
    """Of the calls those that the budget bears, and what is set aside for each; the run waits if it bears none."""
    tariff, run = job.tariff, job.run
    if not due:
        return due, {}
    endpoint, lengths = run.judge.required_endpoint, job.lengths
    reserves = (
        {c.pk: prices.reserve(tariff, requests[c.pk], endpoint=endpoint, lengths=lengths) for c in due}
        if tariff
        else {}
    )
    borne, shares = budgets.within_budget(run, due, reserves, lengths)
    in_flight = Attempt.objects.filter(call__run=run, outcome=Attempt.Outcome.IN_FLIGHT)
    if not borne and not in_flight.exists():  # what is under way may cost less than its worst
        lifecycle.stop_at_budget(run, is_priced=tariff is not None)
    return borne, shares


def seconds_to_next(jobs: Iterable[Job], *, at: datetime) -> float:
    """Seconds until a call of these runs may be tried again; 1.0 if none waits for its time."""
    planned = Call.objects.filter(run__in=[job.run for job in jobs], state=Call.State.PLANNED)
    soonest = planned.filter(attempts.is_put_off(at)).aggregate(soonest=Min("not_before"))["soonest"]
    return max((soonest - at).total_seconds(), 0.01) if soonest else 1.0
