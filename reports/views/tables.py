"""The report's tables and the study's answers as CSV; by source only for some, and once a study is closed."""

from collections.abc import Iterable
from typing import Any

from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.http import http_date

from config import roles
from reports import figures, results
from reports.export import codebook as codebooks
from reports.export import long_table
from reports.export.spreadsheet import spreadsheet_lines
from reports.page.csv import csv_lines
from reports.page.csv import find_table as csv_table
from reports.views.shared import may_see_sources, obtain_report, of_study, render_waiting
from studies.access import Access
from studies.views.guards import require_in_study


@require_in_study(roles.VIEW_REPORT)
def table(request: HttpRequest, access: Access, table: str) -> HttpResponseBase:
    """One table of the report that its page shows, unrounded; 404 and a sentence if this study has nothing that would
    stand in it."""
    study = access.study
    if table not in figures.by_table():
        raise Http404
    report, computation = obtain_report(request, access)
    if report is None:
        return render_waiting(request, access, computation)
    header, rows = csv_table(results.read_report(report), table)
    if not rows:
        return render(
            request, "reports/no_table.html", of_study(access) | {"table": table, "main_class": "research"}, status=404
        )
    response = _csv(f"{study.slug}-{table}", csv_lines(header, rows))
    response.headers["Last-Modified"] = http_date(report.made_at.timestamp())
    return response


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
