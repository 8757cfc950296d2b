"""Scores from elsewhere: a file with its card, what would come in; then all of it, or nothing."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy, ngettext

from annotation.answer_import import files
from annotation.answer_import.names import list_story_names
from annotation.models import BroughtFile
from judges import score_import
from judges.laboratory import likelihoods
from judges.models import Endpoint, Run, ScoreCard
from judges.score_import import LONGEST_NAME, SCORES, CardText, RefusedCard
from studies import protocol
from studies.access import Access
from studies.action_log import log_action
from studies.incoming_tables.errors import ImportRefused
from studies.models import Study
from studies.protocol import NotPlannable
from studies.views.guards import require_in_study
from studies.views.incoming_tables import ImportPage, RolesForm, TableReport, UploadForm
from studies.views.posted_forms import makes_once

SEES = "judges.view_scorecard"
MAY_BRING = "judges.add_scorecard"
MAY_ASK = "judges.add_run"
N_PREVIEWED = 8
SCORES_ARE_CALLED = gettext_lazy("What the scores are called in the report, in lower case with hyphens.")


class ScoreForm(UploadForm):
    """A file of scores, and what is said of them."""

    kind = SCORES

    metric = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=LONGEST_NAME,
        help_text=gettext_lazy(
            "The name of the program that computed them, in lower case with hyphens: skywork-reward."
        ),
    )
    version = forms.CharField(
        label=gettext_lazy("Version"),
        max_length=LONGEST_NAME,
        required=False,
        help_text=gettext_lazy("Empty: the next number."),
    )
    better = forms.ChoiceField(label=gettext_lazy("Direction"), choices=ScoreCard.Better.choices)
    scored_by = forms.CharField(label=gettext_lazy("Who computed them"), max_length=200)
    scored_on = forms.DateField(
        label=gettext_lazy("When"), required=False, widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d")
    )
    note = forms.CharField(
        label=gettext_lazy("Note"),
        required=False,
        max_length=4000,
        widget=forms.Textarea({"rows": 3}),
        help_text=gettext_lazy("Whatever else a reader must know: settings, data it was trained on."),
    )
    story_by = forms.ChoiceField(label=gettext_lazy("The file names stories by"))
    may_be_missing = forms.BooleanField(label=gettext_lazy("Some stories, or pairs, may have no score"), required=False)

    def __init__(self, *args: Any, study: Study) -> None:
        super().__init__(*args)
        self.study = study
        self.fields["story_by"].choices = list_story_names(study)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """With what is said of the scores, before a file is kept that could never come in under it."""
        if not {"metric", "version", "better", "scored_by"} & self.errors.keys():
            values = self.cleaned_data
            try:
                score_import.check_card(
                    self.study, CardText(values["metric"], values["better"], values["scored_by"], values["version"])
                )
            except RefusedCard as error:
                self.add_error(error.field, error.reason)
        return self.cleaned_data

    @property
    def choices(self) -> dict[str, Any]:
        """What was said, as it is kept beside the file."""
        values = {name: self.cleaned_data[name] for name in self.fields if name != "file"}
        day = values["scored_on"]
        return values | {"scored_on": day.isoformat() if day else ""}


class SurpriseForm(forms.Form):
    """Which model is asked how likely it finds the stories, and what its values are called."""

    endpoint = forms.ModelChoiceField(
        Endpoint.objects.none(),
        label=gettext_lazy("Endpoint"),
        empty_label=gettext_lazy("Choose an endpoint"),
        help_text=gettext_lazy("It must echo a text with its log-probabilities, as vLLM does."),
    )
    model = forms.CharField(
        label=gettext_lazy("Model"), max_length=200, help_text=gettext_lazy("Its name at the endpoint.")
    )
    surprise_metric = forms.CharField(
        label=gettext_lazy("Name"), max_length=LONGEST_NAME, initial=likelihoods.METRIC, help_text=SCORES_ARE_CALLED
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.fields["endpoint"].queryset = Endpoint.objects.filter(is_allowed=True)  # type: ignore[attr-defined]


def _card(choices: dict[str, Any]) -> CardText:
    day = choices["scored_on"]
    names = ("metric", "version", "better", "scored_by", "note")
    return CardText(scored_on=date.fromisoformat(day) if day else None, **{name: choices[name] for name in names})


@require_in_study(SEES, change=MAY_BRING, methods=("GET", "HEAD", "POST"))
def index(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who read answers by source: the imported scores, and a file of further ones."""
    study, by = access.study, cast(User, request.user)
    files.forget_old_files(at=timezone.now())
    form, status = ScoreForm(study=study), 200
    surprise_form = SurpriseForm()
    if request.method == "POST" and "surprise" in request.POST:
        if not access.may(MAY_ASK):
            raise PermissionDenied
        surprise_form, status = SurpriseForm(request.POST), 400
        if surprise_form.is_valid() and (run := _plan_surprise(study, surprise_form, by=by)):
            return redirect("judges:run", slug=study.slug, run=run.pk)
    elif request.method == "POST":
        form, status = ScoreForm(request.POST, request.FILES, study=study), 400
        if form.is_valid():
            row = files.keep_file(
                study,
                form.table,
                BroughtFile.Purpose.SCORES,
                by=by,
                at=timezone.now(),
                sha256=form.sha256,
                choices=form.choices,
            )
            return redirect("judges:score_upload", slug=study.slug, file_id=row.pk)
    context = {
        "study": study,
        "access": access,
        "form": form,
        "surprise_form": surprise_form,
        "may_ask": access.may(MAY_ASK),
        "accepted": ",".join(SCORES.kinds),
        "cards": ScoreCard.objects.filter(study=study),
        "may_bring": access.may(MAY_BRING),
        "is_frozen": protocol.is_frozen(study),
        "waiting": _waiting(access, by).defer("table").first(),
    }
    return render(request, "judges/scores.html", context, status=status)


def _plan_surprise(study: Study, form: SurpriseForm, *, by: User) -> Run | None:
    """The run that waits to be approved, or None: the form says why there is none."""
    values = form.cleaned_data
    try:
        score_import.check_card(study, CardText(values["surprise_metric"], ScoreCard.Better.HIGHER, by.get_username()))
        plan = likelihoods.plan_surprise(study, model=f"{values['endpoint'].name}/{values['model'].strip()}")
        return likelihoods.write_run(plan, metric=values["surprise_metric"], budget=None, by=by.get_username())
    except RefusedCard as error:
        form.add_error("surprise_metric", error.reason)
        return None
    except (likelihoods.CannotMeasureSurprise, NotPlannable) as error:
        form.add_error("model", str(error))
        return None


def _waiting(access: Access, by: User) -> Any:
    return BroughtFile.objects.filter(study=access.study, user=by, purpose=BroughtFile.Purpose.SCORES)


@require_in_study(MAY_BRING, change=MAY_BRING, methods=("GET", "HEAD", "POST"))
@makes_once
def show(request: HttpRequest, access: Access, file_id: int) -> HttpResponse:
    """For the uploader of the file: what will be imported and what is wrong with it; then all scores, or none."""
    row = _waiting(access, cast(User, request.user)).filter(pk=file_id).first()
    return ScoreImportPage(request, access, row).respond()


class ScoreImportPage(ImportPage[BroughtFile, RolesForm]):
    template = "judges/score_upload.html"
    home = "judges:scores"
    kind = SCORES

    def make_form(self, data: Any) -> RolesForm:
        return RolesForm(data, table=self.table, initial={})

    def save(self, form: RolesForm) -> None:
        """All was said with the file."""

    def bring_in(self) -> str:
        choices, study = self.row.choices, self.access.study
        try:
            card = score_import.import_scores(
                study,
                self.table,
                _card(choices),
                story_column=choices["story_by"],
                may_be_missing=choices["may_be_missing"],
                sha256=self.row.sha256,
                by=self.by.get_username(),
                at=timezone.now(),
            )
        except (ImportRefused, NotPlannable) as error:
            self.refusals = str(error).splitlines()
            return ""
        self.row.delete()
        sentence = ngettext("%(n)d score of %(name)s is in.", "%(n)d scores of %(name)s are in.", card.n_scores)
        messages.success(self.request, sentence % {"n": card.n_scores, "name": card})
        log_action(study, f"{card.n_scores} scores of {card} brought in", by=self.by)
        return reverse(self.home, args=[study.slug])

    def describe(self, form: RolesForm) -> TableReport:
        choices = self.row.choices
        context = {"card": asdict(_card(choices)), "better": ScoreCard.Better(choices["better"]).label}
        try:
            scores = score_import.examine(self.access.study, self.table, story_column=choices["story_by"])
        except ImportRefused as error:
            return TableReport((), [str(error)], context)
        missing = "" if choices["may_be_missing"] else score_import.describe_missing(scores)
        context |= {"scores": scores, "about": scores.about.label, "previews": scores.scores[:N_PREVIEWED]}
        context["left_out"] = [(*said, n) for said, n in scores.n_left_out.items()]
        return TableReport(scores.problems, [missing] if missing else [], context)
