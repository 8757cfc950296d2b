"""The life of a study, draft to closed: what may be done in which state, and passing from one to the next.

Launching, which plans seats as well, is in `annotation.design.launches`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from studies.models import Study

State = Study.State


@dataclass(frozen=True)
class Transition:
    """From which states a study can pass to which."""

    before: tuple[str, ...]
    after: str


TRANSITIONS: Mapping[str, Transition] = {
    "launch": Transition((State.DRAFT,), State.LIVE),
    "pause": Transition((State.LIVE,), State.PAUSED),
    "resume": Transition((State.PAUSED,), State.LIVE),
    "close": Transition((State.LIVE, State.PAUSED), State.CLOSED),
    # Of a study that people are not asked about: judges read it, or answers to it were imported.
    "close_draft": Transition((State.DRAFT,), State.CLOSED),
}
# Links may be issued until a study is closed.
INVITING = (State.DRAFT, State.LIVE, State.PAUSED)


class NotReady(ValueError):
    """The study cannot pass to that state; the message gives every reason and the way out."""


def can_transition(study: Study, name: str) -> bool:
    """Whether the study may pass through that transition now."""
    return study.state in TRANSITIONS[name].before


def is_open_for_answers(study: Study, *, at: datetime) -> bool:
    """Whether raters may work in the study now."""
    return study.is_live and not has_run_out(study, at=at)


def has_run_out(study: Study, *, at: datetime) -> bool:
    """Whether the time is over until which raters may work, launched or not."""
    return study.closes_at is not None and study.closes_at <= at


def is_sealed(study: Study) -> bool:
    """Whether results by source are kept back: until the study is closed. In a rehearsal nobody's answers count."""
    return not (study.is_closed or study.is_rehearsal)


def may_plan(study: Study) -> bool:
    """Whether seats may be planned, for the first time or again: as soon as anyone could sit in one they stay."""
    return study.is_draft


def may_edit(study: Study, *, is_frozen: bool) -> bool:
    """Whether its steps, stories, groups and design may be changed. A judge's run freezes them before the launch."""
    return study.is_draft and not is_frozen


def may_invite(study: Study) -> bool:
    """Whether links for raters may be issued."""
    return study.state in INVITING


def may_close(study: Study) -> bool:
    """Whether it may be closed: once it is launched, or a draft as soon as a run of judges or answers from elsewhere
    have frozen its protocol. Such a draft need not be fit for people, and could not be made so any more. At most one
    query.
    """
    return can_transition(study, "close") or (study.is_draft and study.frozen_versions.exists())


def pause(study: Study) -> Study:
    """The study, in which nobody can answer until it is resumed; what is saved stays. Raises NotReady."""
    if not change_state(study, "pause"):
        raise NotReady(_("%(study)s cannot be paused: it is not live") % {"study": study.slug})
    return study


def resume(study: Study) -> Study:
    """The study, live again after a pause. Raises NotReady."""
    if not change_state(study, "resume"):
        raise NotReady(_("%(study)s cannot be resumed: it is not paused") % {"study": study.slug})
    return study


def close(study: Study, *, at: datetime) -> Study:
    """The study, closed for good: what is saved stays, nothing more can be answered. Raises NotReady."""
    name = "close_draft" if study.is_draft else "close"
    if not may_close(study) or not change_state(study, name, closed_at=at):
        raise NotReady(_("%(study)s cannot be closed: it is not live") % {"study": study.slug})
    return study


def change_state(study: Study, name: str, **fields: object) -> bool:
    """Whether the study passed through that transition, with these fields set as well."""
    transition = TRANSITIONS[name]
    rows = Study.every.filter(pk=study.pk, state__in=transition.before)
    has_changed = rows.update(state=transition.after, **fields)
    study.refresh_from_db()
    return bool(has_changed)
