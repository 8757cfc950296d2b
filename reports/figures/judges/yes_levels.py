"""Levels of a share of Yes: which there are, and how a table heads them."""

from __future__ import annotations

from django.utils.translation import gettext as _

from reports.document.model import Phrase
from reports.document.phrases import phrase

LEVELS = ("none", "fewer_than_half", "half", "more_than_half", "all")


def heading_of(level: str) -> Phrase:
    headings = {
        "none": _("none"),
        "fewer_than_half": phrase(_("fewer<br>than half")),
        "half": _("half"),
        "more_than_half": phrase(_("more<br>than half")),
        "all": _("all"),
    }
    return headings[level]
