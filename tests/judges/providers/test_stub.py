"""The stub: answers by chance, says so, and answers alike whoever asks again."""

import asyncio
import json
from typing import Any

import numpy as np
import pytest

from judges.providers.stub import TEXT, StubClient
from studies import items
from studies.items import InvalidAnswer, StoryLabel
from studies.items.chance import Chance, draw_value
from tests.judges.prompts.test_prompts import Asking

ASKED: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "Is it good?"}],
    "parameters": {"temperature": 0, "top_k": 5},
    "schema": {"type": "string", "enum": ["yes", "no"]},
}


def stub_reply(**changes: Any) -> dict[str, Any]:
    reply: dict[str, Any] = json.loads(asyncio.run(StubClient().complete(ASKED | changes)).text)
    return reply


def test_a_stub_says_that_it_is_one_in_every_reply() -> None:
    completion = asyncio.run(StubClient().complete(ASKED))

    assert "stub and not a model" in json.loads(completion.text)["rationale"]
    assert json.loads(completion.raw)["stub"] is True


def test_a_stub_answers_the_same_request_alike_whatever_the_number_of_its_fence() -> None:
    def asked(n: int, fence: str) -> str:
        content = f"<story fence-{fence * 32}>\nStory {n}.\n</story fence-{fence * 32}>"
        return str(stub_reply(messages=[{"role": "user", "content": content}])["answer"])

    first, again = [asked(n, "a") for n in range(40)], [asked(n, "b") for n in range(40)]

    assert first == again
    assert set(first) == {"yes", "no"}


def test_another_seed_gives_a_stub_other_answers() -> None:
    def answers(seed: int) -> list[str]:
        return [
            stub_reply(messages=[{"role": "user", "content": str(n)}], parameters={"seed": seed})["answer"]
            for n in range(40)
        ]

    assert answers(1) != answers(2)


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.8, 1.0])
def test_a_stub_says_yes_at_the_rate_it_is_given(rate: float) -> None:
    said = [
        stub_reply(messages=[{"role": "user", "content": str(n)}], parameters={"yes_rate": rate})["answer"]
        for n in range(1000)
    ]

    assert said.count("yes") / 1000 == pytest.approx(rate, abs=0.05)


@pytest.mark.parametrize("name", items.all_types())
def test_a_stub_can_answer_every_item_type(name: str) -> None:
    example = items.find_type(name).example
    asking = Asking(**({"type": name} | example["item"]))
    stories = [StoryLabel(letter) for letter in example.get("stories", ["A", "B"])]
    schema = items.find_type(name).schema(asking, stories=stories)

    for seed in range(50):
        value = draw_value(schema, Chance(np.random.default_rng(seed), text=TEXT))
        try:
            items.find_type(name).clean(asking, value, stories=stories)
        except InvalidAnswer as error:
            pytest.fail(f"{value!r}: {error}")
