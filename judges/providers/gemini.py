"""Gemini's own protocol, and its batches. It needs no library of its vendor's: JSON goes both ways, one route for each.

All that guards the other providers is in the client that they are given (`network.http_client`): addresses that were
checked, bounded bodies, no proxy, no redirect, the key set where requests leave. It is used here as it is.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from django.utils.translation import gettext_lazy as _

from judges import reasons
from judges.providers.base import (
    MAX_BATCH_BYTES,
    REASONING_EFFORT,
    REPLY_LIMITS,
    BatchClient,
    BatchRefused,
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
    failure_within,
    fit_count,
    outcome_of,
    pop_reply_limit,
    read_limits,
    text_of,
    token_count,
)

LIMIT = "maxOutputTokens"
LONGEST_REFUSAL = 600  # letters that are kept of why a batch was not taken on
# Names by which other protocols take the same.
_NAMES = {
    "top_p": "topP",
    "top_k": "topK",
    "stop": "stopSequences",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
}
# Parameters that stand beside those of the generation.
_OUTER = ("safetySettings", "cachedContent", "serviceTier")
_FILTERS = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "MODEL_ARMOR")
_FINISH_REASONS = dict.fromkeys(_FILTERS, "content_filter") | {"STOP": "stop", "MAX_TOKENS": "length"}
# Models before the third generation take a number of tokens for their thoughts, later ones a level. The numbers are
# those that Google's compatible API takes for OpenAI's words.
_TAKES_BUDGETS = re.compile(r"(?:.*/)?gemini-[12]\b")
_BUDGETS = {"none": 0, "minimal": 1024, "low": 1024, "medium": 8192, "high": 24576}
# What the schema of a reply may say there, of what Quire's say.
_SCHEMA_NAMES = ("enum", "minimum", "maximum", "minItems", "maxItems", "required", "description")
_ENDED = ("SUCCEEDED", "CANCELLED", "EXPIRED")
# Of gRPC's codes, in which a batch names errors, those of HTTP.
_STATUSES = {3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 10: 409, 11: 400, 13: 500, 14: 503, 16: 401}


class Gemini(Provider):
    slug = "gemini"
    title = _("Google Gemini")
    own_fields = ("model", "messages", "contents", "systemInstruction", "generationConfig", "candidateCount", "stream")
    object_fields = ("thinkingConfig",)
    reply_limits = (LIMIT, *REPLY_LIMITS)
    most_batch_bytes = 18_000_000  # it takes 20 MB

    def connect(self, connection: Connection) -> Client:
        return GeminiClient(connection)

    def read(self, body: str) -> Completion:
        return completion_of(body)

    def connect_batches(self, connection: Connection) -> BatchClient:
        return GeminiBatches(connection)


class GeminiClient(LibraryClient):
    """Content generated at a base URL."""

    request_id_header = "x-request-id"  # which it does not send: a reply has its number inside

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        headers = {"x-goog-api-key": connection.key} if connection.key else {}
        self._http = self._network.http_client(connection, headers)

    async def complete(self, request: Request) -> Completion:
        route = f"{_name_model(request['model'])}:generateContent"
        response = await self.send("POST", route, json=body_of(request))
        try:
            self.check_success(response)
            return completion_of(self.without_key(response.text), limits=read_limits(response.headers))
        except CallFailed as failure:
            return self.completion_instead(failure)

    async def send(self, method: str, route: str, **arguments: Any) -> Any:
        """The HTTP response to what is sent there, whatever its status. Raises CallFailed."""
        async with self._network.call(self._connection):
            return await self._http.request(method, f"{self._connection.base_url.rstrip('/')}/{route}", **arguments)

    async def ask(self, method: str, route: str, **arguments: Any) -> dict[str, Any]:
        """The document that comes back. Raises CallFailed."""
        response = await self.send(method, route, **arguments)
        self.check_success(response)
        return document_of(self.without_key(response.text))

    async def close(self) -> None:
        await self._http.aclose()


class GeminiBatches:
    """Batches whose requests are handed in with them, and whose replies come with their state."""

    def __init__(self, connection: Connection) -> None:
        self._client = GeminiClient(replace(connection, max_body_bytes=MAX_BATCH_BYTES))

    async def create(self, name: str, request_by_key: Mapping[str, Request]) -> str:
        model = _name_model(next(iter(request_by_key.values()))["model"])
        requests = [
            {"request": {"model": model} | body_of(request), "metadata": {"key": key}}
            for key, request in request_by_key.items()
        ]
        batch = {"displayName": name, "inputConfig": {"requests": {"requests": requests}}}
        operation = await self._client.ask("POST", f"{model}:batchGenerateContent", json={"batch": batch})
        if number := operation.get("name"):
            return str(number)
        raise CallFailed(reasons.NO_NUMBER, kind=FailureKind.MALFORMED, status=200, body=json.dumps(operation))

    async def find(self, name: str) -> str | None:
        page = await self._client.ask("GET", "batches", params={"pageSize": 100})
        return next((str(o["name"]) for o in page.get("operations") or [] if _of_batch(o, "displayName") == name), None)

    async def poll(self, batch: str) -> BatchState:
        operation = await self._client.ask("GET", quote(batch))
        state = str(_of_batch(operation, "state")).rpartition("_STATE_")[2]
        if operation.get("error") or state == "FAILED":
            raise refusal_of(operation)
        return BatchState.ENDED if operation.get("done") or state in _ENDED else BatchState.WORKING

    async def results(self, batch: str) -> list[BatchResult]:
        operation = await self._client.ask("GET", quote(batch))
        output = operation.get("response") or _of_batch(operation, "output")
        for _level in range(2):  # a list within an object of the same name
            output = output.get("inlinedResponses") if isinstance(output, dict) else None
        entries = [entry for entry in output or [] if isinstance(entry, dict)]
        keyed = [(entry, (entry.get("metadata") or {}).get("key")) for entry in entries]
        return [result_of(key, entry) for entry, key in keyed if isinstance(key, str)]

    async def close(self) -> None:
        await self._client.close()


def _of_batch(operation: Mapping[str, Any], name: str) -> Any:
    """What an operation says of its batch, which some answers give without the operation around it."""
    metadata = operation.get("metadata")
    return metadata.get(name) if isinstance(metadata, dict) else operation.get(name)


def _error_in(document: Mapping[str, Any]) -> dict[str, Any]:
    error = document.get("error")
    return error if isinstance(error, dict) else {}


def _status_of(error: Mapping[str, Any], otherwise: int) -> int:
    code = error.get("code")
    return _STATUSES.get(code, otherwise) if isinstance(code, int) else otherwise


def refusal_of(operation: Mapping[str, Any]) -> BatchRefused:
    """Why a batch was not taken on, in Google's words."""
    error = _error_in(operation)
    words = " ".join(str(error.get("message") or "").split())[:LONGEST_REFUSAL]
    body = json.dumps({"error": error}, ensure_ascii=False)
    kind = failure_of(_status_of(error, 400), body, {}).kind
    reason = reasons.BATCH_NOT_TAKEN % {"words": words} if words else reasons.BATCH_NOT_TAKEN_UNSAID
    return BatchRefused(reason, kind=kind, body=body)


def result_of(key: str, entry: Mapping[str, Any]) -> BatchResult:
    """What an entry of a batch's replies says of its call."""
    error = _error_in(entry)
    try:
        if error:
            raise failure_of(_status_of(error, 500), json.dumps({"error": error}, ensure_ascii=False), {})
        return BatchResult(key, completion_of(json.dumps(entry.get("response"), ensure_ascii=False)))
    except CallFailed as failure:
        return BatchResult(key, outcome_of(failure))


def _name_model(model: str) -> str:
    """The model as its routes name it."""
    return quote(model if "/" in model else f"models/{model}")


def body_of(request: Request) -> dict[str, Any]:
    """What is sent for a request. Parameters are of the generation, but for those that stand beside them."""
    parameters = dict(request.get("parameters") or {})
    limit = pop_reply_limit(request, parameters, Gemini.reply_limits)
    effort = parameters.pop(REASONING_EFFORT, None)
    body: dict[str, Any] = {name: parameters.pop(name) for name in _OUTER if name in parameters}
    config: dict[str, Any] = {_NAMES.get(name) or name: value for name, value in parameters.items()}
    if isinstance(config.get("stopSequences"), str):
        config["stopSequences"] = [config["stopSequences"]]
    if limit:
        config[LIMIT] = limit
    if effort:
        config.setdefault("thinkingConfig", _thoughts_of(request["model"], effort))
    system: list[dict[str, str]] = []
    body["contents"] = []
    for message in request["messages"]:
        part = {"text": text_of(message["content"])}
        if message["role"] in ("system", "developer"):
            system.append(part)
        else:
            role = "model" if message["role"] == "assistant" else "user"
            body["contents"].append({"role": role, "parts": [part]})
    if system:
        body["systemInstruction"] = {"parts": system}
    if request.get("structured"):
        # Not responseJsonSchema: batches were seen to leave it aside.
        schema = schema_of(answer_schema(request["schema"]))
        config |= {"responseMimeType": "application/json", "responseSchema": schema}
    if config:
        body["generationConfig"] = config
    return body


def _thoughts_of(model: str, effort: str) -> dict[str, Any]:
    """How much the model may think. Later models cannot be kept from it: none is their least."""
    if _TAKES_BUDGETS.match(model) and effort in _BUDGETS:
        return {"thinkingBudget": _BUDGETS[effort]}
    return {"thinkingLevel": "minimal" if effort == "none" else effort}


def schema_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON schema as Gemini takes it: a part of OpenAPI's, whose order of properties is said apart."""
    openapi_schema = {name: schema[name] for name in _SCHEMA_NAMES if name in schema}
    if "type" in schema:
        openapi_schema["type"] = schema["type"].upper()
    if "items" in schema:
        openapi_schema["items"] = schema_of(schema["items"])
    if properties := schema.get("properties"):
        openapi_schema["properties"] = {name: schema_of(inner) for name, inner in properties.items()}
        openapi_schema["propertyOrdering"] = list(properties)
    return openapi_schema


def completion_of(body: str, *, limits: Limits | None = None) -> Completion:
    """The completion that the body of generated content holds. Raises CallFailed if it holds none."""
    candidate: Any = None
    text = finish_reason = ""
    try:
        document = json.loads(body)
        usage, request_id = document.get("usageMetadata"), str(document.get("responseId") or "")
        blocked = (document.get("promptFeedback") or {}).get("blockReason")
        if document.get("candidates"):
            candidate = document["candidates"][0]
            parts = (candidate.get("content") or {}).get("parts") or []
            text = "".join(part.get("text", "") for part in parts if not part.get("thought"))
            finish_reason = str(candidate.get("finishReason") or "STOP")
        elif not blocked and not document.get("error"):
            raise ValueError("no candidate")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise CallFailed(reasons.NO_MESSAGE, kind=FailureKind.MALFORMED, status=200, body=body) from None
    n_in, n_out = token_count(usage, "promptTokenCount"), _count_out(usage)
    if candidate is None:
        if blocked:
            failure = CallFailed(
                reasons.BLOCKED,
                kind=FailureKind.BLOCKED,
                status=200,
                body=body,
                request_id=request_id,
                limits=limits,
            )
        else:
            failure = failure_within(document["error"], body, has_begun=False, request_id=request_id, limits=limits)
        failure.n_tokens_in, failure.n_tokens_out = n_in, n_out
        raise failure
    return Completion(
        text,
        _FINISH_REASONS.get(finish_reason, finish_reason),
        body,
        model=str(document.get("modelVersion") or ""),
        request_id=request_id,
        n_tokens_in=n_in,
        n_tokens_out=n_out,
        n_tokens_cached=token_count(usage, "cachedContentTokenCount"),
        n_tokens_reasoning=token_count(usage, "thoughtsTokenCount"),
        limits=limits,
    )


def _count_out(usage: Any) -> int | None:
    """All tokens that are paid for as output: those of thoughts stand beside those of the reply. Zeros are left out."""
    if not isinstance(usage, dict) or token_count(usage, "promptTokenCount") is None:
        return None
    counts = [token_count(usage, name) or 0 for name in ("candidatesTokenCount", "thoughtsTokenCount")]
    return fit_count(sum(counts))
