"""The list of studies and the report of one, for staff whose role may see them, in all studies or in this one.

Like the raters' pages they refuse query parameters, which nothing of ours sends.
"""

from django.contrib.admin.views.decorators import staff_member_required
from django.core.exceptions import PermissionDenied
from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRefresh

from annotation.models import Assignment, Rater, Seat
from config import roles
from reports import computations, results
from reports.methods.citation import SHORT, cite
from reports.page.fragments import obtain_page
from reports.page.pages import SUMMARY, name_of_figure
from reports.views.shared import ORDER, is_by_score, obtain_report, of_study, render_waiting
from studies.access import Access, visible_studies
from studies.models import Story
from studies.views.guards import refuse_unknown, require_in_study


@require_safe
@staff_member_required
def index(request: HttpRequest) -> HttpResponse:
    """Every study whose report the account may see, with how far it has come."""
    visible = visible_studies(request.user, roles.VIEW_REPORT)
    if not request.user.has_perm(roles.VIEW_REPORT) and not visible.exists():
        raise PermissionDenied
    refuse_unknown(request, ())
    of_study = Q(study=OuterRef("pk"))
    seats = Seat.objects.filter(of_study, rater_kind=Rater.Kind.PERSON)
    assignments = Assignment.objects.first_readings().filter(of_study, status=Assignment.Status.SUBMITTED)
    studies = visible.annotate(
        **{
            name: Coalesce(Subquery(rows.order_by().values("study").annotate(n=Count("pk")).values("n")), 0)
            for name, rows in {
                "n_stories": Story.objects.filter(of_study),
                "n_seats": seats,
                "n_done": assignments,
            }.items()
        }
    )
    response = render(request, "reports/index.html", {"studies": studies.order_by("-launched_at", "slug")})
    add_never_cache_headers(response)
    return response


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
    content = obtain_page(report, access.study, name, is_by_score=is_by_score(request))
    if content is None:
        raise Http404
    address = reverse("reports:stored", args=[access.study.slug, report.fingerprint[:SHORT]])
    shown = {
        "content": content,
        "is_summary": name == SUMMARY,
        "is_outdated": results.is_outdated(report),
        "other_editions": results.list_other_editions(report),
        "is_sealed": report.is_sealed,
        "citation": cite(report, request.build_absolute_uri(address)),
        "main_class": "research",
    }
    return render(request, "reports/show.html", state | shown)
