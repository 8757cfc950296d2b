"""Runs whose calls are handed in many at once: at half the price, and answered within a day.

A batch is a row before its provider hears of it. After a crash between the two it is looked for by its name; if it is
not found, nobody knows what became of its calls, and they are treated as any other of which that is so.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from judges import lifecycle, reasons, settlement
from judges.endpoints import connections, limits
from judges.models import Attempt, Call, ProviderBatch, Run
from judges.models.notes import FAILED
from judges.planning import prices
from judges.planning.prices import ReplyLengths
from judges.providers import (
    BatchClient,
    BatchRefused,
    BatchState,
    CallFailed,
    CannotConnect,
    Completion,
    FailureKind,
    Provider,
    Request,
)
from judges.requests import texts
from judges.settlement import Ended, attempts, budgets, reuse
from studies import hashing

T = TypeVar("T")
State = ProviderBatch.State

# Providers take more of both, but all of a batch's replies come at once.
MOST_CALLS = 5_000
# A batch is answered within 24 hours, or not at all.
LEASE_SECONDS = 26 * 3600
POLL_SECONDS = 60
# A provider that lets no more calls wait is asked again after so long: earlier batches must end before.
QUEUE_SECONDS = 600
# After so long nobody is handing it in any more.
HANDING_IN_SECONDS = 600
# A batch, or what came back to it, that the provider does not keep any more.
GONE = (404, 410)
# After these nobody knows whether a batch was taken: somebody before the provider gave up, or what came is no answer.
MAY_HAVE_ARRIVED = (200, 500, 502, 504)
N_SETTLED_AT_ONCE = 256
# So many attempts are written in one transaction: about 50 ms on SQLite, where a longer one would keep raters waiting.
N_WRITTEN_AT_ONCE = 128
# Runs that are past their probes; these are sent one by one, as all calls of other runs.
IN_BATCHES = Q(sends_batches=True, n_probes_answered__gte=attempts.N_PROBES)


def exclude(rows: QuerySet[Run]) -> QuerySet[Run]:
    """Of these runs those whose calls are sent one by one now."""
    open_batches = ProviderBatch.objects.filter(run=OuterRef("pk"), state__in=ProviderBatch.OPEN)
    return rows.exclude(IN_BATCHES).exclude(Exists(open_batches))


def find_due(*, at: datetime) -> QuerySet[Run]:
    """The runs with a batch to be handed in or looked at."""
    open_batches = ProviderBatch.objects.filter(run=OuterRef("pk"), state__in=ProviderBatch.OPEN)
    may_begin = IN_BATCHES & Q(state=Run.State.RUNNING) & ~Exists(open_batches)
    return Run.objects.filter(may_begin | Exists(open_batches.filter(due_at__lte=at)))


def shorten(*, at: datetime) -> None:
    """Have no batch wait longer than one can from now: what is due later was stored before the clock was set back."""
    latest = at + timedelta(seconds=HANDING_IN_SECONDS)
    ProviderBatch.objects.filter(state__in=ProviderBatch.OPEN, due_at__gt=latest).update(due_at=latest)


def advance(run: Run, *, at: datetime) -> None:
    """Take the run a step on: hand in a batch, look how it is getting on, or take in what came back.

    Several may do so at once. The run's open batch goes on however the run stands: it is being paid for.
    """
    batch = run.batches.filter(state__in=ProviderBatch.OPEN).first() or _write(run, at=at)
    if batch is None:
        if Run.objects.filter(IN_BATCHES, pk=run.pk, state=Run.State.RUNNING).exists():
            lifecycle.finish(run, at=at)
        return
    seconds = HANDING_IN_SECONDS if batch.state == State.WRITTEN else POLL_SECONDS
    # Taken by moving its time on: of several processes one changes the row. A lock would be held while the network is
    # waited for; if this process dies, the batch is due again.
    due = ProviderBatch.objects.filter(pk=batch.pk, state=batch.state, due_at__lte=at)
    if not due.update(due_at=at + timedelta(seconds=seconds)):
        return  # it is not time yet, or somebody else is at it
    step = {State.WRITTEN: _hand_in, State.HANDED_IN: _look_for, State.WORKING: _poll}[State(batch.state)]
    try:
        step(batch, at=at)
    except CannotConnect as error:
        lifecycle.stop(run, error.sentence, **error.values)


def _write(run: Run, *, at: datetime) -> ProviderBatch | None:
    """A batch of what may be sent now, with its attempts; None if there is nothing, or somebody else was first.

    Its row comes first, to be handed in only later, and then its attempts by and by. Should this process die half-way,
    what is written by then is the batch.
    """
    batch = _begin(run, at=at)
    if batch is None:
        return None
    n_bytes, is_full = 0, False
    while not is_full:
        n_bytes, is_full = _write_more(batch, n_bytes, at=at)
    if not batch.n_calls:
        batch.delete()
        return None
    _change(batch, due_at=at)
    return batch


@transaction.atomic
def _begin(run: Run, *, at: datetime) -> ProviderBatch | None:
    """A batch without attempts; None if no call may be sent now, or another batch is open."""
    # Of two processes that look at once the second waits here, and then finds the first one's batch: else both would
    # see none, and the second would fail at the constraint, one open batch a run.
    row = Run.objects.select_for_update(no_key=True).filter(IN_BATCHES, pk=run.pk, state=Run.State.RUNNING)
    if not row or run.batches.filter(state__in=ProviderBatch.OPEN).exists():
        return None
    if not attempts.choose_due(run, n=1, at=at):
        return None
    due_at = at + timedelta(seconds=HANDING_IN_SECONDS)
    return ProviderBatch.objects.create(run=run, name=secrets.token_hex(16), n_calls=0, created_at=at, due_at=due_at)


@transaction.atomic
def _write_more(batch: ProviderBatch, n_bytes: int, *, at: datetime) -> tuple[int, bool]:
    """Write further attempts of the batch: how many bytes it has then, and whether no more go into it."""
    run = batch.run
    n = min(N_WRITTEN_AT_ONCE, MOST_CALLS - batch.n_calls)
    due = attempts.choose_due(run, n=n, at=at)
    if not due or not Run.objects.filter(pk=run.pk, state=Run.State.RUNNING).exists():
        return n_bytes, True
    limits.hold(run.judge.required_endpoint.pk)
    fresh = reuse.leave_equal(run, due, at=at)
    request_by_call = _render(fresh)
    most_bytes = (run.judge.required_endpoint.provider or Provider).most_batch_bytes
    fitting, n_bytes = _fit(fresh, request_by_call, n_bytes, most_bytes=most_bytes)
    tariff = prices.find_tariff(run.judge, on=at.date())
    endpoint = run.judge.required_endpoint
    lengths = prices.load_lengths(run.judge) if run.budget is not None else ReplyLengths()
    reserves = {
        call.pk: prices.reserve(tariff.in_batches(), request_by_call[call.pk], endpoint=endpoint, lengths=lengths)
        for call in fitting
        if tariff
    }
    borne, shares = budgets.within_budget(run, fitting, reserves, lengths, is_batch=True)
    if fitting and not borne and not batch.n_calls:
        lifecycle.stop_at_budget(run, is_priced=tariff is not None)
    attempts.begin(borne, worker=batch.name, probes=[], shares=shares, lease_seconds=LEASE_SECONDS, at=at)
    _change(batch, n_calls=batch.n_calls + len(borne))
    return n_bytes, len(due) < n or len(borne) < len(fresh) or batch.n_calls >= MOST_CALLS


def _hand_in(batch: ProviderBatch, *, at: datetime) -> None:
    try:
        connections.check(batch.run)
    except CannotConnect as error:
        _end_unsent(batch, str(error), at=at)
        raise
    rows = Attempt.objects.filter(worker=batch.name, outcome=Attempt.Outcome.IN_FLIGHT).select_related("call")
    if not rows:
        _end_unsent(batch, reasons.NOTHING_WRITTEN, at=at)
        return
    request_by_call = _render([row.call for row in rows])
    request_by_key = {_key(row): prices.limit_reply(request_by_call[row.call_id], row.n_tokens_limit) for row in rows}
    _change(batch, state=State.HANDED_IN)
    try:
        number = _ask(batch, lambda client: client.create(batch.name, request_by_key))
    except CallFailed as failure:
        if failure.status is None or failure.status in MAY_HAVE_ARRIVED:
            return  # it is looked for
        _end_refused(batch, failure, seconds=max(failure.retry_after or 0.0, POLL_SECONDS), at=at)
        return
    _change(batch, state=State.WORKING, number=number, reason="", due_at=at + timedelta(seconds=POLL_SECONDS))


def _look_for(batch: ProviderBatch, *, at: datetime) -> None:
    """Find out whether a batch was taken whose number nobody heard. Not every provider can say."""
    try:
        number = _ask(batch, lambda client: client.find(batch.name))
    except CallFailed:
        return  # the next time
    if number is not None:
        _change(batch, state=State.WORKING, number=number, due_at=at)
        return
    attempts.release(attempts.in_flight_of(batch.name))
    _change(batch, state=State.LOST, reason=attempts.UNHEARD, ended_at=at)


def _poll(batch: ProviderBatch, *, at: datetime) -> None:
    try:
        state = _ask(batch, lambda client: client.poll(batch.number))
        results = _ask(batch, lambda client: client.results(batch.number)) if state == BatchState.ENDED else []
    except BatchRefused as refusal:
        _end_refused(batch, refusal, seconds=QUEUE_SECONDS, at=at)
        return
    except CallFailed as failure:
        if failure.status in GONE:
            attempts.release(attempts.in_flight_of(batch.name))
            _change(batch, state=State.LOST, reason=str(failure), ended_at=at)
        elif not failure.is_transient:
            _wait(batch.run, failure)
        return
    if state == BatchState.ENDED:
        _take_in(batch, {result.key: result.outcome for result in results}, at=at)


def _take_in(batch: ProviderBatch, outcome_by_key: dict[str, Completion | CallFailed], *, at: datetime) -> None:
    """Settle every call of the batch; those that were settled before a crash stay as they are."""
    run = batch.run
    tariff = prices.find_tariff(run.judge, on=batch.created_at.date())
    protocol = run.reply_protocol
    missing = CallFailed(reasons.NOT_IN_BATCH, kind=FailureKind.TIMEOUT, is_unserved=True)
    open_attempts = Attempt.objects.filter(
        worker=batch.name, outcome__in=[Attempt.Outcome.IN_FLIGHT, Attempt.Outcome.UNKNOWN]
    ).order_by("pk")
    pks = list(open_attempts.values_list("pk", flat=True))
    for start in range(0, len(pks), N_SETTLED_AT_ONCE):
        ended = []
        for attempt in _load(pks[start : start + N_SETTLED_AT_ONCE]):
            result = outcome_by_key.get(_key(attempt), missing)
            cost = prices.cost_of(tariff.in_batches(), result) if tariff and isinstance(result, Completion) else None
            ended.append(Ended(attempt, result, at, protocol=protocol, cost=cost))
        for call, refusal in settlement.settle(ended):
            lifecycle.stop(call.run, lifecycle.UNRECORDED, reason=str(refusal))
    _change(batch, state=State.ENDED, ended_at=at)


def _load(pks: Sequence[int]) -> QuerySet[Attempt]:
    """The attempts with all that settling asks of them. One query."""
    return Attempt.objects.filter(pk__in=pks).select_related(
        "call__run__judge__endpoint",
        "call__assignment__seat",
        "call__assignment__rater",
        "call__step__instrument",
        "call__item",
        "call__story",
    )


def _end_refused(batch: ProviderBatch, failure: CallFailed, *, seconds: float, at: datetime) -> None:
    """Hand the batch in again after so many seconds if it may be taken on then; else have a person see to it."""
    if failure.is_transient:
        due_at = at + timedelta(seconds=seconds)
        _change(batch, state=State.WRITTEN, number="", reason=str(failure), due_at=due_at)
        return
    _end_unsent(batch, str(failure), at=at)
    _wait(batch.run, failure)


def _wait(run: Run, failure: CallFailed) -> None:
    lifecycle.wait(run, FAILED, kind=failure.kind.value, reason=str(failure))


def _end_unsent(batch: ProviderBatch, reason: str, *, at: datetime) -> None:
    """End a batch of which nothing was answered or paid; its calls are planned again."""
    attempts.give_back(attempts.in_flight_of(batch.name))
    _change(batch, state=State.FAILED, reason=reason, ended_at=at)


def _change(batch: ProviderBatch, **values: Any) -> None:
    for name, value in values.items():
        setattr(batch, name, value)
    batch.save(update_fields=list(values))


def _render(due: Sequence[Call]) -> dict[int, Request]:
    """What is sent for each call, by its id."""
    content_by_hash = texts.load_texts(call.request for call in due)
    return {call.pk: texts.render_with(call.request, content_by_hash) for call in due}


def _fit(
    due: Sequence[Call], request_by_call: dict[int, Request], n_bytes: int, *, most_bytes: int
) -> tuple[list[Call], int]:
    """As many of the calls as a batch of so many bytes still holds, an empty one at least one; and its bytes then."""
    fitting: list[Call] = []
    for call in due:
        n_more = len(hashing.canonical_json(request_by_call[call.pk]).encode())
        if n_bytes and n_bytes + n_more > most_bytes:
            break
        fitting.append(call)
        n_bytes += n_more
    return fitting, n_bytes


def _key(attempt: Attempt) -> str:
    return f"attempt-{attempt.pk}"


def _ask(batch: ProviderBatch, work: Callable[[BatchClient], Awaitable[T]]) -> T:
    """What comes of it at the batch's endpoint. Raises CallFailed and CannotConnect."""
    endpoint = batch.run.judge.required_endpoint

    async def ask() -> T:
        client = connections.connect_batches(endpoint)
        try:
            return await work(client)
        finally:
            await client.close()

    return asyncio.run(ask())
