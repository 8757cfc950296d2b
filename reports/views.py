"""Pages and files of results, for staff whose role may see them, in all studies or in this one; by source only for
some, and once a study is closed.

Like the raters' pages they refuse query parameters, which nothing of ours sends.
"""

from collections.abc import Iterable
from typing import Any

from django.contrib.admin.views.decorators import staff_member_required
from django.core.exceptions import PermissionDenied
from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_safe

from annotation.models import Assignment, Rater, Seat
from config import roles
from reports import figures, results
from reports.dataset import is_sealed
from reports.export import codebook as codebooks
from reports.export import long_table
from reports.export.spreadsheet import spreadsheet_lines
from reports.models import Report
from reports.page.context import context
from reports.page.csv import csv_lines
from reports.page.csv import find_table as csv_table
from studies.access import Access, visible_studies
from studies.models import Story
from studies.views.guards import refuse_unknown, require_in_study


def may_see_sources(access: Access) -> bool:
    """Whether whoever asks may see, now, who wrote the stories of this study."""
    return not (access.is_blind or is_sealed(access.study))


def _ensure_report(request: HttpRequest, access: Access) -> Report:
    """The stored report of the study for whoever asks, computed if there is none of the same inputs."""
    by = request.user.get_username()
    return results.ensure_report(access.study, at=timezone.now(), by=by, blind=access.is_blind)


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
    assignments = Assignment.objects.filter(
        of_study, rater_kind=Rater.Kind.PERSON, status=Assignment.Status.SUBMITTED, seat__isnull=False
    )
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


@require_in_study(roles.VIEW_REPORT)
def show(request: HttpRequest, access: Access) -> HttpResponse:
    """What the study amounts to; computed once for the same answers."""
    report = _ensure_report(request, access)
    page = context(results.read_results(report.result))
    return render(request, "reports/show.html", {"report": report, "main_class": "research"} | of_study(access) | page)


@require_in_study(roles.VIEW_REPORT)
def exports(request: HttpRequest, access: Access) -> HttpResponse:
    """What can be taken away of the study, file by file."""
    return render(request, "reports/exports.html", of_study(access) | {"is_sealed": is_sealed(access.study)})


def of_study(access: Access) -> dict[str, Any]:
    """What every page about results shows in the study's shell."""
    return {"study": access.study, "access": access, "may_read_answers": access.may(roles.VIEW_RESPONSES)}


@require_in_study(roles.VIEW_REPORT)
def table(request: HttpRequest, access: Access, table: str) -> HttpResponseBase:
    """One table of the report, unrounded; 404 and a sentence if this study has nothing that would stand in it."""
    study = access.study
    if table not in figures.by_table():
        raise Http404
    report = _ensure_report(request, access)
    header, rows = csv_table(results.read_results(report.result), table)
    if not rows:
        return render(
            request, "reports/no_table.html", of_study(access) | {"table": table, "main_class": "research"}, status=404
        )
    return _csv(f"{study.slug}-{table}", csv_lines(header, rows))


@require_in_study(roles.VIEW_RESPONSES)
def responses_long(request: HttpRequest, access: Access) -> StreamingHttpResponse:
    """Every response, one a row; without sources until the study is closed, and for readers who stay blind."""
    return _csv(f"{access.study.slug}-responses_long", csv_lines(*_long(access)))


@require_in_study(roles.VIEW_RESPONSES)
def responses_for_spreadsheets(request: HttpRequest, access: Access) -> StreamingHttpResponse:
    """The same for a spreadsheet, in which what raters wrote cannot be run as a formula."""
    return _csv(f"{access.study.slug}-responses_for_spreadsheets", spreadsheet_lines(*_long(access)))


def _long(access: Access) -> tuple[Iterable[str], Iterable[dict[str, Any]]]:
    """The columns of the long file and its rows."""
    study, with_sources = access.study, may_see_sources(access)
    return long_table.columns(study, with_sources=with_sources), long_table.rows(study, with_sources=with_sources)


@require_in_study(roles.VIEW_REPORT)
def codebook(request: HttpRequest, access: Access) -> StreamingHttpResponse:
    """What the columns and the items of the long file mean."""
    study, with_sources = access.study, may_see_sources(access)
    rows = codebooks.rows(study, with_sources=with_sources)
    return _csv(f"{study.slug}-codebook", csv_lines(codebooks.COLUMNS, rows))


def _csv(name: str, lines: Iterable[str]) -> StreamingHttpResponse:
    return StreamingHttpResponse(
        lines,
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )
