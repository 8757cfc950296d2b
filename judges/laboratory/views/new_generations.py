"""A generation before it is one: the recipe, what it works on, one call as it would be sent, what it takes."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from judges import runs
from judges.laboratory import generation, recipes
from judges.laboratory.generation import GenerationOrder, GenerationPlan
from judges.laboratory.generation.plans import split_premises
from judges.laboratory.recipes import Recipe
from judges.models import Endpoint, Run
from judges.planning import CannotRun
from judges.runs.planning_jobs import PLAN_CHANGED
from judges.views.judges import read_value
from judges.views.new_runs import STARTS, BudgetForm
from studies import story_edits
from studies.access import Access
from studies.models import Instrument
from studies.views.guards import require_in_study
from studies.views.posted_forms import makes_once

ADDS = "studies.change_provenance"
# Which fields a recipe needs beside those that all have, by what it works on.
FIELDS_BY_KIND = {
    "premise": ("groups", "premises", "may_send_premises"),
    "story": ("stories",),
    "item": ("instrument",),
}


class GenerationForm(BudgetForm):
    """What is written, by whom, from what. Fields that the recipe has no use for are left out.

    n_calls : how many calls the page showed to the approver
    """

    endpoint = forms.ModelChoiceField(
        Endpoint.objects.none(), label=gettext_lazy("Endpoint"), empty_label=gettext_lazy("Choose an endpoint")
    )
    model = forms.CharField(
        label=gettext_lazy("Model"), max_length=200, help_text=gettext_lazy("Its name at the endpoint.")
    )
    groups = forms.MultipleChoiceField(
        label=gettext_lazy("Writing prompts of groups"), required=False, widget=forms.CheckboxSelectMultiple
    )
    premises = forms.CharField(
        label=gettext_lazy("Other writing prompts"),
        help_text=gettext_lazy("A blank line between two. Each gets a group of its own."),
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    may_send_premises = forms.BooleanField(
        label=gettext_lazy("These writing prompts may be sent to an outside provider"),
        help_text=gettext_lazy(
            "Needed where stories of a group may not be sent, and for writing prompts that you type."
        ),
        required=False,
    )
    stories = forms.CharField(
        label=gettext_lazy("Stories"),
        help_text=gettext_lazy("Their codes, with spaces between; empty for all whose texts are here."),
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    instrument = forms.ModelChoiceField(
        Instrument.objects.none(),
        label=gettext_lazy("Draft of an instrument"),
        empty_label=gettext_lazy("Choose a draft"),
    )
    sizes = forms.CharField(
        label=gettext_lazy("Lengths in words"), help_text=gettext_lazy("One or several, with spaces between.")
    )
    temperatures = forms.CharField(
        label=gettext_lazy("Temperatures"),
        help_text=gettext_lazy("One or several from 0 to 2, with spaces between; empty for the model’s own."),
        required=False,
    )
    n_texts = forms.IntegerField(
        label=gettext_lazy("Texts of each"),
        help_text=gettext_lazy("For every writing prompt or story, length and temperature."),
        min_value=1,
        max_value=1000,
    )
    n_rounds = forms.IntegerField(min_value=1)
    reference = forms.CharField(
        label=gettext_lazy("Idea of reference"),
        help_text=gettext_lazy("The code of a story of this study; empty for none."),
        max_length=80,
        required=False,
    )
    parameters = forms.CharField(
        label=gettext_lazy("Further parameters"),
        help_text=gettext_lazy("Sent along: a name and a value on each line, such as max_tokens 4000."),
        required=False,
        widget=forms.Textarea({"rows": 2}),
    )
    n_calls = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: Any, *, access: Access, recipe: Recipe) -> None:
        super().__init__(data, initial={"n_texts": 1, "sizes": " ".join(map(str, recipe.sizes))})
        self._recipe = recipe
        self._leave_out()
        self.fields["endpoint"].queryset = Endpoint.objects.filter(is_allowed=True).order_by("name")  # type: ignore[attr-defined]
        if "groups" in self.fields:
            groups = access.study.groups.exclude(premise="").order_by("code").values_list("code", "premise")
            self.fields["groups"].choices = [(code, f"{code}: {premise}") for code, premise in groups]  # type: ignore[attr-defined]
        if "instrument" in self.fields:
            drafts = Instrument.objects.filter(status=Instrument.Status.DRAFT).order_by("title")
            self.fields["instrument"].queryset = drafts  # type: ignore[attr-defined]
        if recipe.rounds:
            field = self.fields["n_rounds"]
            field.label, field.initial = str(recipe.rounds.label), recipe.rounds.usual

    def _leave_out(self) -> None:
        recipe = self._recipe
        unneeded = [name for kind, names in FIELDS_BY_KIND.items() if kind != recipe.works_on for name in names]
        unneeded += [] if recipe.sizes else ["sizes"]
        unneeded += [] if recipe.rounds else ["n_rounds"]
        unneeded += [] if recipe.takes_reference else ["reference"]
        for name in unneeded:
            del self.fields[name]

    def clean_sizes(self) -> tuple[int, ...]:
        words = _split(self.cleaned_data["sizes"])
        if not all(word.isascii() and word.isdecimal() and len(word) < 7 for word in words):
            raise forms.ValidationError(_("Lengths are whole numbers, such as 50 150 250."))
        return tuple(map(int, words))

    def clean_temperatures(self) -> tuple[float | None, ...]:
        try:
            return tuple(float(word) for word in _split(self.cleaned_data["temperatures"])) or (None,)
        except ValueError:
            raise forms.ValidationError(_("Temperatures are numbers, such as 0.7 1.0.")) from None

    def clean_parameters(self) -> dict[str, Any]:
        parameters: dict[str, Any] = {}
        for line in filter(None, map(str.strip, self.cleaned_data["parameters"].splitlines())):
            name, value = line.split(maxsplit=1) if " " in line else ("", "")
            if not re.fullmatch(r"[A-Za-z]\w*", name):
                raise forms.ValidationError(_("Write a name and a value on each line, such as max_tokens 4000."))
            if name in parameters:
                raise forms.ValidationError(_("%(name)s stands there twice.") % {"name": name})
            try:
                parameters[name] = read_value(value)
            except ValueError as error:
                raise forms.ValidationError(str(error)) from None
        return parameters

    @property
    def order(self) -> GenerationOrder:
        """What was chosen, once it is valid."""
        values = self.cleaned_data
        return GenerationOrder(
            self._recipe,
            values["endpoint"],
            values["model"],
            parameters=values["parameters"],
            groups=tuple(values.get("groups", ())),
            premises=split_premises(values.get("premises", "")),
            may_send_premises=values.get("may_send_premises", False),
            stories=tuple(_split(values.get("stories", ""))),
            instrument=values.get("instrument"),
            sizes=values.get("sizes", ()),
            temperatures=values["temperatures"],
            n_texts=values["n_texts"],
            n_rounds=values.get("n_rounds"),
            reference=values.get("reference", "").strip(),
        )


def _split(text: str) -> list[str]:
    return re.findall(r"[^\s,;]+", text)


@require_in_study(ADDS, methods=("GET", "HEAD", "POST"), query=("recipe",))
@makes_once
def new(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who may import stories and start runs: choose a recipe, look at what it asks, approve or save it."""
    if not access.may(STARTS):
        raise PermissionDenied
    context: dict[str, Any] = {
        "study": access.study,
        "access": access,
        "obstacle": story_edits.find_obstacle(access.study),
        "recipes": list(recipes.find_writing().values()),
    }
    slug = request.GET.get("recipe", "")
    recipe = recipes.find_writing().get(slug)
    if recipe is None or context["obstacle"]:
        return render(request, "judges/new_generation.html", context, status=409 if request.method == "POST" else 200)
    form = GenerationForm(request.POST if request.method == "POST" else None, access=access, recipe=recipe)
    planned = _plan(access, form) if form.is_bound and form.is_valid() else None
    if planned and request.POST.get("do") in ("start", "save") and (run := _make(request, access, form, planned)):
        return redirect("judges:run", slug=access.study.slug, run=run.pk)
    context |= {"recipe": recipe, "form": form, "planned": planned}
    if planned:
        besides = (generation.separation.find_role(recipe), planned.judge.model)
        context["shared"] = generation.find_shared_families(access.study, besides=besides)
    return render(request, "judges/new_generation.html", context, status=400 if form.errors else 200)


def _plan(access: Access, form: GenerationForm) -> GenerationPlan | None:
    """What was chosen as a plan; None, with the reason in the form, if there is none."""
    try:
        return generation.plan(access.study, form.order)
    except CannotRun as error:
        form.add_error(None, str(error))
        return None


def _make(request: HttpRequest, access: Access, form: GenerationForm, planned: GenerationPlan) -> Run | None:
    """The run, at work or saved for somebody else; None, with the reason in the form, if it cannot be."""
    if form.cleaned_data["n_calls"] != planned.n_calls:
        form.add_error(None, PLAN_CHANGED)
        return None
    by, is_saved = request.user.get_username(), request.POST.get("do") == "save"
    try:
        run = generation.write(access.study, planned, budget=form.cleaned_data["budget"], by=by)
        if not is_saved:
            runs.approve(run, by=by)
    except CannotRun as error:
        form.add_error(None, str(error))
        return None
    message = _("The run is planned. Nothing is sent before someone approves it.")
    messages.success(request, message if is_saved else _("The run is planned, and the workers have been told."))
    return run
