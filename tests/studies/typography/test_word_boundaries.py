"""Texts in words, in scripts with and without blanks."""

import pytest

from studies.typography.word_boundaries import is_unspaced, split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("She’d left. “Well-known, isn't it?”", ["she'd", "left", "well-known", "isn't", "it"]),
        ("caf\u00e9 CAFE\u0301 — 3 rooms_", ["café", "café", "3", "rooms"]),
        ("你好，世界。 Hello", ["你", "好", "世", "界", "hello"]),
        ("ที่นี่", ["ที่", "นี่"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("… * ' -", []),
    ],
)
def test_words_are_runs_of_letters_and_single_characters_of_scripts_without_blanks(text: str, words: list[str]) -> None:
    assert split_words(text) == words


def test_a_text_is_unspaced_if_most_of_its_words_are_single_characters() -> None:
    assert is_unspaced("你好，世界。 Hello")
    assert not is_unspaced("Hello there, 世界")
    assert not is_unspaced("")
