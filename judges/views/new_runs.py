"""A run before it is one: what it would ask and take, tried dry, and started by those who may, or left to others."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from judges import runs, signals
from judges.models import Judge, Reading, Run
from judges.planning import CannotRun, Plan, Scope, extensions
from judges.planning.estimates import RunEstimate
from judges.requests import PlannedCall
from judges.settlement import attempts
from judges.views.scopes import FIELDS, ScopeForm
from studies.access import Access
from studies.views.guards import require_in_study
from studies.views.posted_forms import makes_once

STARTS = "judges.add_run"
PLAN_CHANGED = gettext_lazy(
    "What it would ask has changed since you opened this page. Review it again before you approve."
)
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
            Judge.objects.filter(is_trial=False, is_writer=False, is_measurer=False)
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


@dataclass(frozen=True)
class DryRun:
    """What a run would be.

    obstacle : why it cannot be started; "" if nothing is in the way
    estimate : None of a metric
    batched : the same where calls are handed in as batches; None if they cannot be
    messages : of one call, as it would be sent
    """

    obstacle: str
    n_calls: int = 0
    n_stories: int = 0
    withheld: tuple[str, ...] = ()
    estimate: RunEstimate | None = None
    batched: RunEstimate | None = None
    about: str = ""
    messages: tuple[tuple[str, str], ...] = ()


@require_in_study(STARTS, methods=("GET", "HEAD", "POST"), query=("judge", *SELECTED, *FIELDS))
@makes_once
def new(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who may start runs: choose who reads what, see what that asks and takes, approve it or save it."""
    is_post = request.method == "POST"
    values = request.POST if is_post else request.GET
    form = SelectionForm(values if is_post else values or None, access=access)
    approval = ApprovalForm(values if is_post else None, initial={"resends_unknown": True})
    judge: Judge | None = form.cleaned_data["judge"] if form.is_valid() else None
    options = ScopeForm(values if "is_chosen" in values else None, study=access.study, judge=judge) if judge else None
    scope = form.narrow(options.scope) if options and not options.errors else None
    dry_run = plan_dry(access, judge, scope) if judge and scope else None
    if is_post and judge and scope and dry_run and approval.is_valid():
        n_seen = approval.cleaned_data["n_calls"]
        if n_seen is not None and n_seen != dry_run.n_calls and not dry_run.obstacle:
            form.add_error(None, PLAN_CHANGED)
        elif run := _start(request, access, judge, scope, form, approval):
            return redirect("judges:run", slug=access.study.slug, run=run.pk)
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
        "shared": _collect_warnings(access, judge) if dry_run and judge else [],
    }
    return render(request, "judges/new_run.html", context, status=400 if has_errors else 200)


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


def plan_dry(access: Access, judge: Judge, scope: Scope) -> DryRun:
    """What the judge would be asked, every call of it set as it would be sent; nothing is written or sent."""
    try:
        plan, estimate = runs.preview(access.study, judge, scope)
    except CannotRun as error:
        return DryRun(str(error))
    return _describe(plan, estimate)


def _describe(plan: Plan, estimate: RunEstimate | None) -> DryRun:
    first = next(iter(plan.all_calls), None)
    may_be_batched = plan.judge.endpoint is not None and plan.judge.endpoint.takes_batches
    names = [first.story.code if first.story else "", _title(first)] if first else []
    return DryRun(
        "",
        n_calls=plan.n_calls,
        n_stories=len(
            {code for seat in plan.seats for code in seat.order}
            | {call.story.code for call in plan.guards if call.story}
        ),
        withheld=tuple(plan.withheld),
        estimate=estimate,
        batched=estimate.in_batches(n_alone=attempts.N_PROBES) if estimate and may_be_batched else None,
        about=", ".join(filter(None, names)),
        messages=tuple((m["role"], m["content"]) for m in first.request.get("messages", [])) if first else (),
    )


def _title(call: PlannedCall) -> str:
    """What the call asks: its item, or the step of which it asks all."""
    return call.item.title if call.item else call.step.title if call.step else ""
