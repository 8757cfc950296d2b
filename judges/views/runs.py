"""Runs of a study: the list, and one at work with what may be done to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Self, cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import BadRequest, PermissionDenied
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from config.roles import VIEW_RESPONSES
from judges import lifecycle, runs
from judges.models import Call, Draft, Judge, Run
from judges.planning import CannotRun
from judges.planning.estimates import RunEstimate
from judges.runs import planning_jobs
from judges.settlement import bills, rereads
from judges.settlement.guard_results import load_results
from judges.views import call_rows, states
from judges.views.bills import BillForm
from judges.views.new_runs import STARTS, BudgetForm
from judges.views.pace_charts import load_pace
from judges.views.progress import label_of, load_progress, state_of
from studies.access import Access
from studies.models import Study, StudyJob
from studies.views import study_jobs
from studies.views.guards import require_in_study
from studies.views.posted_forms import makes_once

SEES, CHANGES = "judges.view_run", "judges.change_run"
SEES_SOURCES = "studies.view_provenance"


@dataclass(frozen=True)
class RunRow:
    """A run in the list. n_answered, n_without : calls that ended with an answer, and without one"""

    run: Run
    state: str
    label: str
    n_answered: int
    n_without: int

    @classmethod
    def of(cls, run: Run, n_by_state: Mapping[str, int], *, at: datetime) -> Self:
        state = state_of(run, at=at)
        n_answered, n_without = (
            sum(n_by_state.get(state, 0) for state in group) for group in (states.ANSWERED, states.WITHOUT)
        )
        return cls(run, state, str(label_of(state)), n_answered, n_without)


@require_in_study(SEES)
def index(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who see judges: the runs of the study, the latest first."""
    # The frozen documents are large, and no row of the list says anything of them.
    rows = (
        Run.objects.filter(study=access.study, judge__is_trial=False, judge__is_writer=False)
        # A day's check of a watched judge stands on the page of watches; one that needs a person, here too.
        .filter(Q(drift_check=None) | ~Q(state=Run.State.FINISHED))
        .select_related("judge__endpoint")
        .defer("document", "estimate")
    )
    n_by_run = _count_calls(access.study)
    at = timezone.now()
    context = {
        "study": access.study,
        "access": access,
        "rows": [RunRow.of(row, n_by_run.get(row.pk, {}), at=at) for row in rows],
        "choices": access.study.prompt_choices.select_related("judge", "prompt").annotate(n_prompts=Count("trials")),
        "alignments": access.study.alignments.select_related("judge", "run")
        .defer("run__document", "run__estimate")
        .prefetch_related("proposals__draft"),
        "plannings": _find_plannings(access.study) if access.may(STARTS) else [],
        "may_start": access.may(STARTS),
    }
    return render(request, "judges/runs.html", context)


def _find_plannings(study: Study) -> list[tuple[Judge, StudyJob]]:
    """Judges whose runs are being planned by a worker, or could not be. One query, three if there are any."""
    unplanned = planning_jobs.find_unplanned(study)
    judge_by_pk = Judge.objects.in_bulk([job.arguments["judge"] for job in unplanned]) if unplanned else {}
    return [(judge, job) for job in unplanned if (judge := judge_by_pk.get(job.arguments["judge"]))]


def _count_calls(study: Study) -> dict[int, dict[str, int]]:
    """The number of calls by state, by run of the study. One query, answered by an index alone. An
    annotation of the runs would group by their columns, so that each call carried the document of its run."""
    rows = Call.objects.filter(run__in=study.runs.values("pk")).order_by().values_list("run", "state")
    n_by_run: dict[int, dict[str, int]] = defaultdict(dict)
    for run, state, n in rows.annotate(n=Count("pk")):
        n_by_run[run][state] = n
    return n_by_run


@require_in_study(SEES)
def show(request: HttpRequest, access: Access, run: int) -> HttpResponse:
    """For all who see judges: one run at work; what changes is a fragment that is asked for again."""
    row = find_run(access, run)
    approval = planning_jobs.find_approval(row) if row.state == Run.State.PLANNED else None
    context = {
        "study": access.study,
        "access": access,
        "run": row,
        "approval": study_jobs.follow(approval, _("The run is being approved.")) if approval else None,
        "progress": load_progress(row, at=timezone.now()),
        "pace": None if row.sends_batches else load_pace(row),
        "may_change": access.may(CHANGES),
        "may_approve": access.may(CHANGES) and access.may(STARTS),
        "budget_form": BudgetForm(initial={"budget": None if row.budget is None else f"{row.budget.normalize():f}"}),
        "estimate": RunEstimate.load(row.estimate),
        "calls": call_rows.load_latest(row),
        "withheld": row.withheld,
        "bills": None if request.htmx else bills.compare_run(row),  # type: ignore[attr-defined]
        "bill_form": BillForm(auto_id="bill_%s"),
        "drafts": count_drafts(row) if row.judge.is_writer else None,
        "guards": load_results(row) if access.may(VIEW_RESPONSES) and not request.htmx else None,  # type: ignore[attr-defined]
    }
    return render(request, "judges/run.html#live" if request.htmx else "judges/run.html", context)  # type: ignore[attr-defined]


def find_run(access: Access, run: int) -> Run:
    """The run of the study. Raises Http404; also for a generation if the account may not know who wrote a story."""
    rows = Run.objects.select_related(
        "judge__endpoint", "judge__prompt", "persona_set", "study", "generation", "alignment"
    )
    if not access.may(SEES_SOURCES):
        rows = rows.filter(judge__is_writer=False)
    return get_object_or_404(rows, pk=run, study=access.study)


@require_in_study(CHANGES, methods=("POST",))
@makes_once
def act(request: HttpRequest, access: Access, run: int, action: str) -> HttpResponse:
    """For all who may change runs: one of `ACTIONS`; to approve a run, one must be allowed to start one."""
    row = find_run(access, run)
    if action not in ACTIONS:
        raise BadRequest("There is no such action.")
    if action == "approve" and not access.may(STARTS):
        raise PermissionDenied
    try:
        message = ACTIONS[action](row, request)
    except CannotRun as error:
        messages.error(request, str(error))
    else:
        messages.success(request, message)
    if action == "discard" and not Run.objects.filter(pk=row.pk).exists():
        return redirect("judges:generations" if row.judge.is_writer else "judges:runs", slug=access.study.slug)
    return redirect("judges:run", slug=access.study.slug, run=row.pk)


def count_drafts(run: Run) -> dict[str, int]:
    """How many texts a generation is to write, and how many are written. One query."""
    is_written = Q(state=Draft.State.COMPLETE)
    return Draft.objects.filter(generation=run.pk).aggregate(n=Count("pk"), n_written=Count("pk", filter=is_written))


def _approve(run: Run, request: HttpRequest) -> str:
    if run.n_planned > planning_jobs.CALLS_AT_ONCE:
        planning_jobs.ask_to_approve(run, by=cast(User, request.user), at=timezone.now())
        return _("A worker approves the run in your name.")
    runs.approve(run, by=request.user.get_username())
    return _("The run is approved, and the workers have been told.")


def _discard(run: Run, request: HttpRequest) -> str:
    runs.discard(run)
    return _("The run is discarded. Nothing was sent.")


def _pause(run: Run, request: HttpRequest) -> str:
    if runs.pause(run, lifecycle.PAUSED_BY, name=request.user.get_username()).state != Run.State.PAUSED:
        raise CannotRun(_("The run is not active, so it cannot be paused."))
    return _("The run is paused. Replies on their way will still be recorded.")


def _resume(run: Run, request: HttpRequest) -> str:
    runs.resume(run)
    return _("The run is resumed; calls without a reply are sent again.")


def _retry(run: Run, request: HttpRequest) -> str:
    n = runs.retry(run)
    message = ngettext("%(n)d call is asked once more.", "%(n)d calls are asked once more.", n)
    return message % {"n": n}


def _read_again(run: Run, request: HttpRequest) -> str:
    reread = rereads.read_again(run, at=timezone.now())
    message = ngettext(
        "%(n)d reply was read again; %(n_changed)d is read differently now.",
        "%(n)d replies were read again; %(n_changed)d are read differently now.",
        reread.n_read,
    )
    return message % {"n": reread.n_read, "n_changed": reread.n_changed}


def _close(run: Run, request: HttpRequest) -> str:
    runs.close(run, at=timezone.now())
    return _("The run is closed with the answers it has.")


def _set_budget(run: Run, request: HttpRequest) -> str:
    form = BudgetForm(request.POST)
    if not form.is_valid():
        raise CannotRun(" ".join(str(sentence) for sentence in form.errors["budget"]))
    runs.set_budget(run, form.cleaned_data["budget"])
    return _("The limit is changed. Resume the run to use it.")


def _enter_bill(run: Run, request: HttpRequest) -> str:
    form = BillForm(request.POST, request.FILES)
    if not form.is_valid():
        raise CannotRun(form.problems)
    values = form.cleaned_data
    bills.enter_for_run(run, values["amount"], source=values.get("source", ""), by=request.user.get_username())
    return _("The bill is entered beside the ledger.")


ACTIONS: Mapping[str, Callable[[Run, HttpRequest], str]] = {
    "approve": _approve,
    "discard": _discard,
    "pause": _pause,
    "resume": _resume,
    "retry": _retry,
    "read-again": _read_again,
    "close": _close,
    "budget": _set_budget,
    "bill": _enter_bill,
}
