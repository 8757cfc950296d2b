"""Launching a study, which plans seats and freezes the protocol. One list says what stands in the way."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.dispatch import Signal
from django.utils.translation import gettext as _

from annotation.design import deletion, recruitment, seats
from studies import hashing, lifecycle, protocol
from studies.lifecycle import NotReady
from studies.models import Study
from studies.protocol import Finding, Purpose

BEFORE_RATERS = frozenset({Purpose.LAUNCH})
# Asks with the study what else is to be said before its launch to those who may know who wrote its stories; whoever is
# connected answers with findings. Judges are, which this package does not know.
sources_examined = Signal()


def findings(study: Study, *, at: datetime) -> list[Finding]:
    """Everything to be said of the study before it is planned or launched; empty if all is well."""
    if not lifecycle.can_transition(study, "launch"):
        return [Finding("error", "state", _state_sentence(study))]
    latest = protocol.read_rows(protocol.latest(study))
    return [
        *protocol.collect_findings(study, latest),
        *_stale_findings(study, latest),
        *protocol.check_deadline(study, latest, at=at),
        *recruitment.find_gaps(study),
    ]


def collect_source_warnings(study: Study) -> list[Finding]:
    """What is to be said before the launch to those alone who may know who wrote the stories."""
    answers: list[tuple[Any, Any]] = sources_examined.send(collect_source_warnings, study=study)
    return [finding for _receiver, findings_of_one in answers for finding in findings_of_one]


def launch_obstacles(study: Study, *, at: datetime) -> list[Finding]:
    """What keeps the study from being launched, or a rehearsal from being opened."""
    return protocol.select_errors(findings(study, at=at), _purpose(study))


def _purpose(study: Study) -> Purpose:
    return Purpose.REHEARSAL if study.is_rehearsal else Purpose.LAUNCH


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
        sentence = _("its groups, stories or design have changed since its places were planned")
        return [Finding("error", "", sentence, _("plan it again"), BEFORE_RATERS)]
    return []


class ChangedMeanwhile(NotReady):
    """The study is no longer what was read when its launch was asked for."""


def launch(study: Study, *, by: str, at: datetime, as_read: str = "") -> Study:
    """The study, open to anyone with a link: planned if it is not yet, its protocol frozen. Raises NotReady.

    All of it or nothing: whatever is in the way is said at once, and leaves the study a draft.
    as_read : the `fingerprint` of what was read; if the study is another now, raises ChangedMeanwhile
    """
    try:
        with transaction.atomic():
            launched = _launch(study, by=by, at=at)
            # Of what is frozen now, not of what was there a moment before: nobody can change it in between.
            if as_read and fingerprint(launched, protocol.current(launched).document) != as_read:
                raise ChangedMeanwhile(_("%(study)s was changed after it was read") % {"study": study.slug})
            return launched
    except Exception:
        # What was read of it, live already, has been taken back.
        study.refresh_from_db()
        raise


def fingerprint(study: Study, document: str) -> str:
    """A hash of what a launch makes final: the document of the protocol, and until when raters may work."""
    return hashing.sha256(f"{hashing.sha256(document)} {study.closes_at.isoformat() if study.closes_at else ''}")


def _launch(study: Study, *, by: str, at: datetime) -> Study:
    sentences = [str(finding) for finding in launch_obstacles(study, at=at)]
    # The state in the condition: of two launches at once, one changes no row and is told so.
    if not sentences and not lifecycle.change_state(study, "launch", launched_at=at):
        sentences = [_("somebody else has just launched it")]
    if sentences:
        raise _not_ready(_("%(study)s cannot be launched: %(why)s"), study, sentences)
    if not seats.of_people(study).exists():
        seats.create(study)
    try:
        protocol.ensure_frozen(study, purpose=_purpose(study), reason="launched", by=by, at=at)
    except protocol.NotPlannable as error:  # changed at this very moment
        raise _not_ready(_("%(study)s cannot be launched: %(why)s"), study, [str(error)]) from None
    deletion.delete_rehearsals(study)  # of what is live there is nothing to rehearse
    return study


def _not_ready(sentence: str, study: Study, reasons: list[str]) -> NotReady:
    return NotReady(sentence % {"study": study.slug, "why": "; ".join(reasons)})
