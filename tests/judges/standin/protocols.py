"""Replies in the words of each protocol, made from those of OpenAI's chat completions."""

import json
from collections.abc import Callable
from typing import Any

_STOP_REASONS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def spoken(path: str, body: str, status: int) -> str:
    """The body of a chat completion or an error as the protocol of that path has it; anything else as it is."""
    ending = path.rpartition(":")[2] if ":" in path else path.rpartition("/")[2]
    return SPEAKERS[ending](body, status) if ending in SPEAKERS else body


def _parsed(body: str) -> dict[str, Any] | None:
    """The chat completion or the error of that body; None if it is neither."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    is_known = isinstance(document, dict) and (isinstance(document.get("error"), dict) or document.get("choices"))
    return document if is_known else None


def anthropic_body(body: str, status: int) -> str:
    """The same as Anthropic writes it; what is no completion and no error stays as it is."""
    document = _parsed(body)
    if document is None:
        return body
    if "error" in document:
        message = document["error"]["message"]
        if document["error"].get("code") == "model_not_found":
            message = "model: m"
        kind = _ERROR_TYPES.get(status, "api_error")
        return json.dumps({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"})
    (choice,), usage = document["choices"], document["usage"]
    text, refusal = choice["message"]["content"], choice["message"].get("refusal")
    written, read = usage.get("n_written", 1), usage.get("n_read", 2)
    return json.dumps(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": document["model"],
            "content": [{"type": "text", "text": refusal or text}] if refusal or text else [],
            "stop_reason": "refusal" if refusal else _STOP_REASONS[choice["finish_reason"]],
            "stop_sequence": None,
            "usage": {
                "input_tokens": usage["prompt_tokens"] - written - read,
                "cache_creation_input_tokens": written,
                "cache_read_input_tokens": read,
                "output_tokens": usage["completion_tokens"],
            },
        }
    )


def responses_body(body: str, status: int) -> str:
    """The same as OpenAI's Responses API writes it. Its errors are those of chat completions."""
    document = _parsed(body)
    if document is None or "choices" not in document:
        return body
    (choice,), usage = document["choices"], document["usage"]
    text, refusal = choice["message"]["content"], choice["message"].get("refusal")
    part = {"type": "refusal", "refusal": refusal} if refusal else {"type": "output_text", "text": text or ""}
    reason = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(choice["finish_reason"])
    has_failed = choice["finish_reason"] == "error"
    n_reasoning, n_read = usage.get("n_reasoning", 0), usage.get("n_read", 2)
    message = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    return json.dumps(
        {
            "id": "resp_1",
            "object": "response",
            "status": "failed" if has_failed else "incomplete" if reason else "completed",
            "error": {"code": "server_error", "message": "The server had an error."} if has_failed else None,
            "incomplete_details": {"reason": reason} if reason else None,
            "model": document["model"],
            "output": [{"id": "rs_1", "type": "reasoning", "summary": []}, message],
            "store": False,
            "usage": {
                "input_tokens": usage["prompt_tokens"],
                "input_tokens_details": {"cached_tokens": n_read, "cache_write_tokens": 0},
                "output_tokens": usage["completion_tokens"],
                "output_tokens_details": {"reasoning_tokens": n_reasoning},
                "total_tokens": usage["prompt_tokens"] + usage["completion_tokens"],
            },
        }
    )


_RPC_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


def gemini_body(body: str, status: int) -> str:
    """The same as Gemini writes it: errors with a status of Google's, thoughts beside the reply and its tokens."""
    document = _parsed(body)
    if document is None or "details" in document.get("error", {}):
        return body
    if "choices" not in document:
        message, code = document["error"]["message"], document["error"].get("code")
        if code == "model_not_found":
            message = "models/m is not found for API version v1beta"
        error = {"code": status, "message": message, "status": _RPC_STATUSES.get(status, "UNKNOWN")}
        kept = {"details": [{"reason": code}]} if code else {}
        return json.dumps({"error": error | kept})
    (choice,), usage = document["choices"], document["usage"]
    text = choice["message"].get("refusal") or choice["message"]["content"]
    reason = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY", "error": "OTHER"}
    n_thoughts = usage.get("n_reasoning", 1)
    parts = [{"text": "It may be so.", "thought": True}, {"text": text}] if text else []
    return json.dumps(
        {
            "candidates": [
                {
                    "content": {"parts": parts, "role": "model"},
                    "finishReason": reason[choice["finish_reason"]],
                    "index": 0,
                }
            ],
            "modelVersion": document["model"],
            "responseId": "resp-1",
            "usageMetadata": {
                "promptTokenCount": usage["prompt_tokens"],
                "candidatesTokenCount": usage["completion_tokens"] - n_thoughts,
                "thoughtsTokenCount": n_thoughts,
                "cachedContentTokenCount": usage.get("n_read", 2),
                "totalTokenCount": usage["prompt_tokens"] + usage["completion_tokens"],
            },
        }
    )


# By how a path ends.
SPEAKERS: dict[str, Callable[[str, int], str]] = {
    "messages": anthropic_body,
    "responses": responses_body,
    "generateContent": gemini_body,
}
