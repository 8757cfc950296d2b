"""OpenAI's chat completions, which most servers of models speak: vLLM, Ollama, and most vendors besides."""

import json
import re
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext_lazy as _

from judges import reasons
from judges.providers.base import (
    LIKELIHOOD,
    REPLY_LIMITS,
    VECTORS,
    BatchClient,
    CallFailed,
    Client,
    Completion,
    Connection,
    FailureKind,
    Limits,
    Provider,
    Request,
    answer_schema,
    failure_within,
    fit_count,
    is_reply_limit,
    is_same_model,
    read_likelihoods,
    read_limits,
    read_tokens,
    read_vectors,
    text_of,
    token_count,
)
from judges.providers.base.openai_library import FileBatches, OpenAILibraryClient

# Its newer models refuse max_tokens, wherever they are; of the servers that speak alike some know no other name.
OWN_HOST = "api.openai.com"
# Hosts of Azure that speak as OpenAI does, but for this path of its own, under which they take models of all vendors.
AZURE = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
AZURE_INFERENCE = "/models"
_REASONING_MODELS = re.compile(r"(?:.*/)?(?:o\d|gpt-5)\b")

# What Gemini's own reasons mean, which its compatible API may pass on: https://ai.google.dev/api/generate-content
_FILTERS = ("safety", "recitation", "blocklist", "prohibited_content", "spii", "language")
_FINISH_REASONS = dict.fromkeys(_FILTERS, "content_filter") | {
    "max_tokens": "length",
    "model_length": "length",  # of Mistral
    "error_toxic": "content_filter",  # of Cohere
    "stop": "stop",
}


class OpenAI(Provider):
    slug = "openai"
    title = _("OpenAI-compatible")
    gives = (LIKELIHOOD, VECTORS)

    def connect(self, connection: Connection) -> Client:
        return OpenAIClient(connection)

    def read(self, body: str) -> Completion:
        return completion_of(body)

    def connect_batches(self, connection: Connection) -> BatchClient:
        return OpenAIBatches(connection)


class OpenAIClient(OpenAILibraryClient):
    """Chat completions at a base URL, completions that echo their prompt, and vectors."""

    route = "/chat/completions"

    async def complete(self, request: Request) -> Completion:
        if request.get("asks") == LIKELIHOOD:
            return await self._echo(request)
        if request.get("asks") == VECTORS:
            return await self._embed(request)
        return await super().complete(request)

    def body_of(self, request: Request) -> dict[str, Any]:
        return body_of(request, base_url=self._connection.base_url)

    def completion_of(self, body: str, *, request_id: str = "", limits: Limits | None = None) -> Completion:
        return completion_of(body, request_id=request_id, limits=limits)

    async def _embed(self, request: Request) -> Completion:
        """A vector for each message. Raises CallFailed, also if the reply holds none."""
        words = [text_of(message["content"]) for message in request["messages"]]
        # As plain numbers: not every server knows base64, for which the library would ask.
        body = {"model": request["model"], "input": words, "encoding_format": "float"}
        response = await self.send(self.sdk.post("/embeddings", cast_to=self._response_class, body=body))
        self.check_success(response)
        body_text, request_id = self.without_key(response.text), self._request_id(response)
        reply = read_vectors(body_text, n=len(words), request_id=request_id)
        _check_model(request["model"], reply.model, body_text, request_id)
        return completion_of(body_text, request_id=request_id, limits=read_limits(response.headers))

    async def _echo(self, request: Request) -> Completion:
        """The prompt again, with its log-probabilities. Raises CallFailed, also if the reply holds none."""
        prompt = "".join(text_of(message["content"]) for message in request["messages"])
        # Of one token, which is left out again: some servers refuse to write none.
        body = {"model": request["model"], "prompt": prompt, "echo": True, "logprobs": 1, "max_tokens": 1}
        post = self.sdk.post("/completions", cast_to=self._response_class, body=body | {"temperature": 0})
        response = await self.send(post)
        self.check_success(response)
        body_text, request_id = self.without_key(response.text), self._request_id(response)
        reply = read_likelihoods(body_text, n=len(prompt), prompt=prompt, request_id=request_id)
        _check_model(request["model"], reply.model, body_text, request_id)
        return completion_of(body_text, request_id=request_id, limits=read_limits(response.headers))


class OpenAIBatches(FileBatches):
    """Batches of chat completions."""

    client_class = OpenAIClient


def body_of(request: Request, *, base_url: str = "") -> dict[str, Any]:
    """What is sent for a request to that address. A reasoning effort goes by its own name, which is OpenAI's."""
    body = dict(request.get("parameters") or {})
    if request.get("max_tokens") and not any(is_reply_limit(body.get(name)) for name in REPLY_LIMITS):
        body = {name: value for name, value in body.items() if name not in REPLY_LIMITS}
        body["max_tokens"] = request["max_tokens"]
    if "max_tokens" in body and _takes_completion_limits(request["model"], base_url):
        body.setdefault("max_completion_tokens", body.pop("max_tokens"))
    body["model"] = request["model"]
    body["messages"] = [message | {"content": text_of(message["content"])} for message in request["messages"]]
    if request.get("structured"):
        form = {"name": "answer", "strict": True, "schema": answer_schema(request["schema"])}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    return body


def _takes_completion_limits(model: str, base_url: str) -> bool:
    """Whether the limit of a reply is called max_completion_tokens there."""
    address = urlsplit(base_url)
    host = address.hostname or ""
    is_azure = host.endswith(AZURE) and not address.path.startswith(AZURE_INFERENCE)
    return host == OWN_HOST or is_azure or _REASONING_MODELS.match(model) is not None


def _check_model(asked: str, answered: str, body: str, request_id: str) -> None:
    """Raise CallFailed if another model measured: its numbers are another measure."""
    if not is_same_model(asked, answered):
        reason = reasons.OTHER_MODEL % {"model": answered}
        raise CallFailed(reason, kind=FailureKind.NOT_OFFERED, status=200, body=body, request_id=request_id)


def _finish_reason(reason: str) -> str:
    """Why the reply ended, by OpenAI's names where the provider has others: “SAFETY”, “content_filter: SAFETY”."""
    name = reason.partition(":")[0].strip().casefold()
    return "content_filter" if name == "content_filter" else _FINISH_REASONS.get(name, reason)


def _holds_vectors(document: dict[str, Any]) -> bool:
    return "choices" not in document and isinstance(document.get("data"), list)


def _find_failure(document: Any) -> tuple[Any, bool] | None:
    """What a body of success says of a failure, and whether a reply had begun; None if it holds a reply.

    Routers answer with success before they know whether a reply will come; Gemini sends no choice of what it blocks.
    """
    if not isinstance(document, dict) or _holds_vectors(document):
        return None
    choices = document.get("choices")
    if not choices:
        is_failure = bool(document.keys() & {"choices", "error", "promptFeedback", "prompt_feedback"})
        return (document.get("error"), False) if is_failure else None
    choice = choices[0] if isinstance(choices, list) else None
    if isinstance(choice, dict) and str(choice.get("finish_reason")).casefold() == "error":
        return choice.get("error") or document.get("error"), True
    return None


def _count_out(usage: Any) -> int | None:
    """All tokens that are paid for as output. Some, as xAI and Gemini, leave those of reasoning out of
    completion_tokens, and count them in the total alone or beside it."""
    n_out, n_in = token_count(usage, "completion_tokens"), token_count(usage, "prompt_tokens")
    if n_out is None:
        return None
    n_reasoning = token_count(usage, "completion_tokens_details", "reasoning_tokens") or 0
    n_total = token_count(usage, "total_tokens")
    n_beside = n_out + n_reasoning if n_reasoning > n_out else n_out
    return fit_count(max(n_beside, 0 if n_total is None or n_in is None else n_total - n_in))


def _read_choice(choice: Any) -> tuple[Any, Any, str]:
    """Its text, its refusal, and why it ended."""
    finish_reason = _finish_reason(str(choice.get("finish_reason") or "stop"))
    # Of completions, which are no chat, the words stand without a message.
    message = choice["message"] if "message" in choice else {"content": choice["text"]}
    if message is None and finish_reason == "content_filter":
        message = {}
    refusal = message.get("refusal")
    return message.get("content"), refusal, "refusal" if refusal else finish_reason


def completion_of(body: str, *, request_id: str = "", limits: Limits | None = None) -> Completion:
    """The completion that a chat response's body holds. Raises CallFailed if it holds none."""
    failure: tuple[Any, bool] | None = None
    try:
        document = json.loads(body)
        if (failure := _find_failure(document)) is None:
            choice: Any = {"text": ""} if _holds_vectors(document) else document["choices"][0]
            text, refusal, finish_reason = _read_choice(choice)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        # A proxy's error page, half a body: the next try may get a whole one.
        raise CallFailed(
            reasons.NO_COMPLETION,
            kind=FailureKind.MALFORMED,
            status=200,
            body=body,
            request_id=request_id,
        ) from None
    if failure is not None:
        error, has_begun = failure
        call_failed = failure_within(error, body, has_begun=has_begun, request_id=request_id, limits=limits)
        call_failed.n_tokens_in = token_count(document.get("usage"), "prompt_tokens")
        n_least = None if has_begun or call_failed.n_tokens_in is None else 0
        call_failed.n_tokens_out = _count_out(document.get("usage")) or n_least
        raise call_failed
    if isinstance(text, list):  # some servers send the text in parts
        text = "".join(str(part.get("text", "")) for part in text if isinstance(part, dict))
    usage: Any = document.get("usage")
    return Completion(
        str(refusal or text or ""),
        finish_reason,
        body,
        model=str(document.get("model") or ""),
        system_fingerprint=str(document.get("system_fingerprint") or ""),
        request_id=request_id,
        n_tokens_in=token_count(usage, "prompt_tokens"),
        n_tokens_out=0 if usage and _holds_vectors(document) else _count_out(usage),
        n_tokens_cached=token_count(usage, "prompt_tokens_details", "cached_tokens"),
        n_tokens_reasoning=token_count(usage, "completion_tokens_details", "reasoning_tokens"),
        limits=limits,
        tokens=read_tokens(choice.get("logprobs")),
    )
