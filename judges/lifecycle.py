"""How a run is halted and how it ends, for workers, commands and pages alike."""

from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.db.models import Count, Max, Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotation.models import Assignment, Rater, Seat
from annotation.responses import submission
from judges import reasons
from judges.models import Call, Judge, Parse, Run, Text
from judges.planning import CannotRun, prices
from judges.requests import cloze_sections, texts
from judges.requests.cloze_sections import WAITING
from judges.settlement import attempts, handlers
from judges.settlement.replies import STOPPED_AT
from studies.models import Cloze

CLOSED = reasons.CLOSED
# Why a run does not go on, for the others that halt one.
UNRECORDED = gettext_noop("an answer could not be recorded: %(reason)s")
PROBES_FAILED = gettext_noop("The first %(n)s calls got no answer. %(what)s %(way_out)s (%(reason)s)")
PROBES_UNREADABLE = gettext_noop(
    "Replies to %(n)s of the first calls could not be read. Change the prompt to ask for the expected form, or "
    "choose a model that keeps to it; then resume the run. (%(reason)s)"
)
NO_PRICE = gettext_noop(
    "There is a budget but no price for %(model)s. Ask an administrator to enter the price under "
    "Records, Prices (0 if it costs nothing), or remove the limit; then resume the run."
)
UNPRICED = gettext_noop(
    "There is a budget but no price for %(model)s, so the budget could not be kept. Ask an administrator to enter the "
    "price under Records, Prices (0 if it costs nothing), or leave the limit empty."
)
APPROVED = gettext_noop("%(run)s has been approved; it can be closed, not discarded")
STOPPED_BY = gettext_noop("stopped by %(name)s")
PAUSED_BY = gettext_noop("paused by %(name)s")


def stop(run: Run, sentence: str, **values: str | int) -> Run:
    """The run stopped, with the reason; replies in flight are still recorded, and it can be resumed.

    sentence : in English, with places for the values, as for all that halt a run: it is translated when it is shown
    """
    return _halt(run, Run.State.STOPPED, sentence, values)


def pause(run: Run, sentence: str, **values: str | int) -> Run:
    """The run paused by a person until it is resumed; replies in flight are still recorded."""
    return _halt(run, Run.State.PAUSED, sentence, values)


def wait(run: Run, sentence: str, **values: str | int) -> Run:
    """The run waiting for a person to see to something; then it can be resumed."""
    return _halt(run, Run.State.WAITING, sentence, values)


def stop_at_budget(run: Run, *, is_priced: bool = True) -> Run:
    """The run waiting, since its budget does not bear another call; those that are left say so.

    is_priced : whether it is known what its model costs; else nobody can tell, and its calls stay planned
    """
    if not is_priced:
        return wait(run, NO_PRICE, model=run.judge.model)
    left = run.calls.filter(state=Call.State.PLANNED)
    n_left = left.update(state=Call.State.BUDGET_STOPPED, reason=reasons.SPENT)
    budget = f"{run.budget.normalize():f}" if run.budget is not None else ""
    sentence = gettext_noop(
        "The budget of %(budget)s USD may not cover another call; calls left: %(n)s. Raise it, or close the run."
    )
    return wait(run, sentence, budget=budget, n=n_left)


def close(run: Run, *, at: datetime) -> Run:
    """The run finished with what it has, its calls without an answer left so.

    Raises CannotRun while some are under way, and if nobody has approved it.
    """
    if run.state == Run.State.PLANNED:
        raise CannotRun(_("%(run)s has not been approved yet") % {"run": run})
    if run.calls.filter(state=Call.State.LEASED).exists():
        raise CannotRun(_("%(run)s still has calls under way") % {"run": run})
    with transaction.atomic():
        pending = run.calls.filter(~WAITING, state__in=Call.PENDING)
        pending.filter(attempts=None).update(state=Call.State.NOT_ASKED, reason=CLOSED)
        pending.update(state=Call.State.PROVIDER_ERROR, reason=CLOSED)
        _submit(run, at=at)
    run.refresh_from_db()
    return run


@transaction.atomic
def discard(run: Run) -> None:
    """Take back a run that nobody has approved, with all its rows. Raises CannotRun if somebody has."""
    row = Run.objects.select_for_update(no_key=True).filter(pk=run.pk, state=Run.State.PLANNED, approved_at=None)
    if not row.exists():
        raise CannotRun(_(APPROVED) % {"run": run})
    # The fence around a story has a number of this run's, so that no other run shares these texts.
    requests = run.calls.values_list("request", flat=True).iterator(chunk_size=2_000)
    hashes = {sha256 for request in requests for sha256 in texts.hashes_of(request)}
    Text.objects.exclude(story=None).filter(pk__in=hashes).delete()
    assignments = list(Assignment.objects.filter(reading__run=run))
    row.delete()
    Assignment.objects.filter(pk__in=[assignment.pk for assignment in assignments]).delete()
    Seat.objects.filter(pk__in=[assignment.seat_id for assignment in assignments]).delete()
    raters = Rater.objects.filter(pk__in={assignment.rater_id for assignment in assignments})
    raters.filter(assignments=None).delete()


def check_price(judge: Judge) -> None:
    """Raise CannotRun if a budget could not be kept, since nobody has said what the judge's model costs."""
    endpoint = judge.endpoint
    if endpoint is None or endpoint.is_stub or prices.find_tariff(judge, on=timezone.now().date()):
        return
    raise CannotRun(_(UNPRICED) % {"model": judge.model})


def set_budget(run: Run, budget: Decimal | None) -> None:
    """Have the run spend no more than that from now on; None for no limit. Raises CannotRun if it is finished.

    budget : in US dollars. Raises CannotRun, too, where the model has no price by which to keep it.
    """
    if budget is not None:
        check_price(run.judge)
    if not Run.objects.filter(pk=run.pk).exclude(state=Run.State.FINISHED).update(budget=budget):
        raise CannotRun(_("%(run)s is finished") % {"run": run})


def finish(run: Run, *, at: datetime) -> bool:
    """End the run and submit its assignments if no call is left to ask. False if some are.

    While calls are out of tries, held or out of budget the run waits instead, and nothing is submitted.
    """
    # All in one query: between two, a call that is planned again would be seen by neither.
    counts_left = run.calls.aggregate(
        n_pending=Count("pk", filter=Q(state__in=[Call.State.PLANNED, Call.State.LEASED]) & ~WAITING),
        n_failed=Count("pk", filter=attempts.OUT_OF_TRIES),
        reason=Max("reason", filter=attempts.OUT_OF_TRIES),
        n_held=Count("pk", filter=Q(state=Call.State.HELD)),
        n_unpaid=Count("pk", filter=Q(state=Call.State.BUDGET_STOPPED)),
    )
    if counts_left["n_pending"]:
        return False
    if counts_left["n_failed"]:
        n, reason = counts_left["n_failed"], counts_left["reason"]
        sentence = gettext_noop("calls that have used up their tries: %(n)s, such as: %(reason)s")
        wait(run, sentence, n=n, reason=reason)
    elif counts_left["n_held"]:
        sentence = gettext_noop("calls whose result is unknown: %(n)s")
        wait(run, sentence, n=counts_left["n_held"])
    elif not counts_left["n_unpaid"]:
        _submit(run, at=at)
    return True


def _halt(run: Run, state: Run.State, sentence: str, values: dict[str, str | int]) -> Run:
    at_work = Run.objects.filter(pk=run.pk, state=Run.State.RUNNING)
    at_work.update(state=state, note_sentence=sentence, note_values=values)
    run.refresh_from_db()
    return run


def _submit(run: Run, *, at: datetime) -> None:
    """Finish the run and submit its assignments, once."""
    with transaction.atomic():
        row = Run.objects.filter(pk=run.pk).exclude(state=Run.State.FINISHED)
        if row.update(state=Run.State.FINISHED, finished_at=at, note_sentence="", note_values={}):
            try:
                for handler in handlers.all_handlers():
                    handler.finish(run, at=at)
            except handlers.CannotFinish as obstacle:
                values = {"note_sentence": obstacle.sentence, "note_values": obstacle.values}
                Run.objects.filter(pk=run.pk).update(state=Run.State.WAITING, finished_at=None, **values)
                return
            cloze_sections.end_waiting(run)
            assignments = Assignment.objects.filter(pk__in=run.calls.exclude(assignment=None).values("assignment"))
            submission.submit_all(assignments, at=at, section_by_assignment=_find_stops(run))


def _find_stops(run: Run) -> dict[int, int]:
    """By id of the assignment the section at which the model said that it could not go on."""
    filled = run.calls.filter(kind=Call.Kind.FILL, state=Call.State.REFUSED).select_related("step")
    sections: dict[int, int] = {}
    for call in filled:
        parse = Parse.objects.filter(attempt__call=call).order_by("-attempt__number", "-pk").first()
        blank = parse.values.get(STOPPED_AT) if parse else None
        if blank is not None and call.assignment_id is not None:
            document = Cloze.objects.get(filling=call.required_step.instrument_id).parsed
            sections[call.assignment_id] = next(b.section for b in document.blanks if b.number == blank)
    return sections
