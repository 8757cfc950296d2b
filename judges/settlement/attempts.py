"""Each sending of a call: taken by one worker, written down before it is sent, and opened again if its worker dies.

A worker takes calls that it alone then has under way; its lease on them lasts while it lives. Whatever is delivered
twice or dies half-way ends in exactly one answer per call: how it ends stands in `ended_attempts`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Max, Q, QuerySet

from judges import providers, reasons
from judges.models import Attempt, Call, ProviderBatch, Run
from judges.providers import CallFailed, Completion
from judges.providers.base.limits import LONGEST_WAIT_SECONDS
from judges.requests.cloze_sections import WAITING
from judges.settlement import subjects
from judges.settlement.budgets import BudgetShare

# So many calls of a run are sent before the others, which follow once so many of them were answered: one that hangs
# holds up nothing. A batch waits for all of them.
N_PROBES = 3
N_PROBES_ENOUGH = 2
# How often a call is tried before it is left without an answer.
N_TRIES = 6
# How often its reply may end with an error while others of its run are answered, before the text is the cause.
N_TRIES_BROKEN_OFF = 3
# How often a call may meet an overload while others are answered, before it is taken to be the cause itself.
N_OVERLOADS = 20
# A worker that lives renews its leases every RENEWAL_SECONDS.
LEASE_SECONDS = 30
RENEWAL_SECONDS = 10
BACKOFF_SECONDS = 1.0
LONGEST_BACKOFF_SECONDS = 60.0
# Ended without an answer, though the same request may get one another day. Failures that nothing will mend are not
# counted as tries, so a call that was wrong in itself never comes this far.
OUT_OF_TRIES = Q(state=Call.State.PROVIDER_ERROR) & (Q(n_failures__gte=N_TRIES) | Q(n_overloads__gte=N_OVERLOADS))
UNHEARD = reasons.UNHEARD


def is_put_off(at: datetime) -> Q:
    """Calls whose next try waits for its time. One that is due later than any can be was put off before the clock was
    set back, and waits no more."""
    return Q(not_before__gt=at, not_before__lte=at + timedelta(seconds=LONGEST_WAIT_SECONDS))


def find_due(run: Run, *, at: datetime) -> QuerySet[Call]:
    """The calls of the run that may be sent now."""
    return run.calls.exclude(is_put_off(at)).filter(~WAITING, state=Call.State.PLANNED)


def choose_due(
    run: Run, *, n: int, at: datetime, are_probes: bool = False, among: Collection[int] | None = None
) -> list[Call]:
    """Up to n calls of the run that may be sent now, held until the end of the transaction.

    Those that have failed wait for the others, so that no call spends all its tries on one bad moment.

    are_probes : whether each is to be about texts of its own, so that one that is refused does not speak for all
    among : ids of calls to which the choice is limited; None for all
    """
    due = find_due(run, at=at)
    if are_probes:
        due = due.filter(pk__in=subjects.choose_apart(run, due, n=n))
    elif among is not None:
        due = due.filter(pk__in=among)
    # Another worker's are passed over: waiting for them would have all workers at one endpoint queue for the same rows.
    # SQLite knows no row locks: there one transaction waits for the other. The key is left unlocked (no_key), since
    # attempts refer to it: else writing an attempt of a call would wait for the holder of the call.
    due = due.select_for_update(no_key=True, skip_locked=True).order_by("pk")
    fresh = list(due.filter(n_failures=0, n_overloads=0)[:n])
    if len(fresh) == n:
        return fresh
    again = due.exclude(n_failures=0, n_overloads=0).order_by("n_failures", "n_overloads", "pk")
    return fresh + list(again[: n - len(fresh)])


def begin(
    calls: Sequence[Call],
    *,
    worker: str,
    probes: Collection[int],
    shares: Mapping[int, BudgetShare],
    lease_seconds: float = LEASE_SECONDS,
    at: datetime,
) -> list[Attempt]:
    """Attempts at these calls, written down as this worker's and about to be sent.

    probes : ids of those calls that are probes
    shares : what is set aside for each, by its id, until it is known what it did cost
    """
    if not calls:
        return []
    pks = [call.pk for call in calls]
    # In the transaction that chose them, so that from its end on no other worker finds them planned.
    Call.objects.filter(pk__in=pks).update(state=Call.State.LEASED)
    numbers = Attempt.objects.filter(call__in=pks).order_by().values_list("call").annotate(last=Max("number"))
    last_by_call = dict(numbers)
    until = at + timedelta(seconds=lease_seconds)
    return Attempt.objects.bulk_create(
        Attempt(
            call=call,
            number=last_by_call.get(call.pk, 0) + 1,
            worker=worker,
            lease_until=until,
            is_probe=call.pk in probes,
            sent_at=at,
            reserved=shares[call.pk].reserved if call.pk in shares else None,
            n_tokens_limit=shares[call.pk].limit if call.pk in shares else None,
        )
        for call in calls
    )


@transaction.atomic
def give_back(attempts: Iterable[Attempt]) -> None:
    """Forget attempts that were written down and never sent."""
    attempts = list(attempts)
    in_flight = Attempt.objects.filter(pk__in=[a.pk for a in attempts], outcome=Attempt.Outcome.IN_FLIGHT)
    call_ids = list(in_flight.values_list("call", flat=True))
    Call.objects.filter(pk__in=call_ids, state=Call.State.LEASED).update(state=Call.State.PLANNED)
    in_flight.delete()


def renew(worker: str, *, at: datetime) -> int:
    """Let a worker that lives keep what it has under way; how many that is."""
    return in_flight_of(worker).update(lease_until=at + timedelta(seconds=LEASE_SECONDS))


def in_flight_of(worker: str) -> QuerySet[Attempt]:
    return Attempt.objects.filter(worker=worker, outcome=Attempt.Outcome.IN_FLIGHT)


def release_expired(*, at: datetime) -> int:
    """How many calls were opened again because their worker died: nobody knows what became of the attempt.

    A lease that was stored before the clock was set back ends no later than one that is renewed now; a batch's does not
    end by itself.
    """
    in_flight = Attempt.objects.filter(outcome=Attempt.Outcome.IN_FLIGHT)
    longest = at + timedelta(seconds=LEASE_SECONDS)
    of_workers = in_flight.exclude(worker__in=ProviderBatch.objects.values("name"))
    of_workers.filter(lease_until__gt=longest).update(lease_until=longest)
    return release(in_flight.filter(lease_until__lt=at))


@transaction.atomic
def release(in_flight: QuerySet[Attempt]) -> int:
    """How many calls were opened again, since nobody will hear of their attempts.

    They are sent again, or held for a person, as their run says. An answer that comes all the same is taken.
    """
    locked = in_flight.select_for_update(no_key=True, of=("self",)).order_by("pk")
    call_by_attempt = dict(locked.values_list("pk", "call"))
    if not call_by_attempt:
        return 0
    attempts = Attempt.objects.filter(pk__in=call_by_attempt, outcome=Attempt.Outcome.IN_FLIGHT)
    attempts.update(outcome=Attempt.Outcome.UNKNOWN, reason=UNHEARD)
    leased = Call.objects.filter(pk__in=call_by_attempt.values(), state=Call.State.LEASED)
    n_released = leased.count()
    leased.filter(run__resends_unknown=False).update(state=Call.State.HELD, reason=UNHEARD)
    worn = leased.filter(n_failures__gte=N_TRIES - 1)
    worn.update(state=Call.State.PROVIDER_ERROR, n_failures=F("n_failures") + 1, reason=UNHEARD)
    leased.update(state=Call.State.PLANNED, n_failures=F("n_failures") + 1, reason=UNHEARD)
    return n_released


def read_reply(attempt: Attempt, *, adapter: str) -> Completion:
    """The completion that an answered attempt got, from its body as it was kept.

    adapter : of the endpoint that the run was started with
    """
    try:
        completion = providers.find_provider(adapter).read(attempt.body)
    except CallFailed:
        # A filter's refusal is no completion in the provider's own form; how it ended was noted.
        completion = Completion("", attempt.finish_reason, attempt.body)
    return replace(
        completion,
        finish_reason=attempt.finish_reason or completion.finish_reason,
        model=attempt.model or completion.model,
        request_id=attempt.request_id,
    )


def backoff_seconds(call: Call, n: int) -> float:
    """Seconds until the next try: full jitter up to a doubling limit."""
    limit = min(BACKOFF_SECONDS * 2 ** min(n, 10), LONGEST_BACKOFF_SECONDS)
    import numpy as np  # here, so that web processes come without it

    return float(limit * np.random.default_rng([call.pk, n]).random())
