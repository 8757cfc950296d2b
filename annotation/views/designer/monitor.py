"""How a live study is going, by code, and giving back a place of somebody who will not go on. Sealed: no answers."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Assignment, Rater
from annotation.participation import replacements
from annotation.participation.roster import say_place
from annotation.progress import monitor
from annotation.views.designer import course
from annotation.views.designer.people import PAGE_SIZE, log
from config import roles
from studies.access import Access
from studies.views.guards import require_in_study

SEES = "annotation.view_assignment"
MAY_CHANGE = "annotation.change_assignment"


class ReasonForm(forms.Form):
    """Why a place is given back."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=300,
        help_text=gettext_lazy("Kept with your name and the time. Never a name of a rater."),
    )


@require_in_study(SEES, change=course.MAY_CHANGE, methods=("GET", "HEAD", "POST"), query=("page", "still"))
def monitor_page(request: HttpRequest, access: Access) -> HttpResponse:
    """For those who run or read the study: places and people by code, refreshed every half minute unless paused.

    For those who make it, the buttons that pause, resume and close it.
    """
    now, study, problem = timezone.now(), access.study, ""
    if request.method == "POST":
        problem = course.change_course(request, study)
        if not problem:
            return redirect("designer:monitor" if access.may(SEES) else "designer:launch", slug=study.slug)
    deadline = None if study.is_closed else study.closes_at
    page = Paginator(monitor.order_raters(study), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "access": access,
        "now": now,
        "is_still": "still" in request.GET,
        "totals": monitor.count_places(study),
        "queries": monitor.list_queries(study, at=now),
        "groups": monitor.list_groups(study),
        "page": page,
        "rows": monitor.list_work(study, list(page.object_list)),
        "days_left": (deadline - now).days if deadline and deadline > now else None,
        "since": {"live": study.launched_at, "closed": study.closed_at}.get(study.state),
        "may_change": access.may(MAY_CHANGE),
        "sees_people": access.may("annotation.view_invitation"),
        "sees_report": access.may(roles.VIEW_REPORT),
        "sees_answers": access.may(roles.VIEW_RESPONSES),
        "sees_changes": not (study.is_draft or study.is_closed) and access.may("studies.view_study"),
        "may_change_course": access.may(course.MAY_CHANGE),
        "problem": problem,
    }
    template = "annotation/designer/monitor.html"
    is_part = request.htmx and not problem  # type: ignore[attr-defined]
    return render(request, f"{template}#live" if is_part else template, context, status=409 if problem else 200)


@require_in_study(SEES, change=MAY_CHANGE, methods=("GET", "HEAD", "POST"))
def place(request: HttpRequest, access: Access, code: str) -> HttpResponse:
    """For those who run the study: one place at which somebody is at work; to give it back, with a reason."""
    of_people = Assignment.objects.filter(study=access.study, rater_kind=Rater.Kind.PERSON, seat__isnull=False)
    assignment = of_people.filter(code=code).select_related("rater", "group", "seat", "study").first()
    if assignment is None:
        raise Http404
    form, status = ReasonForm(), 200
    if request.method == "POST":
        form = ReasonForm(request.POST)
        if form.is_valid():
            try:
                replacements.give_back(assignment, at=timezone.now())
            except replacements.CannotLeave as error:
                messages.error(request, str(error))
            else:
                log(request, assignment, f"given back: {form.cleaned_data['reason']}")
                if assignment.repeats_id:
                    sentence = _("The repeat has ended. What was answered is kept and not counted.")
                else:
                    sentence = _("The place is released. Answers given are kept but not counted.")
                messages.success(request, sentence)
            return redirect("designer:monitor", slug=access.study.slug)
        status = 400
    context = {
        "study": access.study,
        "access": access,
        "assignment": assignment,
        "words": say_place(assignment),
        "is_open": assignment.status == Assignment.Status.OPEN,
        "form": form,
        "may_change": access.may(MAY_CHANGE),
    }
    return render(request, "annotation/designer/place.html", context, status=status)
