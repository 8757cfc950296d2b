"""What outcomes are called on pages: by their own titles, and what has none, or says too little, in our words."""

from __future__ import annotations

from django.utils.translation import gettext as _

from reports.document.model import Head, Phrase
from reports.document.phrases import in_language, phrase
from studies.protocol import is_undeclared


def outcome_name(key: str, title: str) -> str:
    """As plain words. key, title : as in `studies.protocol.Outcome`"""
    if not title:
        return _("All tests")
    return _undeclared() % {"title": title} if is_undeclared(key) else title


def outcome_title(key: str, title: str, head: Head, *, without: str = "") -> Phrase:
    """The same with the study's own words marked by their language. without : for an outcome without a title"""
    if not title:
        return without or _("All tests")
    words = in_language(title, head.language)
    return phrase(_undeclared(), title=words) if is_undeclared(key) else words


def _undeclared() -> str:
    return _("%(title)s: mean of its scales, not declared as a score")
