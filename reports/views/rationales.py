"""Reasons to read: which stories have some that fit, and one story with people's and judges' reasons beside it.

Whoever may see answers may read them; who wrote the stories is told only where the report tells it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Any, cast
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.models import Response
from annotation.responses.quotes import MarkedParagraph, Stretch
from config import roles
from reports.dataset import is_sealed
from reports.rationales import passages, queries
from reports.rationales.passages import MarkedStory
from reports.rationales.queries import Filters, RationaleItem, RationaleRow
from reports.views.shared import may_see_sources, of_study
from studies.access import Access
from studies.models import Item, Provenance, Story, StoryGroup
from studies.typography.paragraphs import as_set
from studies.views.guards import refuse_unknown, require_in_study

NAMES = tuple(field.name for field in fields(Filters))
QUERY = (*NAMES, "page")
LONGEST = 200  # characters that are looked for
UNITS_A_PAGE = 50


@dataclass(frozen=True)
class Choices:
    """What can be looked for in this study by whoever asks. sources : None while they may not be known"""

    items: list[RationaleItem]
    sources: list[str] | None

    @classmethod
    def of(cls, access: Access) -> Choices:
        """Two queries at most."""
        sources = queries.source_names(access.study) if may_see_sources(access) else None
        return cls(queries.asked_items(access.study), sources)

    @property
    def has_verdicts(self) -> bool:
        return any(item.is_verdict for item in self.items)

    def read(self, request: HttpRequest) -> Filters:
        """What is looked for. Raises Http404 for what cannot be, BadRequest for sources where they may not be known."""
        refuse_unknown(request, [name for name in QUERY if name != "source" or self.sources is not None])
        chosen = {name: request.GET.get(name, "").strip() for name in NAMES}
        chosen["words"] = chosen["words"].replace("\0", "")[:LONGEST]
        allowed: dict[str, Sequence[str]] = {
            "item": [item.key for item in self.items],
            "verdict": queries.VERDICTS,
            "kind": queries.KINDS,
            "source": self.sources or (),
        }
        for name, values in allowed.items():
            if chosen[name] and chosen[name] not in values:
                raise Http404
        return Filters(**chosen)


@dataclass(frozen=True)
class UnitRow:
    """A story, or a group whose answers are about all of its stories, with how many reasons fit."""

    title: str
    url: str
    n_people: int
    n_judges: int
    is_story: bool


@dataclass(frozen=True)
class QuotingReason:
    """A reason with its passages: of each the mark and its paragraph. has_lost : whether one is not in the text"""

    reason: RationaleRow
    passages: tuple[tuple[int, int], ...] = ()
    has_lost: bool = False


@dataclass(frozen=True)
class ItemReasons:
    """The reasons for the answers to one item."""

    item: Item
    step: str
    reasons: list[QuotingReason]

    @property
    def id(self) -> str:
        return f"{self.step}-{self.item.key}"


@require_in_study(roles.VIEW_RESPONSES, query=QUERY)
def index(request: HttpRequest, access: Access) -> HttpResponse:
    """For whoever may see answers: the stories that have reasons which fit, and how many."""
    choices = Choices.of(access)
    filters = choices.read(request)
    counts = queries.count_by_unit(queries.reasons(access.study, filters))
    units = _units(access, filters, counts)
    page = Paginator(units, UNITS_A_PAGE).get_page(request.GET.get("page"))
    n_by_kind = [sum(n) for n in zip(*counts.values(), strict=True)] or [0, 0]
    context = _shared(access, choices, filters, page) | {"n_people": n_by_kind[0], "n_judges": n_by_kind[1]}
    return render(request, "reports/rationales.html", context | {"n_reasons": sum(n_by_kind)})


def _units(
    access: Access, filters: Filters, counts: dict[tuple[int | None, int | None], tuple[int, int]]
) -> list[UnitRow]:
    """Stories by code, then groups. Two queries."""
    stories = access.study.stories.filter(pk__in=[story for story, _group in counts if story]).order_by("code")
    groups = access.study.groups.filter(pk__in=[group for _story, group in counts if group]).order_by("code")
    query = _query(filters)
    story_rows = [
        UnitRow(code, _address(access, "story", pk, query), *counts[pk, None], is_story=True)
        for pk, code in stories.values_list("pk", "code")
    ]
    group_rows = [
        UnitRow(code, _address(access, "group", pk, query), *counts[None, pk], is_story=False)
        for pk, code in groups.values_list("pk", "code")
    ]
    return story_rows + group_rows


def _address(access: Access, kind: str, pk: int, query: str = "") -> str:
    address = reverse(f"reports:rationales_of_{kind}", args=[access.study.slug, pk])
    return f"{address}?{query}" if query else address


def _query(filters: Filters, **more: object) -> str:
    chosen = {name: getattr(filters, name) for name in NAMES if getattr(filters, name)}
    return urlencode(chosen | more)


def _shared(access: Access, choices: Choices, filters: Filters, page: Page[Any]) -> dict[str, Any]:
    return of_study(access) | {
        "choices": choices,
        "filters": filters,
        "query": _query(filters),
        "page": page,
        "page_query": _query(filters, page=""),
        "is_sealed": is_sealed(access.study),
        "main_class": "part",
    }


@require_in_study(roles.VIEW_RESPONSES, query=QUERY)
def story(request: HttpRequest, access: Access, story: int) -> HttpResponse:
    """For whoever may see answers: one story with its quoted passages marked, and the reasons beside it."""
    row, previous, following = find_story(access, story)
    choices = Choices.of(access)
    filters = choices.read(request)
    rows = queries.in_order(queries.reasons(access.study, filters).filter(story=row))
    page = Paginator(rows, queries.PAGE_SIZE).get_page(request.GET.get("page"))
    reasons = queries.read(cast("QuerySet[Response]", page.object_list))
    marked = passages.mark(row.text, [(reason.pk, reason.quotes) for reason in reasons])
    context = _shared(access, choices, filters, page) | {
        "story": row,
        "previous": _neighbour(access, previous, filters),
        "next": _neighbour(access, following, filters),
        "paragraphs": list_paragraphs(marked),
        "n_passages": marked.n_passages,
        "parts": group_by_item(reasons, marked),
        "source": _source(row, choices),
    }
    return render(request, "reports/rationales_story.html", context)


def list_paragraphs(marked: MarkedStory) -> list[tuple[MarkedParagraph, list[tuple[Stretch, int, int]]]]:
    """The paragraphs with their stretches: of a quoted one the first reason that quotes it, and how many do."""
    reasons_by_mark = {0: (0,)} | marked.quoted_by
    return [
        (paragraph, [(stretch, reasons_by_mark[stretch.quote][0], n) for stretch, n in _counted(paragraph, marked)])
        for paragraph in marked.paragraphs
    ]


def _counted(paragraph: MarkedParagraph, marked: MarkedStory) -> list[tuple[Stretch, int]]:
    return [(stretch, len(marked.quoted_by.get(stretch.quote, ()))) for stretch in paragraph.stretches]


def group_by_item(reasons: list[RationaleRow], marked: MarkedStory | None = None) -> list[ItemReasons]:
    by_item = groupby(reasons, key=lambda reason: (reason.step, reason.item.pk))
    parts = [(step, list(of_item)) for (step, _item), of_item in by_item]
    return [ItemReasons(rows[0].item, step, [_quoting(row, marked) for row in rows]) for step, rows in parts]


def _quoting(reason: RationaleRow, marked: MarkedStory | None) -> QuotingReason:
    if marked is None:
        return QuotingReason(reason)
    return QuotingReason(reason, marked.marks_by_reason.get(reason.pk, ()), reason.pk in marked.not_found)


def _source(story: Story, choices: Choices) -> str:
    """Who wrote the story, if that may be known; one query then."""
    if choices.sources is None:
        return ""
    names = Provenance.objects.filter(story=story).values_list("source__name", flat=True)
    return names.first() or ""


def _neighbour(access: Access, story: int | None, filters: Filters) -> str:
    return _address(access, "story", story, _query(filters)) if story else ""


def find_story(access: Access, story: int) -> tuple[Story, int | None, int | None]:
    """The story, and the ids of those before and after it by code. One query."""
    others = Story.objects.filter(study=access.study).values("pk")
    rows = access.study.stories.annotate(
        previous=Subquery(others.filter(code__lt=OuterRef("code")).order_by("-code")[:1]),
        following=Subquery(others.filter(code__gt=OuterRef("code")).order_by("code")[:1]),
    )
    row = rows.filter(pk=story).first()
    if row is None:
        raise Http404
    return row, row.previous, row.following


@require_in_study(roles.VIEW_RESPONSES, query=QUERY)
def group(request: HttpRequest, access: Access, group: int) -> HttpResponse:
    """For whoever may see answers: the reasons for answers about a whole group, beside what it was written to."""
    row = StoryGroup.objects.filter(study=access.study, pk=group).first()
    if row is None:
        raise Http404
    choices = Choices.of(access)
    filters = choices.read(request)
    rows = queries.reasons(access.study, filters).filter(story=None, assignment__group=row)
    page = Paginator(queries.in_order(rows), queries.PAGE_SIZE).get_page(request.GET.get("page"))
    stories = [
        (code, _address(access, "story", pk, _query(filters)))
        for pk, code in row.stories.order_by("code").values_list("pk", "code")
    ]
    context = _shared(access, choices, filters, page) | {
        "group": row,
        "premise": as_set(row.premise),
        "stories": stories,
        "parts": group_by_item(queries.read(cast("QuerySet[Response]", page.object_list))),
    }
    return render(request, "reports/rationales_group.html", context)


@require_in_study(roles.VIEW_RESPONSES)
def reason(request: HttpRequest, access: Access, response: int) -> HttpResponse:
    """For whoever may see answers: to one reason where it stands, among all on its story or group."""
    rows = queries.reasons(access.study)
    row = rows.filter(pk=response).values("story_id", "assignment__group_id").first()
    if row is None:
        raise Http404
    story, group = row["story_id"], row["assignment__group_id"]
    if not (story or group):
        raise Http404
    beside = rows.filter(story=story) if story else rows.filter(story=None, assignment__group=group)
    page = (queries.position(beside, response) or 0) // queries.PAGE_SIZE + 1
    query = urlencode({"page": page}) if page > 1 else ""
    address = _address(access, "story", story, query) if story else _address(access, "group", group, query)
    return redirect(f"{address}#reason-{response}")
