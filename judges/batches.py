"""Runs whose calls are handed in many at once: at half the price, and answered within a day.

A batch is a row before its provider hears of it. After a crash between the two it is looked for by its name; if it is
not found, nobody knows what became of its calls, and they are treated as any other of which that is so.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from judges import attempts, calls, connections, lifecycle, prices, settlement
from judges.models import Attempt, Call, ProviderBatch, Run
from judges.providers import BatchClient, BatchState, CallFailed, CannotConnect, Completion, FailureKind, Request
from judges.settlement import Ended
from studies import hashing

T = TypeVar("T")
State = ProviderBatch.State

# Providers take more of both, but all of a batch's replies come at once.
MOST_CALLS = 5_000
MOST_BYTES = 50_000_000
# A batch is answered within 24 hours, or not at all.
LEASE_SECONDS = 26 * 3600
POLL_SECONDS = 60
# After so long nobody is handing it in any more.
HANDING_IN_SECONDS = 600
N_SETTLED_AT_ONCE = 256
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
    due = ProviderBatch.objects.filter(pk=batch.pk, state=batch.state, due_at__lte=at)
    if not due.update(due_at=at + timedelta(seconds=seconds)):
        return  # it is not time yet, or somebody else is at it
    step = {State.WRITTEN: _hand_in, State.HANDED_IN: _look_for, State.WORKING: _poll}[State(batch.state)]
    try:
        step(batch, at=at)
    except CannotConnect as error:
        lifecycle.stop(run, str(error))


@transaction.atomic
def _write(run: Run, *, at: datetime) -> ProviderBatch | None:
    """A batch of what may be sent now, with its attempts; None if there is nothing, or somebody else was first."""
    row = Run.objects.select_for_update(no_key=True).filter(IN_BATCHES, pk=run.pk, state=Run.State.RUNNING)
    if not row or run.batches.filter(state__in=ProviderBatch.OPEN).exists():
        return None
    due = attempts.choose_due(run, n=MOST_CALLS, at=at)
    request_by_call = _render(due)
    due = list(_fitting(due, request_by_call))
    tariff = prices.find_tariff(run.judge, on=at.date())
    worst_by_call = {
        call.pk: prices.worst_cost(tariff.in_batches(), request_by_call[call.pk]) for call in due if tariff
    }
    borne = attempts.within_budget(run, due, worst_by_call)
    if not borne:
        if due:
            lifecycle.stop_at_budget(run)
        return None
    batch = ProviderBatch.objects.create(
        run=run, name=secrets.token_hex(16), n_calls=len(borne), created_at=at, due_at=at
    )
    attempts.begin(borne, worker=batch.name, probes=[], worst=worst_by_call, lease_seconds=LEASE_SECONDS, at=at)
    return batch


def _hand_in(batch: ProviderBatch, *, at: datetime) -> None:
    try:
        connections.check(batch.run)
    except CannotConnect as error:
        _end_unsent(batch, str(error), at=at)
        raise
    rows = Attempt.objects.filter(worker=batch.name, outcome=Attempt.Outcome.IN_FLIGHT).select_related("call")
    call_by_key = {_key(attempt): attempt.call for attempt in rows}
    request_by_call = _render(list(call_by_key.values()))
    request_by_key = {key: request_by_call[call.pk] for key, call in call_by_key.items()}
    _change(batch, state=State.HANDED_IN)
    try:
        number = _ask(batch, lambda client: client.create(batch.name, request_by_key))
    except CallFailed as failure:
        if failure.status is None:
            return  # it may have arrived, and is looked for
        if failure.is_transient:
            seconds = max(failure.retry_after or 0.0, POLL_SECONDS)
            _change(batch, state=State.WRITTEN, reason=str(failure), due_at=at + timedelta(seconds=seconds))
            return
        _end_unsent(batch, str(failure), at=at)
        lifecycle.wait(batch.run, str(failure))
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
    except CallFailed as failure:
        if not failure.is_transient:
            lifecycle.wait(batch.run, str(failure))
        return
    if state == BatchState.ENDED:
        _take_in(batch, {result.key: result.outcome for result in results}, at=at)
    elif state == BatchState.FAILED:
        reason = f"the provider did not take on the batch {batch}"
        _end_unsent(batch, reason, at=at)
        lifecycle.wait(batch.run, reason)


def _take_in(batch: ProviderBatch, outcome_by_key: dict[str, Completion | CallFailed], *, at: datetime) -> None:
    """Settle every call of the batch; those that were settled before a crash stay as they are."""
    run = batch.run
    tariff = prices.find_tariff(run.judge, on=batch.created_at.date())
    protocol = run.reply_protocol
    missing = CallFailed("not answered in its batch", kind=FailureKind.TIMEOUT)
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
            lifecycle.stop(call.run, f"an answer could not be recorded: {refusal}")
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
    content_by_hash = calls.load_texts(call.request for call in due)
    return {call.pk: calls.render_with(call.request, content_by_hash) for call in due}


def _fitting(due: Sequence[Call], request_by_call: dict[int, Request]) -> Iterator[Call]:
    """As many of the calls, and one at least, as one batch holds."""
    n_bytes = 0
    for call in due:
        n_bytes += len(hashing.canonical_json(request_by_call[call.pk]).encode())
        if n_bytes > MOST_BYTES and call is not due[0]:
            return
        yield call


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
