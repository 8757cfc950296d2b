"""The studies that an account has to do with, one row each, with the next thing to do in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.admin.views.decorators import staff_member_required
from django.core.paginator import Page, Paginator
from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    FilteredRelation,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
    Window,
)
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from annotation.models import Assignment, Rater, Seat
from config import roles
from studies import lifecycle
from studies.access import visible_studies
from studies.addresses import find_page
from studies.documents import placeholders
from studies.models import Instrument, Membership, Step, Story, StoryGroup, Study, is_unsaid
from studies.views.guards import refuse_unknown

SEES_MEMBERS, SEES_STUDY, DESIGNS, MAKES = (
    "studies.view_membership",
    "studies.view_study",
    "studies.change_study",
    "studies.add_study",
)
ROWS = 50


@dataclass(frozen=True)
class NextThing:
    """What is to be done next. kind : error, warning or nothing; url : where, or nothing if it is not theirs"""

    sentence: str
    kind: str = ""
    url: str = ""


@dataclass(frozen=True)
class StudyRow:
    """One study of the list. short_name : said where another study on the page has the same title"""

    study: Any
    role: str
    url: str
    next_thing: NextThing
    days_left: int | None = None
    short_name: str = ""


@require_safe
@staff_member_required
def index(request: HttpRequest) -> HttpResponse:
    """For staff: every study in which the account has something to do."""
    refuse_unknown(request, ("q", "page"))
    words = request.GET.get("q", "").replace("\x00", "").strip()
    studies = visible_studies(request.user, SEES_MEMBERS)
    rows = Study.objects.filter(pk__in=studies.values("pk"))
    if words:
        rows = rows.filter(title__icontains=words)
    on_page, page = _read_page(_counted(rows, request.user.pk), request.GET.get("page", ""))
    everywhere = request.user.get_all_permissions()
    now = timezone.now()
    n_by_title = Counter(study.title for study in on_page)
    context = {
        "rows": [_row(study, everywhere, at=now, is_namesake=n_by_title[study.title] > 1) for study in on_page],
        "page": page,
        "pages": list(page.paginator.get_elided_page_range(page.number)),
        "words": words,
        "may_make": request.user.has_perm(MAKES),
        "makers": ", ".join(roles.title(role) for role in roles.TABLE if MAKES in roles.permissions(role)),
    }
    return render(request, "studies/index.html", context)


def _read_page(studies: QuerySet[Study], number: str) -> tuple[list[Any], Page[int]]:
    """The studies on that page, and the page among the others; the first if there is none of that number. One query."""
    digits = number if number.isascii() and number.isdigit() and len(number) < 6 else "1"
    start = (max(int(digits), 1) - 1) * ROWS
    listed = list(studies.annotate(n_in_all=Window(Count("pk")))[start : start + ROWS])
    if not listed and start:
        return _read_page(studies, "1")
    n_in_all = listed[0].n_in_all if listed else 0
    return listed, Paginator(range(n_in_all), ROWS).page(start // ROWS + 1)


def _counted(studies: QuerySet[Study], user: int | None) -> QuerySet[Study]:
    """The studies with all that a row says of them, those that wait for somebody first."""
    people = Seat.objects.filter(rater_kind=Rater.Kind.PERSON)
    submitted = Assignment.objects.first_readings().filter(status=Assignment.Status.SUBMITTED)
    steps = Step.objects.filter(version__study=OuterRef("pk"))
    ratings = steps.filter(kind=Step.Kind.RATING).exclude(scope=Step.Scope.ONCE)
    unfilled = [Q(text__contains=f"{{{name}}}") & is_unsaid(name, "version__study") for name in placeholders.NAMES]
    is_unfilled = unfilled[0]
    for condition in unfilled[1:]:
        is_unfilled |= condition
    mine = FilteredRelation("memberships", condition=Q(memberships__user=user))
    return studies.annotate(
        mine=mine,
        my_role=F("mine__role"),
        n_stories=_count(Story.objects.all()),
        n_groups=_count(StoryGroup.objects.all()),
        n_places=_count(people),
        n_free=_count(people.filter(is_taken=False)),
        n_submitted=_count(submitted),
        has_questions=Exists(ratings),
        has_consent=Exists(steps.filter(kind=Step.Kind.CONSENT)),
        has_drafts=Exists(steps.filter(instrument__status=Instrument.Status.DRAFT)),
        has_empty_places=Exists(steps.filter(is_unfilled)),
        is_over=Case(When(state=Study.State.CLOSED, then=Value(1)), default=Value(0), output_field=IntegerField()),
    ).order_by("is_over", F("launched_at").desc(nulls_first=True), "title", "pk")


def _count(rows: QuerySet[Any]) -> Coalesce:
    """How many of these rows belong to the study at hand: joins would multiply one count by another."""
    counts = rows.filter(study=OuterRef("pk")).order_by().values("study").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counts, output_field=IntegerField()), 0)


def _row(study: Any, everywhere: set[str], *, at: datetime, is_namesake: bool) -> StudyRow:
    role = study.my_role or ""
    permitted = {*everywhere, *(roles.member_permissions(role) if role else ())}
    sees = SEES_STUDY in permitted
    url = reverse("studies:overview" if sees else "studies:members", args=[study.slug])
    label = str(Membership.Role(role).label) if role else ""
    next_thing = _find_next(study, permitted, at=at) if sees else NextThing("")
    days_left = (study.closes_at - at).days if study.closes_at and study.closes_at > at and not study.is_over else None
    return StudyRow(study, label, url, next_thing, days_left, study.slug if is_namesake else "")


def _find_next(study: Any, permitted: set[str], *, at: datetime) -> NextThing:
    """The first thing that blocks the study, else the first that is not said, else its free places.

    Of the findings only those that cost no further query for each row; the overview has them all.
    """
    sentence, kind, part, permission = _next_of_state(study, at=at)
    return NextThing(sentence, kind, find_page(study.slug, part) if part and permission in permitted else "")


def _next_of_state(study: Any, *, at: datetime) -> tuple[str, str, str, str]:
    """What is next, of which kind, in which part, and with which permission it is done."""
    if study.is_draft:
        return _next_of_draft(study, at=at)
    if study.is_closed:
        return _("Read the report"), "", "report", roles.VIEW_REPORT
    if study.is_paused:
        return _("Resume it, or close it"), "warning", "monitor", DESIGNS
    if lifecycle.has_run_out(study, at=at):
        return _("The deadline has passed: close it"), "warning", "monitor", DESIGNS
    if study.n_free:
        sentence = ngettext("%(n)d place is free: invite", "%(n)d places are free: invite", study.n_free)
        return sentence % {"n": study.n_free}, "", "people", "annotation.add_invitation"
    if study.n_places and study.n_submitted == study.n_places:
        return _("Everything is submitted: close it"), "", "monitor", DESIGNS
    return _("Nothing to do until someone answers"), "", "", ""


# What a draft lacks, in the order in which it is asked for: whether it does, in words, how grave, and where.
LACKS: tuple[tuple[Callable[[Any], bool], Callable[[], str], str, str], ...] = (
    (lambda study: not study.has_questions, lambda: _("Choose what is asked"), "error", "steps"),
    (lambda study: not study.n_stories, lambda: _("Import the stories"), "error", "stories"),
    (lambda study: not study.n_groups, lambda: _("Put the stories into groups"), "error", "stories"),
    (lambda study: not study.has_consent, lambda: _("Ask for consent"), "error", "steps"),
    (lambda study: study.has_drafts, lambda: _("Publish the instruments that it asks"), "error", "steps"),
    (
        lambda study: study.has_empty_places,
        lambda: _("Say what the texts leave open: who asks, what is paid"),
        "error",
        "rater_information",
    ),
    (lambda study: not study.seats_per_group, lambda: _("Say how many read each group"), "error", "reading_plan"),
    (
        lambda study: not study.closes_at,
        lambda: _("Say until when raters may answer"),
        "warning",
        "rater_information",
    ),
    (lambda study: not study.contact, lambda: _("Say who raters can write to"), "warning", "rater_information"),
    (lambda study: not study.pay, lambda: _("Say what is paid"), "warning", "rater_information"),
    (lambda study: not study.minutes, lambda: _("Say how long it takes"), "warning", "rater_information"),
)


def _next_of_draft(study: Any, *, at: datetime) -> tuple[str, str, str, str]:
    if lifecycle.has_run_out(study, at=at):
        return _("The deadline has passed: set another"), "error", "rater_information", DESIGNS
    for is_lacking, words, kind, part in LACKS:
        if is_lacking(study):
            return words(), kind, part, DESIGNS
    return _("Rehearse it once, then launch"), "", "launch", DESIGNS
