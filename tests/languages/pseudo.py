"""A made-up language in which every string that passes through gettext stands in ⟦brackets⟧, content in foreign
letters, and a reader of pages who sees which words are neither.

The letters say whose words they are: the study's are wide, an instrument's Cyrillic, a story's Georgian. Interface
words are Latin and in brackets. What is Latin without brackets did not pass through gettext.
"""

import re
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any

import pytest
from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import trans_real

OPENS, CLOSES = "⟦", "⟧"
LATIN = "abcdefghijklmnopqrstuvwxyz"
FIRST_LETTERS = {"study": ("ａ", "Ａ"), "instrument": ("а", "А"), "story": ("ა", "ა")}
ALPHABETS = {
    whose: {
        ord(latin): chr(ord(first) + i)
        for letters, first in ((LATIN, lower), (LATIN.upper(), upper))
        for i, latin in enumerate(letters)
    }
    for whose, (lower, upper) in FIRST_LETTERS.items()
}
WHOSE = {letter: whose for whose, alphabet in ALPHABETS.items() for letter in alphabet.values()}

# Attributes that somebody reads or hears; of data-… those that hold a sentence, and two that hold one word.
READ = {"title", "aria-label", "placeholder", "alt", "data-one", "data-many"}
SENTENCE = re.compile(r"[^\W\d_]\s|[A-Z][a-z]|…")
# Latin and nobody's: what Quire is called, signs on keys, codes, addresses, letters of stories, “Aa” for reading; and
# times, which are written by config/formats.
UNSPOKEN = {"script", "style", "code", "kbd", "time"}
NAMES = re.compile(r"\bQuire\b|\bAa\b|\b[A-Z]\b|\S+@\S+")
VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "wbr"}


class Bracketed(trans_real.DjangoTranslation):
    """A catalogue that has every string."""

    def gettext(self, message: str) -> str:
        return f"{OPENS}{message}{CLOSES}" if message else super().gettext(message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"{OPENS}{msgid1 if n == 1 else msgid2}{CLOSES}"


def speak(patch: pytest.MonkeyPatch, language: str) -> None:
    """Put brackets around everything that the interface says in that language."""
    made = Bracketed(language)
    # Of the strings with a context the catalogue keeps the context; nobody would see it.
    context = re.compile(f"{OPENS}[^{OPENS}{CLOSES}]*\x04")
    patch.setattr(made, "gettext", lambda said: context.sub(OPENS, Bracketed.gettext(made, said)))
    patch.setitem(trans_real._translations, language, made)  # type: ignore[attr-defined]
    if language == settings.LANGUAGE_CODE:
        patch.setattr(trans_real, "_default", made)


def written(words: str, whose: str) -> str:
    return words.translate(ALPHABETS[whose])


def rewrite(rows: QuerySet[Any], whose: str, *fields: str) -> None:
    """Write these fields of the rows in the letters of whose they are. Tables and lists keep their keys."""
    for row in rows:
        said = {name: deep(getattr(row, name), whose) for name in fields}
        type(row)._base_manager.filter(pk=row.pk).update(**said)


def deep(said: Any, whose: str) -> Any:
    if isinstance(said, str):
        return written(said, whose)
    if isinstance(said, Mapping):
        return {key: value if key == "value" else deep(value, whose) for key, value in said.items()}
    return [deep(each, whose) for each in said] if isinstance(said, list) else said


class _Page(HTMLParser):
    """The letters of a page, each with the language that it is in.

    languages : by owner, and "interface": what each owner's words must be marked as
    """

    def __init__(self, languages: Mapping[str, str]) -> None:
        super().__init__(convert_charrefs=True)
        self.languages = languages
        self.stack: list[tuple[str, str | None]] = [("", None)]
        self.depth = 0
        self.found: list[str] = []
        self.n_seen: dict[str, int] = dict.fromkeys(languages, 0)

    @property
    def language(self) -> str | None:
        return self.stack[-1][1]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        language = given.get("lang", self.language)
        for name, value in given.items():
            if name in READ or (name.startswith("data-") and SENTENCE.search(value)):
                self.found += self._faults(value, 0, language, f"{tag}[{name}]")[0]
        if tag not in VOID:
            self.stack.append((tag, language))

    def handle_endtag(self, tag: str) -> None:
        if any(tag == each for each, _ in self.stack):
            while self.stack.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        tag = self.stack[-1][0]
        if tag in UNSPOKEN:
            return
        # A title can be in one language only, and its words are several people's.
        faults, self.depth = self._faults(data, self.depth, None if tag == "title" else self.language, tag)
        self.found += faults

    def _faults(self, words: str, depth: int, language: str | None, where: str) -> tuple[list[str], int]:
        found = []
        names = {i for match in NAMES.finditer(words) for i in range(*match.span())}
        for i, letter in enumerate(words):
            depth += (letter == OPENS) - (letter == CLOSES)
            is_latin = letter.isascii() and letter.isalpha()
            if is_latin and not depth and i not in names:
                found.append(f"{where}: “{_around(words, i)}” did not pass through gettext")
            whose = "interface" if is_latin and depth and i not in names else WHOSE.get(letter, "")
            if not whose:
                continue
            self.n_seen[whose] += 1
            if where != "title" and language != self.languages[whose]:
                found.append(f"{where}: “{_around(words, i)}” is the {whose}'s and marked as {language}")
        return list(dict.fromkeys(found)), depth


def _around(words: str, i: int) -> str:
    return " ".join(words[max(0, i - 60) : i + 60].split())


def faults(html: str, languages: Mapping[str, str], *, within: str | None = None) -> list[str]:
    """What on the page is neither translated nor content, or is marked as another language than it is in.

    within : the language around a fragment
    """
    return _read(html, languages, within).found


def n_letters(html: str, languages: Mapping[str, str]) -> dict[str, int]:
    """How many letters on the page are whose."""
    return _read(html, languages, None).n_seen


def _read(html: str, languages: Mapping[str, str], within: str | None) -> _Page:
    page = _Page(languages)
    page.stack = [("", within)]
    # What a select says of languages are their own names.
    page.feed(re.sub(r'(<select id="language".*?</option>).*?(</select>)', r"\1\2", html, flags=re.DOTALL))
    page.close()
    if page.depth:
        page.found.append(f"a bracket is open at the end: {page.depth}")
    return page
