"""Texts of a study on pages: what is a list, a link or emphasis, and what stays the plain paragraphs that it was."""

import pytest

from studies.typography.paragraphs import number_paragraphs
from studies.typography.prose import ProseBlock, ProseRun, parse_prose

PLAIN = [
    "One paragraph.\n\nAnother, with *emphasis* in it.",
    "Every line\nof this\nis kept",
    "What is paid? 40 - no more. Costs: [see below] (and 3) more.\n\nWrite to a_b_c@example.org.",
    "<script>alert(1)</script>\n\n[words](javascript:alert(1)) [words](//elsewhere.example)",
]


@pytest.mark.parametrize("text", PLAIN)
def test_a_text_without_marks_is_the_paragraphs_that_it_was(text: str) -> None:
    blocks = parse_prose(text)

    shown = [([(run.text, run.is_italic) for run in block.entries[0]], block.keeps_lines) for block in blocks]
    before = [([(run.text, run.is_italic) for run in p.runs], p.keeps_lines) for p in number_paragraphs(text)]
    assert shown == before
    assert not any(run.url or run.is_strong for block in blocks for run in block.entries[0])


def test_lines_with_dashes_are_a_list_and_what_stands_around_them_is_not() -> None:
    blocks = parse_prose("You need:\n- a lamp\n- **two** hours\n\n1. Read.\n\n2. Answer.")

    assert [block.kind for block in blocks] == ["paragraph", "bullets", "numbers"]
    assert blocks[1].entries[1] == (ProseRun("two", is_strong=True), ProseRun(" hours"))
    assert blocks[2] == ProseBlock("numbers", ((ProseRun("Read."),), (ProseRun("Answer."),)))


def test_words_in_brackets_lead_to_their_address() -> None:
    runs = parse_prose("See [our *page*](https://example.org/a_b*c) first.")[0].entries[0]

    assert runs == (ProseRun("See "), ProseRun("our *page*", url="https://example.org/a_b*c"), ProseRun(" first."))
