"""Runs of a study: the list, a new one tried dry and started, and one at work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import BadRequest
from django.db import transaction
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Rater
from config.roles import VIEW_RESPONSES
from judges import measurements, planning, runs
from judges.guard_results import load_results
from judges.models import Judge, Run
from judges.planning import CannotRun, Plan, Scope
from judges.requests import PlannedCall
from judges.views import states
from judges.views.progress import load_progress
from judges.views.scopes import FIELDS, ScopeForm
from studies.access import Access
from studies.views.guards import require_in_study

SEES, STARTS, CHANGES = "judges.view_run", "judges.add_run", "judges.change_run"


@require_in_study(SEES)
def index(request: HttpRequest, access: Access) -> HttpResponse:
    """For whoever sees judges: the runs of the study, the latest first."""
    rows = (
        Run.objects.filter(study=access.study)
        .select_related("judge__prompt")
        .annotate(
            n_ok=Count("calls", filter=Q(calls__state__in=states.ANSWERED)),
            n_without=Count("calls", filter=Q(calls__state__in=states.WITHOUT)),
        )
    )
    context = {"study": access.study, "access": access, "runs": rows, "may_start": access.may(STARTS)}
    return render(request, "judges/runs.html", context)


class JudgeChoice(forms.ModelChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, obj: Judge) -> str:
        return f"{obj.slug} ({obj.model or _('metric')})"


class NewRunForm(forms.Form):
    """Which judge; those that have no unfinished run in the study."""

    judge = JudgeChoice(
        Judge.objects.none(),
        label=gettext_lazy("Judge"),
        help_text=gettext_lazy("One that has not judged this study yet."),
        empty_label=gettext_lazy("Choose a judge"),
    )

    def __init__(self, *args: Any, access: Access) -> None:
        super().__init__(*args)
        judges = Judge.objects.select_related("endpoint", "prompt").exclude(runs__study=access.study)
        self.fields["judge"].queryset = judges  # type: ignore[attr-defined]


@dataclass(frozen=True)
class DryRun:
    """What a run would be. obstacle : why it cannot be started; "" if nothing is in the way
    n_characters : all that would be sent
    messages : of one call, as it would be sent
    """

    obstacle: str
    n_calls: int = 0
    n_stories: int = 0
    n_characters: int = 0
    about: str = ""
    messages: tuple[tuple[str, str], ...] = ()


@require_in_study(STARTS, methods=("GET", "HEAD", "POST"), query=("judge", *FIELDS))
def new(request: HttpRequest, access: Access) -> HttpResponse:
    """For whoever may start runs: choose a judge, see what it would be asked, start it."""
    is_chosen = request.method == "POST" or "judge" in request.GET
    values = request.POST if request.method == "POST" else request.GET
    form = NewRunForm(values if is_chosen else None, access=access)
    judge: Judge | None = form.cleaned_data["judge"] if is_chosen and form.is_valid() else None
    options = ScopeForm(values if "is_chosen" in values else None, study=access.study, judge=judge) if judge else None
    if judge is not None and options is not None and request.method == "POST" and not options.errors:
        try:
            run = runs.start(access.study, judge, by=request.user.get_username(), scope=options.scope)
        except CannotRun as error:
            form.add_error("judge", str(error))
        else:
            messages.success(request, _("The run is planned, and the workers have been told."))
            return redirect("judges:run", slug=access.study.slug, run=run.pk)
    context = {
        "study": access.study,
        "access": access,
        "form": form,
        "judge": judge,
        "options": options,
        "may_release": access.may("studies.change_provenance"),
        "dry_run": plan_dry(access, judge, options.scope) if judge and options and not options.errors else None,
    }
    is_wrong = form.errors or (options is not None and options.errors)
    return render(request, "judges/new_run.html", context, status=400 if is_wrong else 200)


def plan_dry(access: Access, judge: Judge, scope: Scope) -> DryRun:
    """What the judge would be asked, every call of it set as it would be sent; nothing is written or sent."""
    try:
        if judge.kind == Rater.Kind.METRIC:
            # Its step is made with its run; what is rolled back was only tried.
            with transaction.atomic():
                plan = measurements.plan_measurements(access.study, judge)
                transaction.set_rollback(True)
        else:
            plan = planning.plan_run(access.study, judge, scope)
    except CannotRun as error:
        return DryRun(str(error))
    return _describe(plan)


def _describe(plan: Plan) -> DryRun:
    planned = plan.all_calls
    texts = [[(message["role"], message["content"]) for message in c.request.get("messages", [])] for c in planned]
    first = planned[0] if planned else None
    return DryRun(
        "",
        n_calls=plan.n_calls,
        n_stories=len({call.story.pk for call in planned if call.story}),
        n_characters=sum(len(content) for message in texts for _role, content in message),
        about=", ".join(filter(None, [first.story.code if first.story else "", _title(first)])) if first else "",
        messages=tuple(texts[0]) if texts else (),
    )


def _title(call: PlannedCall) -> str:
    """What the call asks: its item, or the step of which it asks all."""
    return call.item.title if call.item else call.step.title if call.step else ""


@require_in_study(SEES)
def show(request: HttpRequest, access: Access, run: int) -> HttpResponse:
    """For whoever sees judges: one run at work; what changes is a fragment that is asked for again."""
    row = find_run(access, run)
    context = {
        "study": access.study,
        "access": access,
        "run": row,
        "progress": load_progress(row, at=timezone.now()),
        "may_change": access.may(CHANGES),
        "withheld": row.withheld,
        "guards": load_results(row) if access.may(VIEW_RESPONSES) and not request.htmx else None,  # type: ignore[attr-defined]
    }
    return render(request, "judges/run.html#live" if request.htmx else "judges/run.html", context)  # type: ignore[attr-defined]


def find_run(access: Access, run: int) -> Run:
    rows = Run.objects.select_related("judge__endpoint", "judge__prompt", "persona_set", "study")
    return get_object_or_404(rows, pk=run, study=access.study)


@require_in_study(CHANGES, methods=("POST",))
def act(request: HttpRequest, access: Access, run: int, action: str) -> HttpResponse:
    """For whoever may change runs: stop it, or have it go on."""
    row = find_run(access, run)
    if action == "stop":
        runs.stop(row, _("stopped by %(name)s") % {"name": request.user.get_username()})
        messages.success(request, _("The run is stopped. What is on the way is still taken in."))
    elif action == "resume":
        try:
            runs.resume(row)
        except CannotRun as error:
            messages.error(request, str(error))
        else:
            messages.success(request, _("The run goes on; calls without a reply are asked again."))
    else:
        raise BadRequest("There is no such action.")
    return redirect("judges:run", slug=access.study.slug, run=row.pk)
