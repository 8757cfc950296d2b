"""A run from its plan to its approval: planned with all its rows, and started by its approver."""

from decimal import Decimal
from typing import TypedDict, Unpack

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Rater
from judges import lifecycle
from judges.models import Judge, Run
from judges.planning import CannotRun, Plan, Scope, extensions
from judges.planning.estimates import RunEstimate
from judges.runs import preparation
from judges.runs.queues import queue
from judges.settlement import reuse
from studies import protocol as protocols
from studies import story_edits
from studies.models import Study


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
    """What a run would ask and take, tried as `plan` does it and taken back. Raises CannotRun.

    Of a protocol that is not frozen yet it is told what would keep it from being frozen.
    """
    with transaction.atomic():
        planned = _try(study, judge, scope, by="")
        estimate_of_run = preparation.estimate(study, planned)
        transaction.set_rollback(True)
    return planned, estimate_of_run


def plan(study: Study, judge: Judge, *, by: str, **options: Unpack[RunOptions]) -> Run:
    """A new run with its rater, seats, assignments, calls and estimate, which sends nothing before it is approved.

    A judge that has read in the study before is asked only what it has not been asked. Raises CannotRun.
    """
    scope, in_batches = options.get("scope"), options.get("sends_batches", False)
    if in_batches and not (judge.endpoint and judge.endpoint.takes_batches):
        raise CannotRun(_("%(judge)s cannot be asked in batches: its endpoint takes none") % {"judge": judge.slug})
    if options.get("budget") is not None:
        lifecycle.check_price(judge)
    try:
        with transaction.atomic():
            planned = _try(study, judge, scope, by=by)
            run = preparation.write(study, planned, scope or Scope(), budget=options.get("budget"), by=by)
            estimate_of_run = preparation.estimate(study, planned, in_batches=in_batches)
            run.resends_unknown, run.sends_batches = options.get("resends_unknown", True), in_batches
            run.estimate = estimate_of_run.document if estimate_of_run else {}
            run.save(update_fields=["resends_unknown", "sends_batches", "estimate"])
    except IntegrityError:
        # Two clicks at once: the other one made the run.
        message = _("%(judge)s has just been started in %(study)s")
        raise CannotRun(message % {"judge": judge.slug, "study": study.slug}) from None
    return run


def approve(run: Run, *, by: str) -> Run:
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
    reuse.take_earlier(run, at=at)
    with transaction.atomic():
        if not planned.update(state=Run.State.RUNNING, approved_by=by, approved_at=at):
            raise CannotRun(_("%(run)s has been approved already") % {"run": run})
        transaction.on_commit(lambda: queue(run))
    run.refresh_from_db()
    return run


def _try(study: Study, judge: Judge, scope: Scope | None, *, by: str) -> Plan:
    """What the judge is to be asked, by a frozen protocol. Raises CannotRun.

    A run before the launch freezes the protocol too: what the judge was asked must not change after it. A metric is
    asked nothing, so that it freezes nothing; it waits until the protocol is frozen.
    """
    if judge.kind != Rater.Kind.METRIC:
        _freeze(study, judge, by=by)
    return extensions.plan(study, judge, scope)


def _freeze(study: Study, judge: Judge, *, by: str) -> None:
    try:
        protocols.ensure_frozen(
            study, purpose=protocols.Purpose.RUN, reason=f"run of {judge.slug}", by=by, at=timezone.now()
        )
    except protocols.NotPlannable as error:
        raise CannotRun(str(error)) from None
