"""Measures of the texts by source, and the reference sets that the report measures them against."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from judges.laboratory import embeddings, measure_jobs, reference_sets
from judges.laboratory.source_measures import SourceMeasure, measure_sources
from judges.models import ReferenceSet
from studies import formatting
from studies.access import Access
from studies.action_log import log_action
from studies.models import Study
from studies.typography.word_boundaries import is_unspaced
from studies.views import study_jobs
from studies.views.guards import require_in_study
from studies.views.posted_forms import makes_once

SEES = "studies.view_provenance"
CHANGES = "judges.add_run"
# More texts are measured only when somebody asks for it: it takes seconds.
MEASURED_AT_ONCE = 100


class ReferenceSetForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Name of the set"),
        max_length=reference_sets.LONGEST_NAME,
        help_text=gettext_lazy("As the report calls it, such as: the study’s own stories, March 2026."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["embedding"] = forms.ChoiceField(
            label=_("Embedding"),
            choices=[(name, embeddings.explain(name)) for name in embeddings.list_local()],
            help_text=_("The vectors of wordllama were trained on English above all."),
        )


@require_in_study(SEES, change=CHANGES, methods=("GET", "HEAD", "POST"), query=("all",))
@makes_once
def index(request: HttpRequest, access: Access) -> HttpResponse:
    """For those who may know who wrote: measures by source; and storing the stories as a reference set."""
    study = access.study
    if "deleted" in request.POST:
        return _delete(request, study)
    form = ReferenceSetForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            row = reference_sets.store(study, **form.cleaned_data, by=request.user.get_username(), at=timezone.now())
        except reference_sets.CannotStore as error:
            form.add_error("name", str(error))
        else:
            log_action(study, f"stored the reference set {row.name}", by=request.user)
            messages.success(request, _("“%(name)s” is stored.") % {"name": row.name})
            return redirect("judges:measures", slug=study.slug)
    is_poll = study_jobs.is_poll(request)  # only pages of long texts ask so
    sources = [] if is_poll else formatting.count_texts_by_source(study)
    is_long = is_poll or sum(source.n_letters for source in sources) > formatting.LETTERS_AT_ONCE
    is_asked_for = bool(request.GET.get("all"))
    if is_long and is_asked_for:
        measure_jobs.ask(study, by=cast(User, request.user), at=timezone.now())
        return redirect("judges:measures", slug=study.slug)
    job = measure_jobs.find(study) if is_long else None
    progress = study_jobs.follow(job, _("The texts of all sources are being measured.")) if job else None
    if is_poll:
        return study_jobs.answer_poll(request, progress)
    n_stories = sum(source.n_texts for source in sources)
    is_measured = (
        job is not None and job.ended_at is not None if is_long else is_asked_for or n_stories <= MEASURED_AT_ONCE
    )
    measures, first_texts = list[SourceMeasure](), list[str]()
    if is_measured and job:
        measures, first_texts = measure_jobs.restore(job), formatting.read_first_texts(study, sources)
    elif is_measured:
        texts_by_source = formatting.read_texts_by_source(study)
        measures, first_texts = measure_sources(texts_by_source), [texts[0] for texts in texts_by_source.values()]
    context: dict[str, Any] = {
        "study": study,
        "access": access,
        "form": form,
        "sources": [source.source for source in sources],
        "n_stories": n_stories,
        "is_measured": is_measured,
        "job": None if is_measured else progress,
        "is_outdated": is_long and job is None and measure_jobs.is_outdated(study),
        "is_unspaced": any(map(is_unspaced, first_texts)),
        "measures": measures,
        "is_of_some": any(measure.is_of_some for measure in measures),
        "is_compared": any(measure.share is not None for measure in measures),
        "telling": [measure for measure in measures if measure.is_telling],
        "reference_sets": ReferenceSet.objects.filter(study=study).select_related("corpus"),
        "may_store": access.may(CHANGES),
    }
    return render(request, "judges/measures.html", context, status=400 if form.errors else 200)


def _delete(request: HttpRequest, study: Study) -> HttpResponse:
    """Delete the set of that name, or say why it stays."""
    try:
        row = reference_sets.delete(study, request.POST["deleted"])
    except reference_sets.CannotDelete as error:
        messages.error(request, _("Nothing was deleted: %(why)s.") % {"why": error})
    else:
        log_action(study, f"deleted the reference set {row.name}, {row.sha256}", by=request.user)
        messages.success(request, _("“%(name)s” is deleted.") % {"name": row.name})
    return redirect("judges:measures", slug=study.slug)
