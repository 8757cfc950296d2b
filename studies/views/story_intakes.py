"""The page of a long file that a worker is bringing in: how far it is, and a way back."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import ngettext
from django_htmx.http import HttpResponseClientRedirect

from studies import jobs
from studies.access import Access
from studies.models import StoryImport, StoryIntake
from studies.story_import import intakes

STAGES = list(StoryIntake.Stage)


def respond(request: HttpRequest, access: Access, story_import: StoryImport, intake: StoryIntake) -> HttpResponse:
    """For the account that uploaded the file: how far it is, a way back, and at the end the stories."""
    at = timezone.now()
    if request.method == "POST":
        if "cancel" in request.POST:
            intakes.cancel(intake)
        elif "without_worker" in request.POST:
            intakes.start_process(intake, at=at)
        return redirect("studies:story_import", slug=access.study.slug, import_id=story_import.pk)
    if intake.ended_at and is_poll(request):
        return end_polls(request)
    if intake.ended_at:
        add_success_message(request, intake.n_stories, intake.n_groups)
        address = reverse("studies:stories", args=[access.study.slug])
        return HttpResponseClientRedirect(address) if request.htmx else redirect(address)  # type: ignore[attr-defined]
    if request.htmx and not is_poll(request):  # type: ignore[attr-defined]
        return HttpResponseClientRedirect(request.path)  # from the page of its columns, in another window
    intakes.remind(intake, at=at)
    is_idle = jobs.is_idle(intake, at=at)
    context = {
        "study": access.study,
        "access": access,
        "story_import": story_import,
        "intake": intake,
        "is_idle": is_idle,
        "has_died": is_idle and intake.leased_until is not None,
        "is_overdue": is_idle and intake.asked_at <= at - jobs.PATIENCE,
        "stage": STAGES.index(intake.Stage(intake.stage)) + 1 if intake.stage else 0,
        "n_stages": len(STAGES),
        "n_in_all_stages": intake.n_rows * len(STAGES),
        "n_done": _count_done(intake),
    }
    template = "studies/story_intake.html" + ("#live" if is_poll(request) else "")
    return render(request, template, context)


def _count_done(intake: StoryIntake) -> int:
    """How many rows are through a stage, over all stages: a row that is read and examined counts twice."""
    is_read = intake.stage in (intake.Stage.EXAMINING, intake.Stage.WRITING)
    return intake.n_rows_done + (intake.n_rows if is_read else 0)


def is_poll(request: HttpRequest) -> bool:
    """Whether htmx asks for the part of the page that says how far it is."""
    return request.method == "GET" and request.htmx.target == "live"  # type: ignore[attr-defined]


def end_polls(request: HttpRequest) -> HttpResponse:
    """Answer a poll so that it is the last one; the page then asks once where to go."""
    return render(request, "studies/story_intake.html#over")


def is_after_polls(request: HttpRequest) -> bool:
    """Whether htmx asks where to go, after the last poll."""
    return request.method == "GET" and request.htmx.target == "over"  # type: ignore[attr-defined]


def add_success_message(request: HttpRequest, n_stories: int, n_groups: int) -> None:
    """Leave the message that the stories are in."""
    in_groups = ngettext("in %(n)d group", "in %(n)d groups", n_groups) % {"n": n_groups}
    sentence = ngettext("%(n)d story is in, %(groups)s.", "%(n)d stories are in, %(groups)s.", n_stories)
    messages.success(request, sentence % {"n": n_stories, "groups": in_groups})
