"""Makers by the names of their models."""

import pytest

from judges.families import find_family


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gpt-4o-mini", "OpenAI"),
        ("openai/gpt-oss-120b", "OpenAI"),
        ("claude-sonnet-4", "Anthropic"),
        ("meta-llama/Llama-3-70b", "Meta"),
        ("qwen2.5:72b", "Alibaba"),
        ("our-own-model", "the lab's server"),
    ],
)
def test_a_maker_is_known_by_the_name_of_its_model(model: str, family: str) -> None:
    assert find_family(model, "the lab's server") == family
