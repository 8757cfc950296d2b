"""Launch: what becomes final, as a page of prose; one button to plan, freeze and open; then pause and close."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Max, Min
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from annotation.design import actions, launches, rehearsals
from annotation.views.designer.course import change_course
from stats import garbage_collection
from studies import hashing, protocol
from studies.access import Access
from studies.addresses import find_page
from studies.lifecycle import NotReady
from studies.models import Study
from studies.protocol import NotPlannable, Protocol, Purpose
from studies.protocol.prose import ProseFacts, ProseSection, write_prose, write_text
from studies.source_findings import add_source_findings
from studies.views import analysis_plans
from studies.views.guards import require_in_study

SEES = "studies.view_study"
SEES_SOURCES = "studies.view_provenance"
MAY_CHANGE = "studies.change_study"


@dataclass(frozen=True)
class ShownSection:
    """A section with where it is changed. is_changed : since the person read it"""

    section: ProseSection
    url: str
    is_changed: bool


@dataclass(frozen=True)
class ShownFinding:
    kind: str
    sentence: str
    way_out: str
    url: str


@require_in_study(SEES, change=MAY_CHANGE, methods=("GET", "HEAD", "POST"))
@garbage_collection.only_new()
def launch_page(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who see the study: what is or becomes final, and its state. For those who make it, the button that
    launches it, and those that pause, resume and close it."""
    study, status, problem = access.study, 200, ""
    if request.method == "POST":
        problem = _act(request, study)
        if not problem:
            return redirect("designer:launch", slug=study.slug)
        study.refresh_from_db()
        status = 409
    current_protocol = protocol.read_rows(protocol.latest(study))
    document = current_protocol.version.document or protocol.write_document(current_protocol)
    findings = rehearsals.add_rehearsal_finding(launches.findings(study, at=timezone.now()), study)
    findings = add_source_findings(findings, access) if study.is_draft else []
    if study.is_draft and access.may(SEES_SOURCES):
        findings += launches.collect_source_warnings(study)
    errors = protocol.select_errors(findings, Purpose.LAUNCH)
    sections = _sections(request, study, document)
    context = {
        "study": study,
        "access": access,
        "version": current_protocol.version,
        "problem": problem,
        "findings": findings,  # the rail shows them, too
        "may_change": access.may(MAY_CHANGE),
        "is_frozen": current_protocol.version.frozen_at is not None,
        "sections": sections,
        "amendments": [] if study.is_draft else study.amendments.only("at", "reason").order_by("number"),
        "as_read": launches.fingerprint(study, document),
        "sha256": hashing.sha256(document),
        "errors": show_findings(errors, "error", study),
        "warnings": show_findings([f for f in findings if f.level == "warning"], "warning", study),
        "people_url": find_page(study.slug, "people"),
        **_plan_context(access, current_protocol),
    }
    return render(request, "annotation/designer/launch.html", context, status=status)


@require_in_study(SEES)
def protocol_text(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who see the study: the prose of the launch page as a file of text, for those who have no account."""
    study = access.study
    version = protocol.latest(study)
    document = version.document or protocol.write_document(protocol.read_rows(version))
    if version.frozen_at:
        standing = _("Version %(number)d, fixed %(at)s. SHA-256 of the protocol: %(sha256)s")
        at = version.frozen_at
    else:
        standing = _("A draft of version %(number)d, as it stood %(at)s. SHA-256 of the protocol: %(sha256)s")
        at = timezone.now()
    standing %= {"number": version.number, "at": _describe_time(at), "sha256": hashing.sha256(document)}
    text = write_text(_write_prose(study, document), study.title, standing)
    disposition = f'attachment; filename="{study.slug}-protocol.txt"'
    return HttpResponse(text, content_type="text/plain; charset=utf-8", headers={"Content-Disposition": disposition})


def _act(request: HttpRequest, study: Study) -> str:
    """Do what the button says; "" if it is done, or else why not, in a sentence."""
    if request.POST.get("action", "") == "launch":
        return _launch(request, study, by=cast(User, request.user))
    return change_course(request, study)


def _launch(request: HttpRequest, study: Study, *, by: User) -> str:
    if "read" not in request.POST:
        return _("Not launched: say below that you have read this page.")
    try:
        actions.launch_as_read(study, request.POST.get("as_read", "") or "nothing", by=by)
    except launches.ChangedMeanwhile:
        return _(
            "Not launched: the study was changed after you opened this page. What changed is marked. Read it again."
        )
    except (NotReady, NotPlannable):
        study.refresh_from_db()
        if not study.is_draft:
            return _("Somebody else has just launched it.")
        return _("Not launched. The problems that block it are listed below.")
    messages.success(request, _("The study is live. Anyone with a link can begin."))
    return ""


def _sections(request: HttpRequest, study: Study, document: str) -> list[ShownSection]:
    was_read = request.POST.get("action") == "launch" and "as_read" in request.POST
    return [
        ShownSection(
            section,
            find_page(study.slug, section.part),
            was_read and request.POST.get(f"read-{section.key}", "") != section.sha256,
        )
        for section in _write_prose(study, document)
    ]


def _write_prose(study: Study, document: str) -> list[ProseSection]:
    lengths = study.stories.aggregate(least=Min("n_words"), most=Max("n_words"))
    return write_prose(
        document, ProseFacts(lengths["least"] or 0, lengths["most"] or 0, _describe_time(study.closes_at))
    )


def _describe_time(at: datetime | None) -> str:
    """A time with its zone, as the page tells it."""
    if at is None:
        return ""
    return date_format(timezone.localtime(at), "DATETIME_FORMAT")


def show_findings(findings: list[protocol.Finding], kind: str, study: Study) -> list[ShownFinding]:
    """The findings with where each is mended."""
    return [ShownFinding(kind, f.sentence, f.way_out, find_page(study.slug, f.place, f.anchor)) for f in findings]


def _plan_context(access: Access, current_protocol: Protocol) -> dict[str, Any]:
    """The analysis plan, for people who may know the sources."""
    if not access.may(analysis_plans.SEES):
        return {"sees_plan": False}
    plan = protocol.drafted_plan(access.study)
    facts = analysis_plans.describe_facts(plan, current_protocol) if plan else []
    return {"sees_plan": True, "plan_facts": [(name, text) for name, text in facts if text != "–"]}
