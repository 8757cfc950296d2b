"""A run before it is one: what it would ask and take, tried dry, and started by those who may, or left to others."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_htmx.http import HttpResponseClientRedirect

from judges import runs, signals
from judges.models import Endpoint, Judge, Reading, Run
from judges.planning import CannotRun, Scope, extensions
from judges.runs import dry_runs, planning_jobs
from judges.runs.dry_runs import DryRun
from judges.runs.planning_jobs import PLAN_CHANGED
from judges.views import planning_progress
from judges.views.scopes import FIELDS, ScopeForm
from studies.access import Access
from studies.models import StudyJob
from studies.views import study_jobs
from studies.views.guards import require_in_study
from studies.views.posted_forms import makes_once

STARTS = "judges.add_run"
AGAIN = "again"  # in an address: a look that failed is done once more
# The names of its fields in an address, beside the judge.
SELECTED = ("stories", "orders", "n_repeats")


class JudgeChoice(forms.ModelChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, obj: Judge) -> str:
        return f"{obj.slug} ({obj.model or _('metric')})"


class SelectionForm(forms.Form):
    """Which judge reads which stories, and how often. What is left out of the address is as usual."""

    USUAL = {"orders": [Reading.Order.PLANNED.value], "n_repeats": ["1"]}

    judge = JudgeChoice(
        Judge.objects.none(),
        label=gettext_lazy("Judge"),
        help_text=gettext_lazy("A judge that has read here before gets only new questions."),
        empty_label=gettext_lazy("Choose a judge"),
    )
    stories = forms.CharField(
        label=gettext_lazy("Stories or groups"),
        help_text=gettext_lazy("Their codes, with spaces between; empty for all that may be read."),
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    orders = forms.MultipleChoiceField(
        label=gettext_lazy("Order of the stories"),
        help_text=gettext_lazy("Each story is always read in the planned order: the answers in that order count."),
        choices=Reading.Order.choices,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose at least one order.")},
    )
    n_repeats = forms.IntegerField(
        label=gettext_lazy("Times each story is read"),
        help_text=gettext_lazy("In each order, earlier runs included. Each is paid for."),
        min_value=1,
        max_value=extensions.MOST_REPEATS,
    )

    def __init__(self, data: QueryDict | None, *, access: Access) -> None:
        self.access = access
        super().__init__(
            self._with_usual(data) if data is not None else None, initial={"orders": ["planned"], "n_repeats": 1}
        )
        judges = (
            Judge.objects.judging()
            .exclude(endpoint__base_url=Endpoint.LOGS)
            .select_related("endpoint", "prompt")
            .order_by("slug")
        )
        at_work = access.study.runs.exclude(state=Run.State.FINISHED).values("judge")
        self.fields["judge"].queryset = judges.exclude(pk__in=at_work)  # type: ignore[attr-defined]

    def _with_usual(self, data: QueryDict) -> QueryDict:
        complete = data.copy()
        for name, values in self.USUAL.items():
            if name not in complete:
                complete.setlist(name, values)
        return complete

    def clean_stories(self) -> tuple[str, ...]:
        """The codes that were written, a group's in place of its own; each once."""
        return extensions.find_codes(self.access.study, re.findall(r"[^\s,;]+", self.cleaned_data["stories"]))

    def narrow(self, scope: Scope) -> Scope:
        """The scope with what was chosen here, once that is valid."""
        values = self.cleaned_data
        return replace(
            scope, selection=values["stories"], orders=tuple(values["orders"]), n_repeats=values["n_repeats"]
        )

    @property
    def choices(self) -> list[tuple[str, str]]:
        """What was chosen, as the form that approves it sends it along: name and value of each field."""
        if not isinstance(self.data, QueryDict):
            return []
        return [(name, value) for name in self.fields for value in self.data.getlist(name)]


class BudgetForm(forms.Form):
    """What may be spent."""

    budget = forms.DecimalField(
        label=gettext_lazy("Spend no more than, in US dollars"),
        help_text=gettext_lazy(
            "Each call reserves its maximum cost before it is sent; if the judge sets no max_tokens, that is a "
            "reply of 131,072 tokens: fewer calls run at once, and replies are limited once the budget covers no "
            "such reply. Empty: no limit."
        ),
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=4,
    )


class ApprovalForm(BudgetForm):
    """What may be spent, and what is done with calls that got lost.

    n_calls : how many calls the page showed to the approver; None where no page was looked at
    """

    resends_unknown = forms.BooleanField(
        label=gettext_lazy("Resend calls whose result is unknown"),
        help_text=gettext_lazy("It may be paid twice. Otherwise such calls wait for a person."),
        required=False,
    )
    sends_batches = forms.BooleanField(
        label=gettext_lazy("Submit calls as batches"),
        help_text=gettext_lazy("At half the price; the provider answers within a day. Three calls still go first."),
        required=False,
    )
    n_calls = forms.IntegerField(required=False, widget=forms.HiddenInput)


@require_in_study(STARTS, methods=("GET", "HEAD", "POST"), query=("judge", AGAIN, "planning", *SELECTED, *FIELDS))
@makes_once
def new(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who may start runs: choose who reads what, see what that asks and takes, approve it or save it."""
    is_post = request.method == "POST"
    if "planning" in request.GET:
        return planning_progress.show(request, access, request.GET["planning"])
    values = request.POST if is_post else request.GET
    form = SelectionForm(values if is_post else values or None, access=access)
    approval = ApprovalForm(values if is_post else None, initial={"resends_unknown": True})
    judge: Judge | None = form.cleaned_data["judge"] if form.is_valid() else None
    options = ScopeForm(values if "is_chosen" in values else None, study=access.study, judge=judge) if judge else None
    scope = form.narrow(options.scope) if options and not options.errors else None
    is_large = bool(judge and scope and planning_jobs.is_large(access.study, judge, scope))
    job = _ensure_preview(request, access, judge, scope) if judge and scope and is_large and not is_post else None
    progress = study_jobs.follow(job, _("What it would be asked is being prepared.")) if job else None
    if study_jobs.is_poll(request) and progress and progress.is_under_way:
        return study_jobs.answer_poll(request, progress)
    if study_jobs.is_poll(request):
        return HttpResponseClientRedirect(_find_address(request))
    if job and AGAIN in request.GET:
        return redirect(_find_address(request))
    dry_run = _load_dry(access, judge, scope, job) if judge and scope and not (is_post and is_large) else None
    if is_post and judge and scope and approval.is_valid():
        if is_large and _start_by_worker(request, access, judge, scope, form, approval):
            return redirect(planning_progress.find_address(access.study, judge.pk))
        if dry_run and _is_changed(dry_run, approval):
            form.add_error(None, PLAN_CHANGED)
        elif dry_run and (run := _start(request, access, judge, scope, form, approval)):
            return redirect("judges:run", slug=access.study.slug, run=run.pk)
    if is_post and is_large and judge and scope:
        dry_run = _find_dry(access, judge, scope, form)
    has_errors = bool(form.errors or approval.errors or (options is not None and options.errors))
    context = {
        "study": access.study,
        "access": access,
        "form": form,
        "options": options,
        "approval": approval,
        "judge": judge,
        "may_release": access.may("studies.change_provenance"),
        "dry_run": dry_run,
        "job": progress if job and job.is_under_way else None,
        "again": f"?{request.GET.urlencode()}&{AGAIN}=yes" if job and job.problem else "",
        "shared": _collect_warnings(access, judge) if dry_run and judge else [],
    }
    return render(request, "judges/new_run.html", context, status=400 if has_errors else 200)


def _load_dry(access: Access, judge: Judge, scope: Scope, job: StudyJob | None) -> DryRun | None:
    """The dry run, done here or by the worker; None while it is at it."""
    if job is None:
        return plan_dry(access, judge, scope)
    return DryRun(job.problem) if job.problem else planning_jobs.load_preview(job)


def _find_dry(access: Access, judge: Judge, scope: Scope, form: SelectionForm) -> DryRun | None:
    """What a worker found before the form was posted; None, which the form says, if that holds no more."""
    job = planning_jobs.find_preview(access.study, judge, scope)
    dry_run = _load_dry(access, judge, scope, job) if job else None
    if dry_run is None:
        form.add_error(None, PLAN_CHANGED)
    return dry_run


def _is_changed(dry_run: DryRun, approval: ApprovalForm) -> bool:
    """Whether it would ask another number of calls now than whoever approves has seen."""
    n_seen = approval.cleaned_data["n_calls"]
    return n_seen is not None and n_seen != dry_run.n_calls and not dry_run.obstacle


def _collect_warnings(access: Access, judge: Judge) -> list[str]:
    """What else is to be said of the run, which may tell who wrote: nothing to those who may not know."""
    if judge.endpoint is None or not access.may("studies.view_provenance"):
        return []
    answers: list[tuple[Any, Any]] = signals.run_examined.send(_collect_warnings, study=access.study, judge=judge)
    return [sentence for _receiver, sentences in answers for sentence in sentences]


def _start(
    request: HttpRequest, access: Access, judge: Judge, scope: Scope, form: SelectionForm, approval: ApprovalForm
) -> Run | None:
    """The run, at work or saved for somebody else; None, with the reason in the form, if it cannot be."""
    is_saved = request.POST.get("do") == "save"
    make = runs.plan if is_saved else runs.start
    try:
        run = make(
            access.study,
            judge,
            by=request.user.get_username(),
            scope=scope,
            budget=approval.cleaned_data["budget"],
            resends_unknown=approval.cleaned_data["resends_unknown"],
            sends_batches=approval.cleaned_data["sends_batches"],
        )
    except CannotRun as error:
        form.add_error("judge", str(error))
        return None
    message = _("The run is planned. Nothing is sent before someone approves it.")
    messages.success(request, message if is_saved else _("The run is planned, and the workers have been told."))
    return run


def _start_by_worker(
    request: HttpRequest, access: Access, judge: Judge, scope: Scope, form: SelectionForm, approval: ApprovalForm
) -> bool:
    """Whether a worker was told to plan it; else the reason why not stands in the form."""
    values = approval.cleaned_data
    try:
        runs.check_options(judge, budget=values["budget"], in_batches=values["sends_batches"])
        planning_jobs.ask_to_plan(
            access.study,
            judge,
            approves=request.POST.get("do") != "save",
            by=cast(User, request.user),
            at=timezone.now(),
            scope=scope,
            **values,
        )
    except CannotRun as error:
        form.add_error("judge", str(error))
        return False
    return True


def plan_dry(access: Access, judge: Judge, scope: Scope) -> DryRun:
    """What the judge would be asked, every call of it set as it would be sent; nothing is written or sent."""
    try:
        return dry_runs.preview(access.study, judge, scope)
    except CannotRun as error:
        return DryRun(str(error))


def _find_address(request: HttpRequest) -> str:
    """Of the page, without the wish to look again: polled with it, a look that fails would begin anew for ever."""
    values = request.GET.copy()
    values.pop(AGAIN, None)
    return f"{request.path}?{values.urlencode()}"


def _ensure_preview(request: HttpRequest, access: Access, judge: Judge, scope: Scope) -> StudyJob:
    """The job that looks what it would be asked. One that failed is done again only where somebody asks for it."""
    job = planning_jobs.find_preview(access.study, judge, scope)
    if job and not (job.problem and AGAIN in request.GET and not study_jobs.is_poll(request)):
        return job
    return planning_jobs.ask_for_preview(access.study, judge, scope, by=cast(User, request.user), at=timezone.now())
