"""The course of a study: launched, paused and resumed, closed. One list says what stands in the way of a launch."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.design import seats
from studies import hashing, lifecycle, protocol
from studies.lifecycle import TRANSITIONS
from studies.models import Study
from studies.protocol import Finding, Purpose

BEFORE_RATERS = frozenset({Purpose.LAUNCH})


class NotReady(ValueError):
    """The study cannot pass to the state that was asked for; the message gives every reason and the way out."""


def findings(study: Study, *, at: datetime) -> list[Finding]:
    """Everything to be said of the study before it is planned or launched; empty if all is well."""
    if not lifecycle.may(study, "launch"):
        return [Finding("error", "state", _state_of(study))]
    read = protocol.read_rows(protocol.latest(study))
    return [*protocol.findings(study, read), *_stale(study, read), *_late(study, at=at)]


def obstacles(study: Study, *, at: datetime) -> list[Finding]:
    """What keeps the study from being launched."""
    return protocol.errors(findings(study, at=at), Purpose.LAUNCH)


def _state_of(study: Study) -> str:
    if lifecycle.is_closed(study):
        return _("it is closed; load it again under another slug to run it anew")
    if lifecycle.is_paused(study):
        return _("it is paused; resume it")
    return _("it is live already")


def _stale(study: Study, read: protocol.Protocol) -> list[Finding]:
    """Raters would read something else than what was frozen, or than what the seats were planned for."""
    frozen = read.version
    if frozen.frozen_at and hashing.sha256(protocol.document(read)) != frozen.sha256:
        sentence = _("its steps, stories or groups have changed since its protocol was frozen")
        return [Finding("error", "", sentence, _("undo that, or load it anew"))]
    if seats.people(study).exists() and not seats.is_as_planned(study):
        sentence = _("its groups, stories or design have changed since its seats were planned")
        return [Finding("error", "", sentence, _("plan it again"), BEFORE_RATERS)]
    return []


def _late(study: Study, *, at: datetime) -> list[Finding]:
    if not lifecycle.has_run_out(study, at=at):
        return []
    sentence, way_out = _("it was to close in the past"), _("set “closes at” to a later time, or empty it")
    return [Finding("error", "closes_at", sentence, way_out, BEFORE_RATERS)]


@transaction.atomic
def launch(study: Study, *, by: str, at: datetime) -> Study:
    """The study, open to whoever holds a link: planned if it is not yet, its protocol frozen. Raises NotReady.

    All of it or nothing: whatever is in the way is said at once, and leaves the study a draft.
    """
    sentences = [str(finding) for finding in obstacles(study, at=at)]
    # The state in the condition: of two launches at once, one changes no row and is told so.
    if not sentences and not _turn(study, "launch", launched_at=at):
        sentences = [_("somebody else has just launched it")]
    if sentences:
        raise _not_ready(_("%(study)s cannot be launched: %(why)s"), study, sentences)
    if not seats.people(study).exists():
        seats.make(study)
    try:
        protocol.ensure_frozen(study, purpose=Purpose.LAUNCH, reason="launched", by=by, at=at)
    except protocol.NotPlannable as error:  # changed at this very moment
        raise _not_ready(_("%(study)s cannot be launched: %(why)s"), study, [str(error)]) from None
    return study


def pause(study: Study) -> Study:
    """The study, in which nobody can answer until it is resumed; what is saved stays. Raises NotReady."""
    if not _turn(study, "pause"):
        raise NotReady(_("%(study)s cannot be paused: it is not live") % {"study": study.slug})
    return study


def resume(study: Study) -> Study:
    """The study, live again after a pause. Raises NotReady."""
    if not _turn(study, "resume"):
        raise NotReady(_("%(study)s cannot be resumed: it is not paused") % {"study": study.slug})
    return study


def close(study: Study, *, at: datetime) -> Study:
    """The study, closed for good: what is saved stays, nothing more can be answered. Raises NotReady."""
    if not _turn(study, "close", closed_at=at):
        raise NotReady(_("%(study)s cannot be closed: it is not live") % {"study": study.slug})
    return study


def _not_ready(sentence: str, study: Study, reasons: list[str]) -> NotReady:
    return NotReady(sentence % {"study": study.slug, "why": "; ".join(reasons)})


def _turn(study: Study, name: str, **fields: object) -> bool:
    """Whether the study passed through that transition, with these fields set as well."""
    transition = TRANSITIONS[name]
    rows = Study.objects.filter(pk=study.pk, state__in=transition.before)
    has_turned = rows.update(state=transition.after, **fields)
    study.refresh_from_db()
    return bool(has_turned)
