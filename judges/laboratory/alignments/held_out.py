"""The held-out part: judged with the present prompt and with every accepted version, and on nothing else."""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from judges import runs
from judges.laboratory import splits
from judges.laboratory.prompt_choices import add_up, divide_budget
from judges.models import Alignment, Judge, PromptProposal, Run
from judges.planning import CannotRun, Scope
from judges.planning.estimates import RunEstimate
from judges.planning.extensions import NothingToAsk
from judges.runs import planning_jobs


def find_scope(alignment: Alignment) -> Scope:
    """The held-out stories, once, as the study's people read them."""
    return Scope(selection=splits.find_codes(alignment.study, alignment.held_out))


def find_waiting(alignment: Alignment) -> list[PromptProposal]:
    """The accepted versions that have not been asked yet. One query."""
    rows = alignment.proposals.filter(state=PromptProposal.State.ACCEPTED, run=None)
    return list(rows.select_related("judge__endpoint", "judge__prompt").order_by("pk"))


def check_decided(alignment: Alignment) -> None:
    """Raise CannotRun while a proposal waits: one that is accepted after results were seen would be chosen by them."""
    rows = PromptProposal.objects.filter(alignment__study=alignment.study, alignment__judge=alignment.judge)
    if rows.filter(state=PromptProposal.State.OPEN).exists():
        message = _("Accept or refuse every proposal of this judge first, before any result is seen.")
        raise CannotRun(message)


def preview(alignment: Alignment) -> RunEstimate:
    """What judging the held-out stories would take: all accepted versions, and the present prompt where it has not
    been asked. Raises CannotRun. Writes nothing."""
    _check(alignment)
    estimates = []
    for judge in _find_judges(alignment):
        try:
            _plan, estimate = runs.preview(alignment.study, judge, find_scope(alignment))
        except NothingToAsk:
            continue
        if estimate is not None:
            estimates.append(estimate)
    return add_up(estimates)


def start(alignment: Alignment, *, by: str, budget: Decimal | None = None) -> list[Run]:
    """The runs about the held-out stories, each approved and at work before the next is planned. Raises CannotRun.

    What one leaves that breaks off is still waiting, and started by the next.

    budget : in US dollars for all of them together; each gets an equal part
    """
    _check(alignment)
    waiting = find_waiting(alignment)
    if not waiting:
        raise CannotRun(_("No accepted version is waiting. Accept a proposal first."))
    base = _plan_base(alignment, by=by, budget=divide_budget(budget, len(waiting) + 1))
    part = divide_budget(budget, len(waiting) + (base is not None))
    started = [] if base is None else [runs.approve(base, by=by)]
    for proposal in waiting:
        started.append(runs.approve(_plan_version(alignment, proposal, by=by, budget=part), by=by))
    return started


def _check(alignment: Alignment) -> None:
    """Raise CannotRun while a proposal waits, or if a run is more than a request should plan."""
    check_decided(alignment)
    judges, scope = _find_judges(alignment), find_scope(alignment)
    if any(planning_jobs.is_large(alignment.study, judge, scope) for judge in judges):
        message = _(
            "These runs may ask more than %(n)s questions each, which a worker plans. Start a run of each under Runs "
            "of judges, which asks no new version about the first part either: %(judges)s."
        )
        names = {"n": planning_jobs.CALLS_AT_ONCE, "judges": ", ".join(judge.slug for judge in judges)}
        raise CannotRun(message % names)


@transaction.atomic
def _plan_base(alignment: Alignment, *, by: str, budget: Decimal | None) -> Run | None:
    """A run of the present prompt about what it has not been asked there; None if it has been asked all."""
    row = Alignment.objects.select_for_update(no_key=True, of=("self",)).get(pk=alignment.pk)
    if row.base_run_id is not None:
        return None
    try:
        row.base_run = runs.plan(alignment.study, alignment.judge, by=by, scope=find_scope(alignment), budget=budget)
    except NothingToAsk:
        return None
    row.save(update_fields=["base_run"])
    return row.base_run


@transaction.atomic
def _plan_version(alignment: Alignment, proposal: PromptProposal, *, by: str, budget: Decimal | None) -> Run:
    """A run of the accepted version. Raises CannotRun if somebody else has just started one."""
    row = PromptProposal.objects.select_for_update(no_key=True, of=("self",)).get(pk=proposal.pk)
    if row.run_id is not None or proposal.judge is None:
        raise CannotRun(_("The held-out stories are being judged already. Load the page again."))
    return runs.plan(alignment.study, proposal.judge, by=by, scope=find_scope(alignment), budget=budget)


def _find_judges(alignment: Alignment) -> list[Judge]:
    """Who is still to be asked; the judge with the present prompt first, unless it has its run."""
    judges = [proposal.judge for proposal in find_waiting(alignment)]
    bases = [alignment.judge] if alignment.base_run_id is None else []
    return [*bases, *(judge for judge in judges if judge is not None)]
