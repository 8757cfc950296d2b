"""A run from its plan to its approval: planned with all its rows, and started by its approver."""

from collections.abc import Callable
from decimal import Decimal
from typing import TypedDict, Unpack

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Rater
from judges import lifecycle
from judges.models import Judge, Run
from judges.planning import CannotRun, OnSeat, Plan, Scope, extensions
from judges.planning.estimates import RunEstimate
from judges.runs import preparation
from judges.runs.packed_calls import CallPacker, do_nothing
from judges.runs.preparation import PreparedRun
from judges.runs.queues import queue
from judges.settlement import reuse
from studies import protocol as protocols
from studies import story_edits
from studies.models import Study
from studies.protocol import Protocol


class RunOptions(TypedDict, total=False):
    """How a run is planned.

    scope : of a model, which stories it reads and how often; None for all of them, once
    budget : in US dollars; no call is sent that could take the run above it
    resends_unknown : what was sent and whose answer nobody heard is sent again; else it waits for a person
    sends_batches : calls are handed in as batches, which cost half and are answered within a day
    """

    scope: Scope | None
    budget: Decimal | None
    resends_unknown: bool
    sends_batches: bool


def start(study: Study, judge: Judge, *, by: str, **options: Unpack[RunOptions]) -> Run:
    """A new run that the one who plans it approves, at work at once. Raises CannotRun."""
    # Two transactions: on SQLite one that also took many earlier replies would keep raters waiting.
    return approve(plan(study, judge, by=by, **options), by=by)


def preview(study: Study, judge: Judge, scope: Scope | None = None) -> tuple[Plan, RunEstimate | None]:
    """What a run would ask and take, tried as `plan` does it and taken back. Raises CannotRun."""
    prepared = rehearse(study, judge, scope)
    return prepared.plan, prepared.estimate


def rehearse(
    study: Study, judge: Judge, scope: Scope | None = None, *, on_step: Callable[[], None] = do_nothing
) -> PreparedRun:
    """A new run before it is written; what a metric's would write is taken back. Raises CannotRun.

    Of a protocol that is not frozen yet it is told what would keep it from being frozen.
    """
    if judge.kind != Rater.Kind.METRIC:
        return prepare(study, judge, by="", on_step=on_step, draft=_load_draft(study), scope=scope)
    with transaction.atomic():
        # Without `on_step`: what that writes would be taken back, too.
        prepared = prepare(study, judge, by="", scope=scope)
        transaction.set_rollback(True)
    return prepared


def plan(study: Study, judge: Judge, *, by: str, **options: Unpack[RunOptions]) -> Run:
    """A new run with its rater, seats, assignments, calls and estimate, which sends nothing before it is approved.

    A judge that has read in the study before is asked only what it has not been asked. Raises CannotRun.
    """
    # On SQLite nobody else writes while a transaction is open, and raters are at work where the protocol is frozen.
    if writes_nothing(study, judge):
        return write(study, prepare(study, judge, by=by, **options), by=by, **options)
    with transaction.atomic():
        return write(study, prepare(study, judge, by=by, **options), by=by, **options)


def writes_nothing(study: Study, judge: Judge) -> bool:
    """Whether a run can be prepared without writing: a model's, by a protocol that is frozen. One query."""
    return judge.kind != Rater.Kind.METRIC and protocols.is_frozen(study)


def prepare(
    study: Study,
    judge: Judge,
    *,
    by: str,
    on_step: Callable[[], None] = do_nothing,
    draft: Protocol | None = None,
    **options: Unpack[RunOptions],
) -> PreparedRun:
    """A new run before it is written. Raises CannotRun.

    draft : of a protocol, by which it is only looked what would be asked; None to ask by the frozen one
    """
    scope, in_batches = options.get("scope"), options.get("sends_batches", False)
    check_options(judge, budget=options.get("budget"), in_batches=in_batches)
    scope = scope or Scope()
    packer = CallPacker(judge, scope.afresh, on_step)
    planned = _try(study, judge, scope, by=by, draft=draft, on_seat=packer.pack_seat)
    return preparation.prepare(study, planned, scope, packer, in_batches=in_batches)


def check_options(judge: Judge, *, budget: Decimal | None, in_batches: bool) -> None:
    """Raise CannotRun if the judge cannot be asked in batches, or its model has no price to keep the budget by."""
    if in_batches and not (judge.endpoint and judge.endpoint.takes_batches):
        raise CannotRun(_("%(judge)s cannot be asked in batches: its endpoint takes none") % {"judge": judge.slug})
    if budget is not None:
        lifecycle.check_price(judge)


def write(study: Study, prepared: PreparedRun, *, by: str, **options: Unpack[RunOptions]) -> Run:
    """The rows of the run. Raises CannotRun."""
    values = {name: option for name, option in options.items() if name != "scope"}
    try:
        with transaction.atomic():
            return preparation.write(study, prepared, by=by, **values)
    except IntegrityError:
        # Two clicks at once: the other one made the run.
        message = _("%(judge)s has just been started in %(study)s")
        raise CannotRun(message % {"judge": prepared.plan.judge.slug, "study": study.slug}) from None


def approve(run: Run, *, by: str, on_step: Callable[[], None] = do_nothing) -> Run:
    """The run at work, with who approved it and when. Raises CannotRun unless it is planned, if it has a budget and its
    model no price, or if it writes stories for a study whose stories are final.

    Calls that ask what the study has paid for already take the earlier reply. The workers hear of it once committed.
    """
    at = timezone.now()
    if run.judge.is_writer and (obstacle := story_edits.find_obstacle(run.study)):
        raise CannotRun(obstacle)
    if run.budget is not None:
        lifecycle.check_price(run.judge)
    planned = Run.objects.filter(pk=run.pk, state=Run.State.PLANNED)
    if not planned.exists():
        raise CannotRun(_("%(run)s has been approved already") % {"run": run})
    reuse.take_earlier(run, at=at, on_step=on_step)
    with transaction.atomic():
        if not planned.update(state=Run.State.RUNNING, approved_by=by, approved_at=at):
            raise CannotRun(_("%(run)s has been approved already") % {"run": run})
        transaction.on_commit(lambda: queue(run))
    run.refresh_from_db()
    return run


def _try(study: Study, judge: Judge, scope: Scope, *, by: str, draft: Protocol | None, on_seat: OnSeat) -> Plan:
    """What the judge is to be asked, by a frozen protocol unless a draft is given. Raises CannotRun.

    A run before the launch freezes the protocol too: what the judge was asked must not change after it. A metric is
    asked nothing, so that it freezes nothing; it waits until the protocol is frozen.
    """
    if judge.kind != Rater.Kind.METRIC and draft is None:
        _freeze(study, judge, by=by)
    return extensions.plan(study, judge, scope, protocol=draft, on_seat=on_seat)


def _load_draft(study: Study) -> Protocol | None:
    """The protocol as it would be frozen; None if one is frozen. Raises CannotRun if it could not be."""
    if protocols.is_frozen(study):
        return None
    try:
        return protocols.fill_names(protocols.read_plannable(protocols.draft(study), protocols.Purpose.RUN))
    except protocols.NotPlannable as error:
        raise CannotRun(str(error)) from None


def _freeze(study: Study, judge: Judge, *, by: str) -> None:
    try:
        protocols.ensure_frozen(
            study, purpose=protocols.Purpose.RUN, reason=f"run of {judge.slug}", by=by, at=timezone.now()
        )
    except protocols.NotPlannable as error:
        raise CannotRun(str(error)) from None
