"""Replies read again: a better parser over what is kept, without a call.

Whatever is read is kept beside what was read before. Answers change through their history, as everybody's do; where
the judge's assignment was submitted it gets another receipt.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import override

from annotation import responses
from annotation.models import Assignment, Rater
from annotation.responses import Entry, submission
from judges import parsing
from judges.models import Attempt, Call, Parse, Run
from judges.planning import CannotRun
from judges.settlement import attempts, replies
from judges.settlement.replies import Interpretation

# So many are read in one transaction: on SQLite a longer one would keep raters waiting.
N_TOGETHER = 32
REPLIED = (Attempt.Outcome.ANSWERED, Attempt.Outcome.REUSED)


@dataclass(frozen=True)
class ChangedAnswer:
    """What reading a call's reply again would make of one of its items.

    item : its key; "" where only the way changes in which the call ends
    before, after : the value, None without one; or the state of the call
    """

    call: int
    item: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Reread:
    """n_read : calls whose replies were read again; n_changed : those that now end otherwise, or with another answer"""

    n_read: int
    n_changed: int


def read_again(run: Run, *, at: datetime) -> Reread:
    """How many replies of the run were read again by the parser as it is now. Raises CannotRun if there are none.

    Calls that are still under way are left alone, and so are texts that were written into a cloze and sent in: stories
    may have been made of them.
    """
    if run.judge.kind == Rater.Kind.METRIC:
        raise CannotRun(_("%(run)s: a metric has no replies to read") % {"run": run})
    pks = _find_replied(run)
    if not pks:
        raise CannotRun(_("%(run)s has no replies that could be read again") % {"run": run})
    n_changed = sum(_read(run, pks[n : n + N_TOGETHER], at=at) for n in range(0, len(pks), N_TOGETHER))
    return Reread(len(pks), n_changed)


@override("en")
def try_again(run: Run, *, most: int) -> tuple[int, list[ChangedAnswer]]:
    """How many calls were tried, and what reading their replies again would change; nothing is written.

    most : so many calls at most, the first of the run
    """
    pks = _find_replied(run)[:most]
    changes: list[ChangedAnswer] = []
    for n in range(0, len(pks), N_TOGETHER):
        for call in _select(run, pks[n : n + N_TOGETHER]):
            _attempt, interpretation = _choose(_read_replies(run, call))
            before, after = _find_recorded(call), interpretation.values
            items = [item for item in dict.fromkeys([*before, *after]) if before.get(item) != after.get(item)]
            changes += [ChangedAnswer(call.pk, item, before.get(item), after.get(item)) for item in items]
            if not items and call.state != interpretation.state:
                changes.append(ChangedAnswer(call.pk, "", call.state, interpretation.state.value))
    return len(pks), changes


def _find_replied(run: Run) -> list[int]:
    """Ids of the run's calls whose replies can be read again."""
    answering = run.calls.filter(kind__in=Call.ANSWERING)
    replied = answering.filter(attempts__outcome__in=REPLIED, answered_at__isnull=False).exclude(request={})
    replied = replied.exclude(state__in=Call.PENDING).exclude(
        kind=Call.Kind.FILL, assignment__status=Assignment.Status.SUBMITTED
    )
    return sorted(set(replied.values_list("pk", flat=True)))


@transaction.atomic
@override("en")  # reasons are kept in English, whoever has replies read again
def _read(run: Run, pks: Sequence[int], *, at: datetime) -> int:
    """How many of these calls changed."""
    calls = list(_select(run, pks).select_for_update(no_key=True, of=("self",)))
    read = {}
    for call in calls:
        interpretations = _read_replies(run, call)
        for attempt, interpretation in interpretations:
            _keep(attempt, interpretation, at=at)
        read[call.pk] = _choose(interpretations)
    changed = [call for call in calls if _differs(call, *read[call.pk])]
    reopened = submission.reopen({call.required_assignment.pk for call in changed})
    n_changed = 0
    for call in changed:
        attempt, interpretation = read[call.pk]
        key = f"parse of attempt {attempt.pk}"
        entries = [
            Entry(call.required_assignment, call.required_step, item, call.story, answer, at, key=key)
            for item, answer in interpretation.answers
        ]
        results = responses.record_many(entries)
        if not any(isinstance(result, Exception) for result in results):
            run.calls.filter(pk=call.pk).update(state=interpretation.state, reason=interpretation.reason)
            n_changed += 1
    for assignment in reopened:
        submission.submit(assignment, at=assignment.ended_at or at)
    return n_changed


def _select(run: Run, pks: Sequence[int]) -> QuerySet[Call]:
    rows = run.calls.filter(pk__in=pks).exclude(state__in=Call.PENDING).order_by("pk")
    names = ("run", "assignment__seat", "assignment__rater", "step__instrument", "item", "story")
    return rows.select_related(*names).prefetch_related("attempts__parses")


def _read_replies(run: Run, call: Call) -> list[tuple[Attempt, Interpretation]]:
    """What this version of the parser reads in each reply to the call."""
    replied = [attempt for attempt in call.attempts.all() if attempt.outcome in REPLIED]
    completions = ((attempt, attempts.read_reply(attempt, adapter=run.adapter)) for attempt in replied)
    return [(attempt, replies.interpret(call, reply, run.reply_protocol)) for attempt, reply in completions]


def _choose(read: Sequence[tuple[Attempt, Interpretation]]) -> tuple[Attempt, Interpretation]:
    """The reply that counts, with what is read in it."""
    return read[find_counted([(interpretation.state, interpretation.values) for _attempt, interpretation in read])]


def find_counted(ends: Sequence[tuple[str, Mapping[str, Any]]]) -> int:
    """Which of a call's replies counts, as when they came: the first that was read whole, or the fullest, and of those
    that are as full the last.

    ends : of each reply the state in which it ends the call, and the values that it gives
    """
    whole = [n for n, (state, _values) in enumerate(ends) if state == Call.State.OK]
    n_most = max(len(values) for _state, values in ends)
    return whole[0] if whole else max(n for n, (_state, values) in enumerate(ends) if len(values) == n_most)


def _find_recorded(call: Call) -> dict[str, Any]:
    """The values that the call's replies gave when they were read last, by item."""
    parses = [parse for attempt in call.attempts.all() if (parse := _find_earlier(attempt))]
    return parses[find_counted([(parse.state, parse.values) for parse in parses])].values if parses else {}


def _find_earlier(attempt: Attempt) -> Parse | None:
    """What was read in the reply last."""
    return max(attempt.parses.all(), key=lambda parse: parse.pk, default=None)


def _keep(attempt: Attempt, interpretation: Interpretation, *, at: datetime) -> None:
    """Note what was read, unless it is what this version read the last time."""
    row = Parse(
        attempt=attempt,
        version=parsing.VERSION,
        state=interpretation.state,
        values=interpretation.values,
        reason=interpretation.reason,
        form=interpretation.form,
        grades=interpretation.grades,
        at=at,
    )
    latest = _find_earlier(attempt)
    names = ("version", "state", "values", "reason", "form", "grades")
    if latest is None or any(getattr(latest, name) != getattr(row, name) for name in names):
        row.save()


def _differs(call: Call, attempt: Attempt, interpretation: Interpretation) -> bool:
    """Whether the call now ends otherwise than it stands, or with other values than were read before."""
    earlier = _find_earlier(attempt)
    is_same = earlier is not None and earlier.values == interpretation.values
    return call.state != interpretation.state or not is_same
