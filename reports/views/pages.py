"""The report of a study, for staff whose role may see them, in all studies or in this one.

Like the raters' pages they refuse query parameters, which nothing of ours sends.
"""

from typing import cast

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django_htmx.http import HttpResponseClientRefresh

from config import roles
from reports import computations, results
from reports.methods.citation import SHORT, cite
from reports.models import Report
from reports.page.fragments import obtain_page
from reports.page.pages import SUMMARY, name_of_figure, pages_of, shows_all_of_figures
from reports.views.further_study import FIGURE, may_ask
from reports.views.shared import ORDER, is_by_score, obtain_report, of_study, render_waiting
from studies.access import Access
from studies.views.guards import require_in_study


@require_in_study(roles.VIEW_REPORT, methods=("POST",))
def compute_anew(request: HttpRequest, access: Access) -> HttpResponse:
    """The report of a closed study by the figures of now, which somebody asks for."""
    computations.compute_anew(access.study, by=request.user.get_username())
    return redirect("reports:show", access.study.slug)


@require_in_study(roles.VIEW_REPORT, query=(ORDER,))
def show(request: HttpRequest, access: Access, *, page: str = SUMMARY, figure: str = "") -> HttpResponse:
    """A page of the report: what the study amounts to on one screen, a section, or a figure with all it has; while a
    worker computes it, the latest before it, and how far it is."""
    report, computation = obtain_report(request, access)
    state = of_study(access) | {"computation": computation, "report": report, "report_url": request.path}
    if request.headers.get("HX-Target") == "computing":
        return HttpResponseClientRefresh() if computation is None else render(request, "reports/computing.html", state)
    if report is None:
        return render_waiting(request, access, computation)
    name = name_of_figure(figure) if figure else page
    try:
        content = obtain_page(
            report,
            access.study,
            name,
            is_by_score=is_by_score(request),
            may_read_answers=shows_all_of_figures(name) and access.may(roles.VIEW_RESPONSES),
        )
    except Report.DoesNotExist:  # a later one took its place meanwhile
        return redirect(request.get_full_path())
    if content is None:
        raise Http404
    address = reverse("reports:stored", args=[access.study.slug, report.fingerprint[:SHORT]])
    page_context = {
        "content": content,
        "is_summary": name == SUMMARY,
        "pages_of": pages_of(name),
        "is_outdated": results.is_outdated(report),
        "other_editions": results.list_other_editions(report),
        "is_sealed": report.is_sealed,
        "citation": cite(report, request.build_absolute_uri(address)),
        "asks_further": figure == FIGURE.replace("_", "-") and may_ask(access, cast(User, request.user)),
        "main_class": "research",
    }
    return render(request, "reports/show.html", state | page_context)
