"""The words by which a reader knows again which of several texts it is."""

import pytest

from studies.typography.openings import opening_words


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The kettle had boiled dry.", "The kettle had boiled dry."),
        ("One two three four five six seven eight nine.", "One two three four five six seven eight nine."),
        ("One two three four five six seven eight nine ten.", "One two three four five six seven eight nine …"),
        (
            "Dear M.,\n\nThe *ferry* stopped at noon, and nobody came.",
            "Dear M., The ferry stopped at noon, and nobody …",
        ),
        ("I saw\n   a gull\nfall", "I saw / a gull / fall"),
        ("§ 1\n\n***\n\nShe left.", "§ 1 She left."),
        ("", ""),
    ],
)
def test_a_text_is_known_by_its_first_nine_words(text: str, wanted: str):
    assert opening_words(text) == wanted


def test_a_text_without_spaces_is_known_by_its_first_characters():
    assert opening_words("海" * 2000) == "海" * 89 + "…"
