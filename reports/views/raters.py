"""The raters of a study under their codes, and one of them beside the others: questions to ask, never verdicts.

For whoever may see the report, whose figures name raters by their codes. Places, and checks that were answered wrongly,
are for whoever may see places. Nothing here is told by source, and nobody is told who a rater is.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from annotation.models import Rater, StepTaken
from annotation.progress import monitor
from config import roles
from reports.document.model import Head
from reports.figures.codec import Undecodable
from reports.models import Report
from reports.page.rater_numbers import RaterFigures, RaterSummary
from reports.views.shared import obtain_report, of_study
from studies import protocol
from studies.access import Access
from studies.models import Step
from studies.views.guards import require_in_study

RATERS_A_PAGE = 50


@dataclass(frozen=True)
class RaterEntry:
    """A rater of the list. summary : None where nothing is told of one who withdrew"""

    rater: Rater
    has_withdrawn: bool
    summary: RaterSummary | None


@dataclass(frozen=True)
class CheckRow:
    """A check of which the rater answered something wrongly.

    n_wrong : attempts
    state : "passed", "failed" after the last attempt, or "open" where neither has happened yet
    """

    step: Step
    n_wrong: int
    state: str


@require_in_study(roles.VIEW_REPORT, query=("page",))
def rater_list(request: HttpRequest, access: Access) -> HttpResponse:
    """For whoever may see the report: its raters by code, with how many questions there are to ask."""
    report, figures = _read_figures(request, access)
    raters = access.study.raters.filter(kind=Rater.Kind.PERSON).select_related("withdrawal").order_by("code")
    page = Paginator(raters, RATERS_A_PAGE).get_page(request.GET.get("page"))
    context = of_study(access) | {
        "page": page,
        "page_query": "page=",
        "rows": [_enter(rater, figures) for rater in page.object_list],
        "report": report,
        "is_waiting": figures is None,
    }
    return render(request, "reports/raters.html", context)


def _enter(rater: Rater, figures: RaterFigures | None) -> RaterEntry:
    has_withdrawn = hasattr(rater, "withdrawal")
    return RaterEntry(rater, has_withdrawn, None if has_withdrawn or not figures else figures.summarise(rater.code))


@require_in_study(roles.VIEW_REPORT)
def rater(request: HttpRequest, access: Access, rater_id: int) -> HttpResponse:
    """For whoever may see the report: one rater beside the others. Of one who withdrew nothing but that is told."""
    people = access.study.raters.filter(kind=Rater.Kind.PERSON).select_related("withdrawal", "invitation")
    row = people.filter(pk=rater_id).first()
    if row is None:
        raise Http404
    context = of_study(access) | {"rater": row, "has_withdrawn": hasattr(row, "withdrawal")}
    if not context["has_withdrawn"]:
        report, figures = _read_figures(request, access)
        head = Head(language=access.study.language)
        sees_places = access.may("annotation.view_assignment")
        checks = _list_checks(row) if sees_places else []
        context |= {
            "report": report,
            "is_waiting": figures is None,
            "questions": figures.list_questions(row.code) if figures else [],
            "queries": _queries(access, row) if sees_places else [],
            "looked_for": figures.looked_for(row.code) if figures else [],
            "why_not_compared": figures.say_why_not_compared(row.code) if figures else "",
            "groups": figures.list_groups(row.code, head) if figures else [],
            "checks": checks,
            "has_checks": sees_places and bool(checks or protocol.load_protocol(protocol.latest(access.study)).checks),
            "places": monitor.list_places(row) if sees_places else [],
            "invitation": _invitation(access, row),
        }
    return render(request, "reports/rater.html", context)


def _read_figures(request: HttpRequest, access: Access) -> tuple[Report | None, RaterFigures | None]:
    """The stored report with its figures on raters; without figures while there is none that can be read."""
    report, _computation = obtain_report(request, access)
    try:
        return report, RaterFigures.of(report) if report else None
    except Undecodable:
        return report, None


def _queries(access: Access, rater: Rater) -> list[monitor.Query]:
    """What the monitor has to ask about the rater. Five queries."""
    queries = monitor.list_queries(access.study, at=timezone.now())
    return [query for query in queries if query.code == rater.code]


def _list_checks(rater: Rater) -> list[CheckRow]:
    """The checks that the rater did not pass at once, in the order of their steps. Two queries."""
    n_wrong_by_step: dict[Step, int] = {}
    passed = set()
    for attempt in StepTaken.objects.filter(rater=rater).select_related("step").order_by("step__position", "attempt"):
        if attempt.wrong:
            n_wrong_by_step[attempt.step] = n_wrong_by_step.get(attempt.step, 0) + 1
        else:
            passed.add(attempt.step_id)
    state_by_step = dict.fromkeys(passed, "passed")
    state_by_step |= dict.fromkeys(StepTaken.failures().filter(rater=rater).values_list("step", flat=True), "failed")
    return [CheckRow(step, n_wrong, state_by_step.get(step.pk, "open")) for step, n_wrong in n_wrong_by_step.items()]


def _invitation(access: Access, rater: Rater) -> int | None:
    """The page of the person under People, for those who may see it."""
    invitation = getattr(rater, "invitation", None)
    return invitation.pk if invitation and access.may("annotation.view_invitation") else None
