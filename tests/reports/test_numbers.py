"""Numbers as a reader meets them."""

import pytest

from reports.numbers import coefficient, decimal, whole


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0.4705, ".47"),
        (-0.0214, "−.02"),
        (1.0, "1.00"),
        (-1.0, "−1.00"),
        (0.999, "1.00"),
        (0.0, ".00"),
        (-0.001, ".00"),
        (None, "–"),
        ("", "–"),
    ],
)
def test_a_coefficient_has_two_decimals_and_no_nought_before_the_point(number: float | None, words: str) -> None:
    assert coefficient(number) == words


@pytest.mark.parametrize(
    ("number", "places", "words"), [(83.333, 1, "83.3"), (-2.25, 2, "−2.25"), (-0.04, 1, "0.0"), (None, 1, "–")]
)
def test_a_decimal_has_the_places_that_were_asked_for(number: float | None, places: int, words: str) -> None:
    assert decimal(number, places) == words


def test_a_whole_number_has_its_thousands() -> None:
    assert [whole(2016), whole(0), whole(None)] == ["2,016", "0", "–"]
