"""A run that goes on: after it was halted, or for calls that have no usable answer."""

from django.db import IntegrityError, transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotation.models import Assignment, Rater
from annotation.responses import submission
from judges.endpoints import limits
from judges.models import Attempt, Call, Run
from judges.planning import CannotRun
from judges.runs.queues import queue
from judges.settlement import attempts, reuse

# Ended without a usable answer. What a model or its provider declined is an answer of its kind.
RETRYABLE = (
    *(Call.State.PROVIDER_ERROR, Call.State.TOO_LARGE),
    *(Call.State.UNREADABLE, Call.State.TRUNCATED, Call.State.OUT_OF_RANGE),
)
NO_CALLS = gettext_noop("%(run)s has no calls to send again")
# Ended without being sent.
UNSENT = (Call.State.BUDGET_STOPPED, Call.State.NOT_ASKED)


def resume(run: Run) -> Run:
    """The run at work again after it was paused or stopped or has waited; queued once committed.

    Calls that have used up their tries or the budget are planned again, and those that were held are sent again. Those
    that were wrong in themselves stay as they ended: the request is frozen, so the same words would be refused again.
    Whoever resumes has seen to what its endpoint waited for. Raises CannotRun if the run is finished or not approved.
    """
    again = Q(state__in=[Call.State.PLANNED, Call.State.HELD, Call.State.BUDGET_STOPPED]) | attempts.OUT_OF_TRIES
    with transaction.atomic():
        row = Run.objects.filter(pk=run.pk).exclude(state__in=[Run.State.FINISHED, Run.State.PLANNED])
        if not row.exists():
            is_planned = Run.objects.filter(pk=run.pk, state=Run.State.PLANNED).exists()
            sentence = _("%(run)s has not been approved yet") if is_planned else _("%(run)s is finished")
            raise CannotRun(sentence % {"run": run})
        _set_to_work(run, run.calls.filter(again))
    run.refresh_from_db()
    return run


def retry(run: Run) -> int:
    """How many calls without a usable answer are asked once more, with the same words; queued once committed.

    At most one fresh try follows a reply: a call that has got two is left as it is, and so is what a model declined.
    Where the run was finished, the assignments concerned are open again until it has come to its end anew; a text that
    was written into a cloze and sent in is left. Raises CannotRun if there is no such call.
    """
    if run.judge.kind == Rater.Kind.METRIC or run.state == Run.State.PLANNED:
        raise CannotRun(_(NO_CALLS) % {"run": run})
    calls = find_retryable(run)
    try:
        with transaction.atomic():
            pks = list(calls.order_by("pk").values_list("pk", flat=True))
            if not pks:
                raise CannotRun(_(NO_CALLS) % {"run": run})
            submission.reopen(set(calls.values_list("assignment", flat=True)))
            _set_to_work(run, Call.objects.filter(pk__in=pks))
    except IntegrityError:
        message = _("%(judge)s has an unfinished run in %(study)s; resume it, or close it first")
        raise CannotRun(message % {"judge": run.judge.slug, "study": run.study.slug}) from None
    run.refresh_from_db()
    return len(pks)


def find_retryable(run: Run) -> QuerySet[Call]:
    """The calls of the run that `retry` asks once more: nothing that was erased, and nothing of a log.

    What was not sent is among them once the run is finished; until then it is asked by `resume`.
    """
    if run.judge.is_from_log:
        return run.calls.none()
    states = (*RETRYABLE, *UNSENT) if run.state == Run.State.FINISHED else RETRYABLE
    replied = Count("attempts", filter=Q(attempts__outcome__in=[Attempt.Outcome.ANSWERED, Attempt.Outcome.REUSED]))
    calls = run.calls.filter(state__in=states).exclude(request={}).annotate(n_replies=replied).filter(n_replies__lt=2)
    return calls.exclude(kind=Call.Kind.FILL, assignment__status=Assignment.Status.SUBMITTED)


def _set_to_work(run: Run, calls: QuerySet[Call]) -> None:
    """Have the run go on, with these calls to be asked."""
    Run.objects.filter(pk=run.pk).update(
        state=Run.State.RUNNING,
        note_sentence="",
        note_values={},
        finished_at=None,
        n_probes_answered=0,
        n_probes_failed=0,
    )
    calls.update(state=Call.State.PLANNED, reason="", answered_at=None, n_failures=0, n_overloads=0, not_before=None)
    reuse.take_earlier(run, at=timezone.now())
    if run.judge.endpoint_id:
        limits.mend(run.judge.endpoint_id)
    transaction.on_commit(lambda: queue(run))
