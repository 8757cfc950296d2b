"""The page on which a score of an instrument is declared."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.admin.models import CHANGE
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from studies import instrument_drafts
from studies.action_log import log_action
from studies.documents.scores import has_ends
from studies.models import Instrument
from studies.publication import AlreadyPublished
from studies.views.declared_scores import DeclaredScoreForm
from studies.views.instruments import FINAL, require_instruments
from studies.views.posted_forms import makes_once


@require_instruments(changes=True, methods=("GET", "HEAD", "POST"))
@makes_once
def edit(request: HttpRequest, instrument: Instrument, score: str = "") -> HttpResponse:
    """For all who may change instruments: the form of a score of a draft, a new one if none is named; saves it, or
    takes it out."""
    if instrument.status == Instrument.Status.PUBLISHED:
        messages.error(request, FINAL)
        return redirect("instruments:show", instrument=instrument.pk)
    saved = next((document for document in instrument.score_documents if document.key == score), None)
    if score and saved is None:
        raise Http404
    items = [item for item in instrument.items.order_by("position") if has_ends(item)]
    form = DeclaredScoreForm(request.POST or None, items=items, score=saved)
    try:
        if saved and request.POST.get("act") == "remove":
            instrument_drafts.remove_score(instrument, saved.key)
            log_action(instrument, f"score {saved.key} removed", by=request.user, flag=CHANGE)
            messages.success(request, _("The score is removed."))
            return redirect("instruments:show", instrument=instrument.pk)
        if request.method == "POST" and form.is_valid():
            key = instrument_drafts.save_score(instrument, form.cleaned_data["score"])
            log_action(instrument, f"score {key} saved", by=request.user, flag=CHANGE)
            messages.success(request, _("The score is saved."))
            return redirect("instruments:show", instrument=instrument.pk)
    except AlreadyPublished:
        messages.error(request, FINAL)
        return redirect("instruments:show", instrument=instrument.pk)
    status = 200 if request.method != "POST" else 409 if form.changes else 400
    context = {"instrument": instrument, "form": form, "score": saved}
    return render(request, "studies/instrument_score.html", context, status=status)
