import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.metrics import NoValue
from judges.metrics.length import Length
from studies.models import Story, measure
from studies.typography.paragraphs import number_paragraphs
from studies.typography.word_boundaries import is_unspaced

STORY = """The ferry stopped. “Who is there?” Nobody answered!

She waited… e.g. an hour

* * *

It was over.
Or so they
said."""


def lengths(text: str) -> tuple[float | NoValue, ...]:
    value_by_item = Length().measure(text)
    return value_by_item["words"], value_by_item["sentences"], value_by_item["paragraphs"]


def test_a_story_counted_by_hand() -> None:
    # 8, 5 and 8 words and 3 asterisks; 3 sentences, then 3 for the dots of e.g. and the ellipsis, then 2.
    assert lengths(STORY) == (23, 8, 3)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two? Three!", 3),
        ("“Stop!” she said.", 2),
        ("No stop at the end", 1),
        ("A line\nthat goes on.\n\nAnother.", 2),
        ("A poem\nwithout stops\nin three lines", 1),
        ("再见。你好！", 2),
        ("3.5 metres, v1.2.", 1),
        ("… !", 0),
    ],
)
def test_sentences_by_the_rule(text: str, sentences: int) -> None:
    assert lengths(text)[1] == sentences


@given(st.text(min_size=1))
def test_words_and_paragraphs_are_those_that_quire_counts_elsewhere(text: str) -> None:
    words, _, n_paragraphs = lengths(text)

    if not is_unspaced(text):
        assert words == measure(Story(text=text)).n_words
    assert n_paragraphs == len(number_paragraphs(text))
