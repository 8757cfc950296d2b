"""The read API: responses of a study, for staff who may read them, blind. Its fields are listed here, never derived."""

import re
from typing import Any

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from rest_framework.decorators import api_view, permission_classes
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from config import roles
from reports.dataset.answers import responses as all_responses
from reports.export import long_table
from studies.access import visible_studies
from studies.models import Study

FIELDS = (
    "study",
    "protocol_version",
    "protocol_sha256",
    "rater",
    "rater_kind",
    "group",
    "story",
    "story_position",
    "instrument",
    "instrument_version",
    "item",
    "value",
    "value_label",
    "outcome",
    "rationale",
    "first_answered_at",
    "last_edited_at",
    "n_edits",
    "active_seconds",
    "read_before",
    "status",
)
MOST = 1000


class ResponsePagination(LimitOffsetPagination):
    default_limit = 200
    max_limit = MOST


class MayReadResponses(BasePermission):
    """In all studies, or in the one that the address names."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not request.user.is_staff:
            return False
        in_all = request.user.has_perm(roles.VIEW_RESPONSES)
        return in_all or visible_studies(request.user, roles.VIEW_RESPONSES).filter(slug=view.kwargs["slug"]).exists()


@api_view(["GET", "HEAD"])
@permission_classes([MayReadResponses])
def responses(request: Request, slug: str) -> Response:
    """The responses of a study in the order of the long file, by pages: ?limit= (200, at most 1000) and ?offset=."""
    _check(request)
    study = get_object_or_404(Study, slug=slug)
    pages = ResponsePagination()
    keys = pages.paginate_queryset(all_responses(study).values_list("pk", flat=True), request) or []
    rows = long_table.rows(study, with_sources=False, among=all_responses(study).filter(pk__in=keys))
    return pages.get_paginated_response([{name: row[name] for name in FIELDS} for row in rows])


def _check(request: Request) -> None:
    """Raise ValidationError for a parameter that is not known or no number: a misspelt filter must not pass."""
    for name, value in request.query_params.items():
        if name not in ("limit", "offset"):
            raise ValidationError({name: _("There is no such parameter; there are limit and offset.")})
        least, most = (1, MOST) if name == "limit" else (0, 10**9)
        if not re.fullmatch(r"[0-9]{1,10}", str(value)) or not least <= int(str(value)) <= most:
            sentence = _("This must be a whole number from %(least)d to %(most)d.")
            raise ValidationError({name: sentence % {"least": least, "most": most}})
