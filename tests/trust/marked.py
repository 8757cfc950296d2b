"""Which words of a page went through gettext, and which did not.

In the pseudo-language of `tests.languages.pseudo` every translation stands in ⟦brackets⟧. What stands outside of them
must be content: words that some row of the database holds, or a part of the page that says by `lang` that it is in
another language.
"""

import json
import re
from collections.abc import Collection, Iterator
from html.parser import HTMLParser
from typing import Any

from django.apps import apps
from django.contrib.contenttypes.models import ContentType

from tests.languages.pseudo import CLOSES, OPENS

# What is the same in every language.
NAMES = {"Quire", "CSV", "XLSX", "UTC", "JSON", "Aa", "Pk", "Excel, LibreOffice"}
# What others left untranslated: texts of Django's own icons, and the name of an app.
OTHERS = {"Search", "True", "False", "Axes"}
# With these Portuguese dates are written; months come from catalogues.
DATES = {"de", "às"}
ATTRIBUTES = ("aria-label", "title", "alt", "placeholder")
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
WORD = re.compile(r"[^\W\d_]{2,}")


class _Reader(HTMLParser):
    """Collects what stands outside of brackets and of parts in another language."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []  # tag, whether what is inside is none of ours
        self.depth = 0
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        is_left_out = tag in ("script", "style", "code", "textarea") or ("lang" in given and tag != "html")
        if tag not in VOID:
            self.open.append((tag, is_left_out))
        values = [given.get(name) for name in ATTRIBUTES]
        if tag == "input" and given.get("type") in ("submit", "button"):
            values.append(given.get("value"))
        if not (self._is_left_out() or "lang" in given):
            self.found += [_outside(value, 0)[0] for value in values if value]

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        outside, self.depth = _outside(data, self.depth)
        if not self._is_left_out():
            self.found.append(outside)

    def _is_left_out(self) -> bool:
        return any(left_out for _, left_out in self.open)


def _outside(text: str, depth: int) -> tuple[str, int]:
    """What of the text stands outside of brackets, and in how many it ends, having begun in so many."""
    found = ""
    for letter in text:
        depth += (letter == OPENS) - (letter == CLOSES)
        found += letter if depth == 0 and letter != CLOSES else " "
    return found, depth


def unmarked(html: str, content: Collection[str]) -> list[str]:
    """What the page says that neither went through gettext nor is content."""
    reader = _Reader()
    reader.feed(html)
    known = {" ".join(text.split()) for text in (*content, *NAMES, *OTHERS, *DATES)} - {""}
    found = []
    for said in reader.found:
        left = " ".join(said.split())
        for text in sorted((text for text in known if text in left), key=len, reverse=True):
            left = re.sub(rf"(?<!\w){re.escape(text)}(?!\w)", " ", left)
        if WORD.search(left):
            found.append(" ".join(said.split()))
    return found


def content() -> set[str]:
    """Every text that a row holds, and the name of every row, which the admin's log keeps in English.

    Values of fields with choices are left out: a page is to show their labels.
    """
    found: set[str] = set()
    for model in apps.get_models():
        if model is ContentType:  # names of tables, in the words of the code
            continue
        for row in model._base_manager.all():
            found.add(str(row))
            for field in model._meta.concrete_fields:
                if not field.choices and field.name != "codename":
                    found |= set(_texts(getattr(row, field.attname)))
    return found


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield json.dumps(value)
        for name, each in value.items():
            yield name
            yield from _texts(each)
    elif isinstance(value, list):
        yield json.dumps(value)
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str):
        yield value
        yield from value.splitlines()
