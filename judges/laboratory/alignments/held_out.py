"""The held-out part: judged with the present prompt and with every accepted version, and on nothing else."""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from judges import runs
from judges.laboratory import splits
from judges.laboratory.prompt_choices import add_up
from judges.models import Alignment, Judge, PromptProposal, Run
from judges.planning import CannotRun, Scope
from judges.planning.estimates import RunEstimate
from judges.planning.extensions import NothingToAsk


def find_scope(alignment: Alignment) -> Scope:
    """The held-out stories, once, as the study's people read them."""
    return Scope(selection=splits.find_codes(alignment.study, alignment.held_out))


def find_waiting(alignment: Alignment) -> list[PromptProposal]:
    """The accepted versions that have not been asked yet. One query."""
    rows = alignment.proposals.filter(state=PromptProposal.State.ACCEPTED, run=None)
    return list(rows.select_related("judge__endpoint", "judge__prompt").order_by("pk"))


def preview(alignment: Alignment) -> RunEstimate:
    """What judging the held-out stories would take: all accepted versions, and the present prompt where it has not
    been asked. Raises CannotRun. Writes nothing."""
    _check_decided(alignment)
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
    """The runs about the held-out stories, approved and at work. Raises CannotRun.

    budget : in US dollars for all of them together; each gets an equal part
    """
    with transaction.atomic():
        row = Alignment.objects.select_for_update(no_key=True, of=("self",)).get(pk=alignment.pk)
        _check_decided(row)
        waiting = find_waiting(row)
        if not waiting:
            raise CannotRun(_("No accepted version is waiting. Accept a proposal first."))
        part = None if budget is None else budget / (len(waiting) + 1)
        for proposal in waiting:
            if proposal.judge is not None:
                proposal.run = runs.plan(row.study, proposal.judge, by=by, scope=find_scope(row), budget=part)
                proposal.save(update_fields=["run"])
        planned = [proposal.run for proposal in waiting if proposal.run is not None]
        base = _plan_base(row, by=by, budget=part)
        if base is not None:
            row.base_run = base
            row.save(update_fields=["base_run"])
            planned.append(base)
    return [runs.approve(run, by=by) for run in planned]


def _check_decided(alignment: Alignment) -> None:
    """Raise CannotRun while a proposal waits: one that is accepted after results were seen would be chosen by them."""
    if alignment.proposals.filter(state=PromptProposal.State.OPEN).exists():
        raise CannotRun(_("Accept or refuse every proposal first, before any result is seen."))


def _plan_base(alignment: Alignment, *, by: str, budget: Decimal | None) -> Run | None:
    """A run of the present prompt about what it has not been asked there; None if it has been asked all."""
    try:
        return runs.plan(alignment.study, alignment.judge, by=by, scope=find_scope(alignment), budget=budget)
    except NothingToAsk:
        return None


def _find_judges(alignment: Alignment) -> list[Judge]:
    judges = [proposal.judge for proposal in find_waiting(alignment)]
    return [alignment.judge, *(judge for judge in judges if judge is not None)]
