"""The JSON schema of a whole reply, for servers that can be told the form of the answer."""

from collections.abc import Sequence
from typing import Any

from judges.prompts.messages import Question
from studies import items as item_types
from studies.items import StoryLabel


def schema_of(items: Sequence[Question], stories: Sequence[StoryLabel] = (), *, by_key: bool = False) -> dict[str, Any]:
    """The schema of a reply to these items: rationale before verdict, under the item's key if there are several.

    by_key : under its key also where there is one
    Where a server writes in the order of the schema, the reasons come first; `required` names them in that order, too.
    """
    entries = {item.key: _entry(item, stories) for item in items}
    if len(entries) == 1 and not by_key:
        return next(iter(entries.values()))
    return _object(entries)


def _entry(item: Question, stories: Sequence[StoryLabel]) -> dict[str, Any]:
    answer = item_types.find_type(item.type).schema(item, stories=stories)
    return _object({"rationale": {"type": "string"}, "answer": answer})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
