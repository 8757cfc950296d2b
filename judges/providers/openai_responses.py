"""OpenAI's Responses API: instructions apart, a reply in items, and batches as of chat completions."""

import json
from typing import Any

from django.utils.translation import gettext_lazy as _

from judges import reasons
from judges.providers.base import (
    REASONING_EFFORT,
    REPLY_LIMITS,
    BatchClient,
    CallFailed,
    Client,
    Completion,
    Connection,
    FailureKind,
    Limits,
    Provider,
    Request,
    Token,
    answer_schema,
    failure_within,
    pop_reply_limit,
    read_tokens,
    text_of,
    token_count,
)
from judges.providers.base.openai_library import FileBatches, OpenAILibraryClient

LIMIT = "max_output_tokens"
PROBABILITIES = "message.output_text.logprobs"  # what is included where `logprobs` is asked for
_FINISH_REASONS = {LIMIT: "length"}
# What HTTP would say of errors that come with success.
_STATUSES = {"rate_limit_exceeded": 429, "server_error": 500}


class OpenAIResponses(Provider):
    slug = "openai-responses"
    title = _("OpenAI, Responses API")
    own_fields = (
        *("model", "messages", "input", "instructions", "store", "stream"),
        *("background", "conversation", "previous_response_id"),
    )
    unknown_fields = ("seed",)
    object_fields = ("reasoning", "text")
    reply_limits = (LIMIT, *REPLY_LIMITS)

    def connect(self, connection: Connection) -> Client:
        return ResponsesClient(connection)

    def read(self, body: str) -> Completion:
        return completion_of(body)

    def connect_batches(self, connection: Connection) -> BatchClient:
        return ResponsesBatches(connection)


class ResponsesClient(OpenAILibraryClient):
    """Responses at a base URL."""

    route = "/responses"

    def body_of(self, request: Request) -> dict[str, Any]:
        return body_of(request)

    def completion_of(self, body: str, *, request_id: str = "", limits: Limits | None = None) -> Completion:
        return completion_of(body, request_id=request_id, limits=limits)


class ResponsesBatches(FileBatches):
    """Batches of responses."""

    client_class = ResponsesClient


def body_of(request: Request) -> dict[str, Any]:
    """What is sent for a request. Nothing of it is to be stored there."""
    body = dict(request.get("parameters") or {})
    if limit := pop_reply_limit(request, body, OpenAIResponses.reply_limits):
        body[LIMIT] = limit
    if effort := body.pop(REASONING_EFFORT, None):
        body["reasoning"] = {"effort": effort} | body.get("reasoning", {})
    if body.pop("logprobs", None):
        body["include"] = [*(body.get("include") or ()), PROBABILITIES]
    messages = [(message["role"], text_of(message["content"])) for message in request["messages"]]
    if instructions := "\n\n".join(text for role, text in messages if role in ("system", "developer")):
        body["instructions"] = instructions
    body["input"] = [{"role": role, "content": text} for role, text in messages if role not in ("system", "developer")]
    if request.get("structured"):
        form = {"type": "json_schema", "name": "answer", "strict": True, "schema": answer_schema(request["schema"])}
        body["text"] = body.get("text", {}) | {"format": form}
    return body | {"model": request["model"], "store": False}


def _read_tokens(document: Any) -> tuple[Token, ...]:
    """The tokens of a response with their log-probabilities; none where they were not asked for."""
    contents = [item.get("content") or () for item in document["output"] if item["type"] == "message"]
    parts = [part for content in contents for part in content if part["type"] == "output_text"]
    return read_tokens({"content": [entry for part in parts for entry in part.get("logprobs") or ()]})


def _read_output(document: Any) -> tuple[str, str]:
    """The words of a response, and why it ended; of what the model refused its refusal. Not what it reasoned before."""
    parts = [part for item in document["output"] if item["type"] == "message" for part in item["content"]]
    refusal = "".join(part["refusal"] for part in parts if part["type"] == "refusal")
    if refusal:
        return refusal, "refusal"
    text = "".join(part["text"] for part in parts if part["type"] == "output_text")
    if document["status"] == "incomplete":
        reason = str(document["incomplete_details"]["reason"])
        return text, _FINISH_REASONS.get(reason, reason)
    if document["status"] != "completed":
        raise ValueError("a response that has not ended")
    return text, "stop"


def completion_of(body: str, *, request_id: str = "", limits: Limits | None = None) -> Completion:
    """The completion that the body of a response holds. Raises CallFailed if it holds none."""
    error: Any = None
    text = finish_reason = ""
    tokens: tuple[Token, ...] = ()
    try:
        document = json.loads(body)
        has_failed = document.get("status") == "failed" or ("status" not in document and bool(document.get("error")))
        if has_failed:
            error = document.get("error")
        else:
            text, finish_reason = _read_output(document)
            tokens = _read_tokens(document)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise CallFailed(
            reasons.NO_MESSAGE, kind=FailureKind.MALFORMED, status=200, body=body, request_id=request_id
        ) from None
    usage = document.get("usage")
    n_in, n_out = token_count(usage, "input_tokens"), token_count(usage, "output_tokens")
    if has_failed:
        code = error.get("code") if isinstance(error, dict) else None
        if isinstance(code, str) and code in _STATUSES:
            error = error | {"code": _STATUSES[code]}
        has_begun = bool(n_out or document.get("output"))
        failure = failure_within(error, body, has_begun=has_begun, request_id=request_id, limits=limits)
        failure.n_tokens_in, failure.n_tokens_out = n_in, n_out
        raise failure
    return Completion(
        text,
        finish_reason,
        body,
        model=str(document.get("model") or ""),
        request_id=request_id,
        n_tokens_in=n_in,
        n_tokens_out=n_out,
        n_tokens_cached=token_count(usage, "input_tokens_details", "cached_tokens"),
        n_tokens_cache_written=token_count(usage, "input_tokens_details", "cache_write_tokens"),
        n_tokens_reasoning=token_count(usage, "output_tokens_details", "reasoning_tokens"),
        limits=limits,
        tokens=tokens,
    )
