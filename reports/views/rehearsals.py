"""The report of a rehearsal: of simulated answers and the designer's own, for whoever rehearses and nobody else."""

from __future__ import annotations

from typing import cast

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django_htmx.http import HttpResponseClientRefresh

from annotation.design import rehearsals
from reports import computations, results
from reports.models import Report
from reports.page.context import context
from reports.views.shared import RETRY_SECONDS, of_study
from studies.access import Access
from studies.views.guards import require_in_study

MAY_REHEARSE = "studies.change_study"
SEES_SOURCES = "studies.view_provenance"


@require_in_study(MAY_REHEARSE)
def show(request: HttpRequest, access: Access) -> HttpResponse:
    """What the study's report will look like; while a worker computes it, how far it is.

    Nothing is sealed, since nobody has judged anything. By source it is shown to those who may know the sources.
    """
    rehearsal = rehearsals.find_rehearsal(access.study, cast(User, request.user))
    if rehearsal is None or not access.study.is_draft:
        raise Http404
    by, is_blind = request.user.get_username(), not access.may(SEES_SOURCES)
    report = computations.obtain_report(rehearsal, by=by, blind=is_blind)
    page = of_study(access) | {
        "is_rehearsal": True,
        "is_outdated": rehearsals.is_outdated(rehearsal, access.study),
        "report_url": reverse("reports:rehearsal", args=[access.study.slug]),
        "may_read_answers": False,
    }
    if not isinstance(report, Report):
        page |= {"computation": report}
        if request.headers.get("HX-Target") == "computing":
            return render(request, "reports/computing.html", page)
        response = render(request, "reports/waiting.html", page, status=202)
        response.headers["Retry-After"] = str(RETRY_SECONDS)
        return response
    if request.headers.get("HX-Target") == "computing":
        return HttpResponseClientRefresh()
    of_report = context(results.read_report(report), language=access.study.language) | {
        "report": report,
        "is_whole": True,
    }
    return render(request, "reports/rehearsal.html", {"main_class": "research"} | page | of_report)
