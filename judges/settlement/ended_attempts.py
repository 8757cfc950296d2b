"""What came back from calls, committed together: each call's end, its attempts, what was read, and the responses.

All or nothing, by the rules of `responses.record`. Whichever answer to a call comes first counts, also one that comes
after its worker was taken to be dead; any other is kept with its attempt and changes nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db import transaction
from django.utils.translation import override

from annotation import responses
from annotation.responses import Answer, AssignmentEnded, Entry
from judges import parsing, reasons
from judges.models import Attempt, Call, Parse
from judges.providers import CallFailed, Completion, FailureKind
from judges.requests import cloze_sections
from judges.settlement import attempts, handlers, replies
from judges.settlement.handlers import SettledReply
from judges.settlement.replies import Interpretation
from studies.models import Item

# An answer is taken by a call in one of these; a call that is out of tries or budget is glad of a late one.
OPEN = (*Call.PENDING, Call.State.PROVIDER_ERROR, Call.State.BUDGET_STOPPED)
# No further try mends these, and they end the call.
STATE_BY_KIND = {
    FailureKind.BAD_REQUEST: Call.State.PROVIDER_ERROR,
    FailureKind.TOO_LARGE: Call.State.TOO_LARGE,
    FailureKind.BLOCKED: Call.State.BLOCKED,
    FailureKind.NOT_OFFERED: Call.State.PROVIDER_ERROR,
}
# The endpoint or its settings are at fault: not counted as tries of the call.
UNCOUNTED = (
    *(FailureKind.OVERLOAD, FailureKind.CONNECTION, FailureKind.KEY, FailureKind.CREDIT),
    *(FailureKind.UNKNOWN_MODEL, FailureKind.REDIRECT, FailureKind.ADDRESS),
)
WRITTEN = (
    *("outcome", "ended_at", "status", "request_id", "model", "system_fingerprint", "finish_reason"),
    *("n_tokens_in", "n_tokens_out"),
    *("n_tokens_cached", "n_tokens_cache_written", "n_tokens_reasoning", "reserved", "cost", "body", "reason"),
)
AFTER_FAILURE = ("state", "reason", "n_failures", "n_overloads", "not_before", "answered_at")


@dataclass
class Ended:
    """An attempt that has ended, with what came back.

    protocol : how the reply is read
    cost : in US dollars; None if unknown
    was_endpoint_well : whether others were answered while this one was under way
    ends_nothing : of a failure, that the call is planned again whatever it was
    is_reused : nothing was sent; the reply is that of an earlier call that asked the same
    is_from_log : nothing was sent; the reply stood in a log of another tool, and no other can be had
    """

    attempt: Attempt
    result: Completion | CallFailed
    at: datetime
    protocol: str = ""
    cost: Decimal | None = None
    was_endpoint_well: bool = False
    ends_nothing: bool = False
    is_reused: bool = False
    is_from_log: bool = False

    @property
    def call(self) -> Call:
        return self.attempt.call


@override("en")  # reasons are kept in English, in whichever language this process runs
def settle(ended: Sequence[Ended]) -> list[tuple[Call, AssignmentEnded]]:
    """Commit what came back; the calls whose answers could not be recorded, since their seat has been closed."""
    interpretations = {
        e.attempt.pk: replies.interpret(e.call, e.result, e.protocol) for e in ended if isinstance(e.result, Completion)
    }
    refusals: list[tuple[Call, AssignmentEnded]] = []
    with transaction.atomic():
        # Two workers may settle the same calls, of which one had been taken for dead. In one order, so that neither
        # holds what the other waits for; and their states are read under the lock, so that the first answer counts.
        locked = Call.objects.filter(pk__in={e.call.pk for e in ended}).order_by("pk")
        rows = list(locked.select_for_update(no_key=True).values_list("pk", "state", "request_sha256"))
        state_by_call = {pk: state for pk, state, _sha256 in rows}
        asked_before = _find_asked_before(ended, interpretations)
        fuller = _find_fuller(ended, interpretations)
        awaited = _find_awaited(ended)
        answers: list[tuple[Ended, Interpretation]] = []
        asked_again: dict[str, list[int]] = defaultdict(list)
        failed: list[Call] = []
        for e in ended:
            if isinstance(e.result, CallFailed):
                _write_failure(e, e.result)
                if e.attempt.pk in awaited and state_by_call.get(e.call.pk) == Call.State.LEASED:
                    _fail(e, e.result)
                    failed.append(e.call)
                    state_by_call[e.call.pk] = e.call.state
            elif state_by_call.get(e.call.pk) not in OPEN:
                _write_completion(e, e.result, Attempt.Outcome.LATE)
            else:
                _write_completion(e, e.result, Attempt.Outcome.REUSED if e.is_reused else Attempt.Outcome.ANSWERED)
                interpretation = interpretations[e.attempt.pk]
                may_ask_again = not e.is_reused and not e.is_from_log and e.call.pk not in asked_before
                is_lost = interpretation.state == Call.State.UNREADABLE and not interpretation.values
                if is_lost and may_ask_again:
                    asked_again[interpretation.reason].append(e.call.pk)
                    state_by_call[e.call.pk] = Call.State.PLANNED
                else:
                    answers.append((e, fuller.get(e.call.pk, interpretation)))
                    state_by_call[e.call.pk] = answers[-1][1].state
        refusals = _record(answers)
        refused = {call.pk for call, _ in refusals}
        _write_failed(failed)
        _ask_again(asked_again)
        _end_calls(answers, refused=refused)
        for e, interpretation in answers:
            is_fill = e.call.kind == Call.Kind.FILL and e.call.section
            if is_fill and interpretation.state == Call.State.OK and e.call.pk not in refused:
                cloze_sections.open_next(e.call)
        # Erasing empties the hash of a request, also of one that is under way: what it brings back must not stay.
        erased = {pk for pk, _state, sha256 in rows if not sha256}
        _forget(ended, interpretations, erased=erased)
        _write_attempts([e.attempt for e in ended])
        _write_parses(ended, interpretations)
        _follow([pair for pair in answers if pair[0].call.pk not in erased])
    return refusals


def _forget(ended: Iterable[Ended], interpretations: dict[int, Interpretation], *, erased: Collection[int]) -> None:
    """Keep no word of what came back to calls whose texts were erased while they were under way."""
    for e in ended:
        if e.call.pk in erased:
            e.attempt.body = e.attempt.reason = ""
            interpretations.pop(e.attempt.pk, None)


def _follow(answers: Iterable[tuple[Ended, Interpretation]]) -> None:
    """Have the handlers of calls that ask no rater do what follows from their replies."""
    replies_by_kind: dict[str, list[SettledReply]] = defaultdict(list)
    for e, interpretation in answers:
        if isinstance(e.result, Completion):
            reply = SettledReply(e.call, e.result, interpretation.state, interpretation.findings)
            replies_by_kind[e.call.kind].append(reply)
    for kind, settled in replies_by_kind.items():
        if handler := handlers.find_handler(kind):
            handler.follow(settled)


def _find_asked_before(ended: Iterable[Ended], interpretations: dict[int, Interpretation]) -> set[int]:
    """Ids of the calls whose reply is unreadable now and was before: they are not asked a third time."""
    unreadable = [
        e.call.pk
        for e in ended
        if e.attempt.pk in interpretations and interpretations[e.attempt.pk].state == Call.State.UNREADABLE
    ]
    if not unreadable:
        return set()
    answered = Attempt.objects.filter(
        call__in=unreadable, outcome__in=[Attempt.Outcome.ANSWERED, Attempt.Outcome.REUSED]
    )
    return set(answered.order_by().values_list("call", flat=True))


def _find_fuller(ended: Iterable[Ended], interpretations: dict[int, Interpretation]) -> dict[int, Interpretation]:
    """By the id of the call, how it ended before with more answers than now: those stay recorded."""
    n_by_call = {
        e.call.pk: len(interpretations[e.attempt.pk].values)
        for e in ended
        if e.attempt.number > 1 and e.call.kind in Call.ANSWERING and e.attempt.pk in interpretations
    }
    if not n_by_call:
        return {}
    earlier = Parse.objects.filter(attempt__call__in=n_by_call).exclude(values={}).order_by("pk")
    rows = earlier.values_list("attempt__call", "values", "state", "reason")
    return {
        call: Interpretation([], Call.State(state), reason)
        for call, values, state, reason in rows
        if len(values) > n_by_call[call]
    }


def _find_awaited(ended: Iterable[Ended]) -> set[int]:
    """Ids of the failed attempts that their calls still wait for: if a lease ran out, the call is somebody else's."""
    failed = [e.attempt.pk for e in ended if isinstance(e.result, CallFailed)]
    if not failed:
        return set()
    return set(Attempt.objects.filter(pk__in=failed, outcome=Attempt.Outcome.IN_FLIGHT).values_list("pk", flat=True))


def _ask_again(pks_by_reason: Mapping[str, list[int]]) -> None:
    """Plan the calls once more, as they stand: the same words, the same parameters."""
    for reason, pks in pks_by_reason.items():
        Call.objects.filter(pk__in=pks).update(state=Call.State.PLANNED, reason=reason, not_before=None)


def _record(answers: Sequence[tuple[Ended, Interpretation]]) -> list[tuple[Call, AssignmentEnded]]:
    """Record the answers as everybody's are; those calls whose seat was closed meanwhile."""
    entries: list[tuple[int, Entry]] = []
    for n, (ended, interpretation) in enumerate(answers):
        entries += [(n, _entry(ended, item, answer)) for item, answer in interpretation.answers]
    results = responses.record_many([entry for _, entry in entries])
    refusals: dict[int, tuple[Call, AssignmentEnded]] = {}
    invalid_entries: list[Entry] = []
    for (n, entry), result in zip(entries, results, strict=True):
        ended, interpretation = answers[n]
        if isinstance(result, AssignmentEnded):
            refusals[ended.call.pk] = (ended.call, result)
        elif isinstance(result, Exception):
            # The parser and the item disagree; what the item says holds.
            interpretation.state, interpretation.reason = Call.State.OUT_OF_RANGE, str(result)
            invalid_entries.append(
                _entry(ended, entry.item, Answer(outcome=replies.OUTCOME_BY_STATE[Call.State.OUT_OF_RANGE]))
            )
    if invalid_entries:
        responses.record_many(invalid_entries)
    return list(refusals.values())


def _entry(ended: Ended, item: Item, answer: Answer) -> Entry:
    call = ended.call
    return Entry(
        call.required_assignment, call.required_step, item, call.story, answer, ended.at, key=f"call {call.pk}"
    )


def _end_calls(answers: Sequence[tuple[Ended, Interpretation]], *, refused: set[int]) -> None:
    """End the calls that were answered, those of one end together."""
    pks_by_end: dict[tuple[str, str], list[int]] = defaultdict(list)
    for ended, interpretation in answers:
        state, reason = str(interpretation.state), interpretation.reason
        if ended.call.pk in refused:
            state, reason = Call.State.PROVIDER_ERROR.value, reasons.SEAT_CLOSED
            ended.attempt.outcome = Attempt.Outcome.LATE
        pks_by_end[state, reason].append(ended.call.pk)
    for (state, reason), pks in pks_by_end.items():
        at = max(ended.at for ended, _ in answers)
        Call.objects.filter(pk__in=pks).update(state=state, reason=reason, answered_at=at)


def _write_completion(ended: Ended, completion: Completion, outcome: Attempt.Outcome) -> None:
    """Note in the attempt all that came back."""
    attempt = ended.attempt
    attempt.outcome = outcome
    attempt.ended_at = ended.at
    attempt.status = None if ended.is_reused or ended.is_from_log else 200
    attempt.request_id = completion.request_id[:200]
    attempt.model = completion.model[:200]
    attempt.system_fingerprint = parsing.strip_unstorable(completion.system_fingerprint)[:200]
    attempt.finish_reason = completion.finish_reason[:80]
    attempt.n_tokens_in, attempt.n_tokens_out = completion.n_tokens_in, completion.n_tokens_out
    attempt.n_tokens_cached, attempt.n_tokens_reasoning = completion.n_tokens_cached, completion.n_tokens_reasoning
    attempt.n_tokens_cache_written = completion.n_tokens_cache_written
    attempt.cost = ended.cost
    attempt.body = parsing.strip_unstorable(completion.raw)


def _write_failure(ended: Ended, failure: CallFailed) -> None:
    """Note the failure in the attempt."""
    attempt = ended.attempt
    attempt.outcome, attempt.ended_at = Attempt.Outcome.FAILED, ended.at
    attempt.status, attempt.request_id = failure.status, failure.request_id[:200]
    attempt.body, attempt.reason = parsing.strip_unstorable(failure.body), parsing.strip_unstorable(str(failure))
    attempt.cost = ended.cost
    if failure.is_unserved:
        attempt.reserved = None


def _fail(ended: Ended, failure: CallFailed) -> None:
    """Plan the call again after a while, or end it without an answer.

    What another try may mend ends when its tries are used up, and is planned again by `runs.resume`; all else for good.
    """
    call = ended.call
    call.reason = ended.attempt.reason
    if failure.kind in STATE_BY_KIND and not ended.ends_nothing:
        call.state, call.answered_at = STATE_BY_KIND[failure.kind], ended.at
        return
    is_uncounted = failure.kind in UNCOUNTED
    call.n_overloads += is_uncounted and failure.is_transient and _is_its_own(ended, failure)
    call.n_failures += not is_uncounted and not ended.ends_nothing
    if failure.kind == FailureKind.BROKEN_OFF and _breaks_off_alone(call):
        call.state, call.answered_at = Call.State.PROVIDER_ERROR, ended.at
        return
    is_over = call.n_failures >= attempts.N_TRIES or call.n_overloads >= attempts.N_OVERLOADS
    call.state = Call.State.PROVIDER_ERROR if is_over else Call.State.PLANNED
    seconds = max(attempts.backoff_seconds(call, call.n_failures + call.n_overloads), failure.retry_after or 0.0)
    call.not_before = None if is_over else ended.at + timedelta(seconds=seconds)


def _write_failed(rows: Sequence[Call]) -> None:
    """Save what has become of the calls that failed, in one statement."""
    Call.objects.bulk_create(rows, update_conflicts=True, unique_fields=["id"], update_fields=AFTER_FAILURE)


def _is_its_own(ended: Ended, failure: CallFailed) -> bool:
    """Whether an overload may be this call's doing: others were answered, or the server broke down."""
    return ended.was_endpoint_well or failure.status == 500


def _breaks_off_alone(call: Call) -> bool:
    """Whether the call has broken off so often that its text is the cause: others of its run were answered since it
    first did, or all others that were asked have been. While others fail, too, the provider is.
    """
    if call.n_failures < attempts.N_TRIES_BROKEN_OFF:
        return False
    answered = Attempt.objects.filter(call__run=call.run_id, outcome=Attempt.Outcome.ANSWERED)
    first = call.attempts.order_by("number").values("ended_at")[:1]
    others_at_fault = Call.objects.filter(run=call.run_id, n_failures__gt=0, answered_at=None).exclude(pk=call.pk)
    return answered.filter(ended_at__gt=first).exists() or (answered.exists() and not others_at_fault.exists())


def _write_attempts(rows: Sequence[Attempt]) -> None:
    """Save what the attempts have become. One statement: cases by row would take several times as long to compile."""
    Attempt.objects.bulk_create(rows, update_conflicts=True, unique_fields=["id"], update_fields=WRITTEN)


def _write_parses(ended: Iterable[Ended], interpretations: dict[int, Interpretation]) -> None:
    """Note what this version of the parser read in each reply."""
    Parse.objects.bulk_create(
        Parse(
            attempt=e.attempt,
            version=str(parsing.VERSION),
            state=interpretation.state,
            values=interpretation.values,
            reason=interpretation.reason,
            form=interpretation.form,
            grades=interpretation.grades,
            at=e.at,
        )
        for e in ended
        if (interpretation := interpretations.get(e.attempt.pk)) is not None
    )
