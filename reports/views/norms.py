"""Norms of an instrument, for whoever may see a report; and the switch by which a closed study lets its figures in."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _

from config import roles
from reports import norms
from reports.views.shared import may_see_sources
from studies.access import Access, access_to, may_somewhere, visible_studies
from studies.action_log import log_action
from studies.models import Instrument, Step
from studies.views.guards import require, require_in_study

CHANGE_STUDY = "studies.change_study"


def _may_see_reports(request: HttpRequest) -> bool:
    return may_somewhere(request.user, roles.VIEW_REPORT)


@require(_may_see_reports, query=("study",))
def show(request: HttpRequest, asked: str) -> HttpResponse:
    """Agreement and answers over the studies that let their figures in, beside those of a study of one's own."""
    versions = Instrument.objects.filter(slug=asked, status=Instrument.Status.PUBLISHED).order_by("version")
    instrument = versions.only("slug", "title", "language", "version").last()
    if instrument is None:
        raise Http404
    asking = Step.objects.filter(instrument__slug=asked).values("version__study")
    studies = visible_studies(request.user, roles.VIEW_REPORT).filter(pk__in=asking).order_by("title", "slug")
    slug = request.GET.get("study", "")
    study = next((study for study in studies if study.slug == slug), None)
    if slug and study is None:
        raise Http404
    sees_sources = study is not None and may_see_sources(access_to(study, request.user))
    context = {
        "instrument": instrument,
        "items": norms.read_norms(asked, beside=study, sees_sources=sees_sources),
        "studies": studies,
        "study": study,
        "fewest": norms.FEWEST_STUDIES,
        "fewest_with_spread": norms.FEWEST_WITH_SPREAD,
    }
    response = render(request, "reports/norms.html", context)
    add_never_cache_headers(response)
    return response


@require_in_study(CHANGE_STUDY, methods=("POST",))
def share(request: HttpRequest, access: Access) -> HttpResponse:
    """Let the figures of a closed study into the norms of its instruments, or take them out."""
    study = access.study
    if "share" in request.POST:
        try:
            norms.share(study, by=request.user.get_username(), at=timezone.now())
        except norms.NotClosed:
            messages.error(request, _("Figures enter norms once the study is closed."))
        else:
            log_action(study, "figures shared for norms", by=request.user)
            messages.success(request, _("The study’s figures enter the norms of its instruments."))
    else:
        norms.withhold(study)
        log_action(study, "figures taken out of norms", by=request.user)
        messages.success(request, _("The study’s figures are in no norms."))
    return redirect(f"{reverse('reports:exports', args=[study.slug])}#norms-h")
