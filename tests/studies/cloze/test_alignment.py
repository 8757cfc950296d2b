from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studies.cloze.alignment import Ambiguous, Unalignable, align
from studies.cloze.text import fill_blanks
from studies.documents.cloze import Blank, ClozeDocument, Constraint, Section, check_cloze
from tests.studies.cloze.documents import FILLS, shoes
from tests.studies.cloze.generated import document as any_document

STORY = fill_blanks(shoes(), FILLS)


def cloze(skeleton: str, *kinds: str) -> ClozeDocument:
    """A cloze of one section around that text."""
    blanks = tuple(Blank(number, kind, 1) for number, kind in enumerate(kinds, 1))  # type: ignore[arg-type]
    document = ClozeDocument("c", "C", skeleton, blanks, (Section(1, "One", (Constraint("It fits."),)),))
    check_cloze(document, "c.toml")
    return document


def test_a_complete_story_gives_its_fills_back() -> None:
    assert align(shoes(), STORY) == FILLS


def respaced(story: str) -> str:
    return "\n  " + story.replace(" ", "  ").replace(" boots", "\u00a0boots")


@pytest.mark.parametrize(
    "written",
    [
        STORY.replace("\n\n", "\n").replace("heel\nof", "heel of"),  # a paragraph a line
        STORY.replace("\n", "\r\n"),
        " ".join(STORY.split()),  # one paragraph
        "# Seven Pairs\n\n" + STORY.replace("\n\n“I", "\n\n***\n\n## 2\n\n“I") + "\n\n---\n",
        respaced(STORY),
    ],
    ids=["a paragraph a line", "line ends of Windows", "no paragraphs", "headings and breaks", "other spaces"],
)
def test_layout_may_change(written: str) -> None:
    found = align(shoes(), written)

    assert written != STORY
    assert {number: " ".join(fill.split()) for number, fill in found.items()} == FILLS


def test_quotation_marks_may_be_straight_or_curly_and_those_of_a_fill_are_kept() -> None:
    story = STORY.replace("“", '"').replace("”", '"').replace("a left-luggage ticket", "Roth’s “ticket”")

    assert align(shoes(), story) == FILLS | {2: "Roth’s “ticket”"}


def test_a_fill_keeps_its_own_paragraphs() -> None:
    fills = FILLS | {4: "He sat down.\n\nHe polished them."}

    assert align(shoes(), fill_blanks(shoes(), fills)) == fills


REFUSED = [
    (
        "collects the shoes",
        "polishes them",
        "beginning: after “Basel and the border the attendant” the text goes on “collects the shoes. The seventh pair "
        "stood at berth eleven.…”, the answer “polishes them. The seventh pair stood at berth eleven. They…”",
    ),
    (
        "Between",
        "Here is the story:\n\nBetween",
        "beginning: the text begins “Between Basel and the border the attendant collects the sho…”, the answer “Here "
        "is the story: Between Basel and the border the attenda…”",
    ),
    (
        "they were wet",
        "they were damp",
        "blank 1: after “and they were” the text goes on “wet; in the heel of the left one lay”, the answer “damp; in "
        "the heel of the left one lay a left-luggage ticket…”",
    ),
    (
        "and they were wet",
        "although wet",
        "blank 1: “and they were wet; in the heel of the left one lay” does not follow it",
    ),
    ("she said.", "she laughed.", 'blank 5: “," she said.” does not follow it'),
    (
        "she said.",
        "she said.\n\nI hope you like it!",
        "blank 5: the answer goes on after the end of the text, with “I hope you like it!”",
    ),
    ("a left-luggage ticket", " ", "blank 2: is left empty"),
    ("Anselm sat down on the jump seat. He polished all seven pairs.\n\n", "", "blank 4: is left empty"),
    ("a left-luggage ticket", "{{2}}", "blank 2: is still open, “{{2}}” stands in its place"),
    (
        STORY[200:],
        "",
        'blank 2: “. "I have heard nothing," said the widow in nine, "but” does not follow it',
    ),
    (
        STORY,
        "",
        "beginning: the text begins “Between Basel and the border the attendant collects the sho…”, the answer “”",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), REFUSED)
def test_the_first_place_that_does_not_fit_is_named(old: str, new: str, message: str) -> None:
    assert old in STORY

    with pytest.raises(Unalignable) as refused:
        align(shoes(), STORY.replace(old, new, 1))

    assert str(refused.value) == message


def test_an_answer_that_can_be_taken_apart_in_two_ways_is_refused() -> None:
    with pytest.raises(Ambiguous) as refused:
        align(cloze("It was {{1}} and {{2}}.", "word", "word"), "It was cold and wet and dark.")

    assert refused.value.blank == 1
    assert str(refused.value) == "blank 1: could end in 2 places, since “and” follows it each time"


@pytest.mark.parametrize(
    ("kinds", "story", "fills"),
    [
        # A word does not go on into another sentence, a sentence not into another paragraph.
        (["word", "paragraph"], "At Zell. It rained. It snowed.", {1: "At Zell", 2: "It rained. It snowed."}),
        (["sentence", "paragraph"], "At Zell. It rained.", {1: "At Zell", 2: "It rained."}),
    ],
)
def test_kinds_decide_where_the_words_alone_do_not(kinds: list[str], story: str, fills: dict[int, str]) -> None:
    assert align(cloze("{{1}}. {{2}}", *kinds), story) == fills


@pytest.mark.parametrize(
    "story", ["St. Anna. It rained.", "Dr. E. Rauch. It rained. It snowed.", "At Zell, e.g. here. It rained."]
)
def test_what_may_be_an_abbreviation_decides_nothing(story: str) -> None:
    with pytest.raises(Ambiguous, match=r"^blank 1: could end in [23] places, since “\.” follows it each time$"):
        align(cloze("{{1}}. {{2}}", "word", "paragraph"), story)


def test_paragraphs_alone_can_part_two_blanks() -> None:
    document = cloze("{{1}}\n\n{{2}}", "paragraph", "paragraph")

    assert align(document, "It rained.\n\nIt snowed.") == {1: "It rained.", 2: "It snowed."}
    with pytest.raises(Ambiguous):
        align(document, "It rained.\n\nIt snowed.\n\nIt froze.")


def test_a_long_answer_of_nothing_but_anchors_is_refused_in_time() -> None:
    document = cloze(" ".join(f"{{{{{n}}}}}, x" for n in range(1, 40)), *["word"] * 39)

    with pytest.raises(Ambiguous):
        align(document, "a, x " * 5_000)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(0, 2**64))
def test_any_cloze_filled_with_words_of_its_own_is_taken_apart_again(seed: int) -> None:
    random = Random(seed)
    document = any_document(random)
    words = ["Zorn", "q.", "„ja“", "Q", "Ende?", "empty\n\nline", "zwei  Leerzeichen", "...", "y"]
    fills = {blank.number: " ".join(random.choices(words, k=random.randint(1, 9))) for blank in document.blanks}

    assert align(document, fill_blanks(document, fills)) == fills


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.text())
def test_whatever_a_model_answers_is_aligned_or_refused(answer: str) -> None:
    with pytest.raises(Unalignable):
        align(shoes(), answer)
    assert align(cloze("{{1}}", "paragraph"), "x" + answer)[1].startswith("x")
