"""Phrases of a description: translated sentences with their values, and words in the study's language."""

from __future__ import annotations

from html import unescape
from typing import Any

from django.utils.html import conditional_escape, format_html, format_html_join, strip_tags
from django.utils.safestring import SafeString

from reports import reasons
from reports.document.model import Phrase
from reports.document.values import Reason

BREAK = SafeString("<br>")


def phrase(translated: str, **values: Any) -> SafeString:
    """A translated sentence with its values, which are escaped unless they are marked as safe.

    The sentence itself may hold HTML: it is Quire's own. Its percent signs are doubled, as in the catalogue.
    """
    return SafeString(translated % {name: conditional_escape(str(value)) for name, value in values.items()})


def joined(*parts: Phrase, by: str = " ") -> SafeString:
    """The non-empty parts in one phrase, escaped unless marked as safe. by : may hold HTML, which is Quire's own"""
    return format_html_join(SafeString(by), "{}", ((part,) for part in parts if part))


def in_language(words: str, language: str) -> SafeString:
    """Words marked with their language; unmarked if the language is "" (unknown)."""
    return format_html('<span lang="{}">{}</span>', language, words) if language else conditional_escape(words)


def hidden(words: Phrase) -> SafeString:
    """Words for people who do not see the page."""
    return format_html('<span class="visually-hidden">{}</span>', words)


def reason_words(why: Reason) -> SafeString:
    """A reason in the reader's language where it is translated, in English elsewhere."""
    return in_language(reasons.translate_reason(why), reasons.language(why))


def plain(words: Phrase) -> str:
    """The phrase as plain text on one line, without HTML."""
    text = str(words)
    if isinstance(text, SafeString):
        text = unescape(strip_tags(text.replace(BREAK, " ")))
    return " ".join(text.split())
