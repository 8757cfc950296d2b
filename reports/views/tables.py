"""The report's tables and the study's answers as files; by source only for some, and once a study is closed."""

from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.http import http_date

from config import roles
from reports import figures, results
from reports.export import codebook as codebooks
from reports.export import long_table
from reports.page.csv import find_table
from reports.views.shared import may_see_sources, obtain_report, of_study, render_waiting
from reports.views.table_files import send_table
from studies.access import Access
from studies.views.guards import require_in_study


@require_in_study(roles.VIEW_REPORT)
def table(request: HttpRequest, access: Access, table: str, ending: str) -> HttpResponseBase:
    """One table of the report that its page shows, unrounded; 404 and a sentence if this study has nothing that would
    stand in it."""
    study = access.study
    if table not in figures.by_table():
        raise Http404
    report, computation = obtain_report(request, access)
    if report is None:
        return render_waiting(request, access, computation)
    header, rows = find_table(results.read_report(report), table)
    if not rows:
        return render(
            request, "reports/no_table.html", of_study(access) | {"table": table, "main_class": "research"}, status=404
        )
    response = send_table(f"{study.slug}-{table}", header, rows, ending=ending)
    response.headers["Last-Modified"] = http_date(report.made_at.timestamp())
    return response


@require_in_study(roles.VIEW_RESPONSES)
def responses_long(request: HttpRequest, access: Access, ending: str) -> StreamingHttpResponse:
    """Every response, one a row; without sources until the study is closed, and for readers who stay blind."""
    study, with_sources = access.study, may_see_sources(access)
    header = long_table.columns(study, with_sources=with_sources)
    rows = long_table.rows(study, with_sources=with_sources)
    return send_table(f"{study.slug}-responses_long", header, rows, ending=ending)


@require_in_study(roles.VIEW_REPORT)
def codebook(request: HttpRequest, access: Access, ending: str) -> StreamingHttpResponse:
    """What the columns and the items of the long file mean."""
    study, with_sources = access.study, may_see_sources(access)
    rows = codebooks.rows(study, with_sources=with_sources)
    return send_table(f"{study.slug}-codebook", codebooks.COLUMNS, rows, ending=ending)
