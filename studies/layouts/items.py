"""One item after another: what a step is laid out as that says nothing else. Asked once, it may be a check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from django.utils.translation import gettext as _

from studies.layouts.base import LaidOut, Layout
from studies.vocabulary import OnFailure, StepScope

DEFAULT_ATTEMPTS, MOST_ATTEMPTS = 2, 5


@dataclass(frozen=True)
class CheckOptions:
    """The options of a step that is a comprehension check; what a step does not say is as here.

    attempts : how often it can be tried, 1 to MOST_ATTEMPTS
    on_failure : of `OnFailure`, for raters who have not answered all of it correctly in any of them
    """

    attempts: int = DEFAULT_ATTEMPTS
    on_failure: str = OnFailure.END.value

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> CheckOptions:
        """Those of a step. A draft may hold others, which findings name; they are passed over."""
        known = {name: options[name] for name in NAMES if name in options}
        return cls() if find_fault(known) else cls(**known)

    @property
    def ends(self) -> bool:
        """Whether nobody who fails comes to a group."""
        return self.on_failure == OnFailure.END

    @property
    def to_store(self) -> dict[str, Any]:
        """What of it differs from the rule, as `Step.options` has it."""
        return {name: value for name, value in asdict(self).items() if value != getattr(CheckOptions(), name)}


NAMES = tuple(field.name for field in fields(CheckOptions))


def find_fault(options: Mapping[str, Any]) -> str:
    """Why these cannot be the options of a check; "" if they can."""
    for name, value in options.items():
        if name not in NAMES:
            message = _("there is no option “%(name)s”; known are %(known)s")
            return message % {"name": name, "known": ", ".join(NAMES)}
        if name == "attempts" and (type(value) is not int or not 1 <= value <= MOST_ATTEMPTS):
            return _("the option attempts must be a whole number from 1 to %(most)d") % {"most": MOST_ATTEMPTS}
        if name == "on_failure" and value not in OnFailure.values:
            return _("the option on_failure must be one of %(known)s") % {"known": ", ".join(OnFailure.values)}
    return ""


class ItemsLayout(Layout):
    """Each item separately, on the page that follows from the scope of its step."""

    key = ""

    def find_fault(self, options: Mapping[str, Any], *, scope: str) -> str:
        if options and scope != StepScope.ONCE:
            return _('belongs to a comprehension check, which is asked once, or to a step with layout = "cloze"')
        return find_fault(options)

    def findings(self, step: LaidOut, groups: Sequence[Any]) -> Iterator[str]:
        if reason := self.find_fault(step.options, scope=step.scope):
            yield _("“%(step)s”, options: %(why)s") % {"step": step.name, "why": reason}
