"""What a paper says of a study: the methods paragraph, tables for LaTeX, how to cite it, earlier reports."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse

from config import roles
from reports import overview
from reports.document import latex
from reports.methods.citation import SHORT, cite
from reports.methods.paragraph import describe_judges, installed, to_text, write_paragraphs
from reports.methods.sampled_units import find_sampled
from reports.methods.tables import WRITERS, paper_tables, write_tables
from reports.models import Report
from reports.page.fragments import obtain_page, obtain_part
from reports.page.sections import METHODS
from reports.views.shared import may_see_sources, of_study, read_stored, with_report
from studies.access import Access
from studies.hashing import sha256
from studies.models import Study
from studies.views.guards import require_in_study

MOST_REPORTS = 20  # of those stored before that the page lists


@require_in_study(roles.VIEW_REPORT)
@with_report
def show(request: HttpRequest, access: Access, report: Report) -> HttpResponse:
    """The page *Methods* of a study."""
    address = reverse("reports:stored", args=[access.study.slug, report.fingerprint[:SHORT]])
    context = {
        "report": report,
        "content": obtain_page(report, access.study, METHODS),
        "paper": _obtain_paper(report, access.study),
        "citation": cite(report, request.build_absolute_uri(address)),
        "reports": _stored_reports(access),
        "most": MOST_REPORTS,
        "days": overview.read_days(access),
        "main_class": "research",
    }
    return render(request, "reports/methods.html", of_study(access) | context)


def _obtain_paper(report: Report, study: Study) -> str | None:
    """The paragraph and the tables. Of a study that was launched they are stored: they say what the report and the
    frozen protocol hold, and else what is installed and what is known of judges, of which their name has a digest."""

    def write() -> str:
        results = read_stored(report)
        sampled = find_sampled(study, results)
        paragraphs = write_paragraphs(study, results, report, sampled)
        context = {"study": study, "paragraphs": paragraphs, "tables": paper_tables(results, sampled)}
        return render_to_string("reports/paper.html", context)

    if study.state == Study.State.DRAFT:
        return write()
    others = sha256(" ".join([installed(), *describe_judges(study)]))
    return obtain_part(report, f"paper {others[:SHORT]}", write)


@require_in_study(roles.VIEW_REPORT)
@with_report
def paragraph(request: HttpRequest, access: Access, report: Report) -> HttpResponse:
    """The methods paragraph as plain text."""
    results = read_stored(report)
    text = to_text(write_paragraphs(access.study, results, report, find_sampled(access.study, results)))
    return _file(f"{access.study.slug}-methods.txt", "text/plain; charset=utf-8", text)


@require_in_study(roles.VIEW_REPORT)
@with_report
def document(request: HttpRequest, access: Access, report: Report) -> HttpResponse:
    """The paragraph and the tables that a paper prints, as one LaTeX document."""
    results = read_stored(report)
    sampled = find_sampled(access.study, results)
    text = to_text(write_paragraphs(access.study, results, report, sampled))
    tables = paper_tables(results, sampled)
    content = latex.write_document((table.text for table in tables), paragraph=text)
    return _file(f"{access.study.slug}-methods.tex", "application/x-tex; charset=utf-8", content)


@require_in_study(roles.VIEW_REPORT)
@with_report
def table(request: HttpRequest, access: Access, report: Report, *, table: str) -> HttpResponse:
    """One of the tables that a paper prints; 404 if this study has nothing for it."""
    if table not in WRITERS:
        raise Http404
    results = read_stored(report)
    parts = write_tables(table, results, find_sampled(access.study, results))
    if not parts:
        raise Http404
    content = "\n\n".join(part.text for part in parts) + "\n"
    return _file(f"{access.study.slug}-{table}.tex", "application/x-tex; charset=utf-8", content)


def _stored_reports(access: Access) -> list[Report]:
    """The latest stored reports of the study that whoever asks may open, without their results."""
    reports = access.study.reports.filter(kind=Report.Kind.RESULTS).defer("result").order_by("-made_at", "-pk")
    if not may_see_sources(access):
        reports = reports.filter(is_sealed=True)
    return list(reports[:MOST_REPORTS])


def _file(name: str, content_type: str, content: str) -> HttpResponse:
    return HttpResponse(
        content, content_type=content_type, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )
