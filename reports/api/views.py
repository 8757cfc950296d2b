"""The read API: studies, how far they are, answers, reasons, reports, packages. Blind and sealed as the pages are."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.db.models import Count, Q
from django.http import StreamingHttpResponse
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.exceptions import NotFound, PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from annotation.models import Assignment, Rater
from annotation.models import Response as Answer
from config import roles
from reports import computations
from reports.api import pages, rows
from reports.dataset import is_sealed
from reports.export import issues, long_table
from reports.models import Computation
from reports.results import fit_document
from studies.access import Access, access_to, visible_studies
from studies.models import Study

View = Callable[..., Any]
PAGING = [
    OpenApiParameter(
        "limit", int, description=f"How many, 1 to {pages.MOST_PER_PAGE}; {pages.DEFAULT} if it is not said."
    ),
    OpenApiParameter("cursor", str, description="The `cursor` of the `next` of the page before."),
]


def require_permission(permission: str) -> Callable[[View], View]:
    """View decorator: requires that permission in the study of the address. The view gets the access for the slug."""

    def guard(view: View) -> View:
        @wraps(view)
        def guarded(request: Request, slug: str, **kwargs: Any) -> Any:
            study = Study.objects.filter(slug=slug).first()
            if study is None:
                if request.user.is_staff and request.user.has_perm(permission):
                    raise NotFound
                raise PermissionDenied
            access = access_to(study, request.user)
            if not access.may(permission):
                raise PermissionDenied
            response = view(request, access, **kwargs)
            patch_cache_control(response, no_store=True)
            return response

        return guarded

    return guard


def refuse_parameters(request: Request) -> None:
    """Raise ValidationError for any query parameter."""
    for name in request.query_params:
        raise ValidationError({name: _("There is no such parameter.")})


def _page_of(row: Any, name: str) -> Any:
    of_page = {"next": serializers.URLField(allow_null=True), "results": row(many=True)}
    return inline_serializer(name=name, fields=of_page)


@extend_schema(responses=rows.StudyFields(many=True))
@api_view(["GET", "HEAD"])
def studies(request: Request) -> Response:
    """The studies whose report the account may see."""
    refuse_parameters(request)
    visible = visible_studies(request.user, roles.VIEW_REPORT)
    if not request.user.has_perm(roles.VIEW_REPORT) and not visible.exists():
        raise PermissionDenied
    return Response([_study(request, study) for study in visible.order_by("slug")])


def _study(request: Request, study: Study) -> dict[str, Any]:
    url = reverse("api:study", args=[study.slug], request=request)
    of_study = {"slug": study.slug, "title": study.title, "state": study.state}
    return of_study | {"is_sealed": is_sealed(study), "url": url}


@extend_schema(responses=rows.StudyFields)
@api_view(["GET", "HEAD"])
@require_permission(roles.VIEW_REPORT)
def study(request: Request, access: Access) -> Response:
    """One study."""
    refuse_parameters(request)
    return Response(_study(request, access.study))


@extend_schema(responses=rows.ProgressFields)
@api_view(["GET", "HEAD"])
@require_permission(roles.VIEW_REPORT)
def progress(request: Request, access: Access) -> Response:
    """How far the study is, group by group."""
    refuse_parameters(request)
    study, person = access.study, Rater.Kind.PERSON
    of_people = Q(seats__assignments__rater_kind=person, seats__assignments__repeats=None)
    groups = study.groups.order_by("code").annotate(
        n_seats=Count("seats", filter=Q(seats__rater_kind=person), distinct=True),
        **{
            f"n_{status}": Count(
                "seats__assignments", filter=of_people & Q(seats__assignments__status=status), distinct=True
            )
            for status in (Assignment.Status.SUBMITTED, Assignment.Status.OPEN)
        },
    )
    people = study.raters.filter(kind=person)
    names = ("n_seats", "n_submitted", "n_open")
    return Response(
        {
            "study": study.slug,
            "state": study.state,
            "n_raters": people.count(),
            "n_withdrawn": people.exclude(withdrawal=None).count(),
            "groups": [{"group": group.code} | {name: getattr(group, name) for name in names} for group in groups],
        }
    )


@extend_schema(responses=rows.AmendmentFields(many=True))
@api_view(["GET", "HEAD"])
@require_permission(roles.VIEW_REPORT)
def amendments(request: Request, access: Access) -> Response:
    """What was changed after the launch, change by change."""
    refuse_parameters(request)
    of_study = access.study.amendments.select_related("version").defer("version__document", "words").order_by("number")
    names = ("number", "at", "reason", "holds_for", "changes")
    return Response(
        [
            {name: getattr(row, name) for name in names} | {"version": row.version.number if row.version else None}
            for row in of_study
        ]
    )


@extend_schema(responses=_page_of(rows.ResponseFields, "ResponsePage"), parameters=PAGING)
@api_view(["GET", "HEAD"])
@require_permission(roles.VIEW_RESPONSES)
def responses(request: Request, access: Access) -> Response:
    """The answers of a study but those of a practice, blind, page by page."""
    return _answers(request, access, rows.FIELDS)


@extend_schema(responses=_page_of(rows.RationaleFields, "RationalePage"), parameters=PAGING)
@api_view(["GET", "HEAD"])
@require_permission(roles.VIEW_RESPONSES)
def rationales(request: Request, access: Access) -> Response:
    """The reasons that were given, blind, page by page. A page may be short although there are more."""
    return _answers(request, access, rows.RATIONALE_FIELDS, condition=~Q(rationale=""))


def _answers(request: Request, access: Access, fields: tuple[str, ...], *, condition: Q | None = None) -> Response:
    limit, after = pages.read_parameters(request)
    page = pages.find_page(access.study, after=after, limit=limit, condition=condition)
    among = Answer.objects.filter(pk__in=page.responses).order_by("assignment_id", "pk")
    of_page = long_table.rows(access.study, with_sources=False, among=among, is_part=True)
    return Response(
        {
            "next": _next(request, page.after, limit),
            "results": [{name: row[name] for name in fields} for row in of_page],
        }
    )


def _next(request: Request, after: pages.Position | None, limit: int) -> str | None:
    address = f"{request.path}?limit={limit}&cursor={after.cursor}" if after else None
    return request.build_absolute_uri(address) if address else None


@extend_schema(responses=rows.ReportFields)
@api_view(["GET", "HEAD"])
@require_permission(roles.VIEW_REPORT)
def report(request: Request, access: Access) -> Response:
    """The report of the study as it is now: by source only where its page says so to this account. While a worker
    computes it, 202: how far it is, and in Retry-After when to ask again."""
    refuse_parameters(request)
    by = request.user.get_username()
    stored = computations.obtain_report(access.study, by=by, blind=access.is_blind)
    if isinstance(stored, Computation):
        how_far = {"n_figures": stored.n_figures, "n_figures_done": stored.n_figures_done, "problem": stored.problem}
        return Response(how_far, status=202, headers={"Retry-After": "2"})
    return Response({"fingerprint": stored.fingerprint, "made_at": stored.made_at, "result": fit_document(stored)})


@extend_schema(responses=rows.PackageFields(many=True))
@api_view(["GET", "HEAD"])
@require_permission(roles.VIEW_RESPONSES)
def packages(request: Request, access: Access) -> Response:
    """The export packages that the account may fetch."""
    refuse_parameters(request)
    rows_of_study = issues.find_packages(access.study, with_sources=not access.is_blind)
    return Response(
        [
            {name: getattr(row, name) for name in ("sha256", "n_bytes", "with_sources", "is_public")}
            | {
                "made_at": row.ended_at,
                "url": reverse("api:package", args=[access.study.slug, row.sha256], request=request),
            }
            for row in rows_of_study
        ]
    )


@extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
@api_view(["GET", "HEAD"])
@require_permission(roles.VIEW_RESPONSES)
def package(request: Request, access: Access, sha256: str) -> StreamingHttpResponse:
    """One package, by its sum."""
    refuse_parameters(request)
    row = issues.find_package(access.study, sha256)
    if row is None or (row.with_sources and access.is_blind):
        raise NotFound
    if request.method == "GET":
        issues.record_download(row, by=request.user.get_username(), at=timezone.now())
    return issues.to_response(row)
