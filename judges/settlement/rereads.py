"""Replies read again: a better parser over what is kept, without a call.

Whatever is read is kept beside what was read before. Answers change through their history, as everybody's do; where
the judge's assignment was submitted it gets another receipt.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
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
    answering = run.calls.filter(kind__in=Call.ANSWERING)
    replied = answering.filter(attempts__outcome__in=REPLIED, answered_at__isnull=False).exclude(request={})
    replied = replied.exclude(state__in=Call.PENDING).exclude(
        kind=Call.Kind.FILL, assignment__status=Assignment.Status.SUBMITTED
    )
    pks = sorted(set(replied.values_list("pk", flat=True)))
    if not pks:
        raise CannotRun(_("%(run)s has no replies that could be read again") % {"run": run})
    n_changed = sum(_read(run, pks[n : n + N_TOGETHER], at=at) for n in range(0, len(pks), N_TOGETHER))
    return Reread(len(pks), n_changed)


@transaction.atomic
@override("en")  # reasons are kept in English, whoever has replies read again
def _read(run: Run, pks: Sequence[int], *, at: datetime) -> int:
    """How many of these calls changed."""
    rows = run.calls.filter(pk__in=pks).exclude(state__in=Call.PENDING).order_by("pk")
    locked = rows.select_for_update(no_key=True, of=("self",)).prefetch_related("attempts__parses")
    names = ("run", "assignment__seat", "assignment__rater", "step__instrument", "item", "story")
    calls = list(locked.select_related(*names))
    read = {call.pk: _interpret(run, call, at=at) for call in calls}
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


def _interpret(run: Run, call: Call, *, at: datetime) -> tuple[Attempt, Interpretation]:
    """The reply that counts, the first that can be read or else the last, and what this version of the parser reads."""
    replied = [attempt for attempt in call.attempts.all() if attempt.outcome in REPLIED]
    read = []
    for attempt in replied:
        completion = attempts.read_reply(attempt, adapter=run.adapter)
        interpretation = replies.interpret(call, completion, run.reply_protocol)
        _keep(attempt, interpretation, at=at)
        read.append((attempt, interpretation))
    return next((pair for pair in read if pair[1].state == Call.State.OK), read[-1])


def _keep(attempt: Attempt, interpretation: Interpretation, *, at: datetime) -> None:
    """Note what was read, unless it is what this version read the last time."""
    row = Parse(
        attempt=attempt,
        version=parsing.VERSION,
        state=interpretation.state,
        values=interpretation.values,
        reason=interpretation.reason,
        at=at,
    )
    latest = max(attempt.parses.all(), key=lambda parse: parse.pk, default=None)
    names = ("version", "state", "values", "reason")
    if latest is None or any(getattr(latest, name) != getattr(row, name) for name in names):
        row.save()


def _differs(call: Call, attempt: Attempt, interpretation: Interpretation) -> bool:
    """Whether the call now ends otherwise than it stands, or with other values than were read before."""
    earlier = max(attempt.parses.all(), key=lambda parse: parse.pk, default=None)
    is_same = earlier is not None and earlier.values == interpretation.values
    return call.state != interpretation.state or not is_same
