"""Each plot of a report as a file: SVG that needs nothing else, and PNG; the summary as PDF, too; under the same rules
as the page itself."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from config import roles
from reports.models import Report
from reports.page import drawings, standalone
from reports.page.charts import draw_plot
from reports.page.context import headline, notices
from reports.page.drawings import NamedPlot
from reports.page.plot_words import describe_plot
from reports.page.slide import draw_slide
from reports.page.summary import ReportSummary
from reports.results import Results
from reports.views.shared import read_stored, with_report
from studies.access import Access
from studies.views.guards import require_in_study

SLIDE = "summary"  # among the names of plots
SLIDE_HEIGHT = 720


@require_in_study(roles.VIEW_REPORT)
@with_report
def svg(request: HttpRequest, access: Access, report: Report, *, plot: str) -> HttpResponse:
    """The plot, or the summary as a slide, as SVG, of the report as it is now or of the stored one; 404 if there is no
    such plot."""
    return _file(access, plot, "svg", "image/svg+xml", _draw(report, plot).encode())


@require_in_study(roles.VIEW_REPORT)
@with_report
def png(request: HttpRequest, access: Access, report: Report, *, plot: str) -> HttpResponse:
    """The plot as PNG, likewise."""
    return _file(access, plot, "png", "image/png", standalone.write_png(_draw(report, plot)))


@require_in_study(roles.VIEW_REPORT)
@with_report
def summary_pdf(request: HttpRequest, access: Access, report: Report) -> HttpResponse:
    """The summary as a PDF of one page, of the shape of a slide; of the report as it is now or of the stored one."""
    document = read_stored(report)
    content = standalone.write_pdf(_draw_slide(document, report), title=document.study.title, made_at=report.made_at)
    return _file(access, SLIDE, "pdf", "application/pdf", content)


def _draw(report: Report, name: str) -> str:
    document = read_stored(report)
    if name == SLIDE:
        return _draw_slide(document, report)
    named = drawings.find_plot(document, name)
    if named is None:
        raise Http404
    tables = _("The table of this plot holds every value: %(tables)s.") % {
        "tables": ", ".join(f"{table}.csv" for table in named.figure.tables)
    }
    return standalone.write_svg(
        draw_plot(named.plot).wide,
        title=named.title,
        description=f"{describe_plot(named.plot)} {tables}".strip(),
        notes=_notes(document, report, named),
    )


def _draw_slide(document: Results, report: Report) -> str:
    """The summary as one picture, 16 to 9."""
    notes = [*map(str, notices(document)), _source_of(document, report)]
    sentence, height = headline(document), standalone.height_beside(notes, whole=SLIDE_HEIGHT)
    return standalone.write_svg(
        draw_slide(sentence, ReportSummary.of(document, document.head), height=height),
        title=document.study.title,
        description=sentence,
        notes=notes,
    )


def _source_of(document: Results, report: Report) -> str:
    return _("%(study)s. Report %(fingerprint)s, computed %(day)s with Quire.") % {
        "study": document.study.title,
        "fingerprint": report.fingerprint[:12],
        "day": date_format(report.made_at, "DATE_FORMAT"),
    }


def _notes(document: Results, report: Report, named: NamedPlot) -> list[str]:
    """What must be read with the plot, and where it is from."""
    values = _("Values: %(tables)s.") % {"tables": ", ".join(f"{table}.csv" for table in named.figure.tables)}
    return [*map(str, notices(document)), f"{_source_of(document, report)} {values}"]


def _file(access: Access, plot: str, ending: str, content_type: str, content: bytes) -> HttpResponse:
    name = f"{access.study.slug}-{plot}.{ending}"
    return HttpResponse(
        content, content_type=content_type, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )
