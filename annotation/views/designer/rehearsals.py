"""Rehearse: a designer walks through the study as a rater, on raters' own pages, in a copy in which nothing counts."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation import progress, walkthrough
from annotation.design import launches, rehearsals
from annotation.models import Assignment, Rater
from annotation.progress import work
from annotation.progress.rater_progress import load_rater_progress
from annotation.views.designer.launch import show_findings
from annotation.views.rater import addresses, guards
from studies import protocol
from studies.access import Access
from studies.addresses import find_page
from studies.lifecycle import NotReady
from studies.models import Step, Study
from studies.views.guards import require_in_study

MAY_REHEARSE = "studies.change_study"
SEES_SOURCES = "studies.view_provenance"


@require_in_study(MAY_REHEARSE, methods=("GET", "HEAD", "POST"))
def rehearsal_page(request: HttpRequest, access: Access) -> HttpResponse:
    """For those who make the study: begin, go to a step, begin again, and let simulated raters answer."""
    study, user, problem = access.study, cast(User, request.user), ""
    if request.method == "POST":
        try:
            return _act(request, access, user)
        except NotReady:
            problem = _("This was not done: the study cannot be rehearsed yet. What is missing is listed below.")
            study.refresh_from_db()
    rehearsal = rehearsals.find_rehearsal(study, user) if study.is_draft else None
    findings = launches.findings(study, at=timezone.now()) if study.is_draft else []
    obstacles = rehearsals.find_obstacles(findings)
    missing = [finding for finding in findings if finding.level == "error" and finding not in obstacles]
    context = {
        "study": study,
        "access": access,
        "problem": problem,
        "rehearsal": rehearsal,
        "obstacles": show_findings(obstacles, "error", study),
        "missing": show_findings(missing, "error", study),
        "steps": protocol.read_rows(protocol.latest(study)).steps,
        "n_groups_in_all": study.groups.count(),
        "sees_sources": access.may(SEES_SOURCES),
        "simulation_url": find_page(study.slug, "simulation"),
        **(_describe(rehearsal, study) if rehearsal else {}),
    }
    return render(request, "annotation/designer/rehearsal.html", context, status=409 if problem else 200)


def _describe(rehearsal: Study, study: Study) -> dict[str, Any]:
    """How far the rehearsal has come."""
    submitted = Assignment.objects.filter(study=rehearsal, status=Assignment.Status.SUBMITTED, seat__isnull=False)
    of_designer = submitted.filter(rater__code=rehearsals.CODE)
    return {
        "is_outdated": rehearsals.is_outdated(rehearsal, study),
        "n_groups": rehearsal.groups.count(),
        "n_submitted": of_designer.count(),
        "n_simulated": submitted.exclude(rater__code=rehearsals.CODE).values("rater").distinct().count(),
        "report_url": find_page(study.slug, "rehearsal_report"),
    }


def _act(request: HttpRequest, access: Access, user: User) -> HttpResponse:
    """Do what the button says. Raises NotReady if there is nothing that could be rehearsed."""
    study, action, now = access.study, request.POST.get("action", ""), timezone.now()
    rehearsal = rehearsals.find_rehearsal(study, user)
    if action not in ("begin", "go", "renew", "fill"):
        messages.error(request, _("Nothing was done: this page has no such button. Load it again."))
        return redirect("designer:rehearsal", slug=study.slug)
    if rehearsal is None or action == "renew":
        rehearsal = rehearsals.renew(study, by=user, sees_sources=access.may(SEES_SOURCES), at=now)
    if action == "fill":
        return _fill(request, rehearsal, study)
    if action != "go":
        guards.start_rehearsal(request, walkthrough.ensure_rater(rehearsal), study.slug)
        return redirect("annotation:home")
    return _go(request, rehearsal, study)


def _go(request: HttpRequest, rehearsal: Study, study: Study) -> HttpResponse:
    """To the step that was chosen; to the end, if it was that."""
    key = request.POST.get("step", "")
    steps = protocol.load_protocol(protocol.current(rehearsal))
    step = steps.step(key)
    if key and step is None:
        messages.error(request, _("This rehearsal has no such step. If you have added it since, renew the rehearsal."))
        return redirect("designer:rehearsal", slug=study.slug)
    rater = walkthrough.go_to(rehearsal, step, at=timezone.now())
    guards.start_rehearsal(request, rater, study.slug)
    return redirect(_find_address(rater, step) if step else "annotation:home")


def _find_address(rater: Rater, step: Step) -> str:
    """Where the rater meets that step; where they belong now, if that is the same or nowhere else."""
    rater_progress = load_rater_progress(rater)
    if progress.may_end_with(rater_progress, step) and step.kind == Step.Kind.RATING:
        return reverse("annotation:once", args=[step.key])
    at_work = rater_progress.at_work
    mine = work.load_work(at_work.code, rater=rater.pk, at=timezone.now()) if at_work else None
    part = progress.find_part(mine.parts, step.key) if mine else None
    if mine is None or part is None:
        return "annotation:home"
    questions = [q for q in progress.list_questions(part, mine.letters) if q.step.key == step.key]
    return addresses.of_stop(mine, part.stop(questions[0]) if questions else part)


def _fill(request: HttpRequest, rehearsal: Study, study: Study) -> HttpResponse:
    """Simulated raters in the seats that are free, for a report to look at."""
    raters = walkthrough.fill(rehearsal, at=timezone.now())
    if raters:
        sentence = ngettext("%(n)d simulated rater has answered.", "%(n)d simulated raters have answered.", len(raters))
        messages.success(request, sentence % {"n": len(raters)})
    else:
        messages.info(request, _("Every place is already taken. Renew the rehearsal to fill it again."))
    return redirect("designer:rehearsal", slug=study.slug)
