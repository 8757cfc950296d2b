"""Values drawn by chance are values that the item types allow, for every type there is."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from studies import items
from studies.items import StoryLabel
from studies.items.chance import Chance, draw_value


def draw(schema: dict[str, Any], *, seed: int = 0, **more: Any) -> Any:
    return draw_value(schema, Chance(np.random.default_rng(seed), text="Words.", **more))


@pytest.mark.parametrize("name", items.all_types())
def test_every_item_type_allows_what_is_drawn(name: str) -> None:
    kind = items.find_type(name)
    item = SimpleNamespace(**({"key": "k", "question": "?", "options": [], "settings": {}} | kind.example["item"]))
    stories = [StoryLabel(letter) for letter in kind.example.get("stories", ["A", "B"])]
    schema = kind.schema(item, stories=stories)

    values = [draw(schema, seed=seed) for seed in range(50)]

    for value in values:
        assert kind.clean(item, value, stories=stories) is not None
        assert not items.is_empty(value)


def test_the_same_seed_draws_the_same() -> None:
    schema = {"type": "integer", "minimum": 1, "maximum": 1000}

    assert [draw(schema, seed=n) for n in range(9)] == [draw(schema, seed=n) for n in range(9)]
    assert len({draw(schema, seed=n) for n in range(9)}) > 5


@pytest.mark.parametrize(("low", "high", "allowed"), [(0.2, 0.8, {0.2}), (0.5, 2.5, {1, 2}), (3, 3, {3})])
def test_numbers_stay_between_limits_that_are_not_whole(low: float, high: float, allowed: set[float]) -> None:
    schema = {"type": "number", "minimum": low, "maximum": high}

    assert {draw(schema, seed=seed) for seed in range(30)} == allowed


@pytest.mark.parametrize("rate", [0.0, 0.25, 1.0])
def test_of_yes_and_no_yes_is_drawn_at_the_given_rate(rate: float) -> None:
    schema = {"type": "string", "enum": ["yes", "no"]}

    verdicts = [draw(schema, seed=seed, yes_rate=rate) for seed in range(1000)]

    assert verdicts.count("yes") / 1000 == pytest.approx(rate, abs=0.05)
