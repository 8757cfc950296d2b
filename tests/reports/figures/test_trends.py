"""Which properties of stories are numbers."""

import pytest

from reports.figures.sources.factor_rows import as_number
from reports.figures.sources.trends import is_label, short_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7B", 7e9),
        ("0.5", 0.5),
        ("13b", 13e9),
        ("1.8T", 1.8e12),
        ("550", 550.0),
        ("long", None),
        ("B", None),
        ("nan", None),
    ],
)
def test_a_level_is_a_number_if_it_says_one(text: str, number: float | None) -> None:
    assert as_number(text) == number


def test_what_only_names_things_is_no_number() -> None:
    assert all(map(is_label, ("premise", "study_id", "story-id", "Premise")))
    assert not any(map(is_label, ("size", "n_words", "temperature")))


def test_numbers_are_short_on_an_axis() -> None:
    assert [short_number(n) for n in (7e9, 1.8e12, 550, 0.5)] == ["7B", "1.8T", "550", "0.5"]
