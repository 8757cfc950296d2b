from textwrap import fill

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.typography.comparison import compare_texts
from studies.typography.features import SIGNS
from studies.typography.paragraphs import (
    Paragraph,
    TextRun,
    as_set,
    keeps_lines,
    number_paragraphs,
    split_blocks,
    split_paragraphs,
    split_runs,
)

LONG = "It was a long first sentence that went on, " * 5


def test_paragraphs_stand_between_blank_lines():
    assert number_paragraphs("One.\r\n\r\nTwo,\nstill two.\n \n\nThree.") == [
        Paragraph(1, (TextRun("One."),), "section-opening"),
        Paragraph(2, (TextRun("Two,\nstill two."),), keeps_lines=True),
        Paragraph(3, (TextRun("Three."),)),
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


def test_the_number_of_a_section_stands_above_what_opens_it():
    assert [
        (p.words, p.opens) for p in number_paragraphs(f"§ 1 The Corridor\n\n{LONG}\n\n***\n\n§ 2\n\nTwo.\n\nThree.")
    ] == [
        ("§ 1 The Corridor", "section-mark"),
        (LONG.strip(), "opening"),
        ("§ 2", "section-mark"),
        ("Two.", "section-opening"),
        ("Three.", ""),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("He wrote *34* on it.", (TextRun("He wrote "), TextRun("34", is_italic=True), TextRun(" on it."))),
        ("*All of it.*", (TextRun("All of it.", is_italic=True),)),
        ("2 * 3 * 4", (TextRun("2 * 3 * 4"),)),
        ("a*b*c", (TextRun("a*b*c"),)),
        ("**bold**", (TextRun("**bold**"),)),
        ("¹*x*¹ and", (TextRun("¹"), TextRun("x", is_italic=True), TextRun("¹ and"))),
        ("<i>*x*</i>", (TextRun("<i>"), TextRun("x", is_italic=True), TextRun("</i>"))),
    ],
)
def test_stars_around_words_make_italics_and_no_other_star_does(text, found):
    assert split_runs(text) == found


def test_asterisks_that_are_left_open_by_the_thousand_are_plain() -> None:
    text = "*a " * 20_000  # in time that grows with their square it would take minutes

    assert split_runs(text) == (TextRun(text),)
    assert split_runs(f"{text}*b* c *d") == (TextRun(f"{text[1:]}*b", is_italic=True), TextRun(" c *d"))


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


VERSE = """    The ferry does not wait for us,
it never did; the gulls, the rope,
    the man who sold the tickets thus
and went below without a hope."""
PROSE = (
    "A man who had bought the greenhouse came on a Saturday, with his daughter, and asked whether the glass could be "
    "saved; nobody had told him that it was all that was left of the house, or that his predecessor lay below it."
)


@pytest.mark.parametrize("width", [66, 72, 80, 100])
def test_prose_that_an_editor_wrapped_runs_on(width):
    paragraph, _last = number_paragraphs(f"\n\n  {fill(PROSE, width)}\n\nIt ended.")

    assert (paragraph.words, paragraph.css) == (PROSE, "opening")


@pytest.mark.parametrize(
    "text",
    [
        VERSE,
        "Dear Sir,\nI have not written for a long time, and I do not think that this letter will reach you.",
        "- a lamp that does not burn\n- a rope\n- two oars, of which one is split down to the handle and of no use",
        f"{fill(PROSE, 72)}\n  he said.",
        "\n".join(["A line of verse may be as long as any line of prose is, and then comes", "one", "that is short"]),
    ],
)
def test_lines_and_indents_of_verse_letters_and_lists_are_kept(text):
    first, kept, last = number_paragraphs(f"Before.\n\n{text}\n\nAfter.")

    assert (kept.words, kept.keeps_lines, kept.css) == (text, True, "verse")
    assert (first.keeps_lines, last.keeps_lines) == (False, False)


SONNET = """I kept the key for longer than the house,
and longer than the people in it kept
their promises. It opened nothing. Then
someone rang. She said the door was standing as it was."""
ENDED = """So much depends.
    Upon a letter.
        That is not sent."""


@pytest.mark.parametrize("text", [VERSE, SONNET, ENDED, "Dear Sir,\nI do not think that this will reach you.", "a\nb"])
def test_a_poem_without_blank_lines_is_one_paragraph_that_keeps_its_lines_and_indents(text):
    (paragraph,) = number_paragraphs(f"\n{text}\n")

    assert (paragraph.words, paragraph.css) == (text, "section-opening verse")
    assert split_blocks(f"{text}\n***\n{text}") == [text, "***", text]


def test_prose_without_blank_lines_that_an_editor_wrapped_is_one_paragraph():
    (paragraph,) = number_paragraphs(fill(PROSE, 72))

    assert (paragraph.words, paragraph.keeps_lines) == (PROSE, False)


@pytest.mark.parametrize(
    "text",
    [
        "“Where?” he asked.\n“There.”\n“Where? I do not—”\n“Look!”\n‘Ah …’",
        f"The Ferry\n{LONG}\nHe went.\nShe stayed",
        "He said:\n“No.”\nShe said nothing.",
    ],
)
def test_prose_with_a_paragraph_on_every_line_is_no_verse(text):
    assert [p.words for p in number_paragraphs(text)] == [line.strip() for line in text.split("\n")]


def test_a_text_set_for_a_page_keeps_verse_and_lets_prose_run_on():
    assert as_set(f"{fill(PROSE, 72)}\n\n{VERSE}\n") == f"{PROSE}\n\n{VERSE}"


@given(st.text(alphabet="ab \n", max_size=300))
def test_a_paragraph_counts_as_many_letters_as_stand_in_the_text(text):
    assert [p.words.replace("\n", " ") for p in number_paragraphs(text)] == [
        b.replace("\n", " ") for b in split_blocks(text)
    ]
    assert not any("\n" in p.words for p in number_paragraphs(text) if not keeps_lines(p.words))


def called(text: str) -> list[tuple[int, str, int]]:
    """Every mark that calls a note: its paragraph, the mark, and the paragraph with the note."""
    return [(p.number, run.text, run.note) for p in number_paragraphs(text) for run in p.runs if run.note]


@pytest.mark.parametrize("mark", ["[1]", "[^1]", "[^cellar]", "¹", "¹²"])
def test_a_mark_leads_to_the_note_that_begins_with_it(mark):
    text = f"He went down.{mark} It was dark.\n\nHe came *up*.\n\n{mark} The cellar of the old house."

    assert called(text) == [(1, mark, 3)]


def test_marks_lead_to_the_next_note_and_several_notes_may_share_a_paragraph():
    text = (
        "One.[1]\n\n[1] Of the first part.\n\nTwo.[1] Three, *so[2] it was*.\n\n[1] Of the second part.\n[2] The same."
    )

    assert called(text) == [(1, "[1]", 2), (3, "[1]", 4), (3, "[2]", 4)]


@pytest.mark.parametrize(
    "text",
    [
        "He read [1] and shrugged.\n\nNothing more.",
        "[1] came first.\n\n[2] came then.\n\n[1] came again.",
        "The field was 10 m².\n\n¹ A note that nothing calls.",
        "A choice of [A] and [b].\n\n[A] Yes.",
        "[1] A note before it is called.\n\nHe went down.[1]",
    ],
)
def test_a_mark_without_a_note_after_it_is_words(text):
    assert called(text) == []


@given(st.text(st.sampled_from("ab *[^1]¹\n"), max_size=60))
def test_links_to_notes_change_no_word(text):
    for paragraph, block in zip(number_paragraphs(text), split_paragraphs(text), strict=True):
        is_kept = keeps_lines(block)
        assert paragraph.words == "".join(
            run.text for run in split_runs(block if is_kept else block.replace("\n", " "))
        )
