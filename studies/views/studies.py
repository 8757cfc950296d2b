"""The studies that an account has to do with, and what one of them is, at a glance."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.admin.views.decorators import staff_member_required
from django.core.exceptions import PermissionDenied
from django.db.models import Count, F, FilteredRelation, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from studies.access import Access, visible_studies
from studies.models import Membership, ProtocolVersion, Step, StoryGroup, Study
from studies.views.guards import refuse_unknown, require_in_study

SEES_MEMBERS = "studies.view_membership"


@dataclass(frozen=True)
class StudyRow:
    study: Study
    role: str
    url: str


@require_safe
@staff_member_required
def index(request: HttpRequest) -> HttpResponse:
    """For staff: every study in which the account has something to do."""
    refuse_unknown(request, ())
    mine = FilteredRelation("memberships", condition=Q(memberships__user=request.user.pk))
    studies = visible_studies(request.user, SEES_MEMBERS).order_by("-launched_at", "title")
    studies = Study.objects.filter(pk__in=studies.values("pk")).annotate(mine=mine, my_role=F("mine__role"))
    rows = [
        StudyRow(study, str(Membership.Role(study.my_role).label) if study.my_role else "", _address(request, study))
        for study in studies.order_by(F("launched_at").desc(nulls_first=True), "title")
    ]
    if not rows and not request.user.has_perm(SEES_MEMBERS):
        raise PermissionDenied
    return render(request, "studies/index.html", {"rows": rows})


def _address(request: HttpRequest, study: Study) -> str:
    """Where the study begins for this account."""
    is_steward_alone = study.my_role == Membership.Role.STEWARD  # type: ignore[attr-defined]
    sees = request.user.has_perm("studies.view_study") or (study.my_role and not is_steward_alone)  # type: ignore[attr-defined]
    return reverse("studies:overview" if sees else "studies:members", args=[study.slug])


def _path(version: ProtocolVersion | None) -> list[Step]:
    """The steps that raters meet, in their order."""
    return list(version.steps.exclude(kind=Step.Kind.METRIC).order_by("position")) if version else []


@require_in_study("studies.view_study")
def overview(request: HttpRequest, access: Access) -> HttpResponse:
    """For whoever sees the study: its state and size."""
    study = access.study
    n_stories = study.stories.aggregate(n=Count("pk"), n_withheld=Count("pk", filter=Q(is_withheld=True)))
    version = study.versions.order_by("-number").first()
    context = {
        "study": study,
        "access": access,
        "n_stories": n_stories["n"],
        "n_withheld": n_stories["n_withheld"],
        "n_groups": StoryGroup.objects.filter(study=study).count(),
        "steps": _path(version),
    }
    return render(request, "studies/overview.html", context)
