"""Items without a table, stories by letter, and the words with which a type refuses an answer."""

from types import SimpleNamespace
from typing import Any

import pytest

from studies.items import InvalidAnswer, StoryLabel, find_type

FOUR = [StoryLabel("A"), StoryLabel("B"), StoryLabel("C"), StoryLabel("D")]


def item(**fields: Any) -> Any:
    return SimpleNamespace(**({"key": "item", "question": "Is it?", "options": [], "settings": {}} | fields))


def refusal(kind: str, asked: Any, raw: Any, stories: Any = ()) -> str:
    with pytest.raises(InvalidAnswer) as caught:
        find_type(kind).clean(asked, raw, stories=stories)
    return str(caught.value)
