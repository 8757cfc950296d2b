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
    """The study cannot pass to that state; the message gives every reason and the way out."""


def findings(study: Study, *, at: datetime) -> list[Finding]:
    """Everything to be said of the study before it is planned or launched; empty if all is well."""
    if not lifecycle.can_transition(study, "launch"):
        return [Finding("error", "state", _state_sentence(study))]
    latest = protocol.read_rows(protocol.latest(study))
    return [
        *protocol.collect_findings(study, latest),
        *_stale_findings(study, latest),
        *_deadline_findings(study, at=at),
    ]


def launch_obstacles(study: Study, *, at: datetime) -> list[Finding]:
    """What keeps the study from being launched."""
    return protocol.select_errors(findings(study, at=at), Purpose.LAUNCH)


def _state_sentence(study: Study) -> str:
    if study.is_closed:
        return _("it is closed; load it again under another slug to run it anew")
    if study.is_paused:
        return _("it is paused; resume it")
    return _("it is live already")


def _stale_findings(study: Study, latest: protocol.Protocol) -> list[Finding]:
    """Raters would read something else than what was frozen, or than what the seats were planned for."""
    version = latest.version
    if version.frozen_at and hashing.sha256(protocol.write_document(latest)) != version.sha256:
        sentence = _("its steps, stories or groups have changed since its protocol was frozen")
        return [Finding("error", "", sentence, _("undo that, or load it anew"))]
    if seats.of_people(study).exists() and not seats.is_as_planned(study):
        sentence = _("its groups, stories or design have changed since its seats were planned")
        return [Finding("error", "", sentence, _("plan it again"), BEFORE_RATERS)]
    return []


def _deadline_findings(study: Study, *, at: datetime) -> list[Finding]:
    if not lifecycle.has_run_out(study, at=at):
        return []
    sentence, remedy = _("it was to close in the past"), _("set “closes at” to a later time, or empty it")
    return [Finding("error", "closes_at", sentence, remedy, BEFORE_RATERS)]


@transaction.atomic
def launch(study: Study, *, by: str, at: datetime) -> Study:
    """The study, open to whoever holds a link: planned if it is not yet, its protocol frozen. Raises NotReady.

    All of it or nothing: whatever is in the way is said at once, and leaves the study a draft.
    """
    sentences = [str(finding) for finding in launch_obstacles(study, at=at)]
    # The state in the condition: of two launches at once, one changes no row and is told so.
    if not sentences and not _change_state(study, "launch", launched_at=at):
        sentences = [_("somebody else has just launched it")]
    if sentences:
        raise _not_ready(_("%(study)s cannot be launched: %(why)s"), study, sentences)
    if not seats.of_people(study).exists():
        seats.create(study)
    try:
        protocol.ensure_frozen(study, purpose=Purpose.LAUNCH, reason="launched", by=by, at=at)
    except protocol.NotPlannable as error:  # changed at this very moment
        raise _not_ready(_("%(study)s cannot be launched: %(why)s"), study, [str(error)]) from None
    return study


def pause(study: Study) -> Study:
    """The study, in which nobody can answer until it is resumed; what is saved stays. Raises NotReady."""
    if not _change_state(study, "pause"):
        raise NotReady(_("%(study)s cannot be paused: it is not live") % {"study": study.slug})
    return study


def resume(study: Study) -> Study:
    """The study, live again after a pause. Raises NotReady."""
    if not _change_state(study, "resume"):
        raise NotReady(_("%(study)s cannot be resumed: it is not paused") % {"study": study.slug})
    return study


def close(study: Study, *, at: datetime) -> Study:
    """The study, closed for good: what is saved stays, nothing more can be answered. Raises NotReady."""
    if not _change_state(study, "close", closed_at=at):
        raise NotReady(_("%(study)s cannot be closed: it is not live") % {"study": study.slug})
    return study


def _not_ready(sentence: str, study: Study, reasons: list[str]) -> NotReady:
    return NotReady(sentence % {"study": study.slug, "why": "; ".join(reasons)})


def _change_state(study: Study, name: str, **fields: object) -> bool:
    """Whether the study passed through that transition, with these fields set as well."""
    transition = TRANSITIONS[name]
    rows = Study.objects.filter(pk=study.pk, state__in=transition.before)
    has_changed = rows.update(state=transition.after, **fields)
    study.refresh_from_db()
    return bool(has_changed)
