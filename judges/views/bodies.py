"""The reply inside a stored body, for reading; what was made of it when it came is not decided here."""

from __future__ import annotations

import json
from typing import Any


def find_reply(body: str) -> str:
    """The words of the model in a body as OpenAI's or Anthropic's protocol has it; "" where there are none.

    A body that is no JSON is the words themselves, as a stub's.
    """
    try:
        document = json.loads(body)
    except ValueError:
        return body
    if not isinstance(document, dict):
        return ""
    return _from_choices(document.get("choices")) or _from_blocks(document.get("content"))


def _from_choices(choices: Any) -> str:
    match choices:
        case [{"message": {"content": str(text)}}, *_]:
            return text
        case [{"message": {"refusal": str(text)}}, *_]:
            return text
    return ""


def _from_blocks(blocks: Any) -> str:
    if not isinstance(blocks, list):
        return ""
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))
