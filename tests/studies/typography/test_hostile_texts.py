"""Texts that were made to be slow: twice the length takes about twice the time, in every sign and normalisation."""

import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from studies.story_import.rows import ImportRow
from studies.story_import.text_warnings import find_text_warnings
from studies.typography import differences, openings, paragraphs, prose, word_boundaries
from studies.typography.features import BOLD, ITALIC, SIGNS
from studies.typography.normalisation import NORMALISATIONS, normalise_text
from tests.doubling import seconds_of

# What the walk through marks must find: the patterns that it took the place of.
ITALIC_PATTERN = re.compile(
    r"(?<![\w*])\*(?![\s*])(.+?)(?<![\s*])\*(?![\w*])|(?<![\w_])_(?![\s_])(.+?)(?<![\s_])_(?![\w_])"
)
BOLD_PATTERN = re.compile(r"\*\*(?!\s)(.+?)(?<!\s)\*\*|(?<!\w)__(?!\s)(.+?)(?<!\s)__(?!\w)")
STRONG_PATTERN = re.compile(r"(?<!\*)\*\*(?![\s*])(.+?)(?<![\s*])\*\*(?!\*)", re.DOTALL)
PATTERNS = {ITALIC: ITALIC_PATTERN, BOLD: BOLD_PATTERN, prose.STRONG: STRONG_PATTERN}
UNITS = {
    "open stars": "*a ",
    "open underlines": "_a ",
    "open bold": "**a ",
    "nested": "*_",
    "bullets": "> ",
    "exclamation marks": "!",
    "brackets": "[",
    "links": "[a](",
    "blanks": " ",
    "hyphens": "- ",
    "dots": ". ",
    "back-ticks": "`a",
    "blank lines": "\n \n",
    "tabs": "\t",
    "tags": "<p ",
    "escaped signs": "&#1",
    "escaped line ends": "\\n",
}
FUNCTIONS: dict[str, Callable[[str], Any]] = {
    **{f"sign {sign.key}": sign.count for sign in SIGNS},
    **{f"normalise {kind}": lambda text, kind=kind: normalise_text(text, [kind]) for kind in NORMALISATIONS},
    "normalise all": lambda text: normalise_text(text, NORMALISATIONS),
    "number_paragraphs": paragraphs.number_paragraphs,
    "find_differences": lambda text: differences.find_differences(text, text.replace("a", "a b")),
    "parse_prose": prose.parse_prose,
    "split_words": word_boundaries.split_words,
    "opening_words": openings.opening_words,
    "find_text_warnings": lambda text: list(
        find_text_warnings([ImportRow(1, {"text": text, "source": "Ann"}, {})], "text")
    ),
}


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_twice_the_length_takes_about_twice_the_time(unit: str) -> None:
    # A pattern that begins anew at each sign takes four times as long, and seconds at this length.
    once, twice = (f"a{unit * n}a" for n in (10_000, 20_000))

    slow = {
        name: (before, after)
        for name, function in FUNCTIONS.items()
        if (after := seconds_of(function, twice)) > 3 * (before := seconds_of(function, once)) + 0.2
    }

    assert slow == {}


@pytest.mark.parametrize(("marks", "pattern"), PATTERNS.items(), ids=["italic", "bold", "strong"])
def test_marks_are_found_as_the_patterns_find_them(marks: Any, pattern: re.Pattern[str]) -> None:
    signs = random.Random(7)
    texts = ["".join(signs.choices("**__ab \n", k=signs.randint(1, 14))) for _ in range(5000)]

    for text in texts:
        assert [(start, end) for start, end, _width in marks.find(text)] == [m.span() for m in pattern.finditer(text)]
        assert marks.unwrap(text) == pattern.sub(lambda m: next(filter(None, m.groups())), text)
    assert sum(marks.count(text) for text in texts) > 50


def test_of_one_word_written_a_thousand_times_nothing_is_lost_in_comparing() -> None:
    old, new = "a " * 4_000, "a b " * 4_000

    passages = differences.find_differences(old, new)

    assert "".join(each.text for each in passages if each.kind != "new") == old
    assert "".join(each.text for each in passages if each.kind != "gone") == new


def test_marks_of_several_kinds_in_one_another_are_taken_out() -> None:
    assert normalise_text("> # *_word_* **bold** `code` [a](b)", ["markdown", "italics"]) == "word bold code a"
