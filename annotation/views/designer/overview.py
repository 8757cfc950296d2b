"""One study at a glance: what is next, its size, what is to be said of it, and a rater's way in minutes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.design import launches, rehearsals, seats
from annotation.models import Assignment
from annotation.participation import payments
from config import roles
from studies import lifecycle, protocol
from studies.access import Access
from studies.addresses import find_page
from studies.models import Membership, StoryGroup, Study
from studies.protocol import Finding, PathSegment
from studies.source_findings import add_source_findings
from studies.views.guards import require_in_study

DESIGNS, SEES_MEMBERS = "studies.change_study", "studies.view_membership"
BAR = 940  # the width of the picture of minutes, in its own units
MOST_MEMBERS = 8


@dataclass(frozen=True)
class FindingRow:
    """A finding as the page says it. url : where it is corrected; "" for people who may not"""

    kind: str
    sentence: str
    way_out: str
    url: str
    page: str


@dataclass(frozen=True)
class NextStep:
    """What is next. why : a second sentence; url and label : the button, if there is one"""

    kind: str
    sentence: str
    why: str = ""
    url: str = ""
    label: str = ""


@dataclass(frozen=True)
class BarPart:
    """A piece of the picture of minutes. kind : once, read or together"""

    kind: str
    title: str
    x: float
    width: float
    label: str

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


@require_in_study("studies.view_study")
def overview(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who see the study: what is next, what blocks it, its size and course."""
    study, now = access.study, timezone.now()
    steps = protocol.read_rows(protocol.latest(study))
    segments = protocol.estimate_path(steps, protocol.words_of_a_group(study))
    findings = rehearsals.add_rehearsal_finding(launches.findings(study, at=now), study)
    findings = add_source_findings(findings, access) if study.is_draft else []
    rows = [_row(finding, access) for finding in sorted(findings, key=lambda finding: finding.level != "error")]
    places = _count_places(study)
    may_edit = study.is_draft and lifecycle.may_edit(study, is_frozen=steps.version.frozen_at is not None)
    members = Membership.objects.filter(study=study).select_related("user").order_by("since", "pk")
    context = {
        "study": study,
        "access": access,
        "findings": findings,
        "rows": rows,
        "n_errors": sum(row.kind == "error" for row in rows),
        "n_warnings": sum(row.kind == "warning" for row in rows),
        "next_step": _next_step(access, rows, places),
        "n_groups": StoryGroup.objects.filter(study=study).count(),
        **study.stories.aggregate(n_stories=Count("pk"), n_withheld=Count("pk", filter=Q(is_withheld=True))),
        "places": places,
        "segments": segments,
        "bar": _draw_bar(segments),
        "minutes": protocol.minutes_in_all(segments),
        "hours_in_all": places["n"] * protocol.minutes_of_group(segments) / 60,
        "pay": payments.estimate_total(study, places["n"]) if access.may(DESIGNS) else None,
        "steps_url": find_page(study.slug, "steps"),
        "members": members[:MOST_MEMBERS] if access.may(SEES_MEMBERS) else (),
        "meanings": roles.MEMBER_ROLES,
        "may_copy": request.user.has_perm("studies.add_study"),
        "may_save": access.may("studies.view_provenance"),
        "may_delete": may_edit and access.may("studies.delete_study"),
    }
    return render(request, "studies/overview.html", context)


def _row(finding: Finding, access: Access) -> FindingRow:
    url = find_page(access.study.slug, finding.place, finding.anchor) if access.may(DESIGNS) else ""
    page = {
        "steps": _("What is asked"),
        "stories": _("Stories"),
        "reading_plan": _("Who reads what"),
        "rater_information": _("What raters are told"),
        "analysis_plan": _("Analysis plan"),
        "rehearsal": _("Rehearse"),
        "launch": _("Launch"),
        "prolific": "Prolific",
        "applications": _("Applications"),
    }[finding.place]
    return FindingRow(finding.level, capfirst(finding.sentence), capfirst(finding.way_out), url, page)


def _count_places(study: Study) -> dict[str, int]:
    """Places of people: how many there are or will be, are planned, submitted, free; by how few people."""
    planned = seats.of_people(study).aggregate(n=Count("pk"), n_free=Count("pk", filter=Q(is_taken=False)))
    submitted = Assignment.objects.first_readings().filter(study=study, status=Assignment.Status.SUBMITTED)
    n_groups = StoryGroup.objects.filter(study=study).count()
    n_places = planned["n"] or n_groups * study.seats_per_group
    n_of_one = min(study.groups_per_rater or n_groups, n_groups)
    return {
        "n": n_places,
        "n_least_people": -(-n_places // n_of_one) if n_of_one else 0,
        "n_planned": planned["n"],
        "n_free": planned["n_free"],
        "n_submitted": submitted.count(),
    }


def _next_step(access: Access, rows: Sequence[FindingRow], places: dict[str, int]) -> NextStep | None:
    study = access.study
    if study.is_draft:
        return _next_of_draft(access, rows)
    if study.is_closed:
        url = find_page(study.slug, "report") if access.may(roles.VIEW_REPORT) else ""
        return NextStep("good", _("The study is closed."), _("Its results can be read."), url, _("Read the report"))
    if study.is_paused:
        return NextStep("warning", _("The study is paused."), _("Nobody can answer until it is resumed."))
    if places["n_free"]:
        sentence = ngettext("%(n)d place is free.", "%(n)d places are free.", places["n_free"])
        url = find_page(study.slug, "people") if access.may("annotation.add_invitation") else ""
        return NextStep("good", sentence % {"n": places["n_free"]}, "", url, _("Invite people"))
    return NextStep("good", _("Every place is taken."), _("Nothing to do until someone answers."))


def _next_of_draft(access: Access, rows: Sequence[FindingRow]) -> NextStep:
    errors = [row for row in rows if row.kind == "error"]
    first = next(iter([*errors, *rows]), None)
    if first is None:
        url = find_page(access.study.slug, "launch") if access.may(DESIGNS) else ""
        return NextStep(
            "good", _("Everything is in order."), _("Rehearse it once, then launch."), url, _("To the launch")
        )
    if errors:
        reason = ngettext(
            "The one problem that blocks the launch.",
            "The first of %(n)d problems that block the launch.",
            len(errors),
        ) % {"n": len(errors)}
    else:
        reason = _("Nothing blocks the launch. Consider this first.")
    return NextStep(first.kind, f"{first.sentence}.", reason, first.url, first.page)


def _draw_bar(segments: Sequence[PathSegment]) -> list[BarPart]:
    """The minutes as a row of pieces, each story of a step a piece of its own."""
    whole = protocol.minutes_in_all(segments) or 1
    parts: list[BarPart] = []
    x = 0.0
    for segment in segments:
        n_pieces = segment.n_stories or 1
        for n in range(n_pieces):
            width = BAR * segment.minutes / n_pieces / whole
            kind = "once" if segment.is_once else "read" if segment.n_stories else "together"
            letter = chr(ord("A") + n) if segment.n_stories and width > 24 else ""
            parts.append(BarPart(kind, segment.title, round(x, 1), round(width, 1), letter))
            x += width
    return parts
