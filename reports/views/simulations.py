"""A simulated study: how many raters, with what seed and effect; while a worker simulates it how far it is, then what
was planted and what the report found."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.design import launches, rehearsals
from reports.simulated_studies import FEWEST_RATERS, MOST_RATERS, Trial, jobs
from studies.access import Access
from studies.addresses import find_page
from studies.models import StudyJob
from studies.views import study_jobs
from studies.views.guards import require_in_study

MAY_REHEARSE = "studies.change_study"
SEES_SOURCES = "studies.view_provenance"
LARGEST_SEED = 2**31 - 1


class SimulationForm(forms.Form):
    n = forms.IntegerField(label=gettext_lazy("Raters"), min_value=FEWEST_RATERS, max_value=MOST_RATERS, initial=30)
    seed = forms.IntegerField(
        label=gettext_lazy("Seed"),
        min_value=0,
        max_value=LARGEST_SEED,
        initial=1,
        help_text=gettext_lazy("The same seed gives the same answers."),
    )
    effect = forms.FloatField(
        label=gettext_lazy("Effect"),
        min_value=0,
        max_value=1_000_000,
        required=False,
        help_text=gettext_lazy(
            "Difference between two sources on the primary outcome, in its unit. Empty: a tenth of its width; 0: none."
        ),
    )

    def read_trial(self) -> Trial:
        return Trial(**self.cleaned_data)


@require_in_study(MAY_REHEARSE, methods=("GET", "HEAD", "POST"))
def show(request: HttpRequest, access: Access) -> HttpResponse:
    """For those who make the study: simulate it, and what came of the last simulation of this account."""
    study, by, sees_sources = access.study, cast(User, request.user), access.may(SEES_SOURCES)
    obstacles = _find_obstacles(access)
    form = SimulationForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and not obstacles and form.is_valid():
        jobs.ask(study, form.read_trial(), by=by, sees_sources=sees_sources, at=timezone.now())
        return redirect("reports:simulation", slug=study.slug)
    job = jobs.find(study, by=by, sees_sources=sees_sources)
    doing = _("Simulated raters answer a copy of the study, and the report compares its sources.")
    progress = study_jobs.follow(job, doing) if job else None
    if study_jobs.is_poll(request):
        return study_jobs.answer_poll(request, progress)
    if job and request.method != "POST":
        form = SimulationForm(initial=job.arguments)
    context = {
        "study": study,
        "access": access,
        "form": form,
        "sees_sources": sees_sources,
        "obstacles": obstacles,
        "job": progress if progress and (progress.is_under_way or progress.problem) else None,
        "rehearsal_url": find_page(study.slug, "rehearsal"),
        **(_describe(access, job) if job else {}),
    }
    is_refused = request.method == "POST"
    return render(
        request, "reports/simulation.html", context, status=(409 if obstacles else 400) if is_refused else 200
    )


def _find_obstacles(access: Access) -> list[str]:
    """Why the study cannot be rehearsed, and so not simulated; empty if it can."""
    if not access.study.is_draft:
        return [_("The study is launched, and its rehearsals are deleted.")]
    findings = launches.findings(access.study, at=timezone.now())
    return [finding.sentence for finding in rehearsals.find_obstacles(findings)]


def _describe(access: Access, job: StudyJob) -> dict[str, Any]:
    """What came of it, and the way to the report on it as long as its copy is there."""
    summary = jobs.read_outcome(job)
    copy = rehearsals.find_rehearsal(access.study, job.user) if access.study.is_draft else None
    is_there = summary is not None and copy is not None and copy.slug == summary.copy
    report_url = find_page(access.study.slug, "rehearsal_report") if is_there else ""
    return {"summary": summary, "seed": job.arguments["seed"], "report_url": report_url}
