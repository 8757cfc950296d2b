"""What a stand-in may be told to send, written as OpenAI writes it; Anthropic's messages are made from the same."""

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Way(StrEnum):
    """How a reply goes over the wire."""

    WHOLE = "whole"
    HANG = "hang"  # never
    DRIP = "drip"  # a byte now and then
    NEWLINES = "newlines"  # for ever, as some servers do to keep a connection open
    HALF = "half"  # then the connection is closed


@dataclass
class Reply:
    """What goes back over the wire.

    n_bytes : the body is padded with blanks to so many bytes, which are made only as they are sent
    """

    body: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    way: Way = Way.WHOLE
    n_bytes: int = 0


def says(
    text: str | None,
    *,
    finish_reason: str = "stop",
    model: str = "standin",
    system_fingerprint: str | None = None,
    logprobs: Any = None,
    **message: Any,
) -> Reply:
    """A chat completion with that text."""
    choice: dict[str, Any] = {
        "index": 0,
        "message": {"role": "assistant", "content": text} | message,
        "finish_reason": finish_reason,
    }
    if logprobs is not None:
        choice["logprobs"] = logprobs
    usage = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
    document = {"id": "chatcmpl-1", "object": "chat.completion", "model": model, "choices": [choice], "usage": usage}
    if system_fingerprint is not None:
        document["system_fingerprint"] = system_fingerprint
    return Reply(json.dumps(document))


def error(status: int, message: str, *, headers: dict[str, str] | None = None, **fields: str) -> Reply:
    return Reply(json.dumps({"error": {"message": message} | fields}), status=status, headers=headers or {})


YES = says('It is so, since it ends well.\n{"answer": "yes"}')
NO = says('It breaks off.\n{"answer": "no"}')
REFUSED = says(None, refusal="I cannot judge this.")
BLOCKED = says("", finish_reason="content_filter")
TRUNCATED = says('It is so.\n{"answer": "yes"}', finish_reason="length")
PROSE = says("There is much to be said for it.")
OUT_OF_RANGE = says('{"answer": "maybe"}')
EMPTY = says("")
OTHER_MODEL = says('It is so, since it ends well.\n{"answer": "yes"}', model="standin-mini")
WITH_LOGPROBS = says(
    '{"answer": "yes"}',
    logprobs={"content": [{"token": "yes", "logprob": -0.25, "bytes": None, "top_logprobs": []}]},
)
GARBAGE = Reply("<html>Bad gateway</html>")
BROKEN_OFF = Reply(YES.body, way=Way.HALF)
HANG = Reply("", way=Way.HANG)
DRIP = Reply(YES.body, way=Way.DRIP)
NEWLINES = Reply("", way=Way.NEWLINES)
HUGE = Reply(YES.body, n_bytes=200_000_000)
ERROR = error(500, "boom")
OVERLOADED = error(529, "overloaded")
BUSY = error(429, "slow down", headers={"Retry-After": "0.01"})
SPENT = error(429, "You exceeded your current quota", type="insufficient_quota", code="insufficient_quota")
NO_CREDIT = error(402, "Payment required")
NO_KEY = error(401, "wrong key")
NO_MODEL = error(404, "The model `m` does not exist", code="model_not_found")
WRONG = error(400, "Unsupported parameter: 'temperature'")
TOO_LONG = error(400, "context length exceeded")
FILTERED = error(400, "filtered", code="content_filter")
FORBIDDEN = error(403, "You are not allowed to do this.")  # of the text or of the key: nobody can tell
BROKEN_BY_PROVIDER = says("I think", finish_reason="error")
# Of a router, which answers with success before it knows what its servers say.
ROUTED_OVERLOAD = Reply('{"error": {"code": 502, "message": "Provider returned error"}}')
ROUTED_NO_CREDIT = Reply('{"error": {"code": 402, "message": "Insufficient credits"}}')
