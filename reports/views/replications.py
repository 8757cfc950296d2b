"""Published studies computed anew: what a paper printed beside what its data give, for whoever may see sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers

from config import roles
from reports import replications
from reports.models import Report
from reports.replications.published import StoredComparison, read_comparison
from studies.access import may_somewhere, visible_studies
from studies.views.guards import require

# Every table here is by source.
require_sources = require(lambda request: may_somewhere(request.user, roles.BY_SOURCE))


@dataclass(frozen=True)
class Replication:
    """A published study.

    is_run_on_release : whether its procedures have met the release itself, and not generated data alone
    comparisons : of the studies here into which its release was brought, the latest first
    """

    name: str
    title: str
    citation: str
    n_figures: int
    is_run_on_release: bool
    comparisons: tuple[StoredComparison, ...]

    @property
    def by_command(self) -> str:
        """How it is computed here."""
        return f"manage.py replicate {self.name} --data DIR"


@require_sources
def index(request: HttpRequest) -> HttpResponse:
    """The published studies that can be computed anew, and what came out here."""
    comparisons = _find_comparisons(request)
    rows = [_replication(name, comparisons) for name in replications.list_names()]
    return _page(request, "reports/replications.html", {"replications": rows})


@require_sources
def show(request: HttpRequest, name: str) -> HttpResponse:
    """One published study: each of its figures beside the recomputed one, with the reason where they differ."""
    if name not in replications.list_names():
        raise Http404
    return _page(request, "reports/replication.html", {"replication": _replication(name, _find_comparisons(request))})


def _find_comparisons(request: HttpRequest) -> list[tuple[str, StoredComparison]]:
    """Every stored comparison of a closed study whose sources the account may see, with the replication's name."""
    visible = visible_studies(request.user, roles.BY_SOURCE).filter(state="closed")
    records = Report.objects.filter(kind=Report.Kind.RELEASE, study__in=visible).select_related("study")
    pairs = [(record, read_comparison(record)) for record in records.order_by("-made_at", "-pk")]
    return [(record.result["comparison"]["replication"], stored) for record, stored in pairs if stored is not None]


def _replication(name: str, comparisons: list[tuple[str, StoredComparison]]) -> Replication:
    spec = replications.load_spec(name)
    printed = [pair for entry in spec["figures"] for pair in replications.flatten(entry.get("published"))]
    mine = tuple(stored for of, stored in comparisons if of == name)
    return Replication(
        name=name,
        title=spec["title"],
        citation=spec["citation"],
        n_figures=len(printed),
        is_run_on_release=spec.get("is_run_on_release", True),
        comparisons=mine,
    )


def _page(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    response = render(request, template, context)
    add_never_cache_headers(response)
    return response
