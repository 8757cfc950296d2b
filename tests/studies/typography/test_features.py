"""Ways of typing: what is counted, and how texts are made alike without a word being touched."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studies.typography.features import SIGNS
from studies.typography.normalisation import NORMALISATIONS, normalise_text

ALL = list(NORMALISATIONS)


def counts(text: str) -> dict[str, int]:
    return {sign.key: n for sign in SIGNS if (n := sign.count(text))}


# ── signs ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It was—no. ", {"em_dash": 1, "edge_spaces": 1}),
        ("It was — no.", {"em_dash_spaced": 1}),
        ("It was – no.", {"en_dash": 1}),
        ("It was -- no, it was - no.", {"hyphens": 2}),
        ("A well-known road, 1914–18.", {}),
        ('"No."', {"double_straight": 2}),
        ("“No.”", {"double_curly": 2}),
        ("« No. »", {"guillemets": 2}),
        ("It isn't.", {"single_straight": 1}),
        ("It isn’t.", {"single_curly": 1}),
        ("So… no.", {"ellipsis_sign": 1}),
        ("So... no. . . .", {"ellipsis_dots": 2}),
        ("It was *very* _cold_.", {"italics": 2}),
        ("It was **very** cold.", {"bold": 1}),
        ("# One\n\nIt was.", {"headings": 1, "title": 1}),
        ("It was.\n\n* a\n\n> b.", {"lists": 2}),
        ("See `a` and [b](https://example.org).", {"code": 2}),
        ("It was.\n\n***\n\nIt went.\n\n* * *\n\nIt ended.", {"breaks": 2}),
        ("It\u200b was\u00ad.", {"invisible": 2}),
        ("It\u00a0was\u2009so.", {"odd_spaces": 2}),
        ("It  was\tso.", {"double_spaces": 2}),
        ("  It was.\n\nIt went. ", {"edge_spaces": 2}),
        ("It was.\n\n\nIt went.", {"blank_lines": 1}),
        ("It was.\nIt went.", {"single_lines": 1}),
        ("The Lighthouse\n\nIt was.", {"title": 1}),
        ("灯台\n\n海の音。", {"title": 1}),
        ("今日は良い天気です。\n\n海の音。", {}),
        ("هل رأيتَه؟\n\nنعم", {}),
        ("The Lighthouse was dark.\n\nIt was.", {}),
    ],
)
def test_each_sign_is_counted_where_it_stands_and_nowhere_else(text: str, found: dict[str, int]) -> None:
    assert counts(text) == found


# ── making alike ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("dashes", "It was -- no — it – was - so--yes.", "It was—no—it—was—so—yes."),
        ("dashes", "– Oi.\n\n- Oi.\n\n—Oi.\n\n-- Oi.", "— Oi.\n\n— Oi.\n\n— Oi.\n\n— Oi."),
        ("dashes", "“But I --”", "“But I—”"),
        ("dashes", "well-known, 1914–18\n\n---\n\n-5 degrees", "well-known, 1914–18\n\n---\n\n-5 degrees"),
        ("quotes", "“It isn’t,” « Non », „Nein“", '"It isn\'t," "Non", "Nein"'),
        ("ellipses", "So... no. . . . yes....", "So… no…. yes…."),
        ("italics", "*very* _cold_ **bold** snake_case_name 2 * 3 * 4", "very cold **bold** snake_case_name 2 * 3 * 4"),
        ("markdown", "## **One**\n\n* a `b`\n> > c [d](x)\n\n*i*", "One\n\na b\nc d\n\n*i*"),
        ("breaks", "a\n\n* * *\n\n---\n\n#\n\n⁂", "a\n\n***\n\n***\n\n***\n\n***"),
        ("invisible", "\ufeffI\u200bt\u00a0was\u00ad so", "It was so"),
        ("invisible", "می\u200cخواهم", "می\u200cخواهم"),  # a joiner that is part of the word
        ("spaces", "  a  b\tc \n d", "a b c\nd"),
        ("lines", "\na\n \n\n\nb\nc\n\nd", "a\n\nb\nc\n\nd"),
        ("lines", "A.\nB.\nC.", "A.\n\nB.\n\nC."),
        ("lines", "a\nb,\nc", "a\nb,\nc"),
    ],
)
def test_each_normalisation_writes_the_same_thing_in_one_way(kind: str, before: str, after: str) -> None:
    assert normalise_text(before, [kind]) == after


TYPED = st.text(alphabet="ab .-–—\"“”'’*_#>`…\n\t\u00a0\u200b«»[](", max_size=40)


@settings(max_examples=300, deadline=None)
@given(TYPED, st.sets(st.sampled_from(ALL)))
def test_doing_it_again_changes_nothing(text: str, kinds: set[str]) -> None:
    once = normalise_text(text, kinds)

    assert normalise_text(once, kinds) == once


@settings(max_examples=300, deadline=None)
@given(TYPED)
def test_no_word_is_lost(text: str) -> None:
    letters = [each for each in normalise_text(text, ALL) if each in "ab"]

    assert letters == [each for each in text if each in "ab"]


def test_what_is_normalised_by_a_sign_no_longer_stands_twofold() -> None:
    ways = {
        "dashes": ["a — b", "a – b", "a -- b", "a--b", "a—b"],
        "quotes": ["“a”", "«a»", '"a"'],
        "ellipses": ["a...", "a…", "a. . ."],
        "breaks": ["***", "* * *", "---"],
        "italics": ["*a*", "_a_", "a"],
    }

    for kind, written in ways.items():
        assert len({normalise_text(each, [kind]).replace("a ...", "a…") for each in written}) == 1, kind


def test_every_mended_sign_names_a_normalisation() -> None:
    assert {sign.mends for sign in SIGNS if sign.mends} == set(ALL)


def test_the_page_on_formatting_lists_every_normalisation() -> None:
    page = (Path(__file__).parents[3] / "docs" / "formatting.md").read_text()

    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:2] == "| "]
    assert rows[1:] == [[kind, meaning] for kind, (meaning, _) in NORMALISATIONS.items()]
