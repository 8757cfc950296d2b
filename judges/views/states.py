"""What has become of calls, in words: each state a label, a sentence, and what is drawn for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from judges.models import Call

State = Call.State


@dataclass(frozen=True)
class StateWords:
    """label : of the call; sentence : what that means and what happens"""

    label: Promise
    sentence: Promise


WORDS: Mapping[str, StateWords] = {
    State.PLANNED: StateWords(_("not yet sent"), _("It waits for its turn.")),
    State.LEASED: StateWords(_("on the way"), _("A worker has sent it and waits for the reply.")),
    State.HELD: StateWords(_("held"), _("It was sent, but its result is unknown. It is not resent automatically.")),
    State.OK: StateWords(_("answered"), _("The reply was read, and the answer is recorded.")),
    State.REFUSED: StateWords(
        _("refused"), _("The model declined to answer. This is recorded as “declined”, never as a No.")
    ),
    State.BLOCKED: StateWords(
        _("blocked"), _("The provider’s filter blocked the text or the reply. Recorded as “declined”.")
    ),
    State.TRUNCATED: StateWords(
        _("cut off"),
        _("The reply was longer than its limit. A judge with a higher limit, or a larger budget, may do better."),
    ),
    State.UNREADABLE: StateWords(
        _("cannot be read"),
        _("The reply has no verdict, or more than one. It has no answer, and is never a No."),
    ),
    State.OUT_OF_RANGE: StateWords(_("out of range"), _("The reply names a value that the question does not have.")),
    State.TOO_LARGE: StateWords(
        _("too large"),
        _("The text is too long for the model, or the reply was larger than its endpoint allows and was not read."),
    ),
    State.PROVIDER_ERROR: StateWords(
        _("no reply"), _("The provider did not answer. “Resume the run” asks again where a later try may work.")
    ),
    State.BUDGET_STOPPED: StateWords(_("not sent: budget"), _("The run’s budget was used up before it was sent.")),
    State.NOT_ASKED: StateWords(
        _("not asked"), _("The run ended before its turn came, or a section before it had no answer.")
    ),
    State.NOT_NEEDED: StateWords(_("not needed"), _("It was planned as a reserve and was not needed.")),
}
# How a run's calls are drawn: what is over with an answer, without one, on the way, and still open. What was planned
# in case, and not needed, is not drawn.
ANSWERED = (State.OK,)
ON_THE_WAY = (State.LEASED,)
OPEN = (State.PLANNED, State.HELD, State.BUDGET_STOPPED)
UNDRAWN = (State.NOT_NEEDED,)
WITHOUT = tuple(state for state in State if state not in (*ANSWERED, *ON_THE_WAY, *OPEN, *UNDRAWN))


@dataclass(frozen=True)
class Segment:
    """A part of the bar. x, width : in hundredths of it"""

    kind: str
    label: Promise
    n: int
    x: float
    width: float


def draw_bar(n_by_state: Mapping[str, int], *, is_measured: bool = False) -> list[Segment]:
    """The parts of the bar that are not empty, from left to right.

    is_measured : by a metric, which sends nothing
    """
    n_all = sum(n for state, n in n_by_state.items() if state not in UNDRAWN)
    segments: list[Segment] = []
    x = 0.0
    for kind, label, states in (
        ("ok", _("answered"), ANSWERED),
        ("lost", _("without an answer"), WITHOUT),
        ("flight", _("on the way"), ON_THE_WAY),
        ("open", _("not yet measured") if is_measured else _("not yet sent"), OPEN),
    ):
        if n := sum(n_by_state.get(state, 0) for state in states):
            width = 100 * n / n_all
            segments.append(Segment(kind, label, n, round(x, 2), round(width, 2)))
            x += width
    return segments
