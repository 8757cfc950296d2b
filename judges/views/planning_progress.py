"""A run of many calls while a worker plans it: how far that is, why it was not done, and then the run."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect

from judges.models import Judge, Run
from judges.runs import planning_jobs
from studies.access import Access
from studies.models import Study, StudyJob
from studies.views import study_jobs


def find_address(study: Study, judge_id: int) -> str:
    """Where the page of the judge's planning is."""
    return f"{reverse('judges:new_run', args=[study.slug])}?planning={judge_id}"


def show(request: HttpRequest, access: Access, judge: str) -> HttpResponse:
    """How far the planning of the judge's run is; once it is planned, the run. judge : its id, as the address has it"""
    row = (
        Judge.objects.filter(pk=int(judge)).first()
        if judge.isascii() and judge.isdecimal() and len(judge) < 10
        else None
    )
    job = planning_jobs.find_planning(access.study, row.pk) if row else None
    if job is None:
        raise Http404
    if job.ended_at is not None:
        address = _find_run_address(access.study, job)
        return HttpResponseClientRedirect(address) if request.htmx else redirect(address)  # type: ignore[attr-defined]
    progress = study_jobs.follow(job, _("The run is being planned."))
    if study_jobs.is_poll(request) and progress.is_under_way:
        return study_jobs.answer_poll(request, progress)
    if study_jobs.is_poll(request):
        return HttpResponseClientRedirect(request.get_full_path())
    context = {"study": access.study, "access": access, "judge": row, "job": progress}
    return render(request, "judges/planning.html", context)


def _find_run_address(study: Study, job: StudyJob) -> str:
    """The page of the run that was planned; of the list if it is discarded since."""
    run = Run.objects.filter(study=study, pk=int(job.outcome or 0)).first()
    if run is not None:
        return reverse("judges:run", args=[study.slug, run.pk])
    return reverse("judges:runs", args=[study.slug])
