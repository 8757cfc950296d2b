"""Calls that ask what the study has paid for already: they take the earlier reply, and nothing is sent.

Two calls ask the same if every word, parameter and schema, the endpoint and the reading are the same; of a further
repeat the reading is another, so that whoever asks for repeats gets fresh replies.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.db.models import QuerySet

from judges import attempts, settlement
from judges.calls import N_AT_ONCE
from judges.models import Attempt, Call, Run
from judges.settlement import Ended
from studies.models import Study

# So many are settled in one transaction: on SQLite a longer one would keep raters waiting.
N_TOGETHER = 32
# In these a call has a reply from which something was recorded.
REPLIED = (
    *(Call.State.OK, Call.State.REFUSED, Call.State.BLOCKED),
    *(Call.State.TRUNCATED, Call.State.UNREADABLE, Call.State.OUT_OF_RANGE),
)


def find_answered(study: Study, hashes: Iterable[str]) -> set[str]:
    """Those of the hashes of requests to which the study has a reply. One query, or several if they are very many."""
    needed_hashes = list({sha256 for sha256 in hashes if sha256})
    answered: set[str] = set()
    for start in range(0, len(needed_hashes), N_AT_ONCE):
        replies = _find_replies(study, needed_hashes[start : start + N_AT_ONCE])
        answered.update(replies.order_by().values_list("call__request_sha256", flat=True))
    return answered


def take_earlier(run: Run, *, at: datetime) -> int:
    """How many calls of the run took the reply of an earlier one: it is read, recorded and costs nothing."""
    # What guards a run is asked anew in each: it shows whether the model has changed.
    fresh = run.calls.filter(state=Call.State.PLANNED, kind__in=Call.ANSWERING).exclude(request_sha256="")
    fresh = fresh.exclude(attempts__outcome__in=[Attempt.Outcome.ANSWERED, Attempt.Outcome.REUSED])
    answered = find_answered(run.study, fresh.values_list("request_sha256", flat=True))
    pks = [pk for pk, sha256 in fresh.order_by("pk").values_list("pk", "request_sha256") if sha256 in answered]
    return sum(_take(run, pks[n : n + N_TOGETHER], at=at) for n in range(0, len(pks), N_TOGETHER))


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
    for attempt in attempts.begin(taken, worker="", probes=(), worst={}, at=at):
        earlier = earlier_by_hash[attempt.call.request_sha256]
        attempt.call.run = earlier.call.run  # the canary that must not come back is the one that was sent
        attempt.reason = f"The reply is that of call {earlier.call_id} in run {earlier.call.run_id}."
        completion = attempts.read_reply(earlier, adapter=run.adapter)
        # Its tokens were paid for with the earlier call, and are not counted again.
        unpaid = replace(completion, n_tokens_in=None, n_tokens_out=None, n_tokens_cached=None, n_tokens_reasoning=None)
        ended.append(Ended(attempt, unpaid, at, protocol=run.reply_protocol, cost=Decimal(0), is_reused=True))
    settlement.settle(ended)
    return len(ended)


def _find_replies(study: Study, hashes: Collection[str]) -> QuerySet[Attempt]:
    answered = Attempt.objects.filter(outcome=Attempt.Outcome.ANSWERED, call__run__study=study).exclude(body="")
    return answered.filter(call__request_sha256__in=hashes, call__state__in=REPLIED, call__kind__in=Call.ANSWERING)
