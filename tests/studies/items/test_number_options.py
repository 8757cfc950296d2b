"""Options whose values are numbers, named by numbers as models write them in JSON."""

from typing import Any

import pytest

from studies.items.options import match_option

STEPS = [{"value": "0", "label": "No"}, {"value": "0.5", "label": "In part"}, {"value": "1", "label": "Yes"}]


@pytest.mark.parametrize(("raw", "value"), [(0, "0"), (0.5, "0.5"), (1, "1"), (1.0, "1"), (-0.0, "0"), ("0.5", "0.5")])
def test_a_number_names_the_option_that_is_spelled_so(raw: Any, value: str) -> None:
    assert match_option(STEPS, raw) == value


@pytest.mark.parametrize("raw", [0.25, 2, True, False, float("nan"), 10**400, None])
def test_another_number_and_a_truth_name_none(raw: Any) -> None:
    assert match_option(STEPS, raw) is None


@pytest.mark.parametrize("value", ["nan", "inf", "1e0", "a"])
def test_words_that_python_takes_for_numbers_are_named_by_none(value: str) -> None:
    assert match_option([{"value": value, "label": "A"}, {"value": "b", "label": "B"}], 1) is None
