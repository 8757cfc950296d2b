"""What is asked: a study's steps as cards in the rater's order, each with its form and its page as raters see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.clickjacking import xframe_options_sameorigin

from annotation import progress
from annotation.views.designer import previews
from annotation.views.designer.step_forms import StepForm, load_instruments
from annotation.views.designer.step_kinds import KIND_BY_KEY, KINDS, NewStep
from studies import lifecycle, protocol
from studies.access import Access
from studies.documents import placeholders
from studies.documents.names import first_free
from studies.layouts.items import CheckOptions
from studies.models import Step, Study
from studies.protocol import Finding, PathSegment, Protocol, drafts, name_of
from studies.source_findings import collect_draft_findings
from studies.views.guards import require_in_study
from studies.views.posted_forms import makes_once

SEES, MAY_CHANGE = "studies.view_step", "studies.change_step"
SEES_PREVIEW = "studies.view_story"
SEPARATOR = " · "
GET_AND_POST = ("GET", "HEAD", "POST")


@dataclass(frozen=True)
class StepCard:
    """A step as the path shows it. number : of its place, from 1; segment : how long it takes"""

    number: int
    step: Step
    name: str
    sentence: str
    is_open: bool
    is_blocked: bool
    segment: PathSegment


@dataclass(frozen=True)
class Path:
    """The cards before, within and after what is repeated for each group.

    segments : what takes how long, up to the end of a first group
    asks_recognition : whether raters say before each group if they know one of its stories
    """

    segments: list[PathSegment]
    before: list[StepCard]
    repeated: list[StepCard]
    after: list[StepCard]
    asks_recognition: bool


@require_in_study(SEES)
def steps(request: HttpRequest, access: Access) -> HttpResponse:
    """The path of one rater; for those who make the study, the ways to change it until it is frozen."""
    return _page(request, access, protocol.load_protocol(protocol.latest(access.study)))


@require_in_study(SEES, change=MAY_CHANGE, methods=GET_AND_POST)
def step(request: HttpRequest, access: Access, step_id: int) -> HttpResponse:
    """The path with one step open: its form beside its page. POST saves, moves or removes it."""
    current_protocol = protocol.load_protocol(protocol.latest(access.study))
    current = _find(current_protocol, step_id)
    action = request.POST.get("do", "save")
    if request.method == "POST" and action != "save":
        return _move_or_remove(request, access.study, current_protocol, current, action)
    form = _step_form(request, current_protocol, current)
    if request.method == "POST" and form.is_valid():
        try:
            drafts.change_step(current, form.fields_of_step)
        except drafts.NotChanged as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("“%(step)s” is saved.") % {"step": name_of(current)})
            return redirect(reverse("designer:step", args=[access.study.slug, current.pk]) + "#main")
    return _page(request, access, current_protocol, current=current, form=form)


@require_in_study(SEES, change=MAY_CHANGE, methods=GET_AND_POST)
@makes_once
def new_step(request: HttpRequest, access: Access, kind: str) -> HttpResponse:
    """The form of a step that is to be added. POST adds it at the place where its kind belongs."""
    if kind not in KIND_BY_KEY:
        raise Http404
    new = KIND_BY_KEY[kind]
    current_protocol = protocol.load_protocol(protocol.latest(access.study))
    blank = Step(version=current_protocol.version, kind=new.kind, scope=new.scope)
    instruments = load_instruments(blank, new) if new.scope else []
    form = StepForm(request.POST or None, step=blank, instruments=instruments, is_new=True, is_check=new.needs_key)
    if request.method == "POST" and form.is_valid():
        fields = form.fields_of_step
        scope = fields.pop("scope", new.scope)
        index = drafts.default_index(current_protocol, kind=new.kind, scope=scope, is_last=new.is_last)
        taken = {step.key for step in current_protocol.steps}
        key = first_free(protocol.DEBRIEFING, taken, longest=drafts.LONGEST_KEY) if new.key == "debriefing" else ""
        try:
            step = drafts.add_step(access.study, kind=new.kind, fields=fields, scope=scope, index=index, key=key)
        except drafts.NotChanged as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("“%(step)s” is added.") % {"step": name_of(step)})
            return redirect(_address(access.study, step))
    return _page(request, access, current_protocol, form=form, new=new)


@xframe_options_sameorigin
@require_in_study(SEES_PREVIEW, change=MAY_CHANGE, methods=GET_AND_POST)
def step_preview(request: HttpRequest, access: Access, step_id: int) -> HttpResponse:
    """The page on which raters meet the step, for the frame beside its form. A POST of that form shows it as it would
    be, and saves nothing."""
    current_protocol = protocol.load_protocol(protocol.latest(access.study))
    current = _find(current_protocol, step_id)
    if request.method == "POST":
        form = _step_form(request, current_protocol, current)
        form.full_clean()  # what is not valid yet stays as it is saved
        try:
            current_protocol = drafts.try_step(current_protocol, current, form.fields_of_step)
        except drafts.NotChanged as error:
            return HttpResponse(escape(str(error)))
    return previews.preview_step(request, current_protocol, current)


def _find(current_protocol: Protocol, pk: int) -> Step:
    """The step of that number. Raises Http404 if the protocol has none."""
    for step in current_protocol.steps:
        if step.pk == pk:
            return step
    raise Http404


def _address(study: Study, step: Step) -> str:
    return reverse("designer:step", args=[study.slug, step.pk]) + f"#step-{step.pk}"


def _move_or_remove(
    request: HttpRequest, study: Study, current_protocol: Protocol, current: Step, action: str
) -> HttpResponse:
    """Do it, or say why not; then the path again."""
    names = {"step": name_of(current)}
    index = current_protocol.steps.index(current)
    try:
        if action == "remove":
            drafts.remove_step(current)
            messages.success(request, _("“%(step)s” is removed.") % names)
            return redirect("designer:steps", slug=study.slug)
        drafts.move_step(current, to=_target(request, index, action))
    except drafts.NotChanged as error:
        messages.error(request, str(error))
    return redirect(_address(study, current))


def _target(request: HttpRequest, index: int, action: str) -> int:
    """The place to which a step is moved, from 0. It stays where it is if nothing of ours was posted."""
    if action == "move":
        place = request.POST.get("to", "")
        return int(place) if place.isascii() and place.isdigit() and len(place) < 5 else index
    return index + {"up": -1, "down": 1}.get(action, 0)


def _step_form(request: HttpRequest, current_protocol: Protocol, current: Step) -> StepForm:
    instruments = load_instruments(current) if current.instrument_id else []
    earlier = [other for other in current_protocol.steps if other.position < current.position]
    data = request.POST if request.method == "POST" else None
    is_check = current_protocol.is_check(current)
    return StepForm(data, step=current, instruments=instruments, earlier=earlier, is_check=is_check)


def _page(
    request: HttpRequest,
    access: Access,
    current_protocol: Protocol,
    *,
    current: Step | None = None,
    form: StepForm | None = None,
    new: NewStep | None = None,
) -> HttpResponse:
    """The page with that step open, or with the form of a new one."""
    study = access.study
    is_editable = lifecycle.may_edit(study, is_frozen=current_protocol.version.frozen_at is not None)
    in_preview = current or next(iter(current_protocol.steps), None)
    findings = collect_draft_findings(access, current_protocol, at=timezone.now()) if study.is_draft else []
    path = _path(study, current_protocol, current, findings)
    context = {
        "findings": findings,
        "study": study,
        "access": access,
        "path": path,
        "minutes": protocol.minutes_in_all(path.segments),
        "minutes_of_group": protocol.minutes_of_group(path.segments),
        "current": current,
        "in_preview": in_preview if access.may(SEES_PREVIEW) and not new else None,
        "preview_name": name_of(in_preview) if in_preview else "",
        "form": form,
        "new": new,
        "kinds": KINDS,
        "chips": placeholders.LABELS.items(),
        "names_in_braces": get_text_list([f"{{{name}}}" for name in placeholders.NAMES], _("and")),
        "is_editable": is_editable,
        "may_change": is_editable and access.may(MAY_CHANGE),
        "n_groups": study.groups.count(),
    }
    status = 400 if form is not None and form.is_bound else 200
    return render(request, "annotation/designer/steps.html", context, status=status)


def _path(study: Study, current_protocol: Protocol, current: Step | None, findings: Sequence[Finding]) -> Path:
    segments = protocol.estimate_path(current_protocol, protocol.words_of_a_group(study))
    segment_by_step = {segment.step: segment for segment in segments}
    before, after = progress.steps_around_groups(current_protocol)
    is_blocked = {finding.location for finding in findings if finding.level == "error"}
    cards = [
        StepCard(
            number=number,
            step=step,
            name=name_of(step),
            sentence=_sentence(step, current_protocol, is_after=step in after),
            is_open=step == current,
            is_blocked=f"step {step.key}" in is_blocked,
            segment=segment_by_step[step.key],
        )
        for number, step in enumerate(current_protocol.steps, start=1)
    ]
    return Path(
        segments=segments,
        before=[c for c in cards if c.step in before or c.step.kind == Step.Kind.CONSENT],
        repeated=[c for c in cards if c.step not in (*before, *after) and c.step.kind != Step.Kind.CONSENT],
        after=[c for c in cards if c.step in after],
        asks_recognition=any(not segment.step for segment in segments),
    )


def _sentence(step: Step, current_protocol: Protocol, *, is_after: bool) -> str:
    """What kind of step it is, in the words of the path."""
    if step.instrument is None:
        if step.kind == Step.Kind.CONSENT:
            return _("Consent")
        return _("A text to read, after the last group") if is_after else _("A text to read")
    n = len(protocol.items_of(step))
    parts = [ngettext("%(n)d question", "%(n)d questions", n) % {"n": n}]
    if step.kind == Step.Kind.PRACTICE:
        return SEPARATOR.join([_("Practice, with sample answers; never counted"), *parts])
    if step.title:
        parts.insert(0, step.instrument.title)
    if current_protocol.is_check(step):
        ends = CheckOptions.read(step.options).ends
        parts.insert(0, _("Check: people who fail stop here") if ends else _("Check: people who fail continue"))
    parts.append(str(step.get_scope_display()))
    if step.locks:
        parts.append(_("locks what came before"))
    return SEPARATOR.join(parts)
