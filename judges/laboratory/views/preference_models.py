"""Preference models of a study: trained from its votes, their cards, and what they choose in its pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import BadRequest
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.models import Rater
from config.roles import VIEW_REPORT
from judges.laboratory import preference_models
from judges.laboratory.embeddings import first_offered
from judges.laboratory.preference_models import ENOUGH_PAIRS, CannotAnswer, CannotTrain, TrainingMaterial
from judges.models import PreferenceModel
from judges.views.new_runs import STARTS
from judges.views.runs import SEES
from stats.reasons import SENTENCES
from studies.access import Access
from studies.models import Study
from studies.views.guards import require_in_study
from studies.views.posted_forms import makes_once

SIDE = 200  # of the square in which calibration is drawn


class TrainingForm(forms.Form):
    embedding = forms.CharField(
        label=gettext_lazy("Embedding"),
        max_length=200,
        help_text=gettext_lazy(
            "Of the texts: wordllama, tfidf-svd, sentence-transformers:MODEL or endpoint:ENDPOINT/MODEL."
        ),
    )
    seed = forms.IntegerField(
        label=gettext_lazy("Seed"),
        help_text=gettext_lazy("Decides which prompts are held out."),
        min_value=0,
        max_value=2**31 - 1,
    )


@dataclass(frozen=True)
class CalibrationPoint:
    """Held-out pairs of like confidence, in percent; x, y : where they are drawn"""

    n: int
    confidence: float
    right: float
    x: float
    y: float


@dataclass(frozen=True)
class PreferenceCard:
    """A model as its card says it; without results for those who may not see them.

    length_why : why there is no control by length; has_answered : whether it is a rater of this study
    is_outdated : whether votes it learnt from were withdrawn since, or new ones arrived
    """

    model: PreferenceModel
    results: Mapping[str, Any] | None
    points: Sequence[CalibrationPoint]
    length_why: str
    is_small: bool
    has_answered: bool
    is_outdated: bool


@require_in_study(SEES, change=STARTS, methods=("GET", "HEAD", "POST"))
@makes_once
def index(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who see judges: the models and their cards; those who may start runs train one or have one choose."""
    form = TrainingForm(initial={"embedding": first_offered(), "seed": 0})
    if request.method == "POST":
        if request.POST.get("do") == "answer":
            return _answer(request, access)
        if request.POST.get("do") != "train":
            raise BadRequest("There is no such action.")
        form = TrainingForm(request.POST)
        if form.is_valid() and _train(request, access, form):
            return redirect("judges:preference_models", slug=access.study.slug)
    material, obstacle = collect_votes(access.study)
    cards = list_cards(access.study, material, sees_results=access.may(VIEW_REPORT))
    context = {
        "study": access.study,
        "access": access,
        "cards": cards,
        "form": form,
        "obstacle": obstacle,
        "may_start": access.may(STARTS),
        "sees_results": access.may(VIEW_REPORT),
    }
    return render(request, "judges/preference_models.html", context, status=400 if form.errors else 200)


def collect_votes(study: Study) -> tuple[TrainingMaterial | None, str]:
    """What a model would learn from now; why none can, "" if nothing is in the way."""
    try:
        return preference_models.collect_study(study), ""
    except CannotTrain as error:
        return None, str(error)


def list_cards(study: Study, material: TrainingMaterial | None, *, sees_results: bool) -> list[PreferenceCard]:
    """The models that learnt from this study, and those from folders of pairs. Two queries."""
    raters = set(Rater.objects.filter(study=study, kind=Rater.Kind.METRIC).values_list("code", flat=True))
    rows = PreferenceModel.objects.filter(Q(study=study) | Q(study=None)).defer("content").order_by("-created_at")
    preferences = material.fingerprint() if material else ""
    return [_card(model, preferences, sees_results=sees_results, has_answered=model.slug in raters) for model in rows]


def _card(model: PreferenceModel, preferences: str, *, sees_results: bool, has_answered: bool) -> PreferenceCard:
    """preferences : fingerprint of those that count in the study now"""
    card = model.card if model.state == PreferenceModel.State.TRAINED else None
    why = card["length"].get("why", "") if card else ""
    return PreferenceCard(
        model=model,
        results=card if sees_results else None,
        points=[_place(part) for part in card["held_out"]["bins"]] if card and sees_results else (),
        length_why=_(SENTENCES[why]) % card["length"]["values"] if card and why else "",
        is_small=bool(card and card["pairs_trained_on"] < ENOUGH_PAIRS),
        has_answered=has_answered,
        is_outdated=bool(card and model.study_id and card.get("preferences_sha256", preferences) != preferences),
    )


def _place(part: Mapping[str, float]) -> CalibrationPoint:
    """Confidence from 50 to 100 % across, the share that was right from 0 to 100 % upwards."""
    return CalibrationPoint(
        n=int(part["n"]),
        confidence=part["confidence"],
        right=part["right"],
        x=round((part["confidence"] - 50) / 50 * SIDE, 1),
        y=round((100 - part["right"]) / 100 * SIDE, 1),
    )


def _train(request: HttpRequest, access: Access, form: TrainingForm) -> bool:
    """Ask the workers for a model; False, with the reason in the form, if it cannot be."""
    values = form.cleaned_data
    try:
        model = preference_models.request(
            access.study,
            embedding=values["embedding"],
            seed=values["seed"],
            at=timezone.now(),
            by=request.user.get_username(),
        )
    except CannotTrain as error:
        form.add_error("embedding", str(error))
        return False
    transaction.on_commit(partial(preference_models.queue, model.pk))
    messages.success(request, _("The workers have been told. Its card stands here once it is trained."))
    return True


def _answer(request: HttpRequest, access: Access) -> HttpResponse:
    """Have a model choose in the study's pairs; texts that must be embedded first are left to the command."""
    number = request.POST.get("model", "")
    rows = PreferenceModel.objects.filter(Q(study=access.study) | Q(study=None))
    model = get_object_or_404(rows, pk=int(number) if number.isdecimal() else 0)
    try:
        answers = preference_models.answer_pairs(model, access.study, at=timezone.now(), embeds=False)
    except CannotAnswer as error:
        messages.error(request, str(error))
    else:
        message = ngettext("It chose in %(n)d pair.", "It chose in %(n)d pairs.", answers.n_answered)
        left_out = ngettext(
            "%(n)d was left out: it learnt from its texts or prompt.",
            "%(n)d were left out: it learnt from their texts or prompt.",
            answers.n_seen,
        )
        sentences = [message % {"n": answers.n_answered}]
        if answers.n_seen:
            sentences.append(left_out % {"n": answers.n_seen})
        messages.success(request, " ".join(sentences))
    return redirect("judges:preference_models", slug=access.study.slug)
