"""A stored report at its permanent address, by fingerprint: what was computed then, and what changed since the last."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.models import Withdrawal
from config import roles
from reports import figures, results
from reports.figures.codec import Undecodable
from reports.methods.changes import compare, previous
from reports.methods.citation import SHORT, cite
from reports.models import Report
from reports.page.csv import find_table
from reports.page.fragments import obtain_page
from reports.page.pages import SUMMARY, name_of_figure
from reports.views.shared import ORDER, is_by_score, of_study, read_stored, with_report
from reports.views.table_files import send_table
from studies.access import Access
from studies.views.guards import require_in_study


@require_in_study(roles.VIEW_REPORT, methods=("GET", "HEAD", "POST"), query=(ORDER,))
@with_report
def show(
    request: HttpRequest, access: Access, report: Report, *, page: str = SUMMARY, figure: str = ""
) -> HttpResponse:
    """A page of the report as it was stored; its summary with what changed since the one before, and how to cite it.

    A POST keeps it, so that no later one replaces it.
    """
    address = reverse("reports:stored", args=[access.study.slug, report.fingerprint[:SHORT]])
    if request.method == "POST":
        results.keep(report)
        messages.success(request, _("This report is kept: no later one replaces it."))
        return redirect(f"{address}#cite")
    name = name_of_figure(figure) if figure else page
    content = _obtain(report, access, name, by_score=is_by_score(request))
    stored = {
        "report": report,
        "content": content,
        "is_summary": name == SUMMARY,
        "citation": cite(report, request.build_absolute_uri(address)),
        "n_withdrawn": Withdrawal.objects.filter(rater__study=access.study, at__gt=report.made_at).count(),
        "main_class": "research",
    }
    if name == SUMMARY:
        earlier = previous(report)
        stored |= {"earlier": earlier, "changes": _changes(earlier, report)}
    return render(request, "reports/stored.html", of_study(access) | stored)


def _obtain(report: Report, access: Access, name: str, *, by_score: bool) -> str:
    """The page of that name. Raises Http404 for a report that another version stored, and where there is none."""
    try:
        content = obtain_page(report, access.study, name, is_by_score=by_score)
    except Undecodable:
        raise Http404 from None
    if content is None:
        raise Http404
    return content


@require_in_study(roles.VIEW_REPORT)
@with_report
def table(request: HttpRequest, access: Access, report: Report, *, table: str, ending: str) -> HttpResponseBase:
    """One table of the stored report, unrounded."""
    if table not in figures.by_table():
        raise Http404
    header, rows = find_table(read_stored(report), table)
    if not rows:
        raise Http404
    return send_table(f"{access.study.slug}-{table}-{report.fingerprint[:SHORT]}", header, rows, ending=ending)


def _changes(earlier: Report | None, report: Report) -> list[object] | None:
    """What changed since the report before; None without one that can be read."""
    if earlier is None:
        return None
    try:
        return list(compare(results.read_report(earlier), results.read_report(report)))
    except Undecodable:
        return None
