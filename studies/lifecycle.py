"""The life of a study, draft to closed, and who may do what then: pure functions of a study's state and times.

What happens when a study passes from one state to the next is done in `annotation.design.transitions`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

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
}
# Links may be issued until a study is closed.
INVITING = (State.DRAFT, State.LIVE, State.PAUSED)


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
    """Whether results by source are kept back: until the study is closed."""
    return not study.is_closed


def may_plan(study: Study) -> bool:
    """Whether seats may be planned, for the first time or anew: as soon as anyone could sit in one they stay."""
    return study.is_draft


def may_edit(study: Study, *, is_frozen: bool) -> bool:
    """Whether its steps, stories, groups and design may be changed. A judge's run freezes them before the launch."""
    return study.is_draft and not is_frozen


def may_invite(study: Study) -> bool:
    return study.state in INVITING
