import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.items.rationale import Rule, count_sentences, count_words, shortfall


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        (" \n\t ", 0),
        ("one", 1),
        ("two words", 2),
        ("a dash – counts", 4),
        ("don’t split-this", 2),
        ("no\u00a0break", 2),
        ("byte\ufefforder", 2),
        ("unit\x1fseparator", 1),  # Python's \s would split here and at \x85, JavaScript's does not
        ("next\x85line", 1),
        ("wide\u3000blank", 2),
    ],
)
def test_words_are_counted_as_the_browser_counts_them(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", 0),
        (" … ?!", 0),
        ("no stop at the end", 1),
        ("One.", 1),
        ("One. Two", 2),
        ("“One.” Then two?! Three…", 3),
        ("The end is 3.5 pages long.", 1),
        ("a list\nof lines\n", 2),
        ("一つ。二つ。", 2),
        ("هل رأيتَه؟ نعم", 2),
        ("मैं घर जाता हूँ। वह आया।", 2),
        ("e.g. this", 2),
    ],
)
def test_sentences_end_in_a_stop_or_a_line(text: str, sentences: int) -> None:
    assert count_sentences(text) == sentences


@given(st.text(), st.text())
def test_adding_a_paragraph_adds_its_words_and_sentences(first: str, second: str) -> None:
    both = first + "\n" + second

    assert count_words(both) == count_words(first) + count_words(second)
    assert count_sentences(both) == count_sentences(first) + count_sentences(second)


@pytest.mark.parametrize(
    ("rule", "text", "lacks"),
    [
        (Rule("none"), "", ""),
        (Rule("optional", 40, "words"), "Too short.", ""),
        (Rule("required"), " \n", "Please write at least one sentence."),
        (Rule("required", 1, "sentences"), "No", ""),
        (Rule("required", 1, "words"), "", "Please write at least one word."),
        (Rule("required", 2, "sentences"), "Only one.", "Please write at least 2 sentences. So far there is one."),
        (Rule("required", 4, "words"), "one two three", "Please write at least 4 words. So far there are 3."),
        (Rule("required", 3, "words"), "one two three", ""),
    ],
)
def test_the_shortfall_says_what_is_asked_and_what_is_there(rule: Rule, text: str, lacks: str) -> None:
    assert shortfall(rule, text) == lacks


def test_an_item_gives_its_rule() -> None:
    class Item:
        rationale, rationale_least, rationale_unit = "required", 40, "words"

    assert Rule.of(Item()) == Rule("required", 40, "words")
