"""What a model says around a text is proposed to go, and the text itself never."""

import pytest

from judges.parsing.boilerplate import strip_boilerplate

STORY = "The well was dry.\n\nOkay, she said, and went home.\nNobody asked why."


@pytest.mark.parametrize(
    "reply",
    [
        f"Okay! Here's the story:\n\n{STORY}",
        f"Sure, here is a 500-word story based on your premise:\n\n# The Well\n\n{STORY}",
        f"**The Well**\n\n{STORY}\n\n---\n\n(Word count: 512)",
        f"Title: The Well\n{STORY}\n\nI hope you enjoyed this story!",
        f"```\n{STORY}\n```",
        f"<story fence-{'0' * 32}>\n{STORY}\n</story fence-{'0' * 32}>",
        STORY,
    ],
)
def test_the_text_alone_is_proposed(reply: str) -> None:
    assert strip_boilerplate(reply) == STORY


@pytest.mark.parametrize("text", ["Great oaks lined the lane, and she ran.", "Here is where it ended.", "The end."])
def test_a_text_that_only_looks_so_stays(text: str) -> None:
    assert strip_boilerplate(text) == text
