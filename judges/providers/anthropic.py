"""Anthropic's messages: the system's words apart, and a limit on every reply."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext_lazy as _

from judges import reasons
from judges.providers.base import (
    MAX_BATCH_BYTES,
    REASONING_EFFORT,
    BatchClient,
    BatchResult,
    BatchState,
    CallFailed,
    Client,
    Completion,
    Connection,
    FailureKind,
    LibraryClient,
    Limits,
    Provider,
    Request,
    answer_schema,
    document_of,
    failure_of,
    fit_count,
    number_of,
    outcome_of,
    read_limits,
    result_lines,
    text_of,
    token_count,
)

VERSION = "2023-06-01"  # of the protocol; there has been no other since
KEPT = {"type": "ephemeral"}  # in its cache, for five minutes from its last use
# Anthropic wants a limit on every reply. A verdict with its reasons takes a few hundred.
MAX_TOKENS = 4096
_FINISH_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}
# A batch names errors without their status.
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}


class Anthropic(Provider):
    slug = "anthropic"
    title = _("Anthropic")
    own_fields = ("model", "messages", "system", "stream")
    object_fields = ("output_config", "thinking")
    default_limit = MAX_TOKENS
    marks_shared_texts = True
    cache_write_part = Decimal("1.25")  # of what it keeps five minutes

    def connect(self, connection: Connection) -> Client:
        return AnthropicClient(connection)

    def read(self, body: str) -> Completion:
        return completion_of(body)

    def connect_batches(self, connection: Connection) -> BatchClient:
        return AnthropicBatches(connection)


class AnthropicClient(LibraryClient):
    """Messages at a base URL, by the `anthropic` library without its retries."""

    request_id_header = "request-id"

    def __init__(self, connection: Connection) -> None:
        import anthropic
        import httpx2

        super().__init__(connection)
        self._anthropic = anthropic
        self._response_class = httpx2.Response
        headers = {"anthropic-version": VERSION} | ({"x-api-key": connection.key} if connection.key else {})
        self._client = anthropic.AsyncAnthropic(
            base_url=connection.base_url.rstrip("/").removesuffix("/v1"),  # the library adds it
            api_key="none",  # where it is given none it takes the environment's; ours is set where requests leave
            max_retries=0,
            timeout=None,  # `call` bounds the whole
            open_telemetry=False,  # stories are nobody else's to trace
            http_client=self._network.http_client(connection, headers),
        )

    async def complete(self, request: Request) -> Completion:
        # Not by `messages.create`: it changes what it is given by the model's name, and warns of old models.
        response = await self.send("post", "/v1/messages", body=body_of(request))
        try:
            self.check_success(response)
        except CallFailed as failure:
            return self.completion_instead(failure)
        body = self.without_key(response.text)
        return completion_of(body, request_id=self._request_id(response), limits=read_limits(response.headers))

    async def send(self, method: str, path: str, **arguments: Any) -> Any:
        """The HTTP response of the library's get or post, whatever its status. Raises CallFailed."""
        async with self._network.call(self._connection):
            try:
                return await getattr(self._client, method)(path, cast_to=self._response_class, **arguments)
            except self._anthropic.APIStatusError as error:
                return error.response

    async def close(self) -> None:
        await self._client.close()


class AnthropicBatches:
    """Message batches."""

    def __init__(self, connection: Connection) -> None:
        self._client = AnthropicClient(replace(connection, max_body_bytes=MAX_BATCH_BYTES))

    async def create(self, name: str, request_by_key: Mapping[str, Request]) -> str:
        requests = [{"custom_id": key, "params": body_of(request)} for key, request in request_by_key.items()]
        document = await self._ask("post", "/v1/messages/batches", body={"requests": requests})
        return number_of(document)

    async def find(self, name: str) -> str | None:
        return None  # Anthropic's batches carry no names

    async def poll(self, batch: str) -> BatchState:
        document = await self._ask("get", f"/v1/messages/batches/{batch}")
        return BatchState.ENDED if document.get("processing_status") == "ended" else BatchState.WORKING

    async def results(self, batch: str) -> list[BatchResult]:
        response = await self._client.send("get", f"/v1/messages/batches/{batch}/results")
        self._client.check_success(response)
        return [result_of(line) for line in result_lines(response.text)]

    async def close(self) -> None:
        await self._client.close()

    async def _ask(self, method: str, path: str, **arguments: Any) -> dict[str, Any]:
        response = await self._client.send(method, path, **arguments)
        self._client.check_success(response)
        return document_of(self._client.without_key(response.text))


def result_of(line: dict[str, Any]) -> BatchResult:
    """What a line of a batch's results says of its call."""
    key, result = line["custom_id"], line.get("result") or {}
    if result.get("type") == "succeeded":
        try:
            return BatchResult(key, completion_of(json.dumps(result.get("message"), ensure_ascii=False)))
        except CallFailed as failure:
            return BatchResult(key, failure)
    body = json.dumps(result, ensure_ascii=False)
    if result.get("type") == "errored":
        status = _STATUSES.get(str(((result.get("error") or {}).get("error") or {}).get("type")), 500)
        return BatchResult(key, outcome_of(failure_of(status, body, {})))
    reason = reasons.NOT_ANSWERED_IN_BATCH % {"words": result.get("type")}  # expired, canceled
    return BatchResult(key, CallFailed(reason, kind=FailureKind.TIMEOUT, body=body, is_unserved=True))


def body_of(request: Request) -> dict[str, Any]:
    """What is sent for a request, with a mark after what other requests begin with, if it says that some do."""
    system: list[dict[str, Any]] = []
    messages: list[dict[str, Any]] = []
    for message in request["messages"]:
        if message["role"] in ("system", "developer"):
            system += _blocks([text_of(message["content"])])
        else:
            messages.append({"role": message["role"], "content": _blocks([text_of(message["content"])])})
    if n_shared := request.get("n_shared_parts"):
        parts = request["messages"][-1]["content"]
        shared, own = text_of(parts[:n_shared]), text_of(parts[n_shared:])
        messages[-1]["content"] = [{"type": "text", "text": shared, "cache_control": KEPT}, *_blocks([own])]
    body: dict[str, Any] = {"model": request["model"], "max_tokens": request.get("max_tokens") or MAX_TOKENS}
    body |= request.get("parameters") or {}
    _translate_effort(body)
    body["messages"] = messages
    if system:
        body["system"] = system
    if request.get("structured"):
        form = {"type": "json_schema", "schema": answer_schema(request["schema"])}
        body["output_config"] = body.get("output_config", {}) | {"format": form}
    return body


def _translate_effort(body: dict[str, Any]) -> None:
    """Ask for a reasoning effort as Anthropic does: none turns thinking off; it has no less than low."""
    effort = body.pop(REASONING_EFFORT, None)
    if effort == "none":
        body.setdefault("thinking", {"type": "disabled"})
    elif effort:
        body.setdefault("thinking", {"type": "adaptive"})
        body["output_config"] = {"effort": "low" if effort == "minimal" else effort} | body.get("output_config", {})


def _blocks(texts: Iterable[str]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text} for text in texts if text]  # an empty one is refused


def completion_of(body: str, *, request_id: str = "", limits: Limits | None = None) -> Completion:
    """The completion that the body of a message holds. Raises CallFailed if it holds none."""
    try:
        document = json.loads(body)
        blocks = document["content"]
        text = "".join(block["text"] for block in blocks if block["type"] == "text")  # not what it thought before
        stop_reason = str(document["stop_reason"] or "stop")
    except (ValueError, LookupError, TypeError, RecursionError):
        raise CallFailed(
            reasons.NO_MESSAGE,
            kind=FailureKind.MALFORMED,
            status=200,
            body=body,
            request_id=request_id,
        ) from None
    usage = document.get("usage")
    counts = [
        token_count(usage, name) for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    ]
    return Completion(
        text,
        _FINISH_REASONS.get(stop_reason, stop_reason),
        body,
        model=str(document.get("model") or ""),
        request_id=request_id,
        # Anthropic counts apart what went into its cache and what came from it.
        n_tokens_in=None if counts[0] is None else fit_count(sum(count or 0 for count in counts)),
        n_tokens_out=token_count(usage, "output_tokens"),
        n_tokens_cached=counts[2],
        n_tokens_cache_written=counts[1],
        n_tokens_reasoning=token_count(usage, "output_tokens_details", "thinking_tokens"),
        limits=limits,
    )
