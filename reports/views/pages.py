"""The report of a study, for staff whose role may see them, in all studies or in this one.

Like the raters' pages they refuse query parameters, which nothing of ours sends.
"""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django_htmx.http import HttpResponseClientRefresh

from config import roles
from reports import computations, results
from reports.methods.citation import SHORT, cite
from reports.page.context import context
from reports.views.shared import obtain_report, of_study, render_waiting
from studies.access import Access
from studies.views.guards import require_in_study


@require_in_study(roles.VIEW_REPORT, methods=("POST",))
def compute_anew(request: HttpRequest, access: Access) -> HttpResponse:
    """The report of a closed study by the figures of now, which somebody asks for."""
    computations.compute_anew(access.study, by=request.user.get_username())
    return redirect("reports:show", access.study.slug)


@require_in_study(roles.VIEW_REPORT)
def show(request: HttpRequest, access: Access) -> HttpResponse:
    """What the study amounts to; while a worker computes it, the latest before it, and how far it is."""
    report, computation = obtain_report(request, access)
    if request.headers.get("HX-Target") == "computing":
        if computation is None:
            return HttpResponseClientRefresh()
        part = {"computation": computation, "report": report}
        return render(request, "reports/computing.html", of_study(access) | part)
    if report is None:
        return render_waiting(request, access, computation)
    address = reverse("reports:stored", args=[access.study.slug, report.fingerprint[:SHORT]])
    page = context(results.read_results(report.result), language=access.study.language) | {
        "report": report,
        "is_outdated": results.is_outdated(report),
        "other_editions": results.list_other_editions(report),
        "computation": computation,
        "citation": cite(report, request.build_absolute_uri(address)),
    }
    return render(request, "reports/show.html", {"main_class": "research"} | of_study(access) | page)
