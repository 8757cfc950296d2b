"""Makers by the names of their models."""

import pytest

from judges.families import find_family


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gpt-4o-mini", "OpenAI"),
        ("o3-mini", "OpenAI"),
        ("ft:gpt-4o-mini-2024-07-18:org::id", "OpenAI"),
        ("orca-mini:3b", ""),
        ("openai/gpt-oss-120b", "OpenAI"),
        ("claude-sonnet-4", "Anthropic"),
        ("anthropic.claude-3-5-sonnet-20241022-v2:0", "Anthropic"),
        ("publishers/google/models/gemini-2.5-pro", "Google"),
        ("meta-llama/Llama-3-70b", "Meta"),
        ("qwen2.5:72b", "Alibaba"),
        ("z-ai/glm-4.6", "Zhipu"),
        ("accounts/fireworks/models/glm-4p5", "Zhipu"),
        ("chatglm3-6b", "Zhipu"),
        ("moonshotai/kimi-k2", "Moonshot"),
        ("Kimi-K2-Instruct", "Moonshot"),
        ("MiniMax-M2", "MiniMax"),
        ("us.amazon.nova-pro-v1:0", "Amazon"),
        ("nova-lite", "Amazon"),
        ("llama-3.1-nemotron-70b-instruct", "NVIDIA"),
        ("nvidia/llama-3.3-nemotron-super-49b-v1", "NVIDIA"),
        ("allenai/OLMo-2-1124-13B", "Ai2"),
        ("olmo2:13b", "Ai2"),
        ("ernie-4.5-300b-a47b", "Baidu"),
        ("command-r-plus", "Cohere"),
        ("ai21/jamba-large-1.7", "AI21"),
        ("jamba-mini", "AI21"),
        ("phi4:14b", "Microsoft"),
        ("ibm-granite/granite-4.0-h-small", "IBM"),
        ("granite3.3:8b", "IBM"),
        ("Yi-1.5-34B-Chat", "01.AI"),
        ("hunyuan-a13b-instruct", "Tencent"),
        ("Seed-OSS-36B-Instruct", "ByteDance"),
        ("deepseek-r1-distill-llama-70b", "DeepSeek"),
        ("gpt-neox-20b", "EleutherAI"),
        ("SmolLM2-135M-Instruct", "Hugging Face"),
    ],
)
def test_a_maker_is_known_by_the_name_of_its_model(model: str, family: str) -> None:
    assert find_family(model) == family


@pytest.mark.parametrize("model", ["our-own-model", "yield-7b", "seedling", "philosopher", "o100", "novalm", "", "/"])
def test_a_model_of_which_its_name_says_nothing_has_no_maker(model: str) -> None:
    assert find_family(model) == ""
