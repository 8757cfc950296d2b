"""The schema of a whole reply: reasons before the verdict, and every item once."""

import json

import pytest

from judges import parsing, prompts
from studies import items
from studies.items import StoryLabel
from tests.judges.questions import Asking

ANY = {name: Asking(**({"key": name, "type": name} | {k: v for k, v in kind.example["item"].items() if k != "key"}))
       for name, kind in items.all_types().items()}  # fmt: skip
STORIES = [StoryLabel("A"), StoryLabel("B")]


def test_one_item_is_answered_under_no_name() -> None:
    assert prompts.schema_of([Asking()]) == {
        "type": "object",
        "properties": {"rationale": {"type": "string"}, "answer": {"type": "string", "enum": ["yes", "no"]}},
        "required": ["rationale", "answer"],
        "additionalProperties": False,
    }


def test_several_items_are_answered_by_key_the_reasons_first() -> None:
    schema = prompts.schema_of(list(ANY.values()), STORIES)

    assert schema["required"] == list(schema["properties"]) == list(ANY)
    for name, entry in schema["properties"].items():
        assert list(entry["properties"]) == entry["required"] == ["rationale", "answer"]
        assert entry["properties"]["answer"] == items.find_type(name).schema(ANY[name], stories=STORIES)


@pytest.mark.parametrize("name", ANY)
def test_what_the_schema_allows_is_read_back(name: str) -> None:
    kind, item = items.find_type(name), ANY[name]
    stories = [StoryLabel(letter) for letter in kind.example.get("stories", ["A", "B"])]

    for value in kind.example["model"]:
        flat = json.dumps({"rationale": "It is so.", "answer": value})
        keyed = json.dumps({name: {"rationale": "It is so.", "answer": value}, "ending": {"answer": "yes"}})
        one = parsing.parse_reply(flat, finish_reason="stop", protocol="reasoning_first", items=[item], stories=stories)
        both = parsing.parse_reply(
            keyed, finish_reason="stop", protocol="reasoning_first", items=[item, Asking()], stories=stories
        )
        assert isinstance(one, parsing.Verdicts), one
        assert isinstance(both, parsing.Verdicts), both
        assert one[name] == both[name] == parsing.Verdict(value, "It is so.")
