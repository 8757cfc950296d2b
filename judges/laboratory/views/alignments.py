"""Bringing a judge's prompt nearer to experts: what is asked for, what was proposed, and judging what was held out."""

from __future__ import annotations

from dataclasses import dataclass

from django import forms
from django.contrib import messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.roles import VIEW_RESPONSES
from judges import runs
from judges.laboratory import alignments
from judges.laboratory.alignments import AlignmentOrder, AlignmentPlan, PromptWording, UndecidableProposal
from judges.models import Alignment, Endpoint, Judge, PromptProposal, Run
from judges.planning import CannotRun
from judges.planning.estimates import RunEstimate
from judges.prompts import InvalidPrompt
from judges.runs.planning_jobs import PLAN_CHANGED
from judges.views.new_runs import STARTS, BudgetForm, JudgeChoice
from judges.views.progress import label_of, state_of
from judges.views.prompts import ADDS
from judges.views.runs import SEES
from studies.access import Access
from studies.typography.differences import Passage, find_differences
from studies.views.guards import require_in_study
from studies.views.posted_forms import makes_once

# In the address: that somebody wants to see what judging the held-out stories would take.
LOOKS = "look"


class AlignmentForm(forms.Form):
    """Whose prompt is to be changed, by which model, from which part of the groups, asked in which words."""

    judge = JudgeChoice(
        Judge.objects.none(),
        label=gettext_lazy("Judge"),
        help_text=gettext_lazy("Whose prompt is to be changed; it must have read the study."),
        empty_label=gettext_lazy("Choose a judge"),
    )
    proposer = JudgeChoice(
        Judge.objects.none(),
        label=gettext_lazy("Model that proposes"),
        help_text=gettext_lazy("The endpoint, model and parameters of a judge; empty for the same."),
        empty_label=gettext_lazy("The same model"),
        required=False,
    )
    share = forms.IntegerField(
        label=gettext_lazy("Shown to the model, in percent of the groups"),
        help_text=gettext_lazy("The changed prompt is judged only on the other groups."),
        min_value=10,
        max_value=90,
    )
    n_proposals = forms.IntegerField(
        label=gettext_lazy("Proposals"),
        help_text=gettext_lazy(
            "Each is asked for with other disagreements. The report corrects for how many are tried."
        ),
        min_value=1,
        max_value=alignments.MOST_PROPOSALS,
    )
    sends_reasons = forms.BooleanField(
        label=gettext_lazy("Experts’ reasons may be sent to an outside provider"),
        help_text=gettext_lazy(
            "Tick this only if the experts have agreed to it. A prompt made from them goes to the judge’s provider, "
            "too. Names are never sent."
        ),
        required=False,
    )
    seed = forms.IntegerField(
        label=gettext_lazy("Seed"),
        help_text=gettext_lazy("Decides which groups are shown: the same for the same seed."),
        required=False,
        min_value=0,
        max_value=2**31 - 1,
    )
    system = forms.CharField(
        label=gettext_lazy("What the proposing model is told first"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    template = forms.CharField(
        label=gettext_lazy("What it is asked"),
        widget=forms.Textarea(attrs={"rows": 16}),
        strip=False,
    )
    n_calls = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: QueryDict | None) -> None:
        shipped = alignments.load_proposal_prompt()
        initial = {
            "share": round(100 * alignments.USUAL_SHARE),
            "n_proposals": 1,
            "seed": 0,
            "system": shipped.system,
            "template": shipped.template,
        }
        super().__init__(data, initial=initial)
        models = (
            Judge.objects.judging()
            .filter(metric="")
            .exclude(endpoint__base_url=Endpoint.LOGS)
            .select_related("endpoint", "prompt")
            .order_by("slug")
        )
        for name in ("judge", "proposer"):
            self.fields[name].queryset = models  # type: ignore[attr-defined]

    @property
    def order(self) -> AlignmentOrder:
        """What was chosen, once it is valid."""
        values = self.cleaned_data
        return AlignmentOrder(
            judge=values["judge"],
            proposer=values["proposer"] or values["judge"],
            share=values["share"] / 100,
            seed=values["seed"] or 0,
            n_proposals=values["n_proposals"],
            sends_reasons=values["sends_reasons"],
            system=values["system"].replace("\r\n", "\n"),
            template=values["template"].replace("\r\n", "\n"),
        )


class WordingForm(forms.Form):
    """A proposal as it is accepted, edited or not."""

    system = forms.CharField(
        label=gettext_lazy("What the model is told first"), required=False, widget=forms.Textarea(attrs={"rows": 3})
    )
    template = forms.CharField(label=gettext_lazy("What is asked"), widget=forms.Textarea(attrs={"rows": 18}))


@dataclass(frozen=True)
class ProposalRow:
    """One proposal. passages : its words beside the present ones; problem : why it cannot be accepted as it is

    wording : None while no reply that can be read is there
    """

    number: int
    proposal: PromptProposal
    wording: PromptWording | None
    passages: list[Passage]
    problem: str
    form: WordingForm


@require_in_study(STARTS, methods=("GET", "HEAD", "POST"))
@makes_once
def new(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who may start runs and read answers: choose a judge, look at what a model is told, approve or save it."""
    if not (access.may(VIEW_RESPONSES) and access.may(ADDS)):
        raise PermissionDenied
    form = AlignmentForm(request.POST if request.method == "POST" else None)
    budget = BudgetForm(request.POST if request.method == "POST" else None)
    planned = _plan(access, form) if form.is_bound and form.is_valid() and budget.is_valid() else None
    if planned and request.POST.get("do") in ("start", "save"):
        alignment = _make(request, access, form, planned, budget)
        if alignment:
            return redirect("judges:alignment", slug=access.study.slug, alignment=alignment.pk)
    context = {"study": access.study, "access": access, "form": form, "budget_form": budget, "planned": planned}
    has_errors = bool(form.errors or budget.errors)
    return render(request, "judges/new_alignment.html", context, status=400 if has_errors else 200)


def _plan(access: Access, form: AlignmentForm) -> AlignmentPlan | None:
    """What was chosen as a plan; None, with the reason in the form, if there is none."""
    try:
        return alignments.plan(access.study, form.order)
    except CannotRun as error:
        form.add_error(None, str(error))
        return None


def _make(
    request: HttpRequest, access: Access, form: AlignmentForm, planned: AlignmentPlan, budget: BudgetForm
) -> Alignment | None:
    """The alignment, at work or saved for somebody else; None, with the reason in the form, if it cannot be."""
    if form.cleaned_data["n_calls"] != len(planned.requests):
        form.add_error(None, PLAN_CHANGED)
        return None
    by = request.user.get_username()
    try:
        alignment = alignments.write(access.study, planned, by=by, budget=budget.cleaned_data["budget"])
        if request.POST.get("do") == "start":
            runs.approve(alignment.run, by=by)
            messages.success(request, _("The model is asked for its proposals."))
    except CannotRun as error:
        form.add_error(None, str(error))
        return None
    return alignment


@require_in_study(SEES, change=STARTS, methods=("GET", "HEAD", "POST"), query=(LOOKS,))
def show(request: HttpRequest, access: Access, alignment: int) -> HttpResponse:
    """For all who see judges: how far an alignment is; the proposals for those who may read answers."""
    rows = Alignment.objects.select_related("study", "judge__endpoint", "judge__prompt", "run__judge", "base_run")
    row = get_object_or_404(rows, pk=alignment, study=access.study)
    sees_answers, may_start = access.may(VIEW_RESPONSES), access.may(STARTS)
    bound: dict[int, WordingForm] = {}
    if request.method == "POST":
        answer = _act(request, access, row, bound)
        if answer is not None:
            return answer
    proposals = _list_proposals(row, bound) if sees_answers else []
    waiting = alignments.find_waiting(row) if may_start else []
    obstacle, estimate = _preview(row, looks=LOOKS in request.GET) if waiting else ("", None)
    context = {
        "study": access.study,
        "access": access,
        "alignment": row,
        "proposals": proposals,
        "sees_answers": sees_answers,
        "may_start": may_start,
        "may_decide": sees_answers and may_start and access.may(ADDS),
        "run_state": (state := state_of(row.run, at=timezone.now())),
        "run_label": label_of(state),
        "held_out_runs": _list_runs(row, proposals),
        "waiting": waiting,
        "obstacle": obstacle,
        "estimate": estimate,
        "estimate_of_proposals": RunEstimate.load(row.run.estimate) if row.run.state == Run.State.PLANNED else None,
        "budget_form": BudgetForm(),
    }
    return render(request, "judges/alignment.html", context, status=400 if bound else 200)


def _list_proposals(alignment: Alignment, bound: dict[int, WordingForm]) -> list[ProposalRow]:
    """The proposals with their words beside the present ones. Queries as many as proposals, of which there are few."""
    rows = alignment.proposals.select_related("draft", "prompt", "judge", "run").prefetch_related("draft__texts")
    return [_show_proposal(alignment, row, number, bound.get(row.pk)) for number, row in enumerate(rows, start=1)]


def _show_proposal(
    alignment: Alignment, proposal: PromptProposal, number: int, bound: WordingForm | None
) -> ProposalRow:
    base, wording = alignment.judge.required_prompt, alignments.load_wording(proposal)
    if proposal.prompt is not None and wording is not None:
        wording = PromptWording(proposal.prompt.system, proposal.prompt.template, wording.changes)
    if wording is None:
        return ProposalRow(number, proposal, None, [], proposal.draft.note, WordingForm())
    problem = ""
    if proposal.state == PromptProposal.State.OPEN:
        try:
            stories, reasons = alignments.find_shown(proposal), alignments.find_reasons(proposal)
            alignments.check(base, wording, stories=stories, reasons=reasons)
        except InvalidPrompt as error:
            problem = str(error)
    before, after = (f"{words.system.strip()}\n\n{words.template.strip()}".strip() for words in (base, wording))
    form = bound or WordingForm(
        initial={"system": wording.system, "template": wording.template}, auto_id=f"id_{proposal.pk}_%s"
    )
    return ProposalRow(number, proposal, wording, find_differences(before, after), problem, form)


def _list_runs(alignment: Alignment, proposals: list[ProposalRow]) -> list[tuple[Run, str, str]]:
    """The runs about the held-out stories, each with its state and the state's name."""
    rows = [alignment.base_run, *(row.proposal.run for row in proposals)]
    at = timezone.now()
    return [(run, state_of(run, at=at), str(label_of(state_of(run, at=at)))) for run in rows if run is not None]


def _preview(alignment: Alignment, *, looks: bool) -> tuple[str, RunEstimate | None]:
    """What keeps the held-out stories from being judged, and what it would take, which is only looked at when asked."""
    try:
        alignments.check_decided(alignment)
        return "", alignments.preview(alignment) if looks else None
    except CannotRun as error:
        return str(error), None


def _act(
    request: HttpRequest, access: Access, alignment: Alignment, bound: dict[int, WordingForm]
) -> HttpResponse | None:
    """Approve the calls, take them back, decide about a proposal, or start the runs about what was held out.

    None, with the form that has the reason, where a proposal cannot be accepted as it was edited.
    """
    by, do = request.user.get_username(), request.POST.get("do", "")
    address = redirect("judges:alignment", slug=access.study.slug, alignment=alignment.pk)
    try:
        if do in ("accept", "refuse"):
            _decide(request, access, alignment, bound)
        elif do == "approve":
            runs.approve(alignment.run, by=by)
            messages.success(request, _("The model is asked for its proposals."))
        elif do == "discard":
            alignments.discard(alignment)
            messages.success(request, _("The alignment is discarded. Nothing was sent."))
            return redirect("judges:runs", slug=access.study.slug)
        elif do == "start":
            _start(request, alignment, by=by)
        else:
            raise BadRequest("There is no such action.")
    except (CannotRun, UndecidableProposal) as error:
        messages.error(request, str(error))
    return None if bound else address


def _start(request: HttpRequest, alignment: Alignment, *, by: str) -> None:
    form = BudgetForm(request.POST)
    if not form.is_valid():
        messages.error(request, " ".join(str(sentence) for sentence in form.errors["budget"]))
        return
    alignments.start(alignment, by=by, budget=form.cleaned_data["budget"])
    messages.success(request, _("The held-out stories are being judged."))


def _decide(request: HttpRequest, access: Access, alignment: Alignment, bound: dict[int, WordingForm]) -> None:
    """Accept or refuse the proposal that was named; the form is kept as bound if its words cannot be taken."""
    if not (access.may(VIEW_RESPONSES) and access.may(ADDS)):
        raise PermissionDenied
    key = request.POST.get("proposal", "")
    proposal = get_object_or_404(alignment.proposals, pk=int(key) if key.isascii() and key.isdigit() else 0)
    by, at = request.user.get_username(), timezone.now()
    if request.POST.get("do") == "refuse":
        alignments.refuse(proposal, by=by, at=at)
        messages.success(request, _("The proposal is refused, and kept."))
        return
    form = WordingForm(request.POST, auto_id=f"id_{proposal.pk}_%s")
    if form.is_valid():
        try:
            judge = alignments.accept(proposal, PromptWording(**form.cleaned_data), by=by, at=at)
        except UndecidableProposal as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("Accepted: the judge %(judge)s has the new version.") % {"judge": judge.slug})
            return
    bound[proposal.pk] = form
