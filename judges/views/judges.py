"""Judges: the list, and one as a form: each parameter is a field, or a row of name and value."""

from __future__ import annotations

import json
import math
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from judges import catalogue, parsing
from judges.metrics import all_metrics
from judges.models import Judge
from judges.providers import REASONING_EFFORT, REASONING_EFFORTS
from studies.access import Access
from studies.views.guards import require_in_study
from studies.views.posted_forms import makes_once

SEES, ADDS, CHANGES = "judges.view_judge", "judges.add_judge", "judges.change_judge"
# The parameters that every protocol knows; others are rows of name and value.
KNOWN = ("temperature", "max_tokens", "top_p", "seed")
FIELDS = (*KNOWN, REASONING_EFFORT)
# What asks OpenAI's chat for the probabilities of each token, and for those of twenty that could have stood there.
PROBABILITIES = {"logprobs": True, "top_logprobs": 20}
N_ROWS = 5
LONGEST_VALUE = 1000
DEEPEST_VALUE = 20  # objects and lists within one another


class JudgeForm(forms.ModelForm):  # type: ignore[type-arg]
    temperature = forms.FloatField(
        label=gettext_lazy("Temperature"), min_value=0, max_value=2, required=False, help_text=gettext_lazy("0 to 2.")
    )
    max_tokens = forms.IntegerField(
        label=gettext_lazy("Longest answer"),
        min_value=1,
        max_value=1_000_000,
        required=False,
        help_text=gettext_lazy("In tokens."),
    )
    top_p = forms.FloatField(
        label=gettext_lazy("Top p"), min_value=0, max_value=1, required=False, help_text=gettext_lazy("0 to 1.")
    )
    seed = forms.IntegerField(label=gettext_lazy("Seed"), required=False)
    asks_probabilities = forms.BooleanField(
        label=gettext_lazy("Ask for probabilities, where the server gives them"),
        required=False,
        help_text=gettext_lazy(
            "Sends logprobs and top_logprobs, as OpenAI’s chat and llama.cpp take them; others may refuse them."
        ),
    )
    reasoning_effort = forms.ChoiceField(
        label=gettext_lazy("Reasoning effort"),
        required=False,
        help_text=gettext_lazy("For models that reason before they answer; others may refuse it."),
    )

    class Meta:
        model = Judge
        fields = ("slug", "endpoint", "model", "prompt")
        labels = {"slug": gettext_lazy("Name"), "endpoint": gettext_lazy("Sent to")}
        help_texts = {
            "slug": gettext_lazy("Names it in every study and report: lower-case letters, digits and hyphens."),
            "model": gettext_lazy("Its name at the endpoint."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        parameters = self.instance.parameters
        self.fields["endpoint"].required = self.fields["prompt"].required = self.fields["model"].required = True
        for name in FIELDS:
            self.fields[name].initial = parameters.get(name)
        effort = cast("forms.ChoiceField", self.fields[REASONING_EFFORT])
        is_effort_odd = not isinstance(effort.initial, str)
        effort.initial = None if is_effort_odd else effort.initial
        values = dict.fromkeys([*REASONING_EFFORTS, *([effort.initial] if effort.initial else [])])
        is_asked = all(parameters.get(name) == value for name, value in PROBABILITIES.items())
        self.fields["asks_probabilities"].initial = is_asked
        # What none of the fields can show stands in a row, where it can be mended.
        fields = KNOWN if is_effort_odd else FIELDS
        effort.choices = [("", _("as the provider chooses")), *((value, value) for value in values)]
        shown = {*fields, *(PROBABILITIES if is_asked else ())}
        others = [(name, value) for name, value in parameters.items() if name not in shown and _fits_row(value)]
        for n in range(max(N_ROWS, len(others) + 1)):
            name, value = others[n] if n < len(others) else ("", None)
            self.fields[f"name{n}"] = forms.CharField(
                label=gettext_lazy("Name"), required=False, max_length=80, initial=name
            )
            self.fields[f"value{n}"] = forms.CharField(
                label=gettext_lazy("Value"),
                required=False,
                max_length=LONGEST_VALUE,
                initial=_write_value(value) if name else "",
            )

    @property
    def rows(self) -> list[tuple[forms.BoundField, forms.BoundField]]:
        """The further parameters, each as its two fields."""
        n_rows = sum(1 for name in self.fields if name.startswith("value"))
        return [(self[f"name{n}"], self[f"value{n}"]) for n in range(n_rows)]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        # What does not fit a row was written elsewhere, and stays.
        kept = {name: value for name, value in self.instance.parameters.items() if not _fits_row(value)}
        parameters = kept | {name: cleaned[name] for name in FIELDS if cleaned.get(name) not in (None, "")}
        parameters |= PROBABILITIES if cleaned.get("asks_probabilities") else {}
        for n in range(len(self.rows)):
            name, value = cleaned.get(f"name{n}", ""), cleaned.get(f"value{n}", "")
            if name and (name in parameters):
                self.add_error(f"name{n}", _("This parameter is set already."))
            elif name:
                try:
                    parameters[name] = read_value(value)
                except ValueError as error:
                    self.add_error(f"value{n}", str(error))
            elif value:
                self.add_error(f"name{n}", _("A value needs a name."))
        self.instance.parameters = parameters
        return cleaned

    def add_error(self, field: Any, error: Any) -> None:
        # What the table says of all parameters has no field of its own here.
        if isinstance(error, ValidationError) and hasattr(error, "error_dict") and "parameters" in error.error_dict:
            super().add_error(None, ValidationError(error.error_dict.pop("parameters")))
            if not error.error_dict:
                return
        super().add_error(field, error)


def _fits_row(value: Any) -> bool:
    is_nested = isinstance(value, dict | list)
    return len(json.dumps(value, ensure_ascii=False)) <= LONGEST_VALUE if is_nested else True


def _write_value(value: Any) -> str:
    """The value as it is typed: a text that could be taken for something else stands between quotation marks."""
    if isinstance(value, str):
        return value if _is_plain(value) else json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)


def _is_plain(text: str) -> bool:
    """Whether a text is read as itself."""
    try:
        return bool(read_value(text) == text)
    except ValueError:
        return False


def read_value(text: str) -> Any:
    """A number, yes or no (true, false), nothing (null), an object or a list; anything else is the text itself.

    Raises ValueError for what begins as an object or a list and is none: sent as a text it would be refused; and for
    what no database keeps.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        _check_storable(value)
        return value
    except RecursionError:
        raise ValueError(_too_deep()) from None
    except json.JSONDecodeError as error:
        if not text.startswith(("{", "[")):
            return text
        message = _("This begins as JSON and cannot be read at character %(n)d (%(reason)s). Names stand in quotes.")
        raise ValueError(message % {"n": error.pos + 1, "reason": error.msg}) from None


def _check_storable(value: Any, *, depth: int = 0) -> None:
    """Raise ValueError for a number that is none, a character that no database keeps, and too much within itself."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(_("This number is too large."))
    if isinstance(value, str) and parsing.strip_unstorable(value) != value:
        raise ValueError(
            _("This holds a character that cannot be kept: \\u0000, or half of a pair (\\ud800 to \\udfff).")
        )
    if isinstance(value, dict | list):
        if depth == DEEPEST_VALUE:
            raise ValueError(_too_deep())
        for part in [*value, *value.values()] if isinstance(value, dict) else value:
            _check_storable(part, depth=depth + 1)


def _too_deep() -> str:
    return _("Objects and lists may stand within one another %(n)d times at most.") % {"n": DEEPEST_VALUE}


def _refuse_constant(name: str) -> None:
    raise json.JSONDecodeError(f"{name} is no number in JSON", name, 0)


@require_in_study(SEES)
def index(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who see judges: all there are, for all studies, with the number of their runs in this one."""
    of_studies = Judge.objects.judging()
    rows = (
        of_studies.select_related("endpoint", "prompt")
        .annotate(n_runs=Count("runs", filter=Q(runs__study=access.study)))
        .order_by("slug")
    )
    made = {judge.metric for judge in rows}
    context = {
        "study": access.study,
        "access": access,
        "rows": [(judge, _settings(judge)) for judge in rows],
        "metrics": [metric for slug, metric in all_metrics().items() if slug not in made],
        "may_add": access.may(ADDS),
        "sees_endpoints": access.may("judges.view_endpoint"),
    }
    return render(request, "judges/judges.html", context)


def _settings(judge: Judge) -> str:
    """The parameters in one line."""
    return ", ".join(f"{name} {_write_value(value)}" for name, value in judge.parameters.items())


@require_in_study(ADDS, methods=("POST",))
def add_metric(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who may make judges: the judge that measures by a metric."""
    slug = request.POST.get("metric", "")
    if slug in all_metrics():
        judge = catalogue.make_metric_judge(slug)
        messages.success(request, _("%(judge)s is saved and can be run.") % {"judge": judge.slug})
    else:
        messages.error(request, _("Choose a metric."))
    return redirect("judges:judges", slug=access.study.slug)


@require_in_study(ADDS, methods=("GET", "HEAD", "POST"), query=("like",))
@makes_once
def new(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who may make judges: a new one, empty or like another."""
    like = request.GET.get("like", "")
    model = (
        Judge.objects.filter(pk=like, metric="", is_writer=False, is_measurer=False).first()
        if like.isascii() and like.isdigit()
        else None
    )
    judge = Judge()
    if model is not None:
        judge = Judge(
            endpoint=model.endpoint, model=model.model, prompt=model.prompt, parameters=dict(model.parameters)
        )
    return _edit(request, access, judge)


@require_in_study(SEES, change=CHANGES, methods=("GET", "HEAD", "POST"))
def show(request: HttpRequest, access: Access, judge: int) -> HttpResponse:
    """For all who see judges: one of them; until a run has used it, a form for those who may change it."""
    row = get_object_or_404(
        Judge.objects.select_related("endpoint", "prompt"), pk=judge, is_writer=False, is_measurer=False
    )
    is_final = bool(row.metric) or row.is_used()
    if not is_final and access.may(CHANGES):
        return _edit(request, access, row)
    context = {"study": access.study, "access": access, "judge": row, "is_final": is_final, "settings": _settings(row)}
    return render(
        request,
        "judges/judge.html",
        context | {"may_add": access.may(ADDS)},
        status=409 if request.method == "POST" else 200,
    )


def _edit(request: HttpRequest, access: Access, judge: Judge) -> HttpResponse:
    catalogue.ensure_built_in()
    form = JudgeForm(request.POST if request.method == "POST" else None, instance=judge)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, _("%(judge)s is saved.") % {"judge": judge.slug})
        return redirect("judges:judges", slug=access.study.slug)
    context = {"study": access.study, "access": access, "form": form, "judge": judge if judge.pk else None}
    return render(request, "judges/judge_form.html", context, status=400 if form.errors else 200)
