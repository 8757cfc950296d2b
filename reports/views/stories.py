"""The stories of a study, and one of them with all that is known of it: its text, answers, reasons, where it stands.

Whoever may see answers may read them. Who wrote a story, what judges and metrics answered about it and how it stands
among the others is told only where the report tells of sources: a detector's score tells them, and an order by outcome,
or how many judges read it, may.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.models import Rater, Response
from config import roles
from reports.dataset import is_sealed
from reports.figures.codec import Undecodable
from reports.page.standings import RankedOutcome, StoryStanding, list_outcomes
from reports.page.story_answers import ItemAnswers, Measurement, list_measurements, sort_answers
from reports.rationales import passages, queries
from reports.rationales.queries import RationaleRow
from reports.views.rationales import find_story, group_by_item, list_paragraphs
from reports.views.shared import may_see_sources, obtain_report, of_study
from studies.access import Access
from studies.models import Provenance, Story
from studies.views.guards import refuse_unknown, require_in_study

STORIES_A_PAGE = 50
MOST_GROUPS = 300  # to choose from; of more the code is typed
LONGEST = 80  # characters of a group's code
ORDERS = HIGHEST, LOWEST, BY_CODE = ("highest", "lowest", "code")  # the first where none is asked for
OPEN_QUERY = ("outcome", "order")  # which a list has only where sources may be seen
QUERY = ("group", "page", *OPEN_QUERY)


@dataclass(frozen=True)
class Standings:
    """What the stored report has story by story. is_hidden : whether it may not be seen; is_waiting : not yet there"""

    outcomes: Sequence[RankedOutcome] = ()
    measurements: Sequence[Measurement] = ()
    is_hidden: bool = False
    is_waiting: bool = False

    @classmethod
    def of(cls, request: HttpRequest, access: Access) -> Standings:
        """A stored report is read where sources may be seen, and nothing else is."""
        if not may_see_sources(access):
            return cls(is_hidden=True)
        report, _computation = obtain_report(request, access)
        if report is None or report.result.get("is_sealed", True):
            return cls(is_waiting=True)
        try:
            return cls(list_outcomes(report), list_measurements(report))
        except Undecodable:
            return cls(is_waiting=True)

    def of_story(self, code: str) -> list[StoryStanding]:
        """Where the story stands on each outcome, in each of its groups."""
        return [outcome.stand(value) for outcome in self.outcomes for value in outcome.values_by_story.get(code, ())]


@dataclass(frozen=True)
class ListedStory:
    """A story in the list. standings : on the outcome that is shown, in each of its groups"""

    story: Story
    groups: str
    n_people: int
    n_judges: int
    source: str
    standings: Sequence[StoryStanding]


@dataclass(frozen=True)
class Wanted:
    """What the list shows. group : the code of one, "" for all; outcome : None where there is none"""

    group: str
    outcome: RankedOutcome | None
    order: str

    @classmethod
    def read(cls, request: HttpRequest, standings: Standings) -> Wanted:
        """Raises Http404 for what cannot be."""
        group, key = request.GET.get("group", "").strip()[:LONGEST], request.GET.get("outcome", "")
        order = request.GET.get("order", "") or HIGHEST
        if order not in ORDERS:
            raise Http404
        outcomes = [outcome for outcome in standings.outcomes if not key or outcome.key == key]
        if key and not outcomes and not standings.is_waiting:
            raise Http404
        return cls(group, outcomes[0] if outcomes else None, order)

    def query(self, **more: object) -> str:
        chosen = {
            "group": self.group,
            "outcome": self.outcome.key if self.outcome else "",
            "order": "" if self.order == HIGHEST else self.order,
        }
        return urlencode({name: value for name, value in chosen.items() if value} | more)


@require_in_study(roles.VIEW_RESPONSES, query=QUERY)
def story_list(request: HttpRequest, access: Access) -> HttpResponse:
    """For whoever may see answers: every story, by an outcome once sources may be seen, else by code."""
    standings = Standings.of(request, access)
    if standings.is_hidden:
        refuse_unknown(request, [name for name in QUERY if name not in OPEN_QUERY])
    wanted = Wanted.read(request, standings)
    page = Paginator(_order_stories(access, wanted), STORIES_A_PAGE).get_page(request.GET.get("page"))
    groups = list(access.study.groups.order_by("code").values_list("code", flat=True)[: MOST_GROUPS + 1])
    context = _shared(access, standings) | {
        "page": page,
        "rows": _rows(access, wanted, page),
        "wanted": wanted,
        "groups": groups[:MOST_GROUPS],
        "has_more_groups": len(groups) > MOST_GROUPS,
        "page_query": wanted.query(page=""),
    }
    return render(request, "reports/stories.html", context)


def _order_stories(access: Access, wanted: Wanted) -> list[int]:
    """The ids of the stories in order; those without a value on the outcome come last. One query."""
    stories = access.study.stories.order_by("code")
    if wanted.group:
        stories = stories.filter(groups__code=wanted.group)
    codes = list(stories.values_list("pk", "code"))
    if wanted.outcome is None or wanted.order == BY_CODE:
        return [pk for pk, _code in codes]
    sign = -1 if wanted.order == HIGHEST else 1
    # Of a story in several groups the value that comes first in this order.
    best = {code: min(sign * v.value for v in values) for code, values in wanted.outcome.values_by_story.items()}
    return [pk for pk, _code in sorted(codes, key=lambda row: (row[1] not in best, best.get(row[1], 0.0), row[1]))]


def _rows(access: Access, wanted: Wanted, page: Page[int]) -> list[ListedStory]:
    """The stories of a page with how many answered about them. Four queries, five with sources."""
    pks = list(page.object_list)
    stories = {story.pk: story for story in Story.objects.filter(pk__in=pks).defer("text").prefetch_related("groups")}
    is_person = Q(assignment__rater_kind=Rater.Kind.PERSON)
    rater = "assignment__rater"
    counted = queries.answers(access.study).filter(story__in=pks).order_by().values_list("story")
    counts = {
        story: (n_people, n_judges)
        for story, n_people, n_judges in counted.annotate(
            n_people=Count(rater, filter=is_person, distinct=True),
            n_judges=Count(rater, filter=Q(assignment__rater_kind=Rater.Kind.MODEL), distinct=True),
        )
    }
    sources = _source_by_story(access, pks)
    values = wanted.outcome.values_by_story if wanted.outcome else {}
    return [
        ListedStory(
            story=stories[pk],
            groups=", ".join(sorted(group.code for group in stories[pk].groups.all())),
            n_people=counts.get(pk, (0, 0))[0],
            n_judges=counts.get(pk, (0, 0))[1],
            source=sources.get(pk, ""),
            standings=[wanted.outcome.stand(value) for value in values.get(stories[pk].code, ())]
            if wanted.outcome
            else [],
        )
        for pk in pks
    ]


def _source_by_story(access: Access, stories: Sequence[int]) -> dict[int, str]:
    """Who wrote these stories, by their ids, if that may be known; one query then."""
    if not may_see_sources(access):
        return {}
    return dict(Provenance.objects.filter(story__in=stories).values_list("story_id", "source__name"))


@require_in_study(roles.VIEW_RESPONSES, query=("page",))
def story(request: HttpRequest, access: Access, story: int) -> HttpResponse:
    """For whoever may see answers: one story, every answer about it, the reasons beside its text, where it stands."""
    row, previous, following = find_story(access, story)
    standings = Standings.of(request, access)
    counted = queries.answers(access.study).filter(story=row).exclude(outcome=Response.Outcome.OPEN, rationale="")
    if standings.is_hidden:
        counted = counted.filter(assignment__rater_kind=Rater.Kind.PERSON)
    answers = queries.read(queries.in_order(counted))
    reasons = [answer for answer in answers if answer.text]
    page = Paginator(reasons, queries.PAGE_SIZE).get_page(request.GET.get("page"))
    marked = passages.mark(row.text, [(reason.pk, reason.quotes) for reason in page.object_list])
    context = _shared(access, standings) | {
        "story": row,
        "previous": previous,
        "next": following,
        "groups": list(row.groups.order_by("code").values_list("code", flat=True)),
        "source": _source_by_story(access, [row.pk]).get(row.pk, ""),
        "standings": standings.of_story(row.code),
        "items": _answers_by_item(answers, reasons),
        "has_judges": any(answer.kind == Rater.Kind.MODEL for answer in answers),
        "measured": _measured(answers, standings),
        "paragraphs": list_paragraphs(marked),
        "n_passages": marked.n_passages,
        "parts": group_by_item(list(page.object_list), marked),
        "page": page,
        "page_query": "page=",
    }
    return render(request, "reports/story.html", context)


def _answers_by_item(answers: Sequence[RationaleRow], reasons: Sequence[RationaleRow]) -> list[ItemAnswers]:
    """What people and judges answered, item by item; each reason with the page on which it stands."""
    page_by_reason = {reason.pk: n // queries.PAGE_SIZE + 1 for n, reason in enumerate(reasons)}
    of_raters = [answer for answer in answers if answer.kind != Rater.Kind.METRIC]
    by_item = groupby(of_raters, key=lambda answer: (answer.step, answer.item.pk))
    return [sort_answers(list(rows), page_by_reason) for _key, rows in by_item]


def _measured(answers: Sequence[RationaleRow], standings: Standings) -> list[tuple[RationaleRow, Measurement | None]]:
    """What metrics measured of the story beside all stories; nothing while sources are hidden."""
    if standings.is_hidden:
        return []
    over_all = {(row.metric, row.step, row.item): row for row in standings.measurements}
    # A story that stands in several groups was measured in each, with the same value.
    of_metrics = {(a.rater, a.step, a.item.key): a for a in answers if a.kind == Rater.Kind.METRIC}
    return [(answer, over_all.get(key)) for key, answer in of_metrics.items()]


def _shared(access: Access, standings: Standings) -> dict[str, Any]:
    return of_study(access) | {
        "outcomes": standings.outcomes,
        "is_hidden": standings.is_hidden,
        "is_waiting": standings.is_waiting,
        "is_sealed": is_sealed(access.study),
        "main_class": "part",
    }
