"""Fields in the running text: a step that fills a cloze, and what its protocol lets its writers see and do."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from django.utils.translation import gettext as _

from studies import hashing
from studies.layouts.base import LaidOut, Layout
from studies.vocabulary import StepScope


@dataclass(frozen=True)
class Switches:
    """The options of a step that is laid out as a cloze. All off is the form of the paper.

    constraints : what each section must achieve is shown beside the text
    check : a blank is marked "please check" when one that it depends on has changed since
    way_out : people who cannot continue may say so and stop
    """

    constraints: bool = False
    check: bool = False
    way_out: bool = False


NAMES = tuple(field.name for field in fields(Switches))


class ClozeLayout(Layout):
    """The whole text with its blanks in place."""

    key = "cloze"
    fills_text = True
    has_own_page = True
    answers_at_once = True

    def find_fault(self, options: Mapping[str, Any], *, scope: str) -> str:
        for name, value in options.items():
            if name not in NAMES:
                message = _("there is no option “%(name)s”; known are %(known)s")
                return message % {"name": name, "known": ", ".join(NAMES)}
            if not isinstance(value, bool):
                return _("the option %(name)s must be true or false") % {"name": name}
        return ""

    def findings(self, step: LaidOut, groups: Sequence[Any]) -> Iterator[str]:
        cloze = getattr(step.instrument, "cloze", None)
        if cloze is None:
            yield _("“%(step)s” is laid out as a cloze, but its instrument does not fill one") % {"step": step.name}
            return
        if step.scope != StepScope.GROUP:
            yield _("“%(step)s” is laid out as a cloze, so it must be asked about each group") % {"step": step.name}
        if reason := self.find_fault(step.options, scope=step.scope):
            yield _("“%(step)s”: %(why)s") % {"step": step.name, "why": reason}
        text = hashing.sha256(cloze.skeleton)
        for group in groups:
            if group.hashes != [text]:
                sentence = _(
                    "group %(group)s must hold one story, the text of %(cloze)s with its markers, for “%(step)s”"
                )
                yield sentence % {"group": group.code, "cloze": cloze, "step": step.name}
