"""Pages of answers whose cost does not depend on how many there are: each begins where the last one ended."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from annotation.models import Assignment, Response
from studies.models import Step, Study

DEFAULT, MOST_PER_PAGE = 200, 1000
ASSIGNMENTS_AT_ONCE = 50
MOST_TURNS = 20  # where few answers are wanted of many, a page may hold fewer than asked, and the next goes on
PARAMETERS = ("limit", "cursor")


@dataclass(frozen=True)
class Position:
    """The last answer of a page, by its assignment and itself."""

    assignment: int = 0
    response: int = 0

    @property
    def cursor(self) -> str:
        return base64.urlsafe_b64encode(f"{self.assignment}-{self.response}".encode()).decode().rstrip("=")


@dataclass(frozen=True)
class AnswerPage:
    """after : where the next page begins; None if this is the last"""

    responses: list[int]
    after: Position | None


def read_parameters(request: Request) -> tuple[int, Position]:
    """How many are wanted, and after which. Raises ValidationError for what is not known: a misspelt filter must not
    pass."""
    for name in request.query_params:
        if name not in PARAMETERS:
            raise ValidationError({name: _("There is no such parameter; there are limit and cursor.")})
    limit = request.query_params.get("limit", str(DEFAULT))
    if not re.fullmatch(r"[0-9]{1,4}", limit) or not 1 <= int(limit) <= MOST_PER_PAGE:
        sentence = _("This must be a whole number from %(least)d to %(most)d.")
        raise ValidationError({"limit": sentence % {"least": 1, "most": MOST_PER_PAGE}})
    cursor = request.query_params.get("cursor")
    return int(limit), Position() if cursor is None else read_cursor(cursor)


def read_cursor(cursor: str) -> Position:
    """Raises ValidationError for a cursor that no page gave."""
    try:
        text = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)).decode("ascii")
    except ValueError:
        text = ""
    if not (match := re.fullmatch(r"([0-9]{1,18})-([0-9]{1,18})", text)):
        raise ValidationError({"cursor": _("This is no cursor that a page gave as its next.")})
    return Position(int(match[1]), int(match[2]))


def find_page(study: Study, *, after: Position, limit: int, condition: Q | None = None) -> AnswerPage:
    """The next answers of the study, by assignment and as they were first saved. Some queries by key.

    condition : which answers are wanted; of practice none are
    """
    responses: list[tuple[int, int]] = []
    start = after
    for _turn in range(MOST_TURNS):
        assignments = list(_assignments_from(study, start.assignment)[:ASSIGNMENTS_AT_ONCE])
        if not assignments:
            return AnswerPage([pk for _of, pk in responses], None)
        rows = Response.objects.filter(assignment__in=assignments).exclude(step__kind=Step.Kind.PRACTICE)
        rows = rows.filter(Q(assignment__gt=start.assignment) | Q(pk__gt=start.response))
        if condition is not None:
            rows = rows.filter(condition)
        room = limit - len(responses)
        keys = list(rows.order_by("assignment_id", "pk").values_list("assignment_id", "pk")[: room + 1])
        responses += keys[:room]
        if len(keys) > room:
            return AnswerPage([pk for _of, pk in responses], Position(*responses[-1]))
        start = Position(assignments[-1] + 1, 0)
    return AnswerPage([pk for _of, pk in responses], start)


def _assignments_from(study: Study, first: int) -> QuerySet[Assignment, int]:
    return Assignment.objects.filter(study=study, pk__gte=first).order_by("pk").values_list("pk", flat=True)
