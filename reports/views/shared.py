"""What every page about results asks and shows: whether sources may be seen, the stored report, the study's shell."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse

from config import roles
from reports import computations, results
from reports.dataset import is_sealed
from reports.figures.codec import Undecodable
from reports.models import Computation, Report
from reports.results import Results
from studies.access import Access

RETRY_SECONDS = 2
ORDER, BY_SCORE, BY_NAME = "order", "score", "name"  # the query parameter, and its values
SHORTEST = 8  # letters of a fingerprint that an address must have


def is_by_score(request: HttpRequest) -> bool:
    """Whether sources stand in the order of their score. Raises BadRequest for an order that there is not."""
    order = request.GET.get(ORDER, BY_SCORE)
    if order not in (BY_SCORE, BY_NAME):
        raise BadRequest(f"Sources stand by {BY_SCORE} or by {BY_NAME}.")
    return order == BY_SCORE


def may_see_sources(access: Access) -> bool:
    """Whether whoever asks may see, now, who wrote the stories of this study."""
    return not (access.is_blind or is_sealed(access.study))


def obtain_report(request: HttpRequest, access: Access) -> tuple[Report | None, Computation | None]:
    """The report of the study for whoever asks; while it is computed, the latest before it if any, and how far it is.

    One of the two is always there.
    """
    by = request.user.get_username()
    report_or_computation = computations.obtain_report(access.study, by=by, blind=access.is_blind)
    if isinstance(report_or_computation, Report):
        return report_or_computation, None
    return results.find_older_report(access.study, blind=access.is_blind), report_or_computation


def with_report(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """The view with the report of the study after its access, or the page that says how far the report is.

    Where the address names the fingerprint of a stored report it is that one.
    """

    @wraps(view)
    def shown(request: HttpRequest, access: Access, *, fingerprint: str = "", **names: str) -> HttpResponseBase:
        named = find_stored(access, fingerprint) if fingerprint else None
        report, computation = (named, None) if named else obtain_report(request, access)
        if report is None:
            return render_waiting(request, access, computation)
        return view(request, access, report, **names)

    return shown


def find_stored(access: Access, fingerprint: str) -> Report:
    """The stored report of that fingerprint, or of the one that begins so. Raises Http404.

    One with sources is there for whoever may see them now, and for nobody else.
    """
    if len(fingerprint) < SHORTEST:
        raise Http404
    reports = Report.objects.filter(
        study=access.study, kind=Report.Kind.RESULTS, fingerprint__startswith=fingerprint.lower()
    ).select_related("study")[:2]
    if len(reports) != 1:
        raise Http404
    (report,) = reports
    if not report.is_sealed and not may_see_sources(access):
        raise Http404
    return report


def read_stored(report: Report) -> Results:
    """What the stored report holds. Raises Http404 for one that another version stored in another form."""
    try:
        return results.read_report(report)
    except Undecodable:
        raise Http404 from None


def render_waiting(request: HttpRequest, access: Access, computation: Computation | None) -> HttpResponse:
    """The page that says how far the report is."""
    page = of_study(access) | {"computation": computation}
    response = render(request, "reports/waiting.html", page, status=202)
    response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def of_study(access: Access) -> dict[str, Any]:
    """What every page about results shows in the study's shell."""
    return {
        "study": access.study,
        "access": access,
        "may_read_answers": access.may(roles.VIEW_RESPONSES),
        "report_url": reverse("reports:show", args=[access.study.slug]),
    }
