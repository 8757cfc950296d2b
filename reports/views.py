"""Pages and files of results, for staff whose role may see them; by source only for some, and once a study is closed.

Like the raters' pages they refuse query parameters, which nothing of ours sends.
"""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.admin.views.decorators import staff_member_required
from django.core.exceptions import BadRequest, PermissionDenied
from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from annotation.models import Assignment, Rater, Seat
from config import roles
from reports import figures, results
from reports.dataset import is_sealed
from reports.export import codebook as codebooks
from reports.export import long_table
from reports.export.spreadsheet import spreadsheet_lines
from reports.page.context import context
from reports.page.csv import csv_lines
from reports.page.csv import find_table as csv_table
from studies.models import Story, Study

P = ParamSpec("P")
View = Callable[..., HttpResponseBase]


def require_staff_permission(
    permission: str,
) -> Callable[[Callable[Concatenate[HttpRequest, P], HttpResponseBase]], View]:
    """A page for staff with that permission; others of the staff are refused, strangers sent to sign in."""

    def guard(view: Callable[Concatenate[HttpRequest, P], HttpResponseBase]) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if not request.user.has_perm(permission):
                raise PermissionDenied
            if request.GET:
                raise BadRequest("This page takes no query parameters.")
            response = view(request, *args, **kwargs)
            patch_cache_control(response, no_store=True)
            return response

        return require_safe(staff_member_required(guarded))

    return guard


def is_blind(request: HttpRequest) -> bool:
    """Whether whoever asks may not know results by source."""
    return not request.user.has_perm(roles.BY_SOURCE)


@require_staff_permission(roles.VIEW_REPORT)
def index(request: HttpRequest) -> HttpResponse:
    """Every study with how far it has come."""
    of_study = Q(study=OuterRef("pk"))
    seats = Seat.objects.filter(of_study, rater_kind=Rater.Kind.PERSON)
    assignments = Assignment.objects.filter(
        of_study, rater_kind=Rater.Kind.PERSON, status=Assignment.Status.SUBMITTED, seat__isnull=False
    )
    studies = Study.objects.annotate(
        **{
            name: Coalesce(Subquery(rows.order_by().values("study").annotate(n=Count("pk")).values("n")), 0)
            for name, rows in {
                "n_stories": Story.objects.filter(of_study),
                "n_seats": seats,
                "n_done": assignments,
            }.items()
        }
    )
    return render(request, "reports/index.html", {"studies": studies.order_by("-launched_at", "slug")})


@require_staff_permission(roles.VIEW_REPORT)
def show(request: HttpRequest, slug: str) -> HttpResponse:
    """What the study amounts to; computed once for the same answers."""
    study = get_object_or_404(Study, slug=slug)
    report = results.ensure_report(study, at=timezone.now(), by=request.user.get_username(), blind=is_blind(request))
    page = context(results.read_results(report.result))
    return render(request, "reports/show.html", {"study": study, "report": report} | page)


@require_staff_permission(roles.VIEW_REPORT)
def table(request: HttpRequest, slug: str, table: str) -> HttpResponseBase:
    """One table of the report, unrounded; 404 and a sentence if this study has nothing that would stand in it."""
    study = get_object_or_404(Study, slug=slug)
    if table not in figures.by_table():
        raise Http404
    report = results.ensure_report(study, at=timezone.now(), by=request.user.get_username(), blind=is_blind(request))
    header, rows = csv_table(results.read_results(report.result), table)
    if not rows:
        return render(request, "reports/no_table.html", {"study": study, "table": table}, status=404)
    return _csv(f"{slug}-{table}", csv_lines(header, rows))


@require_staff_permission(roles.VIEW_RESPONSES)
def responses_long(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """Every response, one a row; without sources until the study is closed, and for readers who stay blind."""
    return _csv(f"{slug}-responses_long", csv_lines(*_long(request, slug)))


@require_staff_permission(roles.VIEW_RESPONSES)
def responses_for_spreadsheets(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """The same for a spreadsheet, in which what raters wrote cannot be run as a formula."""
    return _csv(f"{slug}-responses_for_spreadsheets", spreadsheet_lines(*_long(request, slug)))


def _long(request: HttpRequest, slug: str) -> tuple[Iterable[str], Iterable[dict[str, Any]]]:
    """The columns of the long file and its rows."""
    study = get_object_or_404(Study, slug=slug)
    with_sources = not (is_blind(request) or is_sealed(study))
    return long_table.columns(study, with_sources=with_sources), long_table.rows(study, with_sources=with_sources)


@require_staff_permission(roles.VIEW_REPORT)
def codebook(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """What the columns and the items of the long file mean."""
    study = get_object_or_404(Study, slug=slug)
    with_sources = not (is_blind(request) or is_sealed(study))
    rows = codebooks.rows(study, with_sources=with_sources)
    return _csv(f"{slug}-codebook", csv_lines(codebooks.COLUMNS, rows))


def _csv(name: str, lines: Iterable[str]) -> StreamingHttpResponse:
    return StreamingHttpResponse(
        lines,
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )
