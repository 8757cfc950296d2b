"""Choosing a prompt for pairs: what trying several would take, how the trials are getting on, and what came of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django import forms
from django.contrib import messages
from django.core.exceptions import BadRequest
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.roles import VIEW_REPORT
from judges import catalogue, planning, prompts
from judges.laboratory import prompt_choices
from judges.laboratory.prompt_choices import PRESELECTED, TrialsPreview, validation
from judges.laboratory.prompt_choices.validation import PairAccuracy
from judges.models import Endpoint, Judge, Prompt, PromptChoice, PromptTrial, Run
from judges.planning import CannotRun
from judges.planning.estimates import RunEstimate
from judges.runs.planning_jobs import PLAN_CHANGED
from judges.views import states
from judges.views.new_runs import STARTS, BudgetForm, JudgeChoice
from judges.views.progress import label_of, state_of
from judges.views.runs import SEES
from studies.access import Access
from studies.models import Study
from studies.views.guards import require_in_study
from studies.views.posted_forms import makes_once

# The names of the form's fields in an address.
SELECTED = ("judge", "prompts", "share", "seed")


class ChoiceForm(forms.Form):
    """Which model tries which prompts, on how many of the pairs."""

    judge = JudgeChoice(
        Judge.objects.none(),
        label=gettext_lazy("Model"),
        help_text=gettext_lazy("The endpoint, model and parameters of a judge; its own prompt is not used."),
        empty_label=gettext_lazy("Choose a judge"),
    )
    prompts = forms.ModelMultipleChoiceField(
        Prompt.objects.none(),
        label=gettext_lazy("Prompts that are tried"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose at least two prompts.")},
    )
    share = forms.IntegerField(
        label=gettext_lazy("Set apart, in percent of the pairs"),
        help_text=gettext_lazy("The prompts are tried on these, and the chosen one judges only the others."),
        min_value=1,
        max_value=90,
    )
    seed = forms.IntegerField(
        label=gettext_lazy("Seed"),
        help_text=gettext_lazy("Decides which pairs are set apart: the same for the same seed."),
        required=False,
        min_value=0,
        max_value=2**31 - 1,
    )

    def __init__(self, data: QueryDict | None, *, study: Study) -> None:
        candidates = find_candidates(study)
        initial = {
            "prompts": [prompt.pk for prompt in candidates if prompt.name.startswith(PRESELECTED)],
            "share": round(100 * prompt_choices.USUAL_SHARE),
            "seed": 0,
        }
        super().__init__(data, initial=initial)
        models = (
            Judge.objects.judging()
            .filter(metric="")
            .exclude(endpoint__base_url=Endpoint.LOGS)
            .select_related("endpoint")
            .order_by("slug")
        )
        self.fields["judge"].queryset = models  # type: ignore[attr-defined]
        rows = Prompt.objects.filter(pk__in=[prompt.pk for prompt in candidates]).order_by("name", "version")
        self.fields["prompts"].queryset = rows  # type: ignore[attr-defined]

    def clean_seed(self) -> int:
        return self.cleaned_data["seed"] or 0

    @property
    def share_set_apart(self) -> float:
        return float(self.cleaned_data["share"]) / 100

    @property
    def choices(self) -> list[tuple[str, str]]:
        """What was chosen, as the form that approves it sends it along: name and value of each field."""
        if not isinstance(self.data, QueryDict):
            return []
        return [(name, value) for name in self.fields for value in self.data.getlist(name)]


class TrialsApprovalForm(BudgetForm):
    """n_calls : how many calls the page showed to the approver"""

    n_calls = forms.IntegerField(required=False, widget=forms.HiddenInput)


@dataclass(frozen=True)
class TrialRow:
    """One prompt of a choice. accuracy : None before they are compared, or for those who may not see results"""

    trial: PromptTrial
    state: str
    label: str
    n: int
    n_over: int
    is_chosen: bool
    accuracy: PairAccuracy | None


def find_candidates(study: Study) -> list[Prompt]:
    """The prompts that can ask the study's question about pairs; none where there is no such question."""
    try:
        question = validation.find_pair_question(study)
    except CannotRun:
        return []
    catalogue.ensure_built_in()
    rows = list(Prompt.objects.order_by("name", "version"))
    return [row for row in rows if _is_filled(row) and planning.can_ask(row, question.step)]


def _is_filled(prompt: Prompt) -> bool:
    """Whether it can be used as it stands: examples would be other pairs' answers, of which there are none to show."""
    try:
        return not prompts.shape_of(prompt.template).takes_examples
    except prompts.InvalidPrompt:
        return False


@require_in_study(STARTS, methods=("GET", "HEAD", "POST"), query=SELECTED)
@makes_once
def new(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who may start runs: choose model and prompts, see what trying them takes, approve it or save it."""
    is_post = request.method == "POST"
    form = ChoiceForm(request.POST if is_post else request.GET or None, study=access.study)
    approval = TrialsApprovalForm(request.POST if is_post else None)
    obstacle, trials = _find_obstacle(access.study), None
    if form.is_valid() and not obstacle:
        obstacle, trials = _preview(access.study, form)
    if is_post and trials and approval.is_valid():
        n_seen = approval.cleaned_data["n_calls"]
        if n_seen is not None and n_seen != _n_calls(trials):
            form.add_error(None, PLAN_CHANGED)
        elif choice := _plan(request, access, form, approval):
            return redirect("judges:prompt_choice", slug=access.study.slug, choice=choice.pk)
    context = {
        "study": access.study,
        "access": access,
        "form": form,
        "approval": approval,
        "obstacle": obstacle,
        "trials": trials,
        "n_calls": _n_calls(trials) if trials else 0,
    }
    has_errors = bool(form.errors or approval.errors or (is_post and obstacle))
    return render(request, "judges/new_prompt_choice.html", context, status=400 if has_errors else 200)


def _find_obstacle(study: Study) -> str:
    """Why no prompt can be tried in the study at all; "" if nothing is in the way."""
    try:
        validation.find_pair_question(study)
    except CannotRun as error:
        return str(error)
    return ""


def _preview(study: Study, form: ChoiceForm) -> tuple[str, TrialsPreview | None]:
    values = form.cleaned_data
    try:
        return "", prompt_choices.preview(
            study, values["judge"], list(values["prompts"]), share=form.share_set_apart, seed=values["seed"]
        )
    except CannotRun as error:
        return str(error), None


def _n_calls(trials: TrialsPreview) -> int:
    return trials.estimate.n_calls + trials.estimate.n_reused


def _plan(request: HttpRequest, access: Access, form: ChoiceForm, approval: TrialsApprovalForm) -> PromptChoice | None:
    """The choice, at work or saved for somebody else; None, with the reason in the form, if it cannot be."""
    values, by = form.cleaned_data, request.user.get_username()
    try:
        choice = prompt_choices.plan(
            access.study,
            values["judge"],
            list(values["prompts"]),
            share=form.share_set_apart,
            seed=values["seed"],
            budget=approval.cleaned_data["budget"],
            by=by,
        )
        if request.POST.get("do") != "save":
            prompt_choices.approve(choice, by=by)
    except CannotRun as error:
        form.add_error(None, str(error))
        return None
    message = _("The trials are planned. Nothing is sent before someone approves them.")
    is_saved = choice.approved_at is None
    messages.success(request, message if is_saved else _("The trials are planned, and the workers have been told."))
    return choice


@require_in_study(SEES, change=STARTS, methods=("GET", "HEAD", "POST"))
def show(request: HttpRequest, access: Access, choice: int) -> HttpResponse:
    """For all who see judges: how the trials are getting on, and what came of them to those who may see results."""
    rows = PromptChoice.objects.select_related("study", "judge__endpoint", "prompt", "run__judge__endpoint")
    row = get_object_or_404(rows, pk=choice, study=access.study)
    budget_form = BudgetForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        return _act(request, access, row, budget_form)
    sees_results, may_start = access.may(VIEW_REPORT), access.may(STARTS)
    trials = load_trials(row, sees_results=sees_results, at=timezone.now())
    is_open = row.decided_at is not None and row.run is None and may_start
    obstacle, estimate = _preview_chosen(row) if is_open else ("", None)
    context = {
        "study": access.study,
        "access": access,
        "choice": row,
        "trials": trials,
        "is_over": all(trial.trial.run.state == Run.State.FINISHED for trial in trials),
        "held_up": [trial for trial in trials if trial.state in HELD_UP],
        "sees_results": sees_results,
        "held_out": prompt_choices.load_accuracy(row.held_out) if sees_results else None,
        "run_label": label_of(state_of(row.run, at=timezone.now())) if row.run else "",
        "may_start": may_start,
        "estimate_of_trials": _add_up([trial.trial for trial in trials]) if row.approved_at is None else None,
        "obstacle": obstacle,
        "estimate": estimate,
        "budget_form": BudgetForm(),
    }
    is_live = bool(request.htmx)  # type: ignore[attr-defined]
    response = render(request, "judges/prompt_choice.html#live" if is_live else "judges/prompt_choice.html", context)
    if is_live and row.decided_at is not None:
        response["HX-Refresh"] = "true"  # what can be done next stands outside the part that is asked for again
    return response


# Trials in these states do not go on by themselves.
HELD_UP = (Run.State.PAUSED, Run.State.WAITING, Run.State.STOPPED)


def load_trials(choice: PromptChoice, *, sees_results: bool, at: datetime) -> list[TrialRow]:
    """The prompts of a choice, with how far each is. One query."""
    over = (*states.ANSWERED, *states.WITHOUT)
    trials = choice.trials.select_related("prompt", "run__judge__endpoint").order_by("prompt__name", "prompt__version")
    rows = trials.annotate(n=Count("run__calls"), n_over=Count("run__calls", filter=Q(run__calls__state__in=over)))
    return [
        TrialRow(
            trial=trial,
            state=(state := state_of(trial.run, at=at)),
            label=label_of(state),
            n=trial.n,
            n_over=trial.n_over,
            is_chosen=trial.prompt_id == choice.prompt_id,
            accuracy=prompt_choices.load_accuracy(trial.result) if sees_results else None,
        )
        for trial in rows
    ]


def _add_up(trials: Sequence[PromptTrial]) -> RunEstimate | None:
    estimates = [RunEstimate.load(trial.run.estimate) for trial in trials]
    known = [estimate for estimate in estimates if estimate is not None]
    return prompt_choices.add_up(known) if known else None


def _preview_chosen(choice: PromptChoice) -> tuple[str, RunEstimate | None]:
    try:
        return "", prompt_choices.preview_chosen(choice)
    except CannotRun as error:
        return str(error), None


def _act(request: HttpRequest, access: Access, choice: PromptChoice, form: BudgetForm) -> HttpResponse:
    """Approve the trials, take them back, or start the run with the chosen prompt."""
    by, do = request.user.get_username(), request.POST.get("do", "")
    if do not in ("approve", "discard", "start"):
        raise BadRequest("There is no such action.")
    try:
        if do == "discard":
            prompt_choices.discard(choice)
            messages.success(request, _("The trials are discarded. Nothing was sent."))
            return redirect("judges:runs", slug=access.study.slug)
        if do == "approve":
            prompt_choices.approve(choice, by=by)
            messages.success(request, _("The trials are approved, and the workers have been told."))
        elif not form.is_valid():
            messages.error(request, " ".join(str(sentence) for sentence in form.errors["budget"]))
        else:
            prompt_choices.start_chosen(choice, by=by, budget=form.cleaned_data["budget"])
            messages.success(request, _("The run with the chosen prompt is at work."))
    except CannotRun as error:
        messages.error(request, str(error))
    return redirect("judges:prompt_choice", slug=access.study.slug, choice=choice.pk)
