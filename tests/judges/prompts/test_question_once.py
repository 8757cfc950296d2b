"""A question that stands in an item's own instruction, as in TTCW's release, is asked once."""

import pytest

from judges import prompts
from judges.prompts.templates import fill

QUESTION = "Is the ending earned?"
[PROMPT] = [prompt for prompt in prompts.load_built_in() if prompt.name == "ttcw-paper-reasoning-first"]


@pytest.mark.parametrize("instruction", ["", "Think aloud.", f"Think aloud.\n\nQ) {QUESTION}"])
def test_the_prompt_after_the_paper_asks_its_question_once(instruction: str) -> None:
    context = {"stories": "It rained.", "premise": "", "background": "What is meant.", "quoted": PROMPT.quoted}

    message = fill(PROMPT.template, context | {"instruction": instruction, "question": QUESTION})

    assert message.count(QUESTION) == 1
    assert message.endswith(f"Q) {QUESTION}")
