"""What a protocol lets those see and do who fill a cloze. All off is the form of the paper."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from django.utils.translation import gettext as _


@dataclass(frozen=True)
class Switches:
    """The options of a step that is laid out as a cloze.

    constraints : what each section must achieve stands beside the text
    check : a blank is marked "please check" when one that it depends on has changed since
    way_out : whoever cannot go on may say so and stop
    """

    constraints: bool = False
    check: bool = False
    way_out: bool = False


NAMES = tuple(field.name for field in fields(Switches))


def find_fault(options: Mapping[str, Any]) -> str:
    """Why these cannot be the options of a cloze; "" if they can."""
    for name, value in options.items():
        if name not in NAMES:
            message = _("there is no option “%(name)s”; known are %(known)s")
            return message % {"name": name, "known": ", ".join(NAMES)}
        if not isinstance(value, bool):
            return _("the option %(name)s must be true or false") % {"name": name}
    return ""
