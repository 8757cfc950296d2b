import pytest

from studies.cloze.alignment import align
from studies.cloze.text import ClozeRun, IncompleteText, fill_blanks, split_sections
from studies.documents.cloze import Blank, ClozeDocument, Constraint, Section, parse_cloze
from studies.typography.paragraphs import number_paragraphs, split_blocks
from tests.studies.cloze.documents import FILLS, SHOES, shoes

SHOES_FILLED = """\
Between Basel and the border the attendant collects the shoes.

The seventh pair stood at berth eleven. They were brown walking boots and they were wet; in the heel
of the left one lay a left-luggage ticket.

“I have heard nothing,” said the widow in nine, “but a drawer, and then nothing, twice.”

Anselm sat down on the jump seat. He polished all seven pairs.

At the border the officer turned them over. “These have never been walked in,” she said."""


def test_a_filled_text_is_the_skeleton_with_every_fill_in_its_place() -> None:
    assert fill_blanks(shoes(), FILLS) == SHOES_FILLED


def test_white_space_around_a_fill_is_left_out_and_all_else_kept() -> None:
    fills = FILLS | {2: " \n{{1}} & <b>\n", 4: "One.\n\nTwo.\n"}

    assert "lay {{1}} & <b>.\n\n“I have" in fill_blanks(shoes(), fills)
    assert "\n\nOne.\n\nTwo.\n\nAt the border" in fill_blanks(shoes(), fills)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({2: ""}, "Blank 2 is open."),
        ({2: " \n", 5: ""}, "Blanks 2, 5 are open."),
    ],
)
def test_a_text_with_open_blanks_is_no_story(changes: dict[int, str], message: str) -> None:
    with pytest.raises(IncompleteText) as refused:
        fill_blanks(shoes(), FILLS | changes)

    assert str(refused.value) == message


def test_the_text_is_laid_out_by_section_paragraph_and_run() -> None:
    document = shoes()
    one, two, three, four, five = document.blanks

    first, second, third = split_sections(document)

    assert [passage.section for passage in (first, second, third)] == list(document.sections)
    assert first.paragraphs == (
        (ClozeRun("Between Basel and the border the attendant collects the shoes."),),
        (
            ClozeRun("The seventh pair stood at berth eleven. They were "),
            ClozeRun(blank=one),
            ClozeRun(" and they were wet; in the heel\nof the left one lay "),
            ClozeRun(blank=two),
            ClozeRun("."),
        ),
    )
    assert second.paragraphs == (
        (ClozeRun("“I have heard nothing,” said the widow in nine, “but "), ClozeRun(blank=three), ClozeRun(".”")),
        (ClozeRun(blank=four),),
    )
    assert third.paragraphs == (
        (ClozeRun("At the border the officer turned them over. “"), ClozeRun(blank=five), ClozeRun(",” she said.")),
    )


def test_words_between_two_sections_go_with_the_second_and_the_last_words_with_the_last() -> None:
    changed = SHOES.replace("\nAt the border", "\nThey went on.\n\nAt the border").replace(
        "she said.\n", "she said.\n\nEnd.\n"
    )

    passages = split_sections(parse_cloze(changed, "shoes.toml"))

    assert passages[2].paragraphs[0] == (ClozeRun("They went on."),)
    assert passages[2].paragraphs[-1] == (ClozeRun("End."),)


def test_lines_that_open_sections_decide_where_words_go_and_become_breaks() -> None:
    headed = (
        SHOES.replace("Between Basel", "## 1\n\nBetween Basel")
        .replace("“I have", "## 2\n“I have")
        .replace("\nAt the border", "\nThey went on.\n\n## 3\n\nAt the border")
    )
    document = parse_cloze(headed, "shoes.toml")

    assert split_sections(document)[1].paragraphs[-1] == (ClozeRun("They went on."),)
    text = fill_blanks(document, FILLS)
    assert "##" not in text
    assert text.replace("\n\n***\n\n", "\n\n").replace("\n\nThey went on.", "") == SHOES_FILLED
    assert text.count("\n\n***\n\n") == 2


@pytest.mark.parametrize(
    "skeleton",
    [
        "One {{1}}.\nTwo,\nthree.",
        "One {{1}},\nstill one.\n\nTwo.",
        "## 1\nOne {{1}},\nstill one.",
        "One {{1}}.\n~ ~ ~\nTwo,\nstill two.\n\nThree.",
    ],
)
def test_a_filled_text_has_the_paragraphs_of_its_skeleton_on_the_page(skeleton: str) -> None:
    document = ClozeDocument(
        slug="a",
        title="A",
        skeleton=skeleton,
        blanks=(Blank(1, "word", 1),),
        sections=(Section(1, "B", (Constraint("C"),)),),
    )

    (passage,) = split_sections(document)

    in_skeleton = ["".join(run.words or "x" for run in paragraph) for paragraph in passage.paragraphs]
    assert split_blocks(fill_blanks(document, {1: "x"})) == in_skeleton
    assert align(document, fill_blanks(document, {1: "x"})) == {1: "x"}


def test_lines_of_verse_in_a_fill_and_in_the_skeleton_stay_as_they_were_written() -> None:
    verse = "    The ferry does not wait for us,\nit never did; the gulls, the rope,"

    text = fill_blanks(shoes(), FILLS | {4: f"One.\n\n{verse}\n\nTwo."})

    assert verse in [paragraph.words for paragraph in number_paragraphs(text) if paragraph.keeps_lines]
