"""What is done with a study, from its plan to its close: one list for page and admin, with its log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext, pgettext_lazy

from annotation.design import launches, seats
from studies import lifecycle, protocol
from studies.action_log import log_action
from studies.models import Study
from studies.protocol import Finding, Purpose


def _plan(study: Study, by: str) -> str:
    planned = seats.plan(study)
    sentence = ngettext("%(study)s is planned: %(n)d place.", "%(study)s is planned: %(n)d places.", len(planned))
    return sentence % {"study": study, "n": len(planned)}


def _launch(study: Study, by: str) -> str:
    launches.launch(study, by=by, at=timezone.now())
    return _("%(study)s is live. Anyone with a link can begin.") % {"study": study}


def _pause(study: Study, by: str) -> str:
    lifecycle.pause(study)
    return _("%(study)s is paused. What was saved is kept.") % {"study": study}


def _resume(study: Study, by: str) -> str:
    with transaction.atomic():
        lifecycle.resume(study)
        seats.restart_hours(study, at=timezone.now())
    return _("%(study)s is live again.") % {"study": study}


def _close(study: Study, by: str) -> str:
    lifecycle.close(study, at=timezone.now())
    return _("%(study)s is closed. What was saved is kept.") % {"study": study}


def _plan_obstacles(study: Study) -> list[Finding]:
    return protocol.select_errors(launches.findings(study, at=timezone.now()), Purpose.PLAN)


def _launch_obstacles(study: Study) -> list[Finding]:
    return launches.launch_obstacles(study, at=timezone.now())


def _obstacles_unless(may: Callable[[Study], bool], sentence: str) -> Callable[[Study], list[Finding]]:
    """What finds the one thing that can be in the way of an action: that the study is in another state."""
    return lambda study: [] if may(study) else [Finding("error", "state", _(sentence))]


@dataclass(frozen=True)
class Action:
    """An action on a study, in words for the page that asks before it is run.

    obstacles : what is in its way; empty if nothing is
    run : the study, and the name of the account by which it is done
    log_message : for the log, which is one for all languages
    """

    run: Callable[[Study, str], str]
    obstacles: Callable[[Study], list[Finding]]
    label: Promise
    title: str
    title_of_several: str
    meaning: str
    log_message: str


ACTIONS = {
    "plan": Action(
        _plan,
        _plan_obstacles,
        pgettext_lazy("what is done with a study", "Plan"),
        gettext_noop("Plan %(study)s"),
        gettext_noop("Plan the chosen studies?"),
        gettext_noop("Its places are made, each with its order of stories. That can be repeated until it is launched."),
        "planned",
    ),
    "launch": Action(
        _launch,
        _launch_obstacles,
        pgettext_lazy("what is done with a study", "Launch"),
        gettext_noop("Launch %(study)s"),
        gettext_noop("Launch the chosen studies?"),
        gettext_noop(
            "Its protocol is frozen. Raters who hold a link can begin. Results by source stay sealed until it closes."
        ),
        "launched",
    ),
    "pause": Action(
        _pause,
        _obstacles_unless(lambda study: lifecycle.can_transition(study, "pause"), gettext_noop("it is not live")),
        pgettext_lazy("what is done with a study", "Pause"),
        gettext_noop("Pause %(study)s"),
        gettext_noop("Pause the chosen studies?"),
        gettext_noop("Nobody can answer until it is resumed. What was saved is kept, and raters are told so."),
        "paused",
    ),
    "resume": Action(
        _resume,
        _obstacles_unless(lambda study: lifecycle.can_transition(study, "resume"), gettext_noop("it is not paused")),
        pgettext_lazy("what is done with a study", "Resume"),
        gettext_noop("Resume %(study)s"),
        gettext_noop("Resume the chosen studies?"),
        gettext_noop("Raters can go on where they were."),
        "resumed",
    ),
    "close": Action(
        _close,
        _obstacles_unless(lifecycle.may_close, gettext_noop("it is not live")),
        pgettext_lazy("what is done with a study", "Close"),
        gettext_noop("Close %(study)s"),
        gettext_noop("Close the chosen studies?"),
        gettext_noop("Nobody can answer any more, for good. What was saved is kept, and results can be read."),
        "closed",
    ),
}


def run(name: str, study: Study, *, by: User) -> str:
    """Do that with the study and log it; what came of it, in words. Raises NotPlannable or NotReady."""
    message = ACTIONS[name].run(study, by.get_username())
    log_change(study, ACTIONS[name].log_message, by=by)
    return message


def launch_as_read(study: Study, as_read: str, *, by: User) -> None:
    """Launch the study if it is still what was read, and log it. Raises NotReady, ChangedMeanwhile among them."""
    launches.launch(study, by=by.get_username(), at=timezone.now(), as_read=as_read)
    log_change(study, ACTIONS["launch"].log_message, by=by)


def log_change(study: Study, message: str, *, by: User) -> None:
    """Into the admin's log of the study, which is one for all languages."""
    log_action(study, message, by=by)
