"""The life of a study: planned, launched, closed. What stands in the way is said all at once."""

from datetime import datetime

from django.utils.translation import gettext as _

from annotation.models import Rater
from studies import hashing, protocol
from studies.models import Step, Study


class NotReady(ValueError):
    """The study cannot be launched or closed; the message gives every reason and, for each, the way out."""


def obstacles(study: Study, *, at: datetime) -> list[str]:
    """What keeps the study from being launched, one sentence each; empty if nothing does."""
    if study.state == Study.State.CLOSED:
        return [_("it is closed; load it again under another slug to run it anew")]
    if study.state == Study.State.LIVE:
        return [_("it is live already")]
    found = _unplanned(study) or _changed(study)
    if not Step.objects.filter(version__study=study, kind=Step.Kind.CONSENT).exists():
        found.append(_("it asks nobody for consent; add a step of kind consent, as the first"))
    if n := study.stories.filter(is_withheld=True).count():
        found.append(_("the text of %(n)d of its stories is withheld, so nobody could read them") % {"n": n})
    if study.closes_at and study.closes_at <= at:
        found.append(_("it was to close in the past; set “closes at” to a later time, or empty it"))
    return found


def _unplanned(study: Study) -> list[str]:
    try:
        protocol.current(study)
    except protocol.NotPlannable:
        found = [_("it is not planned; run `plan %(study)s`, or the action “Plan”") % {"study": study.slug}]
        drafts = study.versions.filter(frozen_at=None)
        return found + [each for draft in drafts for each in protocol.findings(study, protocol.read(draft))]
    if not study.seats.filter(rater_kind=Rater.Kind.PERSON).exists():
        return [_("it has no seats for people")]
    return []


def _changed(study: Study) -> list[str]:
    """Raters would read something else than what was frozen and what the seats were planned for."""
    frozen = protocol.current(study)
    now = protocol.document(protocol.read(frozen))
    if hashing.sha256(now) != frozen.sha256:
        return [_("its steps, stories or groups have changed since it was planned; undo that, or load it anew")]
    return []


def launch(study: Study, *, at: datetime) -> Study:
    """The study, open to whoever holds a link. Raises NotReady."""
    found = obstacles(study, at=at)
    # The state in the condition: of two launches at once, one changes no row and is told so.
    if not found and not _turn(study, Study.State.DRAFT, state=Study.State.LIVE, launched_at=at):
        found = [_("somebody else has just launched it")]
    if found:
        said = _("%(study)s cannot be launched: %(why)s")
        raise NotReady(said % {"study": study.slug, "why": "; ".join(found)})
    return study


def close(study: Study, *, at: datetime) -> Study:
    """The study, closed for good: what is saved stays, nothing more can be answered. Raises NotReady."""
    if not _turn(study, Study.State.LIVE, state=Study.State.CLOSED, closed_at=at):
        raise NotReady(_("%(study)s cannot be closed: it is not live") % {"study": study.slug})
    return study


def _turn(study: Study, expected: str, **fields: object) -> bool:
    turned = Study.objects.filter(pk=study.pk, state=expected).update(**fields)
    study.refresh_from_db()
    return bool(turned)
