"""The list of studies with how each stands: progress, agreement by the day, raters to ask about, judges, cost.

One row comes from the key figures of a study's latest report; no report is opened for it.
"""

from __future__ import annotations

from django.contrib.admin.views.decorators import staff_member_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_safe

from config import roles
from reports import overview
from studies.access import visible_studies
from studies.models import Instrument, Step, Study
from studies.views.guards import refuse_unknown

ON_A_PAGE = 50


@require_safe
@staff_member_required
def index(request: HttpRequest) -> HttpResponse:
    """Every study whose report the account may see, or those of them that ask an instrument."""
    visible = visible_studies(request.user, roles.VIEW_REPORT)
    if not request.user.has_perm(roles.VIEW_REPORT) and not visible.exists():
        raise PermissionDenied
    refuse_unknown(request, ("instrument", "page"))
    instruments = list_instruments(visible)
    slug = request.GET.get("instrument", "")
    if slug:
        if slug not in instruments:
            raise Http404
        visible = visible.filter(pk__in=Step.objects.filter(instrument__slug=slug).values("version__study"))
    studies = overview.with_progress(visible).order_by("-launched_at", "slug")
    page = Paginator(studies, ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "rows": overview.read_figures(list(page), request.user),
        "page": page,
        "pages": page.paginator.get_elided_page_range(page.number),
        "instruments": instruments.values(),
        "instrument": instruments.get(slug),
    }
    response = render(request, "reports/index.html", context)
    add_never_cache_headers(response)
    return response


def list_instruments(studies: QuerySet[Study]) -> dict[str, Instrument]:
    """The instruments that the studies ask, by slug, each in its last version."""
    steps = Step.objects.filter(version__study__in=studies, instrument__isnull=False)
    instruments = Instrument.objects.filter(pk__in=steps.values("instrument"))
    fields = instruments.only("slug", "title", "language", "version").order_by("title", "version")
    return {instrument.slug: instrument for instrument in fields}
