"""The page on which people apply: what the study is, whether they are eligible, how to reach them."""

from __future__ import annotations

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from annotation.models import Application, ApplicationCall
from annotation.participation import applications
from annotation.progress import languages
from annotation.views.rater import doors
from annotation.views.rater.guards import Request, rater_page
from annotation.views.rater.routing import allow_get_and_post
from studies import items, lifecycle
from studies.models import Instrument
from studies.typography.prose import parse_prose

QUESTION = "question-"


class ApplicationForm(forms.Form):
    """Who applies, and a field for each question of eligibility."""

    name = forms.CharField(label=gettext_lazy("Your name"), max_length=200, required=False)
    email = forms.EmailField(label=gettext_lazy("Your e-mail address"))

    def __init__(self, instrument: Instrument | None, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.questions = list(instrument.items.all()) if instrument else []
        for item in self.questions:
            self.fields[QUESTION + item.key] = items.find_type(item.type).field(item)

    def clean(self) -> None:
        for item in self.questions:
            name = QUESTION + item.key
            if name in self.cleaned_data and self.cleaned_data[name] is None and not item.is_skippable:
                self.add_error(name, _("Please answer this question."))

    @property
    def answers(self) -> dict[str, object]:
        """The answers by the key of the item; of questions left out nothing."""
        values = {item.key: self.cleaned_data[QUESTION + item.key] for item in self.questions}
        return {key: value for key, value in values.items() if value is not None}

    @property
    def rows(self) -> list[forms.BoundField]:
        """The fields of the questions, in their order."""
        return [self[QUESTION + item.key] for item in self.questions]


@rater_page
@allow_get_and_post
def apply(request: Request, key: str) -> HttpResponse:
    """What the study looks for, and the form; what was posted leads to thanks, or to a kind no."""
    call = ApplicationCall.objects.filter(key=key, study__rehearsal_of=None)
    row = call.select_related("study", "instrument").first()
    if row is None:
        return render(request, "annotation/invalid_link.html", status=404)
    languages.activate_language(request, row.study)
    if not (row.is_open and row.instrument) or not lifecycle.may_invite(row.study):
        return render(request, "annotation/application_closed.html", {"study": row.study}, status=409)
    form, status, problem = ApplicationForm(row.instrument), 200, ""
    if request.method == "POST":
        form, status = ApplicationForm(row.instrument, request.POST), 400
        if doors.is_too_often(request, "application"):
            status, problem = 429, _("Too much was sent from your address just now. Please try again in ten minutes.")
        elif form.is_valid():
            values = {"name": form.cleaned_data["name"], "email": form.cleaned_data["email"]}
            application = applications.apply(row, **values, answers=form.answers, at=timezone.now())
            is_eligible = application.state != Application.State.INELIGIBLE
            return redirect("annotation:applied" if is_eligible else "annotation:not_eligible", key)
    context = {"study": row.study, "call": row, "form": form, "problem": problem, "prose": parse_prose(row.text)}
    return render(request, "annotation/application.html", context, status=status)


@rater_page
@require_safe
def applied(request: Request, key: str) -> HttpResponse:
    """Thanks to somebody who may be invited."""
    return _answer(request, key, is_eligible=True)


@rater_page
@require_safe
def not_eligible(request: Request, key: str) -> HttpResponse:
    """Thanks to an applicant who is not eligible."""
    return _answer(request, key, is_eligible=False)


def _answer(request: Request, key: str, *, is_eligible: bool) -> HttpResponse:
    row = ApplicationCall.objects.filter(key=key, study__rehearsal_of=None).select_related("study").first()
    if row is None:
        return render(request, "annotation/invalid_link.html", status=404)
    languages.activate_language(request, row.study)
    return render(request, "annotation/applied.html", {"study": row.study, "call": row, "is_eligible": is_eligible})
