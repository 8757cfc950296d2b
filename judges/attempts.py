"""One question of a run, and each time that it was sent: leased, committed as it comes back, tried again after a while.

A worker takes calls by conditional update and writes down each attempt before it is sent, so that whatever is delivered
twice or dies half-way ends in exactly one answer per call.
"""

import secrets
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Q

from annotation import responses
from judges import parsing, replies
from judges.models import Attempt, Call, Run
from judges.providers import CallFailed, Completion

# How often a call is tried before it is left without an answer.
N_TRIES = 6
BACKOFF_SECONDS = 1.0
LONGEST_BACKOFF_SECONDS = 60.0
# Beyond its time limit a call may wait for a free thread and for the database.
LEASE_MARGIN_SECONDS = 60
# Ended without an answer, though the same request may get one another day. Failures that nothing will mend are not
# counted as tries, so a call that was wrong in itself never comes this far.
OUT_OF_TRIES = Q(state=Call.State.PROVIDER_ERROR, n_failures__gte=N_TRIES)


def lease_time(run: Run) -> timedelta:
    """For how long a worker may hold a call, or a run while it works on a batch, before others take it over."""
    return timedelta(seconds=run.judge.required_endpoint.timeout_seconds + LEASE_MARGIN_SECONDS)


@transaction.atomic
def lease_calls(run: Run, *, n: int, at: datetime) -> list[Attempt]:
    """Attempts at up to n calls that are this worker's alone for a while: written down, and about to be sent."""
    due = run.calls.filter(Q(not_before=None) | Q(not_before__lte=at), state=Call.State.PLANNED)
    # Those that have failed wait for the others, so that no call spends all its tries on one bad moment.
    chosen = list(due.order_by("n_failures", "pk").values_list("pk", flat=True)[:n])
    token = secrets.token_hex(16)
    # Another worker may have taken some of them since we looked: those do not change.
    run.calls.filter(pk__in=chosen, state=Call.State.PLANNED).update(
        state=Call.State.LEASED, lease=token, lease_until=at + lease_time(run), sent_at=at
    )
    calls = (
        run.calls.filter(lease=token, state=Call.State.LEASED)
        .select_related("assignment__seat", "item", "step", "story")
        .annotate(n_before=Count("attempts"))
        .order_by("pk")
    )
    return Attempt.objects.bulk_create(Attempt(call=call, number=call.n_before + 1, sent_at=at) for call in calls)


def release_leases(*, at: datetime) -> int:
    """How many calls were opened again because their lease ran out: nobody knows what became of the attempt."""
    expired = Attempt.objects.filter(
        outcome=Attempt.Outcome.IN_FLIGHT, call__state=Call.State.LEASED, call__lease_until__lt=at
    )
    reason = "sent, and nobody heard the answer"
    return sum(
        fail_attempt(attempt, CallFailed(reason, is_transient=True), outcome=Attempt.Outcome.UNKNOWN, at=at)
        for attempt in expired.select_related("call")
    )


def commit_attempt(attempt: Attempt, completion: Completion, *, protocol: str, at: datetime) -> bool:
    """Commit what came back: the call's end, the attempt's, and the response, all or nothing.

    False if the call was no longer ours, because its lease had run out; then nothing changes but the attempt.
    Raises responses.AssignmentEnded if somebody closed the assignment meanwhile.
    """
    call = attempt.call
    reply = replies.interpret(call, completion, protocol)
    with transaction.atomic():
        is_ours = _end(
            attempt,
            at=at,
            outcome=Attempt.Outcome.ANSWERED,
            state=reply.state,
            reason=reply.reason,
            response=parsing.strip_unstorable(completion.raw),
            n_tokens_in=completion.n_tokens_in,
            n_tokens_out=completion.n_tokens_out,
            answered_at=at,
        )
        if is_ours:
            call.assignment.refresh_from_db(fields=["status"])  # it has been a while since we looked
            for item, answer in reply.answers:
                responses.record(
                    call.assignment,
                    step=call.step,
                    item=item,
                    story=call.story,
                    answer=answer,
                    at=at,
                    key=f"call {call.pk}",
                )
    return is_ours


def fail_attempt(attempt: Attempt, failure: CallFailed, *, outcome: Attempt.Outcome, at: datetime) -> bool:
    """Plan the call again after a while, or end it without an answer. False if it was no longer ours.

    What another try may mend ends when its tries are used up, and is planned anew by `runs.resume`; all else ends for
    good.
    """
    can_be_mended = failure.is_transient or failure.is_fatal
    n_failures = attempt.call.n_failures + can_be_mended
    is_over = n_failures >= N_TRIES or not can_be_mended
    with transaction.atomic():
        return _end(
            attempt,
            at=at,
            outcome=outcome,
            state=Call.State.PROVIDER_ERROR if is_over else Call.State.PLANNED,
            reason=str(failure),
            n_failures=n_failures,
            not_before=None if is_over else at + timedelta(seconds=_backoff(attempt.call, n_failures, failure)),
        )


def _end(attempt: Attempt, *, at: datetime, outcome: Attempt.Outcome, reason: str, **changes: Any) -> bool:
    """End an attempt and change its call, if the call is still leased for it; otherwise the attempt came late."""
    call = attempt.call
    is_ours = Call.objects.filter(pk=call.pk, lease=call.lease, state=Call.State.LEASED).update(
        lease="", lease_until=None, reason=reason, **changes
    )
    if not is_ours and outcome == Attempt.Outcome.UNKNOWN:
        return False  # somebody else has just taken it in, or given it back
    Attempt.objects.filter(pk=attempt.pk).update(
        ended_at=None if outcome == Attempt.Outcome.UNKNOWN else at,
        outcome=outcome if is_ours else Attempt.Outcome.LATE,
        reason=reason,
    )
    return bool(is_ours)


def _backoff(call: Call, n_failures: int, failure: CallFailed) -> float:
    """Seconds until the next try: full jitter up to a doubling limit, and never less than the provider asked for."""
    limit = min(BACKOFF_SECONDS * 2**n_failures, LONGEST_BACKOFF_SECONDS)
    import numpy as np  # here, so that web processes come without it

    share = np.random.default_rng([call.pk, n_failures]).random()
    return max(float(limit * share), failure.retry_after or 0.0)
