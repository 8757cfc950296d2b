"""Calls that ask what the study has paid for already: they take the earlier reply, and nothing is sent.

One that asks what another is asking at the moment waits for that one's reply, so that two runs at once pay once, too.

Two calls ask the same if every word, parameter and schema, the endpoint and the reading are the same; of a further
repeat the reading is another, so that repeats get fresh replies.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from judges import reasons
from judges.endpoints import limits
from judges.models import Attempt, Call, Run
from judges.requests.texts import N_AT_ONCE
from judges.settlement import attempts, ended_attempts
from judges.settlement.ended_attempts import Ended
from studies.models import Study

# So many are settled in one transaction: on SQLite a longer one would keep raters waiting.
N_TOGETHER = 32
# How long a call waits before it looks again whether an equal one has its reply.
WAIT_SECONDS = 0.5
TAKEN = (Attempt.Outcome.ANSWERED, Attempt.Outcome.REUSED)


def find_answered(study: Study, hashes: Iterable[str]) -> set[str]:
    """Those of the hashes of requests to which the study has a reply. One query, or several if they are very many."""
    needed_hashes = list({sha256 for sha256 in hashes if sha256})
    answered: set[str] = set()
    for start in range(0, len(needed_hashes), N_AT_ONCE):
        replies = _find_replies(study, needed_hashes[start : start + N_AT_ONCE])
        answered.update(replies.order_by().values_list("call__request_sha256", flat=True))
    return answered


def take_earlier(run: Run, *, at: datetime, on_step: Callable[[], None] = lambda: None) -> int:
    """How many calls of the run took the reply of an earlier one: it is read, recorded and costs nothing.

    on_step : called after each few of them
    """
    # A run's checks are asked again in each: they show whether the model has changed.
    fresh = run.calls.filter(state=Call.State.PLANNED, kind__in=Call.ANSWERING).exclude(request_sha256="")
    fresh = fresh.exclude(attempts__outcome__in=TAKEN)
    answered = find_answered(run.study, fresh.values_list("request_sha256", flat=True))
    pks = [pk for pk, sha256 in fresh.order_by("pk").values_list("pk", "request_sha256") if sha256 in answered]
    n_taken = 0
    for start in range(0, len(pks), N_TOGETHER):
        n_taken += _take(run, pks[start : start + N_TOGETHER], at=at)
        on_step()
    return n_taken


def mark_shared(rows: QuerySet[Run]) -> QuerySet[Run]:
    """The runs, each with whether another in its study asks the same model, or has since this one was approved."""
    others = Run.objects.filter(
        Q(finished_at=None) | Q(finished_at__gte=OuterRef("approved_at")),
        study=OuterRef("study"),
        judge__endpoint=OuterRef("judge__endpoint"),
        judge__model=OuterRef("judge__model"),
    )
    return rows.annotate(is_shared=Exists(others.exclude(pk=OuterRef("pk"))))


def leave_equal(run: Run, due: Sequence[Call], *, at: datetime) -> list[Call]:
    """Those of the calls that are to be sent: none that asks what another of the study asks now or has asked.

    Those that are left out take the reply, or look again in a while. What has had a reply is asked afresh and stays.
    Must be called in a transaction: where there may be equal calls the endpoint's row is held to its end, so that of
    two one is the first.
    """
    if not due or not getattr(run, "is_shared", True):
        return list(due)
    limits.hold(run.judge.required_endpoint.pk)
    asked_again = set(Attempt.objects.filter(call__in=due, outcome__in=TAKEN).values_list("call", flat=True))
    fresh = [c for c in due if c.kind in Call.ANSWERING and c.request_sha256 and c.pk not in asked_again]
    hashes = {call.request_sha256 for call in fresh}
    answered = find_answered(run.study, hashes)
    equal = Call.objects.filter(run__study=run.study_id, kind__in=Call.ANSWERING, request_sha256__in=hashes)
    is_begun = Q(
        Exists(Attempt.objects.filter(call=OuterRef("pk"))), state=Call.State.PLANNED, run__state=Run.State.RUNNING
    )
    first_by_hash = {call.request_sha256: call.pk for call in sorted(fresh, key=lambda call: -call.pk)}
    for pk, sha256, state in equal.filter(Q(state=Call.State.LEASED) | is_begun).values_list(
        "pk", "request_sha256", "state"
    ):
        # Of two that have been tried and wait for another try the lower number goes first, or both would wait for ever.
        first_by_hash[sha256] = min(first_by_hash[sha256], 0 if state == Call.State.LEASED else pk)
    left = [c for c in fresh if c.request_sha256 in answered or first_by_hash[c.request_sha256] != c.pk]
    pks = [call.pk for call in left]
    Call.objects.filter(pk__in=pks).update(not_before=at + timedelta(seconds=WAIT_SECONDS))
    if to_take := [call.pk for call in left if call.request_sha256 in answered]:
        _take(run, to_take[:N_TOGETHER], at=at)
    return [call for call in due if call.pk not in pks]


@transaction.atomic
def _take(run: Run, pks: Collection[int], *, at: datetime) -> int:
    rows = run.calls.filter(pk__in=pks, state=Call.State.PLANNED).select_related(
        "run", "assignment__seat", "assignment__rater", "step__instrument", "item", "story"
    )
    calls = list(rows.order_by("pk").select_for_update(no_key=True, of=("self",)))
    replies = _find_replies(run.study, {call.request_sha256 for call in calls}).select_related("call__run")
    earlier_by_hash = {reply.call.request_sha256: reply for reply in replies.order_by("pk")}  # the last one counted
    taken = [call for call in calls if call.request_sha256 in earlier_by_hash]
    ended = []
    for attempt in attempts.begin(taken, worker="", probes=(), shares={}, at=at):
        earlier = earlier_by_hash[attempt.call.request_sha256]
        attempt.call.run = earlier.call.run  # the canary that must not come back is the one that was sent
        attempt.reason = reasons.REUSED % {"call": earlier.call_id, "run": earlier.call.run_id}
        completion = attempts.read_reply(earlier, adapter=run.adapter)
        # Its tokens were paid for with the earlier call, and are not counted again.
        unpaid = replace(completion, n_tokens_in=None, n_tokens_out=None, n_tokens_cached=None)
        unpaid = replace(unpaid, n_tokens_cache_written=None, n_tokens_reasoning=None)
        ended.append(Ended(attempt, unpaid, at, protocol=run.reply_protocol, cost=Decimal(0), is_reused=True))
    ended_attempts.settle(ended)
    return len(ended)


def _find_replies(study: Study, hashes: Collection[str]) -> QuerySet[Attempt]:
    answered = Attempt.objects.filter(outcome=Attempt.Outcome.ANSWERED, call__run__study=study).exclude(body="")
    return answered.filter(call__request_sha256__in=hashes, call__state=Call.State.OK, call__kind__in=Call.ANSWERING)
