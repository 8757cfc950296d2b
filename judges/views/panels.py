"""A panel: several judges set up on one page, each model with each prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from judges import catalogue, prompts
from judges.models import Endpoint, Judge, Prompt
from judges.views.judges import ADDS, KNOWN, JudgeForm
from studies.access import Access
from studies.views.guards import require_in_study
from studies.views.posted_forms import makes_once

N_MODELS = 5
FACTORIAL = {"plain": "quiet-judge", "anchored": "quiet-judge-anchored"}
CONTROL = {"coarse": "quiet-judge-coarse"}


class PanelForm(forms.Form):
    """The models, the prompts, and parameters that are the same for all."""

    name = forms.SlugField(
        label=gettext_lazy("Name of the panel"),
        max_length=40,
        help_text=gettext_lazy("Each judge gets it with its model, and with its prompt if there are several."),
    )
    is_factorial = forms.BooleanField(
        label=gettext_lazy("Set up QUIET’s factorial"),
        required=False,
        help_text=gettext_lazy(
            "Two judges for each model, instead of the prompts below: one is shown samples that people "
            "scored, the other is not. Both answer constraints and their checks, each in a call of its "
            "own, and the report compares the four conditions."
        ),
    )
    has_control = forms.BooleanField(
        label=gettext_lazy("Add QUIET’s control in three steps"),
        required=False,
        help_text=gettext_lazy(
            "One more judge for each model, which answers constraints with 0, 0.5 or 1. It reads the step that asks "
            "them so; a study that is derived with the control has one. The report compares both scales model by model."
        ),
    )
    prompts = forms.ModelMultipleChoiceField(
        Prompt.objects.none(), label=gettext_lazy("Prompts"), widget=forms.CheckboxSelectMultiple, required=False
    )

    def __init__(self, *args: Any, built_in: Sequence[Prompt] = ()) -> None:
        """built_in : the prompts that come with Quire, for the factorial and its control"""
        super().__init__(*args)
        self.built_in = built_in
        rows = [row.pk for row in Prompt.objects.order_by("name", "version") if _asks(row)]
        self.fields["prompts"].queryset = Prompt.objects.filter(pk__in=rows)  # type: ignore[attr-defined]
        for name in KNOWN:
            self.fields[name] = JudgeForm.base_fields[name]
        for n in range(N_MODELS):
            self.fields[f"endpoint{n}"] = forms.ModelChoiceField(
                Endpoint.objects.all(),
                label=gettext_lazy("Sent to"),
                required=False,
                empty_label=gettext_lazy("Choose an endpoint"),
            )
            self.fields[f"model{n}"] = forms.CharField(label=gettext_lazy("Model"), required=False, max_length=200)
        self.judges: list[Judge] = []

    @property
    def rows(self) -> list[tuple[forms.BoundField, forms.BoundField]]:
        """The models, each as its two fields."""
        return [(self[f"endpoint{n}"], self[f"model{n}"]) for n in range(N_MODELS)]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        models: list[tuple[Endpoint, str]] = []
        for n in range(N_MODELS):
            endpoint, model = cleaned.get(f"endpoint{n}"), cleaned.get(f"model{n}", "")
            if bool(endpoint) != bool(model):
                self.add_error(f"model{n}", _("A model needs an endpoint and the name it has there."))
            elif endpoint:
                models.append((endpoint, model))
        if not models:
            raise ValidationError(_("A panel needs at least one model."))
        if cleaned.get("is_factorial") and cleaned.get("prompts"):
            self.add_error("prompts", _("The factorial brings its own prompts: choose these, or the factorial."))
        elif not any(cleaned.get(name) for name in ("is_factorial", "has_control", "prompts")):
            self.add_error("prompts", _("Choose at least one prompt, or the factorial."))
        if not self.errors:
            self._make(cleaned, models)
        return cleaned

    def _make(self, cleaned: dict[str, Any], models: list[tuple[Endpoint, str]]) -> None:
        """The judges, not saved yet. What is wrong with one is said of the whole form."""
        parameters = {name: cleaned[name] for name in KNOWN if cleaned.get(name) is not None}
        named = self._named(FACTORIAL) if cleaned["is_factorial"] else _conditions(list(cleaned["prompts"]))
        conditions = named + (self._named(CONTROL) if cleaned["has_control"] else [])
        for (endpoint, model), (condition, prompt) in product(models, conditions):
            parts = [cleaned["name"], slugify(model.replace(".", "-").replace("/", "-").replace(":", "-")), condition]
            slug = "-".join(filter(None, parts))
            judge = Judge(slug=slug, endpoint=endpoint, model=model, prompt=prompt, parameters=dict(parameters))
            try:
                judge.full_clean()
            except ValidationError as error:
                self.add_error(None, f"{slug}: {' '.join(error.messages)}")
            if slug in {other.slug for other in self.judges}:
                self.add_error(None, _("Two judges would be called %(slug)s.") % {"slug": slug})
            self.judges.append(judge)

    def _named(self, prompt_by_condition: Mapping[str, str]) -> list[tuple[str, Prompt]]:
        """These of QUIET's prompts with the name of each condition. The factorial's other factor, the constraint as a
        whole or by its checks, is in the items: a judge answers both."""
        prompt_by_name = {prompt.name: prompt for prompt in self.built_in}
        return [(condition, prompt_by_name[name]) for condition, name in prompt_by_condition.items()]


def _conditions(chosen: list[Prompt]) -> list[tuple[str, Prompt]]:
    """The prompts with what they add to a judge's name: nothing if there is one."""
    return [(prompt.name if len(chosen) > 1 else "", prompt) for prompt in chosen]


def _asks(prompt: Prompt) -> bool:
    """Whether a judge can answer with it: prompts for filling, probing and writing are none of a judge's."""
    try:
        return prompts.shape_of(prompt.template).kind == "answer"
    except prompts.InvalidPrompt:
        return False


@require_in_study(ADDS, methods=("GET", "HEAD", "POST"))
@makes_once
def new(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who may make judges: several of them, each model with each prompt."""
    catalogue.ensure_built_in()
    asks_built_in = request.POST.get("is_factorial") or request.POST.get("has_control")
    built_in = catalogue.load_prompts() if asks_built_in else []
    form = PanelForm(request.POST if request.method == "POST" else None, built_in=built_in)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            for judge in form.judges:
                judge.save()
        n = len(form.judges)
        sentence = ngettext("%(n)d judge is saved and can be run.", "%(n)d judges are saved and can be run.", n)
        messages.success(request, sentence % {"n": n})
        return redirect("judges:judges", slug=access.study.slug)
    context = {"study": access.study, "access": access, "form": form}
    return render(request, "judges/panel_form.html", context, status=400 if form.errors else 200)
