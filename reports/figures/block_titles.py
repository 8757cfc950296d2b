"""What the items of one scale are called together, as the sections on raters and items head their parts."""

from __future__ import annotations

from typing import Protocol

from django.utils.translation import gettext as _

from reports.document.model import Head, Phrase
from reports.document.phrases import in_language


class Titled(Protocol):
    """kind : "verdicts", "scales" and others; title : the ends of the scales, or what its items are named after"""

    @property
    def kind(self) -> str: ...
    @property
    def title(self) -> str: ...


def block_title(block: Titled, head: Head) -> Phrase:
    if block.kind == "verdicts" and not block.title:
        return _("All tests")
    if block.kind == "scales" and "–" in block.title:
        return _("Scales %(ends)s") % {"ends": block.title}
    return in_language(block.title, head.language)
