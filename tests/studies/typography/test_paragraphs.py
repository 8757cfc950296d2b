import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.typography.comparison import compare_texts
from studies.typography.features import SIGNS
from studies.typography.paragraphs import Paragraph, Run, number_paragraphs, split_blocks, split_runs

LONG = "It was a long first sentence that went on, " * 5


def test_paragraphs_stand_between_blank_lines():
    assert number_paragraphs("One.\r\n\r\nTwo,\nstill two.\n \n\nThree.") == [
        Paragraph(1, (Run("One."),), "section-opening"),
        Paragraph(2, (Run("Two,\nstill two."),)),
        Paragraph(3, (Run("Three."),)),
    ]


def test_a_text_without_blank_lines_has_a_paragraph_on_every_line():
    assert [p.runs[0].text for p in number_paragraphs("One.\nTwo.\n")] == ["One.", "Two."]


@pytest.mark.parametrize("sign", ["***", "* * *", "---", "⁂", "~ ~ ~", "~*~", "#", "- - -"])
def test_a_break_opens_a_section_and_is_no_paragraph(sign):
    assert [(p.number, p.opens) for p in number_paragraphs(f"{LONG}\n\nTwo.\n\n{sign}\n\nThree.")] == [
        (1, "opening"),
        (2, ""),
        (3, "section-opening"),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("He wrote *34* on it.", (Run("He wrote "), Run("34", is_italic=True), Run(" on it."))),
        ("*All of it.*", (Run("All of it.", is_italic=True),)),
        ("2 * 3 * 4", (Run("2 * 3 * 4"),)),
        ("a*b*c", (Run("a*b*c"),)),
        ("**bold**", (Run("**bold**"),)),
        ("<i>*x*</i>", (Run("<i>"), Run("x", is_italic=True), Run("</i>"))),
    ],
)
def test_stars_around_words_make_italics_and_no_other_star_does(text, found):
    assert split_runs(text) == found


def test_a_break_on_a_line_of_its_own_ends_a_paragraph_without_blank_lines_around_it():
    assert split_blocks("One,\nstill one.\n~ ~ ~\nTwo.\n\nThree.") == ["One,\nstill one.", "~ ~ ~", "Two.", "Three."]


def test_a_part_is_split_as_the_whole_text_is():
    assert split_blocks("Two,\nstill two.", by_blank_lines=True) == ["Two,\nstill two."]
    assert split_blocks("Two.\nThree.", by_blank_lines=False) == ["Two.", "Three."]


# Few characters, so that lines, breaks and spaces of every kind meet often.
LINES = ["a", "B c.", "***", "~ ~ ~", "* * *", "---", "#", "⁂", "~*~"]
SPACES = ["\n", "\n\n", "\r\n", "\r", " ", "\t", "\u00a0"]
TEXTS = st.lists(st.sampled_from([*LINES, *SPACES])).map("".join)


@given(TEXTS)
def test_the_formatting_report_counts_the_paragraphs_and_breaks_that_the_page_shows(text):
    shown = number_paragraphs(text)
    breaks = next(sign for sign in SIGNS if sign.key == "breaks")

    report = compare_texts("", {"A": [text]})

    amounts = {amount.title: amount.by_source[0] for amount in report.amounts}
    assert amounts["paragraphs"] == len(shown)
    assert breaks.count(text) == len(split_blocks(text)) - len(shown)


def test_nothing_is_no_paragraph():
    assert number_paragraphs(" \n\n ") == []
